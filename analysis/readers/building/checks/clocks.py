"""Clocks of host and device: a kernel cannot begin before the call that launched it."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.readers.building.coded import Bools
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.trace import Diagnostic, Value

_MOST = 0.5  # of a device's kernels: fewer are joined with the wrong call
_STEADY = 20  # times the median: what is further off is, too


def clock_skew(
    starts: Ints, launched: Ints, known: Bools, devices: Ints
) -> tuple[Ints, list[Diagnostic]]:
    """By how much to move the start of each kernel, in ns, so that none of its device begins
    before its launch, and what is said of it.

    `launched` are the times of launches, where `known`; `devices` are numbers from 0 on, below for
    none. Nothing is moved where fewer than half of a device's kernels begin too early, or one by
    far more than the others: then a doubt is all that there is.
    """
    moves = np.zeros(len(starts), dtype="int64")
    early_ns = np.where(known, launched - starts, 0)
    is_early = early_ns > 0
    if not is_early.any():
        return moves, []
    moved, unmoved = is_early & False, is_early
    for device in np.unique(devices[is_early]).tolist():
        own = devices == device
        lags = early_ns[own & is_early]
        if len(lags) >= _MOST * (own & known).sum() and lags.max() <= _STEADY * np.median(lags):
            moves[own] = lags.max()
            moved = moved | (own & is_early)
    unmoved = is_early & ~moved
    notes = []
    for chosen, values in ((moved, {"moved": 1}), (unmoved, {})):
        if chosen.any():
            told: dict[str, Value] = {"by_ns": int(early_ns[chosen].max()), **values}
            notes.append(
                Diagnostic("warning", "kernels_before_launch", int(chosen.sum()), "", told)
            )
    return moves, notes
