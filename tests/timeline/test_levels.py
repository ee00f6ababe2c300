"""Levels of detail against what every call adds by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.timeline.levels import Row

CLASSES = 3
# Gaps before calls, lengths and classes: calls of one row do not overlap.
CALLS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 90), st.integers(0, CLASSES - 1)),
    min_size=1,
    max_size=80,
)
LEVELS = st.integers(0, 12)


def row_of(calls: list[tuple[int, int, int]]) -> Row:
    gaps, durs, kinds = (np.array(column, dtype="int64") for column in zip(*calls, strict=True))
    return Row(np.cumsum(gaps + durs) - durs, durs, kinds, CLASSES)


def brute_force(row: Row, calls: list[int], level: int) -> dict[int, dict[str, object]]:
    """Each bin that these calls touch, from what each adds; a call of no time touches one."""
    bins: dict[int, dict[str, object]] = {}
    size = 1 << level
    for call in calls:
        start, dur = int(row.starts[call]), int(row.durs[call])
        touched = range(start // size, max(start, start + dur - 1) // size + 1)
        for at in touched:
            found = bins.setdefault(
                at, {"busy": 0, "count": 0, "touching": [], "times": [0] * CLASSES}
            )
            part = min(start + dur, (at + 1) * size) - max(start, at * size)
            found["busy"] += part  # type: ignore[operator]
            found["times"][row.kinds[call]] += part  # type: ignore[index]
            found["count"] += at == start // size  # type: ignore[operator]
            found["touching"].append((-dur, call))  # type: ignore[attr-defined]
    return bins


@given(CALLS, LEVELS, st.integers(0, 8000), st.integers(1, 8000))
def test_a_window_is_what_its_calls_add_up_to(
    calls: list[tuple[int, int, int]], level: int, start: int, length: int
) -> None:
    row = row_of(calls)
    end = start + length
    size = 1 << level
    view = row.view(start, end, level, most=0)
    running = [
        call
        for call in range(len(row))
        if row.starts[call] < end
        and (row.starts[call] >= start or row.starts[call] + row.durs[call] > start)
    ]
    assert list(view.calls) == [call for call in running if row.durs[call] >= size]
    if not running:
        return
    short = [call for call in range(len(row)) if row.durs[call] < size]
    expected = {
        at: found
        for at, found in brute_force(row, short, level).items()
        if start // size <= at <= (end - 1) // size
    }
    bins = view.bins
    assert list(bins.at) == sorted(expected)
    for place, at in enumerate(bins.at):
        found = expected[int(at)]
        assert bins.busy_ns[place] == found["busy"]
        assert bins.count[place] == found["count"]
        assert list(bins.times[place]) == found["times"]
        assert bins.longest[place] == min(found["touching"])[1]  # type: ignore[call-overload]


@given(CALLS, LEVELS)
def test_few_calls_are_shown_as_they_are_and_items_are_never_underestimated(
    calls: list[tuple[int, int, int]], level: int
) -> None:
    row = row_of(calls)
    end = int((row.starts + row.durs).max()) + 1
    bins = (end - 1 >> level) + 1
    view = row.view(0, end, level)
    assert len(view.calls) + len(view.bins) <= row.items(0, end, level)
    if len(row) <= bins:
        assert len(view.calls) == len(row) and len(view.bins) == 0


@pytest.mark.parametrize("spread", [1, 1000])
def test_coarser_levels_are_made_of_finer_ones_however_calls_lie(spread: int) -> None:
    """Long enough that bins are kept: in each level they hold all of the short time."""
    rng = np.random.default_rng(spread)
    durs = rng.integers(0, 5000, 5000)
    gaps = np.where(rng.random(5000) < 0.01, 10**6 * spread, rng.integers(0, 100, 5000))
    row = Row(np.cumsum(gaps + durs) - durs, durs, rng.integers(0, CLASSES, 5000), CLASSES)
    end = int((row.starts + row.durs).max())
    for level in range(4, 30):
        view = row.view(0, end, level, most=10)
        short = row.durs < 1 << level
        assert view.bins.busy_ns.sum() == row.durs[short].sum()
        assert view.bins.count.sum() == short.sum()
        assert view.bins.times.sum() == view.bins.busy_ns.sum()
        assert len(view.calls) + short.sum() == 5000
