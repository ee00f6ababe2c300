"""Depth: rows of a lane, so that no two calls of a row overlap."""

from __future__ import annotations

import numpy as np

MAX_DEPTH = 48  # rows of a lane; what would need more is not placed


def depths(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The row of each call in its lane, from 0: the first in which no earlier call still runs.

    Calls come in the order of their starts, of equal ones the longest first, so a call that runs
    inside another is in a row below it. -1 for a call that MAX_DEPTH others run beside.
    """
    rows = np.zeros(len(starts), dtype="int16")
    if len(starts) < 2:
        return rows
    reached = np.maximum.accumulate(ends)
    opens = np.r_[True, starts[1:] >= reached[:-1]]  # nothing before still runs
    alone = opens & np.r_[opens[1:], True]
    crowded = np.flatnonzero(~alone)
    free_at: list[int] = []
    firsts, lasts, resets = (values[crowded].tolist() for values in (starts, ends, opens))
    found = [0] * len(crowded)
    for at, start in enumerate(firsts):
        if resets[at]:
            free_at = [lasts[at]]
            continue
        for row, free in enumerate(free_at):
            if free <= start:
                free_at[row] = lasts[at]
                found[at] = row
                break
        else:
            if len(free_at) == MAX_DEPTH:
                found[at] = -1
            else:
                found[at] = len(free_at)
                free_at.append(lasts[at])
    rows[crowded] = found
    return rows


def rows_of(
    lane: np.ndarray, starts: np.ndarray, durs: np.ndarray, lanes: int
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """All rows as (lane, depth), one for each lane at least, and the row of each call, -1 for one
    that is not placed. Calls come as `depths` wants them."""
    rows: list[tuple[int, int]] = []
    row = np.full(len(lane), -1, dtype="int64")
    for number in range(lanes):
        calls = np.flatnonzero(lane == number)
        depth = depths(starts[calls], starts[calls] + durs[calls])
        row[calls] = np.where(depth < 0, -1, len(rows) + depth)
        rows += [(number, each) for each in range(int(depth.max(initial=0)) + 1)]
    return rows, row
