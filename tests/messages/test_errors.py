"""Errors: every code is raised, with the values that its sentences need, and reads as it should."""

from __future__ import annotations

import ast
import importlib
import string
import typing
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.analysis.messages.errors import ERRORS, ErrorCode
from fusescope.analysis.messages.formats import FORMATS, NOUNS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("analysis", "app", "collectors")
NOT_VALUES = {"where", "nearest"}  # of FuseScopeError itself
# Where an error is made of one that there is already.
HANDED_ON = {
    "analysis/errors.py", "collectors/recording/refused.py", "collectors/workers/failures.py",
}  # fmt: skip
# Placeholders without a format hold texts of our own, never one of a file, a trace or a user.
OWN_TEXTS = {
    "content", "extra", "first", "form", "given", "instead", "kind", "known", "line", "needed",
    "option", "row", "second", "version",
}  # fmt: skip


class Raise(NamedTuple):
    """One place where an error is made: the codes that it may have, and the values it gives."""

    place: str
    codes: frozenset[str]
    given: frozenset[str] | None  # None where values are handed on as a whole


def fields(message: Message) -> dict[str, str]:
    """Placeholders of both forms, and their formats."""
    found: dict[str, str] = {}
    for text in (message.one, message.many):
        for _, name, form, _ in string.Formatter().parse(text):
            if name is not None:
                found[name] = form or ""
    return found


def needed(code: str) -> set[str]:
    """Every value that the sentences of a code need."""
    text = ERRORS[typing.cast(ErrorCode, code)]
    names = {*fields(text.what), *fields(text.hint)}
    return names | ({"n"} if text.what.many or text.hint.many else set())


@cache
def raises() -> tuple[Raise, ...]:
    """Every place in the packages where an error is made with a code."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if path.relative_to(ROOT).as_posix() not in HANDED_ON
    }
    errors = {"FuseScopeError"} | {
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(getattr(base, "id", None) == "FuseScopeError" for base in node.bases)
    }
    found = []
    for path, tree in trees.items():
        for call, function in _calls(tree):
            if not _makes_error(call, errors):
                continue
            given = None
            if all(word.arg for word in call.keywords):
                given = frozenset(str(word.arg) for word in call.keywords) - NOT_VALUES
            place = f"{path.relative_to(ROOT)}:{call.lineno}"
            found.append(Raise(place, _Codes(path, tree, function).of(call.args[0]), given))
    return tuple(found)


def _calls(
    node: ast.AST, function: ast.FunctionDef | None = None
) -> Iterator[tuple[ast.Call, ast.FunctionDef | None]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, function
        yield from _calls(child, child if isinstance(child, ast.FunctionDef) else function)


def _makes_error(call: ast.Call, errors: set[str]) -> bool:
    if not call.args:
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id in errors
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"):
        return False
    first = call.args[0]
    return isinstance(first, ast.Constant) and first.value in ERRORS


class _Codes:
    """Which codes the first argument of an error may be: as it stands there, or by its type."""

    def __init__(self, path: Path, tree: ast.Module, function: ast.FunctionDef | None) -> None:
        name = ".".join(("fusescope", *path.relative_to(ROOT).with_suffix("").parts))
        self._module = name.removesuffix(".__init__")
        self._tree = tree
        self._function = function

    def of(self, value: ast.expr) -> frozenset[str]:
        match value:
            case ast.Constant(value=str(code)):
                return frozenset([code])
            case ast.IfExp(body=body, orelse=other):
                return self.of(body) | self.of(other)
            case ast.Call(func=ast.Name(id=name)):
                returned = next(
                    node.returns
                    for node in ast.walk(self._tree)
                    if isinstance(node, ast.FunctionDef) and node.name == name
                )
                return self._of_type(returned)
            case ast.Name(id=name) if self._function is not None:
                arguments = self._function.args
                for argument in (*arguments.args, *arguments.kwonlyargs):
                    if argument.arg == name:
                        return self._of_type(argument.annotation)
                for node in ast.walk(self._function):
                    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                        return self.of(node.value)
        raise AssertionError(f"{self._module}: which codes may {ast.unparse(value)} be?")

    def _of_type(self, annotation: ast.expr | None) -> frozenset[str]:
        assert annotation is not None
        names = vars(importlib.import_module(self._module)) | vars(typing)
        for node in self._tree.body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                for line in node.body:
                    assert isinstance(line, ast.ImportFrom)
                    module = importlib.import_module(str(line.module))
                    names |= {one.name: getattr(module, one.name) for one in line.names}
        return frozenset(_literals(eval(ast.unparse(annotation), names)))


def _literals(kind: Any) -> Iterator[str]:
    for one in typing.get_args(kind):
        if isinstance(one, str):
            yield one
        else:
            yield from _literals(one)


def test_the_catalogue_is_what_the_type_says() -> None:
    assert set(_literals(ErrorCode)) == set(ERRORS)


def test_every_code_is_raised_somewhere_and_every_raise_has_one() -> None:
    raised = {code for one in raises() for code in one.codes}
    assert raised - set(ERRORS) == set()
    assert set(ERRORS) - raised == set()


def test_every_raise_gives_what_its_sentences_need() -> None:
    wrong = [
        (one.place, code, sorted(one.given ^ needed(code)))
        for one in raises()
        if one.given is not None
        for code in one.codes
        if code in ERRORS and one.given != needed(code)
    ]
    assert wrong == []


@pytest.mark.parametrize("code", sorted(ERRORS))
def test_what_is_a_clause_and_the_hint_are_sentences(code: ErrorCode) -> None:
    text = ERRORS[code]
    for what in filter(None, (text.what.one, text.what.many)):
        assert not what.endswith((".", " ", ":", "…")) and what == what.strip(), what
        assert what[0].isupper() or what.startswith(("{", "'", "--")), what
    hint = text.hint.one
    assert hint.endswith((".", "?")) and hint[0].isupper(), hint
    assert "  " not in text.what.one + hint


@pytest.mark.parametrize("code", sorted(ERRORS))
def test_placeholders_have_formats(code: ErrorCode) -> None:
    text = ERRORS[code]
    for name, form in (fields(text.what) | fields(text.hint)).items():
        assert form in FORMATS or form in NOUNS or (form == "" and name in OWN_TEXTS), name


def test_texts_of_others_are_pieces_that_nobody_interprets() -> None:
    hostile = "<b>**x**</b> {y}"
    error = FuseScopeError("table_damaged", where="t.csv", reason=hostile)
    assert [part.text for part in error.said.parts() if part.role == "name"] == [hostile]
    assert error.text == (
        f"This table is damaged: {hostile} (t.csv). Copy or record the file again."
    )


def test_the_nearest_name_is_a_sentence_before_the_next_step() -> None:
    known = {"variant": "fussed", "known": "unfused, fused"}
    near = FuseScopeError("no_such_variant", nearest="fused", **known)
    far = FuseScopeError("no_such_variant", nearest=None, **known)
    assert near.hint == "Did you mean 'fused'? Its variants are: unfused, fused."
    assert far.hint == "Its variants are: unfused, fused."


def test_a_position_goes_before_the_one_that_is_known() -> None:
    error = FuseScopeError("json_too_deep", where="a.json").at("x.zip")
    assert error.code == "json_too_deep" and str(error.where) == "x.zip, a.json"
    assert str(FuseScopeError("json_too_deep").at("x.zip").where) == "x.zip"
