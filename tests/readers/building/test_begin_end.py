"""Begin and end events: who ends whom, and what has no partner."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.readers.building.begin_end import Mark, pairs

LANE = (b"1", b"2")


def mark(time: int, begins: bool, name: str, row: int = 0) -> Mark:
    return Mark(time, row, begins, name, LANE)


def test_crossing_pairs_keep_their_own_ends() -> None:
    found, unpaired = pairs([
        mark(0, True, "prep"), mark(8, True, "exec"), mark(10, False, "prep"),
        mark(108, False, "exec"),
    ])  # fmt: skip
    told = [(pair.begin.name, pair.end.time_ns - pair.begin.time_ns, pair.crosses)
            for pair in found]  # fmt: skip
    assert told == [("prep", 10, True), ("exec", 100, False)] and unpaired == 0


def test_an_end_without_a_begin_leaves_others_alone() -> None:
    found, unpaired = pairs([mark(0, True, "a"), mark(1, False, "b"), mark(2, False, "a")])
    assert [(pair.begin.time_ns, pair.end.time_ns) for pair in found] == [(0, 2)]
    assert unpaired == 1


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["", "a", "b"])), max_size=40))
def test_every_mark_is_in_one_pair_or_unpaired(told: list[tuple[bool, str]]) -> None:
    marks = [mark(at, begins, name, at) for at, (begins, name) in enumerate(told)]
    found, unpaired = pairs(marks)
    used = [each for pair in found for each in (pair.begin, pair.end)]
    assert len(set(used)) == len(used) and len(used) + unpaired == len(marks)
    for pair in found:
        assert pair.begin.begins and not pair.end.begins
        assert pair.begin.time_ns < pair.end.time_ns
        assert not pair.end.name or pair.begin.name in ("", pair.end.name)
