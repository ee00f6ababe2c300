"""Slow executions: single ones far above their operator's median, kept out of gains.

A pause of the machine in the middle of an operator says nothing of the operator, and one of 20 ms
weighs more in a mean than everything that fusion does. What such executions add beyond the median
is a term of the ledger of its own. A collective is none of them: what it takes beyond its median is
mostly the wait for another rank, and all of its time is communication.
"""

from __future__ import annotations

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.metrics.breakdown import ordered
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Trace

FACTOR = 3.0
# Of the runs: where more are as slow, slow is what the operator is at that place of the run.
MAX_SHARE = 0.25
_MIN_RUNS = 3
_NAME_CHARS = 80


class SlowExecution(msgspec.Struct, frozen=True):
    """One execution: its operator, what it took, and the median of its place over the runs."""

    name: str
    op_type: str | None
    dur_ns: int
    median_ns: float


class SlowExecutions(msgspec.Struct, frozen=True):
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
    operator, run, dur_ns = (calls[name].to_numpy() for name in ("operator", "run", "dur_ns"))
    rows = ordered(operator, run - run.min(initial=0), stable=True)
    first, size = groups_of(operator[rows], run[rows])
    usual = _usual_sizes(operator[rows[first]], size)
    position = np.arange(len(rows)) - np.repeat(first, size)
    judged = np.repeat(size, size) == usual[operator[rows]]
    rows, position = rows[judged], position[judged]
    # Its n-th execution of each operator: the rows are in the order of operators.
    of = operator[rows] * (int(size.max(initial=0)) + 1) + position
    order = ordered(of, dur_ns[rows])
    rows, position = rows[order], position[order]
    first, runs = groups_of(of[order])
    ranked = dur_ns[rows]
    middle_ns = (ranked[first + (runs - 1) // 2] + ranked[first + runs // 2]) / 2
    median_ns, group = np.repeat(middle_ns, runs), np.repeat(np.arange(len(runs)), runs)
    is_far = (ranked > FACTOR * (median_ns + resolution_ns)) & (runs >= _MIN_RUNS)[group]
    as_slow = np.bincount(group[is_far], minlength=len(runs))
    is_single = is_far & (as_slow <= np.maximum(1, runs * MAX_SHARE))[group]
    excess[rows[is_single]] = (ranked - median_ns)[is_single]
    return excess


def groups_of(*keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each group of equal keys starts in these sorted rows, and how many rows it has."""
    starts = np.ones(len(keys[0]), dtype=bool)
    starts[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    first = np.flatnonzero(starts)
    return first, np.diff(first, append=len(starts))


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


def _usual_sizes(operator: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """How many times each operator ran in most runs, the larger number where two are as many;
    from its number of executions in each run."""
    order = np.lexsort((sizes, operator))
    operator, sizes = operator[order], sizes[order]
    first, runs = groups_of(operator, sizes)
    operator, sizes = operator[first], sizes[first]
    order = np.lexsort((sizes, runs, operator))
    usual = np.zeros(operator.max(initial=-1) + 1, dtype="int64")
    usual[operator[order]] = sizes[order]  # the last of an operator stays
    return usual
