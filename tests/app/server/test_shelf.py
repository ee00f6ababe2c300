"""What a shelf keeps, and what goes to make room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.app.server.shelf import MIN, Shelf, weight
from tests.factories import FUSED_OPERATORS, experiment_zip, profile_json


def shelf(most: int = 3, most_bytes: int = 100) -> Shelf[int]:
    """Numbers that weigh what they are."""
    return Shelf(most, most_bytes, int)


def test_what_was_used_longest_ago_goes_first() -> None:
    kept = shelf()
    assert kept.put({"a": 1, "b": 2, "c": 3}) == []
    assert kept.get("a") == 1
    assert kept.put({"d": 4}) == [2]
    assert kept.values() == {"a": 1, "c": 3, "d": 4}
    assert kept.get("b") is None


def test_bytes_are_bounded_but_the_pair_on_screen_stays() -> None:
    kept = shelf()
    kept.put({"a": 60})
    assert kept.put({"b": 70}) == []  # 130 of 100
    assert kept.put({"c": 20}) == [60]
    assert kept.bytes == 90
    assert kept.put({"b": 10}) == []  # the new one in place of the old
    assert kept.bytes == 30


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 90)), max_size=40))
def test_bounds_hold_whatever_comes(steps: list[tuple[str, int]]) -> None:
    kept = shelf()
    for key, value in steps:
        before = kept.values() | {key: value}
        gone = kept.put({key: value})
        assert kept.get(key) == value
        assert len(kept.values()) <= 3
        assert kept.bytes <= 100 or len(kept.values()) <= MIN
        assert sorted(gone) == sorted(v for k, v in before.items() if k not in kept.values())


def test_a_file_weighs_what_its_tables_hold() -> None:
    """Ten thousand calls in ten columns of 8 bytes at the most, and all variants of a file."""
    one, many = (read(Source("a", profile_json(FUSED_OPERATORS, runs=r))) for r in (1, 5_000))
    assert 10_000 * 40 < weight(many) - weight(one) < 10_000 * 120
    variants = {name: [5.0] * 8 for name in ("unfused", "basic", "fused")}
    few = {name: variants[name] for name in ("unfused", "fused")}
    three, two = (read(Source("a.zip", experiment_zip(v))) for v in (variants, few))
    assert weight(three) > weight(two) * 1.3
