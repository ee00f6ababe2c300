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
    calls = calls[calls["run"].notna()].sort_values("run", kind="stable")
    dur_ns = calls["dur_ns"].to_numpy()
    has_start = len(calls) > 0 and bool(calls["start_ns"].notna().all())
    of = calls["run"].to_numpy(dtype="int64")
    present, first = np.unique(of, return_index=True)
    kernel = dict(zip(present, np.split(dur_ns, first[1:]), strict=False))
    busy = {}
    if has_start:
        starts = calls["start_ns"].to_numpy(dtype="int64")
        lasts = calls["span_ns"].fillna(calls["dur_ns"]).to_numpy(dtype="int64")
        parts = (np.split(values, first[1:]) for values in (starts, lasts))
        busy = {run: union_ns(*part) for run, *part in zip(present, *parts, strict=True)}
    span_ns = runs["dur_ns"].to_numpy()
    busy_ns = pd.array([busy.get(run, 0) if has_start else None for run in runs.index], "Int64")
    return pd.DataFrame(
        {
            "run": runs.index.to_numpy(),
            "span_ns": span_ns,
            "busy_ns": busy_ns,
            "kernel_ns": [int(kernel[run].sum()) if run in kernel else 0 for run in runs.index],
            "gap_ns": span_ns - busy_ns,
        }
    )


def union_ns(start_ns: np.ndarray, dur_ns: np.ndarray) -> int:
    """Length of the union of the intervals [start, start + dur)."""
    if len(start_ns) == 0:
        return 0
    order = np.argsort(start_ns, kind="stable")
    start, end = start_ns[order], (start_ns + dur_ns)[order]
    reached = np.maximum.accumulate(end)
    before = np.concatenate(([start[0]], reached[:-1]))
    return int(np.maximum(0, end - np.maximum(start, before)).sum())
