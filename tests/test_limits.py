"""Limits are settings: named, documented, refused when they make no sense."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits, parse_limits

PAGE = Path(__file__).resolve().parents[1] / "docs" / "limits.md"


def test_named_limits_change_and_the_others_stay() -> None:
    limits = parse_limits(" events = 12, file_bytes=3M ,unpacked_bytes=2g,zip_ratio=5k")
    assert (limits.events, limits.file_bytes) == (12, 3 * 2**20)
    assert (limits.unpacked_bytes, limits.zip_ratio) == (2 * 2**30, 5120)
    assert limits.zip_members == DEFAULT_LIMITS.zip_members
    assert parse_limits("") == DEFAULT_LIMITS


@pytest.mark.parametrize(
    "text", ["event=5", "events", "events=", "events=-1", "events=0", "events=1.5", "events=1T",
             "events=" + "9" * 40, "=5", "events=٣"],
)  # fmt: skip
def test_nonsense_is_one_sentence(text: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        parse_limits(text)
    assert caught.value.hint.endswith(".")


def test_every_limit_is_documented_with_its_default() -> None:
    rows = dict(
        line.strip("| \n").split(" | ")[:2]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    )
    expected = {
        f"`{field.name}`": f"{getattr(DEFAULT_LIMITS, field.name):,}".replace(",", " ")
        for field in dataclasses.fields(Limits)
    }
    assert rows == expected
