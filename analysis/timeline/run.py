"""The run that one side of a timeline shows: its calls, each with its place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.messages import Said
from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.spans import call_times, run_spans
from fusescope.analysis.metrics.step import place_of_shown, shown_run
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.timeline import drawn as wording
from fusescope.analysis.work_units import run_word

_CALL_FIELDS = [
    "operator", "run", "device", "stream", "start_ns", "dur_ns", "span_ns", "n", "source_row"
]  # fmt: skip


@dataclass(frozen=True)
class DrawnRun:
    """The run that one side shows: the calls to draw with their places, in order.

    `own` says which calls are of the run; others ran in its time, clipped to what is drawn: `cut`
    says which of them began before. `total` calls have a place, of which `others` are not of the
    run; `unplaced` have none because they lack a start where others have one. `place` is which of
    several runs it is, None of the only one. `busy_ns` is the union of operator times of a file
    that does not mark its runs, None of a run and where it is not known. `end_ns` is where the last
    of all ends; `shown_ns` where the first begins that is not drawn, None where all are. Times are
    after `origin_ns` of the trace's clock, None where they are not times of it.
    """

    calls: pd.DataFrame
    own: np.ndarray
    cut: np.ndarray
    start_ns: np.ndarray
    dur_ns: np.ndarray
    run_ns: int
    place: Said | None
    busy_ns: float | None
    total: int
    others: int
    unplaced: int
    in_order: bool
    end_ns: int
    shown_ns: int | None
    origin_ns: int | None


def drawn_run(trace: Trace, max_calls: int | None) -> DrawnRun:
    run = shown_run(trace)
    calls = steady_calls(trace)[_CALL_FIELDS]  # a copy of counters, which may be many, takes longer
    row = trace.profiled_runs[trace.profiled_runs["run"] == run]
    if run is not None:
        calls = calls[calls["run"] == run]
        beside = _beside(trace, row, calls)
        calls = pd.concat([calls, beside]) if len(beside) else calls
    has_start = calls["start_ns"].notna().to_numpy()
    in_order = len(calls) > 0 and not has_start.any()
    unplaced = 0 if in_order else int((~has_start).sum())
    origin: int | None = None
    own, cut = _of_run(calls, run), np.zeros(len(calls), dtype=bool)
    if in_order:
        dur_ns = calls["dur_ns"].to_numpy(dtype="int64")
        start = np.cumsum(dur_ns) - dur_ns
    else:
        calls, own = calls[has_start], own[has_start]
        start, dur_ns = call_times(calls)
        known = len(row) > 0 and not pd.isna(row["start_ns"].iloc[0])
        origin = int(row["start_ns"].iloc[0]) if known else int(start.min()) if len(start) else 0
        start = start - origin
        if not own.all():
            start, dur_ns, cut = _clipped(start, dur_ns, own, int(row["dur_ns"].iloc[0]))
        order = _in_order(start, dur_ns)
        calls, own = calls.iloc[order], own[order]
        start, dur_ns, cut = start[order], dur_ns[order], cut[order]
    total = len(calls)
    return DrawnRun(
        calls=calls.iloc[:max_calls],
        own=own[:max_calls],
        cut=cut[:max_calls],
        start_ns=start[:max_calls],
        dur_ns=dur_ns[:max_calls],
        run_ns=int(row["dur_ns"].iloc[0]) if len(row) and not trace.ends_early else 0,
        place=_place(trace),
        busy_ns=None if trace.has_runs or in_order else _busy_ns(trace),
        total=total,
        others=total - int(own.sum()),
        unplaced=unplaced,
        in_order=in_order,
        end_ns=int((start + dur_ns).max(initial=0)),
        shown_ns=int(start[max_calls]) if max_calls is not None and total > max_calls else None,
        origin_ns=origin,
    )


def _place(trace: Trace) -> Said | None:
    """Return which of several runs is shown, and why that one; where none is near it the mean."""
    place = place_of_shown(trace)
    if place is None:
        return None
    if trace.has_blocks:
        return wording.median_said(place[1])
    runs = trace.profiled_runs
    dur_ns = runs[runs["run"].isin(steady_runs(trace).runs)]["dur_ns"]
    shown_ns = int(runs[runs["run"] == shown_run(trace)]["dur_ns"].iloc[0])
    return wording.nearest_said(
        run_word(trace), *place, shown_ns, float(dur_ns.mean()), _idle_ns(trace)
    )


def _idle_ns(trace: Trace) -> tuple[float, float] | None:
    """Return how long the run that is shown is idle, and the mean of all; None where unknown."""
    spans = run_spans(trace)
    gaps = spans["gap_ns"]
    own = gaps[spans["run"] == shown_run(trace)]
    if gaps.isna().any() or own.empty:
        return None
    return float(own.iloc[0]), float(gaps.mean())


def _of_run(calls: pd.DataFrame, run: int | None) -> np.ndarray:
    """Return which calls are of a run; all without one."""
    if run is None:
        return np.ones(len(calls), dtype=bool)
    own: np.ndarray = calls["run"].to_numpy("int64", na_value=-1) == run
    return own


def _beside(trace: Trace, row: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Return the calls that run in the time of a run, or until the last of its `own` ends, and are
    not of it, such as kernels launched before: where they were not drawn the device would seem
    idle. None of recordings, whose blocks have clocks of their own."""
    calls = trace.calls
    if row.empty or pd.isna(row["start_ns"].iloc[0]) or trace.runs["block"].notna().any():
        return calls.iloc[:0][_CALL_FIELDS]
    begin, run = int(row["start_ns"].iloc[0]), int(row["run"].iloc[0])
    starts, lasts = call_times(own[own["start_ns"].notna()])
    last = max(begin + int(row["dur_ns"].iloc[0]), int((starts + lasts).max(initial=0)))
    starts, lasts = call_times(calls)
    # What takes no time by the clock of the file is an execution, too.
    inside = (starts < last) & ((starts >= begin) | (starts + lasts > begin))
    inside &= calls["start_ns"].notna().to_numpy() & ~_of_run(calls, run)
    beside: pd.DataFrame = calls.loc[inside, _CALL_FIELDS]
    return beside


def _clipped(
    start: np.ndarray, dur_ns: np.ndarray, own: np.ndarray, run_ns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts and lengths of calls, those that are not of the run clipped to what is drawn,
    from 0 to the end of the run or of its last call, and which of these began before."""
    last = int((start + dur_ns)[own].max(initial=run_ns))
    first = np.where(own, start, np.maximum(start, 0))
    end = np.where(own, start + dur_ns, np.minimum(start + dur_ns, last))
    return first, end - first, start < first


def _busy_ns(trace: Trace) -> float | None:
    """Return the union of operator times of a file that counts as one run; None where not known."""
    busy = run_spans(trace)["busy_ns"].dropna()
    return float(busy.iloc[0]) if len(busy) == 1 else None


def _in_order(start: np.ndarray, dur_ns: np.ndarray) -> np.ndarray:
    """The order by start, of equal ones the longest first: as np.lexsort, in a fraction of its time
    where most stand in order and few are equal."""
    order = np.argsort(start, kind="stable")
    equal = np.flatnonzero(np.diff(start[order]) == 0)
    places = np.union1d(equal, equal + 1)
    those = order[places]
    order[places] = those[np.lexsort((-dur_ns[those], start[those]))]
    return order
