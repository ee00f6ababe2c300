"""Step: where the time of one run goes, on one clock."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.spans import (
    call_times,
    inside_runs,
    lacks_kernels,
    run_spans,
    union_ns,
)
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Trace


class StepParts(msgspec.Struct, frozen=True):
    """Parts of one run in ns, which add up to `span_ns`.

    `computing_ns` is the union of operators that are neither communication nor copies;
    `communication_ns` and `copies_ns` are what of those ran beside no computing, copies also
    beside no communication; `idle_ns` is the time in which nothing ran: dispatch, the host, gaps.
    """

    run: int
    span_ns: int
    computing_ns: int
    communication_ns: int
    copies_ns: int
    idle_ns: int


class Exposed(msgspec.Struct, frozen=True):
    """Of the `busy_ns` in which anything ran, what only communication and only copies took, in ns,
    as in `StepParts`."""

    busy_ns: int
    communication_ns: int
    copies_ns: int


class Gaps(msgspec.Struct, frozen=True, eq=False):
    """Where the idle time of a run is, in ns, which adds up to it.

    `before_ns` has a row an operator of the trace: from the end of all earlier calls, whatever
    their stream, to the start of its own, of the first from the start of the run, where it has one.
    `after_ns` is the rest: after the last operator, or somewhere in a run without a start.
    """

    before_ns: np.ndarray
    after_ns: int


class MeanGaps(msgspec.Struct, frozen=True, eq=False):
    """The same of the mean of several runs."""

    before_ns: np.ndarray
    after_ns: float


# Why the parts of a run are not known: operators of a host stand beside kernels of a device, which
# ran at the same time; between the runs of a file that marks none, nothing need run; calls of a run
# have no start; they are longer than their run; kernels of graphs are not in the file.
NoStep = Literal[
    "mixed_levels", "runs_unknown", "no_start_times", "longer_than_run", "kernels_missing"
]


@once
def shown_run(trace: Trace) -> int | None:
    """Return the run that timelines show, of those that count: of one process, whose time is that
    of the mean run, the one nearest to it, of equal ones the middle one; where runs are in blocks,
    which have a typical run, the (lower) median one. None without runs."""
    runs = trace.profiled_runs
    runs = runs[runs["run"].isin(steady_runs(trace).runs)].sort_values("dur_ns", kind="stable")
    if runs.empty:
        return None
    if trace.has_blocks:
        return int(runs["run"].iloc[(len(runs) - 1) // 2])
    dur_ns = runs["dur_ns"].to_numpy(dtype=float)
    apart_ns = np.abs(dur_ns - dur_ns.mean())
    nearest = np.flatnonzero(apart_ns == apart_ns.min())
    return int(runs["run"].iloc[nearest[(len(nearest) - 1) // 2]])


def place_of_shown(trace: Trace) -> tuple[int, int] | None:
    """Return which of the runs that count, in order, `shown_run` is, from 1, and how many these
    are; None without several."""
    run, runs = shown_run(trace), steady_runs(trace).runs
    return None if run is None or len(runs) < 2 else (runs.index(run) + 1, len(runs))


def step_of(trace: Trace) -> StepParts | None:
    """The run that timelines show in parts; None where `why_no_step` says why they are not
    known."""
    found = _found(trace)
    return None if isinstance(found, str) else found[0]


@once
def mean_step(trace: Trace) -> StepParts | None:
    """The mean of the runs that count, in parts, as the figures of the device have it; `run` is the
    one of `step_of`, which is in place of the mean where parts of another are not known. None where
    `step_of` is."""
    shown, spans = step_of(trace), run_spans(trace)
    if shown is None or not len(spans) or spans["gap_ns"].isna().any():
        return shown
    span_ns, busy_ns = (round(float(spans[name].mean())) for name in ("span_ns", "busy_ns"))
    communicates = trace.operators["is_communication"].to_numpy(dtype=bool)
    copies = copies_of(trace) & ~communicates
    computing_ns = with_communication_ns = busy_ns
    if communicates.any() or copies.any():
        computing, with_communication = (
            inside_runs(trace, chosen) for chosen in (~communicates & ~copies, ~copies)
        )
        if (computing < 0).any():
            return shown
        computing_ns = round(float(computing.mean()))
        with_communication_ns = round(float(with_communication.mean()))
    return StepParts(
        run=shown.run,
        span_ns=span_ns,
        computing_ns=computing_ns,
        communication_ns=with_communication_ns - computing_ns,
        copies_ns=busy_ns - with_communication_ns,
        idle_ns=span_ns - busy_ns,
    )


def gaps_of(trace: Trace) -> Gaps | None:
    """Where the idle time of `step_of` is; None where that is."""
    found = _found(trace)
    return None if isinstance(found, str) else found[1]


@once
def mean_gaps(trace: Trace) -> MeanGaps | None:
    """Return where the idle time of the mean of the runs that count is; of runs in blocks, or
    without a start, that of the run of `step_of`, its idle time scaled to that of the mean. None
    where `step_of` is."""
    shown, mean, gaps = step_of(trace), mean_step(trace), gaps_of(trace)
    if shown is None or mean is None or gaps is None:
        return None
    runs = trace.profiled_runs
    runs = runs[runs["run"].isin(steady_runs(trace).runs)]
    if len(runs) < 2 or trace.has_blocks or runs["start_ns"].isna().any():
        scale = mean.idle_ns / shown.idle_ns if shown.idle_ns else 1.0
        return MeanGaps(gaps.before_ns * scale, gaps.after_ns * scale)
    calls = trace.calls.loc[trace.calls["start_ns"].notna()]
    starts, lasts = call_times(calls)
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], (starts + lasts)[order]
    of = calls["operator"].to_numpy()[order]
    reached = np.maximum.accumulate(ends)
    before, after = np.zeros(len(trace.operators)), 0.0
    begins = runs["start_ns"].to_numpy(dtype="int64")
    for begin, end in zip(begins, begins + runs["dur_ns"].to_numpy(dtype="int64"), strict=True):
        near = slice(np.searchsorted(reached, begin, side="right"), np.searchsorted(starts, end))
        inside = ends[near] > begin
        clipped = np.maximum(starts[near][inside], begin), np.minimum(ends[near][inside], end)
        idle_ns = int(end - begin) - union_ns(clipped[0], clipped[1] - clipped[0])
        found = _gaps(trace, of[near][inside], *clipped, int(begin), idle_ns)
        before, after = before + found.before_ns, after + found.after_ns
    return MeanGaps(before / len(runs), after / len(runs))


def why_no_step(trace: Trace) -> NoStep | None:
    """Why `step_of` has nothing for this trace; None where it has."""
    found = _found(trace)
    return found if isinstance(found, str) else None


@once
def exposed_of_file(trace: Trace) -> Exposed | None:
    """The same of all calls of a file that does not mark its runs: nothing follows from the time
    between them. None where it marks them, and where `exposed_of_calls` is."""
    return exposed_of_calls(trace) if why_no_step(trace) == "runs_unknown" else None


@once
def exposed_of_calls(trace: Trace) -> Exposed | None:
    """The same of all calls of any file; None where a call has no start, and without any."""
    calls = trace.calls
    if not len(calls) or not calls["start_ns"].notna().all():
        return None
    starts, lasts = call_times(calls)
    computing, with_communication, busy = _unions(
        trace, calls["operator"].to_numpy(), starts, lasts
    )
    return Exposed(busy, with_communication - computing, busy - with_communication)


class TimedRun(msgspec.Struct, frozen=True, eq=False):
    """The calls that the parts of a run are made of, clipped to it, in ns on the trace's clock.

    `operators` are their rows of the trace's operators; `start_ns` of the run is None where the
    file does not have it.
    """

    run: int
    operators: np.ndarray
    starts_ns: np.ndarray
    ends_ns: np.ndarray
    start_ns: int | None
    span_ns: int


def timed_run(trace: Trace) -> TimedRun | NoStep:
    """The run of `step_of`, or why there is none."""
    run = shown_run(trace)
    on_device = (trace.operators["level"] == "device_kernel").to_numpy()
    if on_device.any() != on_device.all():
        return "mixed_levels"
    row = None if run is None else trace.runs[trace.runs["run"] == run].iloc[0]
    if run is None or row is None or row["kind"] == "file":
        return "runs_unknown"
    calls = _calls(trace, row)
    if calls is None:
        return "no_start_times"
    starts, lasts = call_times(calls)
    ends = starts + lasts
    begin: int | None = None
    if not pd.isna(row["start_ns"]):
        begin, end = int(row["start_ns"]), int(row["start_ns"] + row["dur_ns"])
        inside = (starts < end) & (ends > begin)
        calls = calls[inside]
        starts, ends = np.maximum(starts[inside], begin), np.minimum(ends[inside], end)
    return TimedRun(run, calls["operator"].to_numpy(), starts, ends, begin, int(row["dur_ns"]))


@once
def _found(trace: Trace) -> tuple[StepParts, Gaps] | NoStep:
    timed = timed_run(trace)
    if isinstance(timed, str):
        return timed
    if lacks_kernels(trace):
        return "kernels_missing"
    of, starts, ends = timed.operators, timed.starts_ns, timed.ends_ns
    computing, with_communication, busy = _unions(trace, of, starts, ends - starts)
    span_ns = timed.span_ns
    if busy > span_ns:
        return "longer_than_run"
    parts = StepParts(
        run=timed.run,
        span_ns=span_ns,
        computing_ns=computing,
        communication_ns=with_communication - computing,
        copies_ns=busy - with_communication,
        idle_ns=span_ns - busy,
    )
    return parts, _gaps(trace, of, starts, ends, timed.start_ns, span_ns - busy)


def _unions(
    trace: Trace, of: np.ndarray, starts: np.ndarray, lasts: np.ndarray
) -> tuple[int, int, int]:
    """The time in which calls compute; in which they compute or communicate; in which any runs."""
    communicates = trace.operators["is_communication"].to_numpy()[of]
    copies = copies_of(trace)[of] & ~communicates
    computing, with_communication, busy = (
        union_ns(starts[chosen], lasts[chosen])
        for chosen in (~communicates & ~copies, ~copies, np.ones(len(of), bool))
    )
    return computing, with_communication, busy


def _gaps(
    trace: Trace,
    of: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    begin: int | None,
    idle_ns: int,
) -> Gaps:
    before = np.zeros(len(trace.operators), dtype="int64")
    if len(starts):
        order = np.argsort(starts, kind="stable")
        first = int(starts[order[0]]) if begin is None else begin
        reached = np.maximum.accumulate(np.r_[first, ends[order]])[:-1]
        np.add.at(before, of[order], np.maximum(0, starts[order] - reached))
    return Gaps(before, idle_ns - int(before.sum()))


def _calls(trace: Trace, row: pd.Series) -> pd.DataFrame | None:
    """Those that may have run in the run: where it has a start, of every run on its clock, as a
    kernel may outlive the run that launched it; else its own. None where one of its own has no
    start, or where it has none.

    Blocks are processes with a clock of their own.
    """
    runs, calls = trace.runs, trace.calls
    own = calls["run"].isin([row["run"]]).to_numpy()
    has_start = calls["start_ns"].notna().to_numpy()
    if not own.any() or not has_start[own].all():
        return None
    if pd.isna(row["start_ns"]):
        return calls.loc[own]
    same = runs["block"].isna() if pd.isna(row["block"]) else runs["block"] == row["block"]
    beside = calls["run"].isin(runs.loc[same.fillna(False), "run"]).to_numpy()
    if pd.isna(row["block"]):
        beside |= calls["run"].isna().to_numpy()
    return calls.loc[beside & has_start]
