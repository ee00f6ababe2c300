"""A name in an error, and which known name was meant."""

from __future__ import annotations

import pytest

from fusescope.analysis.spelling import nearest
from fusescope.analysis.text import shown


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("fuzed", ("unfused", "fused"), "fused"),
        ("ALL", ("none", "all"), "all"),
        ("reluu", ("Gelu", "ReLU"), "ReLU"),
        ("abcd", ("abxy", "wxyz"), "abxy"),  # 2 · 2 / 8
        ("abcd", ("axyz", "wxyz"), None),  # 2 · 1 / 8
        ("", ("fused",), None),
    ],
)
def test_the_nearest_name(name: str, known: tuple[str, ...], expected: str | None) -> None:
    assert nearest(name, known) == expected


def test_a_name_is_one_printable_line_of_bounded_length() -> None:
    assert shown("Conv") == "Conv"
    assert shown("a\x1b[31m\nb\u202e") == "a?[31m?b?"
    assert shown("x" * 60) == "x" * 60
    assert shown("x" * 61) == "x" * 59 + "…"
    assert shown(12345, 4) == "123…"
