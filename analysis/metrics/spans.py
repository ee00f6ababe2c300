"""Run span, busy time and dispatch gap of each run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.metrics.breakdown import steady_calls
from analysis.metrics.memo import once
from analysis.metrics.warmup import steady_runs
from analysis.trace import Trace


@once
def run_spans(trace: Trace) -> pd.DataFrame:
    """One row per run that counts: `run`, `span_ns`, `busy_ns`, `kernel_ns`, `gap_ns`.

    busy = union of operator time (streams overlap, so never the sum), kernel = sum, gap =
    span - busy: what dispatch costs. busy and gap are null where calls have no start time.
    """
    steady = steady_runs(trace)
    runs = trace.profiled_runs.set_index("run").loc[list(steady.runs)]
    calls = steady_calls(trace, steady)
    calls = calls[calls["run"].notna()]
    kernel = calls.groupby("run")["dur_ns"].sum()
    timed = calls["start_ns"].notna()
    busy = {
        run: union_ns(
            group["start_ns"].to_numpy(dtype="int64"),
            group["span_ns"].fillna(group["dur_ns"]).to_numpy(dtype="int64"),
        )
        for run, group in calls[timed].groupby("run")
    }
    has_start = bool(timed.all()) and len(calls) > 0
    spans = pd.DataFrame(
        {
            "run": runs.index.to_numpy(),
            "span_ns": runs["dur_ns"].to_numpy(),
            "busy_ns": [busy.get(run, 0) if has_start else None for run in runs.index],
            "kernel_ns": [int(kernel.get(run, 0)) for run in runs.index],
        }
    )
    spans["busy_ns"] = spans["busy_ns"].astype("Int64")
    spans["gap_ns"] = (spans["span_ns"] - spans["busy_ns"]).astype("Int64")
    return spans


def union_ns(start_ns: np.ndarray, dur_ns: np.ndarray) -> int:
    """Length of the union of the intervals [start, start + dur)."""
    if len(start_ns) == 0:
        return 0
    order = np.argsort(start_ns, kind="stable")
    start, end = start_ns[order], (start_ns + dur_ns)[order]
    reached = np.maximum.accumulate(end)
    before = np.concatenate(([start[0]], reached[:-1]))
    return int(np.maximum(0, end - np.maximum(start, before)).sum())
