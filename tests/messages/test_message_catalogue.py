"""The catalogues: everything is in them, nothing is a guess, placeholders are the same."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from fusescope.analysis.messages import formats
from scripts import catalogue

ROOT = Path(__file__).resolve().parents[2]
CATALOGUES = sorted(catalogue.LANGUAGES.glob("*.po"))
CHINESE = catalogue.LANGUAGES / "zh.po"
# Other words for terms of docs/zh/glossary.md.
NOT_SAID = (
    "布局",
    "内核",
    "录制",
    "剖析",
    "延迟",
    "吞吐量",
    "片段",
    "重算子",
    "轻算子",
    "未被掩盖",
    "(?<!图)优化器",
    "(?<!推理)引擎",
    "跟踪文件",
    r"(?<![\w/.:{-])[kK]ernel(?![\w/.:}=-])",
    r"(?<![\w.])streams?(?![\w.])",
)
SOURCES = [
    path for package in catalogue.PACKAGES for path in sorted((ROOT / package).rglob("*.py"))
]


def forms(text: object) -> tuple[str, ...]:
    """One text, or all forms of one that counts."""
    return tuple(map(str, text)) if isinstance(text, tuple | list) else (str(text),)


def placeholders(text: str) -> list[tuple[str, str]]:
    return sorted(
        {(name, form or "") for _, name, form, _ in string.Formatter().parse(text) if name}
    )


@pytest.fixture(scope="module")
def english() -> Catalog:
    return catalogue.extracted()


def test_every_placeholder_has_a_format_that_there_is(english: Catalog) -> None:
    known = {"", *formats.FORMATS, *formats.NOUNS}
    asked = {form for m in english for text in forms(m.id) for _, form in placeholders(text)}
    assert asked - known == set()
    assert asked - {""}


def test_emphasis_begins_and_ends(english: Catalog) -> None:
    assert [m.id for m in english if any(text.count("**") % 2 for text in forms(m.id))] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.name)
def test_a_catalogue_has_the_placeholders_of_the_code(path: Path) -> None:
    told = [m for m in catalogue.read(path) if m.id and all(forms(m.string))]
    assert len(told) > 1
    for message in told:
        singular, *plural = forms(message.id)
        wanted = placeholders(plural[0] if plural else singular)
        for text in forms(message.string):
            assert placeholders(text) == wanted, message.id
            assert text.count("**") == forms(message.id)[-1].count("**"), message.id


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.name)
def test_a_catalogue_has_every_text_of_the_code(path: Path) -> None:
    gaps = catalogue.missing(catalogue.read(path))
    assert gaps == [], "`make catalogue` adds new texts to it; then translate them"


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.name)
def test_no_translation_is_a_guess_or_of_a_text_that_is_gone(path: Path, english: Catalog) -> None:
    found = catalogue.read(path)
    assert [m.id for m in found if m.id and m.fuzzy] == []
    assert [m.id for m in found if m.id and m.id not in english] == []


def test_chinese_is_set_as_chinese_is() -> None:
    """A space between Chinese and Latin letters or digits, punctuation of full width, and a full
    stop where the English has one."""
    han = "\u4e00-\u9fff"
    beside = re.compile(rf"[{han}][A-Za-z0-9]|[A-Za-z0-9][{han}]|[{han}][,;:?!]")
    told = [(forms(m.id)[0], forms(m.string)[0]) for m in catalogue.read(CHINESE) if m.id]
    assert len(told) > 2000
    assert [text for _, text in told if beside.search(text.replace("min(峰值算力,", ""))] == []
    ends = ("。", "）", "…")
    assert [text for one, text in told if one.endswith(".") and not text.endswith(ends)] == []
    assert [text for one, text in told if text.endswith("。") and not one.endswith(".")] == []


def test_chinese_parts_its_characters_from_counts_that_a_sentence_takes_in() -> None:
    """As '有 35 个 kernel': what stands for `{kernels}` begins with a number."""
    counted = re.compile("[\u4e00-\u9fff]{(?:kernels|units)}")
    told = [(m.id, text) for m in catalogue.read(CHINESE) if m.id for text in forms(m.string)]
    assert [english for english, text in told if counted.search(text)] == []


@pytest.mark.parametrize("word", NOT_SAID)
def test_chinese_has_one_word_for_one_thing(word: str) -> None:
    told = [(m.id, text) for m in catalogue.read(CHINESE) if m.id for text in forms(m.string)]
    assert [english for english, text in told if re.search(word, text)] == []


@cache
def calls(path: Path) -> tuple[tuple[ast.Call, str, bool], ...]:
    """(call, name, whether it runs at import) of every call of the catalogue's functions."""

    def walk(node: ast.AST, at_import: bool) -> Iterator[tuple[ast.Call, str, bool]]:
        for child in ast.iter_child_nodes(node):
            is_body = isinstance(node, ast.FunctionDef | ast.Lambda) and (
                child in node.body if isinstance(node, ast.FunctionDef) else child is node.body
            )
            inside = at_import and not is_body
            if isinstance(child, ast.Call):
                name = getattr(child.func, "id", None) or getattr(child.func, "attr", "")
                if name in catalogue.CALLS:
                    yield child, name, inside
            yield from walk(child, inside)

    return tuple(walk(ast.parse(path.read_bytes()), True))


def test_texts_are_literals_and_none_is_told_at_import() -> None:
    found = [(path.relative_to(ROOT), *call) for path in SOURCES for call in calls(path)]
    assert len(found) > 20
    places = [
        f"{path}:{call.lineno}" for path, call, name, early in found if early and name == "say"
    ]
    assert places == [], "the language is not chosen yet"
    for path, call, name, _ in found:
        if path.parts[1] == "messages" and name in ("Message", "say"):
            continue  # what passes on its own arguments
        texts = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
        assert texts, f"{path}:{call.lineno}"
        for text in texts:
            is_text = isinstance(text, ast.Constant) and isinstance(text.value, str)
            assert is_text, f"{path}:{call.lineno}: no text of the catalogue"


def test_calls_at_import_are_told_from_calls_in_functions(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("A = say('a')\ndef f(x=say('b')):\n    return say('c')\ng = lambda: say('d')\n")
    early = {call.args[0].value for call, _, early in calls(path) if early}  # type: ignore[attr-defined]
    assert early == {"a", "b"}


def test_values_are_those_of_the_placeholders() -> None:
    """`say` has all its values beside its text: they must be the ones that it asks for."""
    checked = 0
    for path in SOURCES:
        for call, name, _ in calls(path):
            if name != "say" or any(word.arg is None for word in call.keywords):
                continue
            texts = [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
            asked = {name for text in texts for name, _ in placeholders(text)}
            given = {str(word.arg) for word in call.keywords}
            allowed = asked | {"n"} if len(texts) == 2 else asked
            assert asked <= given <= allowed, f"{path.relative_to(ROOT)}:{call.lineno}"
            checked += 1
    assert checked > 3


def test_what_is_compiled_does_not_hold_the_minute_in_which_it_was_made() -> None:
    dates = {catalogue.read(path).creation_date.isoformat() for path in CATALOGUES}
    assert dates == {"1980-01-01T00:00:00+00:00"}
