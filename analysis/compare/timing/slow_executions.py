"""Slow executions: single ones far above their operator's median, kept out of gains.

A pause of the machine in the middle of an operator says nothing of the operator, and one of 20 ms
weighs more in a mean than everything that fusion does. What such executions add beyond the median
is a term of the ledger of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.text import clean_text
from analysis.trace import Trace

FACTOR = 3.0
# Of the runs: where more are as slow, slow is what the operator is at that place of the run.
MAX_SHARE = 0.25
_MIN_RUNS = 3
_NAME_CHARS = 80


@dataclass(frozen=True)
class SlowExecution:
    """One execution: its operator, what it took, and the median of its place over the runs."""

    name: str
    op_type: str | None
    dur_ns: int
    median_ns: float


@dataclass(frozen=True)
class SlowExecutions:
    """Those of one side: how many, what they add to the mean run beyond their medians, and the
    one that adds most; None without any."""

    count: int = 0
    per_run_ns: float = 0.0
    largest: SlowExecution | None = None


def excess_ns(calls: pd.DataFrame, resolution_ns: float) -> np.ndarray:
    """What each call (columns operator, run, dur_ns) took beyond its median if it is slow, else 0.

    The median is that of the operator's n-th execution over the runs, so that a kernel that works
    on several sizes in every run is compared with itself. Slow: more than FACTOR x (median + one
    resolution, to which durations are cut), while no more than a quarter of the runs, or one, are
    as slow there. Runs in which an operator ran another number of times than in most are not
    judged, nor is what ran in fewer than 3 runs.
    """
    excess = np.zeros(len(calls))
    table = calls[["operator", "run", "dur_ns"]].reset_index(drop=True)
    by_run = table.groupby(["operator", "run"], sort=False)["dur_ns"]
    table["position"], size = by_run.cumcount(), by_run.transform("size")
    table = table[size == table["operator"].map(_usual_size(by_run.size()))]
    by_position = table.groupby(["operator", "position"], sort=False)["dur_ns"]
    runs, median_ns = by_position.transform("size"), by_position.transform("median")
    is_far = (table["dur_ns"] > FACTOR * (median_ns + resolution_ns)) & (runs >= _MIN_RUNS)
    table, runs, median_ns = table[is_far], runs[is_far], median_ns[is_far]
    as_slow = table.groupby(["operator", "position"], sort=False)["dur_ns"].transform("size")
    is_single = as_slow <= np.maximum(1, runs * MAX_SHARE)
    excess[table.index[is_single]] = (table["dur_ns"] - median_ns)[is_single]
    return excess


def slow_executions(
    trace: Trace, calls: pd.DataFrame, excess: np.ndarray, per_run_ns: float
) -> SlowExecutions:
    """What is told of the slow ones among these calls, which add `per_run_ns` to the mean run."""
    count = int((excess > 0).sum())
    if not count:
        return SlowExecutions()
    worst = int(excess.argmax())
    call = calls.iloc[worst]
    operator = trace.operators.iloc[int(call["operator"])]
    op_type = operator["op_type"]
    largest = SlowExecution(
        name=clean_text(str(operator["name"]), _NAME_CHARS),
        op_type=clean_text(op_type, _NAME_CHARS) if isinstance(op_type, str) else None,
        dur_ns=int(call["dur_ns"]),
        median_ns=float(call["dur_ns"] - excess[worst]),
    )
    return SlowExecutions(count, per_run_ns, largest)


def _usual_size(sizes: pd.Series) -> pd.Series:
    """How many times each operator ran in most runs; `sizes` by operator and run."""
    runs = sizes.groupby([sizes.index.get_level_values("operator"), sizes.to_numpy()]).size()
    usual = runs.sort_values(kind="stable").reset_index(level=1, name="runs")
    return usual.groupby(level=0)["level_1"].last()
