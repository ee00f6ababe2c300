"""Run span, busy time and idle time of each run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Diagnostic, Trace

_FEW = 0.05  # of the launches of graphs: those of the last moments may not be in the file


@once
def run_spans(trace: Trace) -> pd.DataFrame:
    """One row per run that counts: `run`, `span_ns`, `busy_ns`, `own_ns`, `kernel_ns`, `gap_ns`.

    busy = time in the run's span in which any operator ran (streams overlap, so never the sum),
    own = time in which an operator that was started in it ran, in its span or not,
    kernel = sum of those, gap = span - busy: what dispatch costs. busy, own and gap are null where
    calls have no start time. Kernels that were started in a run and outlive it count where they
    ran, so a gap is never below 0. Of a run without a start, busy is the union of its own, and a
    gap that would be below 0 is null; so are all gaps of a trace that `lacks_kernels`.
    """
    steady = steady_runs(trace)
    runs = trace.profiled_runs
    runs = runs.take(pd.Index(runs["run"]).get_indexer(pd.Index(steady.runs)))
    calls = steady_calls(trace)
    of = calls["run"].to_numpy("int64", na_value=-1)
    order = np.argsort(of, kind="stable")
    order = order[np.searchsorted(of[order], 0) :]
    has_start = len(order) > 0 and bool(calls["start_ns"].notna().to_numpy()[order].all())
    present, first = np.unique(of[order], return_index=True)
    number = runs["run"].to_numpy()

    def by_run(*columns: np.ndarray, figure: Callable[..., int]) -> np.ndarray:
        """A figure of the calls of each run; 0 for a run without any."""
        parts = (np.split(values[order], first[1:]) for values in columns)
        known = dict(zip(present, map(figure, *parts), strict=False))
        return np.array([known.get(run, 0) for run in number], dtype="int64")

    span_ns = runs["dur_ns"].to_numpy()
    is_known = np.full(len(runs), has_start)
    busy_ns = own_ns = np.zeros(len(runs), dtype="int64")
    if has_start:
        inside, own_ns = _inside(trace, runs), by_run(*call_times(calls), figure=union_ns)
        busy_ns = np.where(inside >= 0, inside, own_ns)
    gap_ns = span_ns - busy_ns
    return pd.DataFrame(
        {
            "run": number,
            "span_ns": span_ns,
            "busy_ns": pd.arrays.IntegerArray(busy_ns, ~is_known),
            "own_ns": pd.arrays.IntegerArray(own_ns, ~is_known),
            "kernel_ns": by_run(calls["dur_ns"].to_numpy(), figure=np.sum),
            "gap_ns": pd.arrays.IntegerArray(
                gap_ns, ~is_known | (gap_ns < 0) | lacks_kernels(trace)
            ),
        }
    )


def lacks_kernels(trace: Trace) -> bool:
    """True where kernels of launched graphs are not in the file, for more than 5 % of the launches:
    where it shows nothing, the device may have run them."""
    return any(
        note.code == "graphs_unrecorded" and note.count > _FEW * _launches(note)
        for note in trace.diagnostics
    )


def _launches(note: Diagnostic) -> float:
    """How many launches the note is about; a note that came with a report may say anything."""
    of = note.values.get("of")
    return of if isinstance(of, int | float) else 0.0


def inside_runs(trace: Trace, operators: np.ndarray) -> np.ndarray:
    """Time in the span of each run of `run_spans` in which one of the operators of this mask ran,
    whatever run started it; -1 for a run without a start."""
    runs = trace.profiled_runs
    at = pd.Index(runs["run"]).get_indexer(pd.Index(steady_runs(trace).runs))
    return _inside(trace, runs.take(at), operators[trace.calls["operator"].to_numpy()])


def _inside(trace: Trace, runs: pd.DataFrame, chosen: np.ndarray | None = None) -> np.ndarray:
    """Time in the span of each run in which an operator of any run ran, in one of the calls
    `chosen` where they are given; -1 without a start.

    Blocks are processes with a clock of their own.
    """
    calls = trace.calls
    timed = calls["start_ns"].notna().to_numpy()
    if chosen is not None:
        timed = timed & chosen
    blocks = np.append(trace.runs["block"].to_numpy("int64", na_value=-1), -1)
    clock_at = pd.Index(trace.runs["run"])
    of_call = blocks[clock_at.get_indexer(pd.Index(calls["run"].to_numpy("int64", na_value=-1)))]
    of_run = runs["block"].to_numpy("int64", na_value=-1)
    starts, lasts = call_times(calls)
    starts, lasts, of_call = starts[timed], lasts[timed], of_call[timed]
    begins = runs["start_ns"].to_numpy("int64", na_value=-1)
    ends = begins + runs["dur_ns"].to_numpy("int64", na_value=0)
    has_start = runs["start_ns"].notna().to_numpy()
    inside = np.full(len(runs), -1, dtype="int64")
    for clock in np.unique(of_run):
        mine = (of_run == clock) & has_start
        until = busy_until(starts[of_call == clock], lasts[of_call == clock])
        inside[mine] = until(ends[mine]) - until(begins[mine])
    return inside


def busy_until(start_ns: np.ndarray, dur_ns: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from times to the length of the union of the intervals before them."""
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
    """Starts and lengths of calls; the start is 0 where there is none."""
    nested = calls["span_ns"]
    dur_ns, span_ns = calls["dur_ns"].to_numpy(), nested.to_numpy("int64", na_value=0)
    lasts = np.where(nested.isna().to_numpy(), dur_ns, span_ns)
    return calls["start_ns"].to_numpy("int64", na_value=0), lasts


def union_ns(start_ns: np.ndarray, dur_ns: np.ndarray) -> int:
    """Length of the union of the intervals [start, start + dur)."""
    if len(start_ns) == 0:
        return 0
    order = np.argsort(start_ns, kind="stable")
    start, end = start_ns[order], (start_ns + dur_ns)[order]
    reached = np.maximum.accumulate(end)
    before = np.concatenate(([start[0]], reached[:-1]))
    return int(np.maximum(0, end - np.maximum(start, before)).sum())
