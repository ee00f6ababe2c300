"""Rows of a lane: none overlaps itself, and what runs inside a call stands below it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.timeline import depth
from fusescope.analysis.timeline.depth import depths, rows_of

CALLS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=40)


def in_order(calls: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths as the payload has them."""
    calls = sorted(calls, key=lambda call: (call[0], -call[1]))
    starts, durs = (np.array([call[at] for call in calls], dtype="int64") for at in (0, 1))
    return starts, durs


def test_what_runs_inside_stands_one_row_below() -> None:
    starts = np.array([0, 10, 20, 60, 100, 100])
    ends = np.array([100, 50, 40, 90, 120, 110])
    assert list(depths(starts, ends)) == [0, 1, 2, 1, 0, 1]


@given(CALLS)
def test_no_row_overlaps_itself_and_each_is_the_first_that_is_free(
    calls: list[tuple[int, int]],
) -> None:
    starts, durs = in_order(calls)
    rows = depths(starts, starts + durs)
    for at, (start, row) in enumerate(zip(starts, rows, strict=True)):
        running = {int(rows[other]) for other in range(at) if starts[other] + durs[other] > start}
        assert row == min(set(range(len(calls) + 1)) - running)


def test_too_many_at_once_are_not_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depth, "MAX_DEPTH", 2)
    starts = np.array([0, 1, 2, 10])
    assert list(depths(starts, np.array([9, 9, 9, 12]))) == [0, 1, -1, 0]


def test_every_lane_has_its_rows() -> None:
    rows, row = rows_of(
        np.array([2, 0, 2, 2]), np.array([0, 1, 2, 9]), np.array([5, 5, 1, 1]), lanes=3
    )
    assert rows == [(0, 0), (1, 0), (2, 0), (2, 1)]
    assert list(row) == [2, 0, 3, 2]
