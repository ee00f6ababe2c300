"""Sweeps over intervals of time: unions, cut to windows, in one pass over sorted bounds."""

from __future__ import annotations

import numpy as np


def merged(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The union of intervals as disjoint ones, by start."""
    if not len(starts):
        return starts.astype("int64"), ends.astype("int64")
    order = np.argsort(starts, kind="stable")
    start, end = starts[order], ends[order]
    reached = np.maximum.accumulate(end)
    opens = np.flatnonzero(np.r_[True, start[1:] > reached[:-1]])
    return start[opens], reached[np.r_[opens[1:] - 1, len(start) - 1]]


def union_between(
    starts: np.ndarray, ends: np.ndarray, begins: np.ndarray, until: np.ndarray
) -> np.ndarray:
    """Length of the union of the intervals inside each window [begin, until)."""
    first, last = merged(starts, ends)
    if not len(first) or not len(begins):
        return np.zeros(len(begins), dtype="int64")
    before = np.r_[0, np.cumsum(last - first)]

    def reached(times: np.ndarray) -> np.ndarray:
        at = np.searchsorted(first, times, side="right") - 1
        place = np.maximum(at, 0)
        within = np.minimum(times, last[place]) - first[place]
        covered: np.ndarray = np.where(at < 0, 0, before[place] + within)
        return covered

    difference: np.ndarray = reached(until) - reached(begins)
    return difference
