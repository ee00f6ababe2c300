"""Places in time that findings are about, held against a count of every ns."""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.metrics.stretch import (
    Stretch,
    longest_exposed,
    longest_gap,
    merged,
    most_idle,
)
from tests.metrics.test_step import made

CALLS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 199), st.integers(1, 60)), min_size=1, max_size=9
)


@given(CALLS)
def test_the_longest_time_that_nothing_hides(calls: list[tuple[int, int, int]]) -> None:
    """Copies are hidden by all else, communication by kernels alone."""
    trace = made(calls, [(0, 200)])
    ran = [{kind for kind, start, dur in calls if start <= at < start + dur} for at in range(200)]
    for what, alone in (("communication", lambda now: 2 in now and 0 not in now),
                        ("copies", lambda now: now == {1})):  # fmt: skip
        lengths = [len(list(part)) for is_alone, part in groupby(ran, alone) if is_alone]
        found = longest_exposed(trace, what)
        assert (found.end_ns - found.start_ns if found else 0) == max(lengths, default=0)
        assert found is None or all(map(alone, ran[found.start_ns : found.end_ns]))


@given(CALLS)
def test_the_longest_gap_before_an_operator_is_idle(calls: list[tuple[int, int, int]]) -> None:
    trace = made(calls, [(0, 200)])
    idle = [not any(s <= at < s + dur for _, s, dur in calls) for at in range(200)]
    for kind in range(3):
        found = longest_gap(trace, kind)
        if found is None:
            continue
        assert all(idle[found.start_ns : found.end_ns])
        assert found.end_ns in [start for of, start, _ in calls if of == kind]
        assert found.start_ns == 0 or not idle[found.start_ns - 1]
    window = most_idle(trace)
    first, last = idle.index(False), 200 - idle[::-1].index(False)
    if window is None:
        assert last - first < 10
        return
    edges = [first + at * (last - first) // 10 for at in range(11)]
    counts = [idle[start:end].count(False) for start, end in pairwise(edges)]
    assert idle[window.start_ns : window.end_ns].count(False) == min(counts)


def test_nothing_is_asked_of_a_run_without_a_start() -> None:
    """Gaps are between operators then; 40 ns before the second."""
    trace = made([(0, 10, 10), (2, 60, 10)], [(None, 200)])
    assert longest_gap(trace, 2) == Stretch(20, 60)
    assert longest_gap(trace, 0) is None


def test_intervals_that_touch_are_one() -> None:
    starts, ends = merged(np.array([5, 0, 20]), np.array([9, 5, 30]))
    assert (list(starts), list(ends)) == ([0, 20], [9, 30])
