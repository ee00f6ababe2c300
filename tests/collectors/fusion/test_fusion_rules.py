"""Rule files: what is understood, and one sentence for what is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.patterns import HeldBack
from fusescope.analysis.wording import rewriting
from fusescope.collectors.fusion import convolutions, products, report, rules, scopes
from fusescope.collectors.fusion.registry import REWRITES, level_of


def refused(text: str) -> str:
    with pytest.raises(FuseScopeError) as error:
        rules.parse(text, "conv.toml")
    assert "conv.toml" in error.value.text and "\n" not in error.value.text
    return error.value.text


def test_everything_that_a_file_can_say() -> None:
    read = rules.parse(
        """
        level = "O2"
        patterns = [["Conv", "BatchNormalization", "Relu"], "gemm-activation"]
        include = ["layer1"]
        exclude = ["layer1/0/*"]
        largest_intermediate = "1.5 MB"
        optimization = "extended"
        """,
        "conv.toml",
    )
    assert (read.level, read.optimization) == ("O2", "extended")
    assert read.sequences == {("Conv", "BatchNormalization", "Relu")}
    assert read.names == {"gemm-activation"}
    assert (read.include, read.exclude) == (("layer1",), ("layer1/0/*",))
    assert read.largest_bytes == 1_500_000
    assert read.restricts


def test_an_empty_file_means_everything() -> None:
    read = rules.parse("# nothing\n", "all.toml")
    assert (read.level, read.patterns, read.restricts) == ("O3", None, False)


@pytest.mark.parametrize(
    ("size", "expected"),
    [("8000", 8000), ('"8 MB"', 8_000_000), ('"8MB"', 8_000_000), ('"2 KiB"', 2048), ('"7"', 7)],
)
def test_sizes(size: str, expected: int) -> None:
    assert rules.parse(f"largest_intermediate = {size}", "x").largest_bytes == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("level = ", "not valid TOML: Invalid value (at line 1, the last)"),
        ('level = "O3"\nexclude = [', "line 2"),
        ('level = "O3"\nexclude 3\n', "line 2, column 9"),
        ("a = " + "[" * 5000, "not valid TOML"),
        ("x = 1" + "0" * 70_000, "larger than 64 KiB"),
        ('levle = "O3"', "Did you mean 'level'?"),
        ('level = "O4"', "Known: O0, O1, O2, O3"),
        ('level = "o2"', "Did you mean 'O2'?"),
        ("level = 2", "The level cannot be '2'"),
        ('level = ["O1"]', "The level cannot be '['O1']'"),
        ("level = {a = 1}", "The level cannot be '{'a': 1}'"),
        ('optimization = "al"', "Did you mean 'all'?"),
        ("patterns = []", "patterns is not a list"),
        ('patterns = "gelu"', "patterns is not a list"),
        ('patterns = ["Conv", "Relu"]', "'Conv' is an op type, not the name of a pattern"),
        ('patterns = ["gelo"]', "Did you mean 'gelu'?"),
        ('patterns = [["Conv"]]', "has 1 operator "),
        ("patterns = [3]", "A pattern cannot be 3"),
        ('patterns = [["Conv", 3]]', "A pattern cannot be ["),
        ('patterns = [["Conv", "Rellu"]]', "Did you mean 'Relu'?"),
        ('patterns = [["Relu", "Conv"]]', 'in the order of the data flow: ["Conv", "Relu"]'),
        ('patterns = [["Softmax", "Relu"]]', "No rewrite is known"),
        ('exclude = "head/*"', "exclude is not a list of modules"),
        ("include = [1]", "include is not a list of modules"),
        ('exclude = [""]', "exclude is not a list of modules"),
        ('largest_intermediate = "8 parsecs"', "largest_intermediate cannot be 8 parsecs"),
        ("largest_intermediate = true", "largest_intermediate cannot be True"),
        ("largest_intermediate = -1", "largest_intermediate cannot be -1"),
        ('"a\\u001b[31m" = 1', "There is no rule 'a?[31m'"),
    ],
)
def test_one_sentence_for_what_is_not_understood(text: str, expected: str) -> None:
    assert expected in refused(text)


@given(st.text(max_size=200))
def test_any_text_is_rules_or_one_sentence(text: str) -> None:
    try:
        rules.parse(text, "any.toml")
    except FuseScopeError as error:
        assert error.text.isprintable()


def test_rules_that_need_no_file() -> None:
    assert set(rules.built_in()) == {"O0", "O1", "O2", "O3", "no-classifier.toml", "no-head.toml"}
    for name in rules.built_in():
        assert rules.check(name, None).text
    with pytest.raises(FuseScopeError, match=r"no rule file 'no-hed.toml'.*'no-head.toml'"):
        rules.check("no-hed.toml", None)


@pytest.mark.parametrize(
    ("op_types", "level"),
    [
        ("Conv BatchNormalization", "O1"),
        ("Conv BatchNormalization Relu", "O2"),
        ("Conv Relu", "O2"),
        ("Conv Mul Sigmoid", "O2"),
        ("MatMul Add Relu", "O2"),
        ("Transpose MatMul Div", "O2"),
        ("Add LayerNormalization", "O3"),
        ("Sigmoid Mul", "O3"),
        ("Mul Add", "O3"),
        ("Mul Add Sub", "O3"),
        ("Conv", None),
        ("Relu Relu", None),
        ("Conv Conv", None),
    ],
)
def test_what_becomes_one_operator_at_which_level(op_types: str, level: str | None) -> None:
    assert level_of(tuple(op_types.split())) == level


def test_every_form_of_every_pattern_is_known() -> None:
    for rewrite in REWRITES:
        assert rewrite.pattern.templates, rewrite.name
        for form in rewrite.pattern.templates:
            assert level_of(tuple(step.op_types[0] for step in form.steps)) is not None


@pytest.mark.parametrize(
    ("glob", "node", "expected"),
    [
        ("head/*", "head/Gemm", True),
        ("head/*", "/head/Gemm", True),
        ("/head", "head/fc/Gemm", True),
        ("layer?/0", "layer1/0/a/Conv", True),
        ("layer1", "layer10/Conv", False),
        ("Conv_3", "Conv_3", True),
        ("head", "subhead/Gemm", False),
        ("*/a/*", "layer1/0/a/Conv", True),
        ("HEAD/*", "head/Gemm", False),
        ("layer[0]", "/layer[0]/Conv", True),
    ],
)
def test_globs_mean_modules_and_nodes(glob: str, node: str, expected: bool) -> None:
    assert scopes.holds(glob, node) is expected


def test_a_module_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(FuseScopeError, match=r"exclude names 'haed/\*'.*mean 'head'.*stem, head"):
        scopes.check("exclude", ("haed/*",), ("stem/Conv", "head/Gemm"))
    with pytest.raises(FuseScopeError, match="not in modules"):
        scopes.check("include", ("x",), ("Conv_0",))


DOCS = Path(__file__).resolve().parents[3] / "docs" / "rules.md"


def table(head: str) -> list[list[str]]:
    """The cells of the table of the docs under this head, without marks of code."""
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(f"| {head} |"))
    found = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")])
    return found


def test_the_docs_have_every_key_level_pattern_and_reason() -> None:
    assert {row[0] for row in table("key")} == set(rules._KEYS)
    assert {row[0] for row in table("level")} == {"O0", "O1", "O2", "O3"}
    patterns = {row[0]: (row[1], row[3]) for row in table("name")}
    assert patterns.keys() == {rewrite.name for rewrite in REWRITES}
    for rewrite in REWRITES:
        level, makes = patterns[rewrite.name]
        assert level == rewrite.level
        same = "Conv" if makes == "the same with other weights" else ""
        assert rewrite.makes in (same or makes).split()
    codes = {code for row in table("code") for code in row[0].split(", ")}
    assert codes == set(get_args(HeldBack)) == set(rewriting.HELD_BACK)
    fields = {field for row in table("field") for field in row[0].split(", ")}
    assert fields | {"schema_version"} == set(report.Report.__struct_fields__)
    text = DOCS.read_text(encoding="utf-8")
    one = text.partition("One opportunity: ")[2].partition("\n")[0]
    for field in report.Opportunity.__struct_fields__:
        assert f"`{field}`" in one
    asked = next(row[1] for row in table("field") if row[0] == "asked")
    assert all(field in asked for field in report.Asked.__struct_fields__)


def test_the_docs_have_every_activation() -> None:
    operators = {row[0]: set(re.findall(r"\w+", row[2])) for row in table("name")}
    assert operators["conv-activation"] == {"Conv", "or", *convolutions.ACTIVATIONS}
    behind = operators["gemm-activation"] - {"Gemm", "or", "MatMul", "of", "two", "axes"}
    assert behind == set(products.ACTIVATIONS)


def test_the_example_of_the_docs_is_understood() -> None:
    [example] = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    read = rules.parse(example, "docs")
    assert (read.level, read.largest_bytes, read.include) == ("O3", 8_000_000, ("backbone",))
    assert read.names == {"gelu"} and len(read.sequences) == 1
    keys = {line.partition(" = ")[0] for line in example.splitlines()}
    assert keys == set(rules._KEYS)
    said = {row[0]: row[1:] for row in table("key")}
    assert (said["level"][1], said["optimization"][1]) == ("O3", "none")
    assert (rules.Rules().level, rules.Rules().optimization) == ("O3", "none")
    assert all(value in said["optimization"][0] for value in rules.OPTIMIZATIONS)
    units = re.findall(r"[kKMG]i?B", said["largest_intermediate"][0])
    assert units
    for unit in units:
        assert rules.parse(f'largest_intermediate = "2 {unit}"', "x").largest_bytes
