"""How often the verdict on several files a side is wrong: recorded processes, cut into windows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from fusescope.analysis.compare.timing.file_order import file_order
from fusescope.analysis.compare.timing.samples import BlockTimes
from fusescope.analysis.compare.timing.verdict import (
    Verdict,
    mean_verdict,
    paired_files_verdict,
    unpaired_verdict,
)

PAIRS, MIXED, IN_TURN = "ABABABABAB", "AABBAABBAB", "AAAAABBBBB"


def judged(order: str, times: np.ndarray, gain: float = 0.0) -> Verdict:
    """The verdict on processes with these ln(seconds) in the order in which they ran, side B by
    ln(gain) faster."""
    at = {side: [n for n, one in enumerate(order) if one == side] for side in "AB"}
    first, second = (times[at["A"]], times[at["B"]] - gain)
    found = file_order(at["A"], at["B"])
    if found == "pairs":
        tables = [pd.DataFrame({1: part}) for part in (first, second)]
        return paired_files_verdict(*map(BlockTimes, tables), "run_span")
    pairing = "alternating_files" if found == "alternating" else "separate_files"
    return unpaired_verdict(first, second, "run_span", pairing)


def shares(order: str, processes: Iterable[np.ndarray], gain: float = 0.0) -> tuple[float, float]:
    """The part of all windows of neighbours with a verdict, and with an interval that excludes no
    change: false alarms where `gain` is 0."""
    found = [
        judged(order, times[at : at + len(order)], gain)
        for times in processes
        for at in range(len(times) - len(order) + 1)
    ]
    excluding = [not v.interval.low <= 1 <= v.interval.high for v in found if v.interval]
    return _share([v.is_decided for v in found]), _share(excluding)


def one_each(runs: Sequence[np.ndarray], apart: int) -> float:
    """The part of pairs of processes, `apart` from each other, with a verdict: the times of the
    runs of each."""
    verdicts = [
        mean_verdict(one, other, "run_span") for one, other in zip(runs, runs[apart:], strict=False)
    ]
    return _share([verdict.is_decided for verdict in verdicts])


def beyond(processes: Iterable[np.ndarray], apart: int, ratio: float) -> float:
    """The part of pairs of processes that differ by more than `ratio`."""
    apart_by = np.concatenate([np.abs(times[apart:] - times[:-apart]) for times in processes])
    return _share((apart_by > math.log(ratio)).tolist())


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)
