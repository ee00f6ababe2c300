"""A name in an error, and which known name was meant."""

from __future__ import annotations

import pytest

from analysis.spelling import suggestion
from analysis.text import shown


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("fuzed", ("unfused", "fused"), "Did you mean 'fused'? Known: unfused, fused."),
        ("ALL", ("none", "all"), "Did you mean 'all'? Known: none, all."),
        ("reluu", ("Gelu", "ReLU"), "Did you mean 'ReLU'? Known: Gelu, ReLU."),
        ("abcd", ("abxy", "wxyz"), "Did you mean 'abxy'? Known: abxy, wxyz."),  # 2 · 2 / 8
        ("abcd", ("axyz", "wxyz"), "Known: axyz, wxyz."),  # 2 · 1 / 8
        ("", ("fused",), "Known: fused."),
    ],
)
def test_the_nearest_name_and_all_of_them(name: str, known: tuple[str, ...], expected: str) -> None:
    assert suggestion(name, known) == expected


def test_a_name_is_one_printable_line_of_bounded_length() -> None:
    assert shown("Conv") == "Conv"
    assert shown("a\x1b[31m\nb\u202e") == "a?[31m?b?"
    assert shown("x" * 60) == "x" * 60
    assert shown("x" * 61) == "x" * 59 + "…"
    assert shown(12345, 4) == "123…"


def test_the_list_can_have_another_heading() -> None:
    assert suggestion("x", ["fused"], "It has") == "It has: fused."
