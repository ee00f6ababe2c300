"""Run span, busy time and dispatch gap of each run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.metrics.breakdown import steady_calls
from analysis.metrics.memo import once
from analysis.metrics.warmup import steady_runs
from analysis.trace import Trace


@once
def run_spans(trace: Trace) -> pd.DataFrame:
    """One row per run that counts: `run`, `span_ns`, `busy_ns`, `kernel_ns`, `gap_ns`.

    busy = time in the run's span in which any operator ran (streams overlap, so never the sum),
    kernel = sum of its own, gap = span - busy: what dispatch costs. busy and gap are null where
    calls have no start time. Kernels that were started in a run and outlive it count where they
    ran, so a gap is never below 0. Of a run without a start, busy is the union of its own, and a
    gap that would be below 0 is null.
    """
    steady = steady_runs(trace)
    runs = trace.profiled_runs.set_index("run").loc[list(steady.runs)]
    calls = steady_calls(trace, steady)
    calls = calls[calls["run"].notna()].sort_values("run", kind="stable")
    dur_ns = calls["dur_ns"].to_numpy()
    has_start = len(calls) > 0 and bool(calls["start_ns"].notna().all())
    of = calls["run"].to_numpy(dtype="int64")
    present, first = np.unique(of, return_index=True)
    kernel = dict(zip(present, np.split(dur_ns, first[1:]), strict=False))
    span_ns = runs["dur_ns"].to_numpy()
    busy_ns = pd.array([None] * len(runs), "Int64")
    if has_start:
        starts, lasts = call_times(calls)
        parts = (np.split(values, first[1:]) for values in (starts, lasts))
        own = {run: union_ns(*part) for run, *part in zip(present, *parts, strict=True)}
        busy_ns = pd.array([own.get(run, 0) for run in runs.index], "Int64")
        inside = _inside(trace, runs)
        busy_ns[inside >= 0] = inside[inside >= 0]
    gap_ns = pd.Series(span_ns - busy_ns, dtype="Int64")
    return pd.DataFrame(
        {
            "run": runs.index.to_numpy(),
            "span_ns": span_ns,
            "busy_ns": busy_ns,
            "kernel_ns": [int(kernel[run].sum()) if run in kernel else 0 for run in runs.index],
            "gap_ns": gap_ns.where(gap_ns >= 0).array,
        }
    )


def _inside(trace: Trace, runs: pd.DataFrame) -> np.ndarray:
    """Time in the span of each run in which an operator of any run ran; -1 without a start.

    Blocks are processes with a clock of their own.
    """
    calls = trace.calls[trace.calls["start_ns"].notna()]
    block_of = trace.runs.set_index("run")["block"].to_dict()
    clocks = {run: -1 if pd.isna(block) else int(block) for run, block in block_of.items()}
    of_call = calls["run"].map(clocks).fillna(-1).to_numpy(dtype="int64")
    of_run = np.array([clocks[run] for run in runs.index], dtype="int64")
    starts, lasts = call_times(calls)
    begins = runs["start_ns"].to_numpy("int64", na_value=-1)
    ends = begins + runs["dur_ns"].to_numpy("int64", na_value=0)
    inside = np.full(len(runs), -1, dtype="int64")
    for clock in np.unique(of_run):
        mine = (of_run == clock) & runs["start_ns"].notna().to_numpy()
        until = _busy_until(starts[of_call == clock], lasts[of_call == clock])
        inside[mine] = until(ends[mine]) - until(begins[mine])
    return inside


def _busy_until(start_ns: np.ndarray, dur_ns: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function from times to the length of the union of the intervals before them."""
    if len(start_ns) == 0:
        return np.zeros_like
    order = np.argsort(start_ns, kind="stable")
    start, end = start_ns[order], (start_ns + dur_ns)[order]
    reached = np.maximum.accumulate(end)
    opens = np.flatnonzero(np.r_[True, start[1:] > reached[:-1]])
    starts, ends = start[opens], reached[np.r_[opens[1:] - 1, len(start) - 1]]
    before = np.concatenate(([0], np.cumsum(ends - starts)))

    def until(times: np.ndarray) -> np.ndarray:
        at = np.searchsorted(starts, times, side="right") - 1
        within = np.minimum(times, ends[np.maximum(at, 0)]) - starts[np.maximum(at, 0)]
        busy: np.ndarray = np.where(at < 0, 0, before[np.maximum(at, 0)] + within)
        return busy

    return until


def call_times(calls: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths of calls that have a start."""
    lasts = calls["span_ns"].fillna(calls["dur_ns"])
    return calls["start_ns"].to_numpy(dtype="int64"), lasts.to_numpy(dtype="int64")


def union_ns(start_ns: np.ndarray, dur_ns: np.ndarray) -> int:
    """Length of the union of the intervals [start, start + dur)."""
    if len(start_ns) == 0:
        return 0
    order = np.argsort(start_ns, kind="stable")
    start, end = start_ns[order], (start_ns + dur_ns)[order]
    reached = np.maximum.accumulate(end)
    before = np.concatenate(([start[0]], reached[:-1]))
    return int(np.maximum(0, end - np.maximum(start, before)).sum())
