"""Repeated runs: files that mark no runs, cut where their kernels begin anew, on both sides alike.

Two windows of a fixed time hold different numbers of the same work, so their whole times say
nothing; the time of one repetition does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.compare.runs.entered import lacks_runs
from analysis.compare.side import Side
from analysis.metrics.device import copies_of
from analysis.trace import Diagnostic, Trace, runs_frame
from analysis.work_units import Units, common_units

REPEAT = "repeat"  # the kind of such a run
_FOLLOW = 0.75  # of the time from the first to the last, which repetitions must fill


def with_repeated_runs(baseline: Side, candidate: Side) -> tuple[Side, Side]:
    """Return both sides with one run for each repetition of their kernels, and a note that says so;
    unchanged where a side marks its runs, is of several files, or repeats too little, and where the
    device pauses between repetitions and no file says why: it may have waited for anything."""
    sides = (baseline, candidate)
    if any(side.experiment is not None or side.files for side in sides):
        return sides
    if not all(lacks_runs(side.trace) for side in sides):
        return sides
    first, second = common_units(baseline.trace, candidate.trace)
    if not (_follow(first) and _follow(second)):
        return sides
    return (
        replace(baseline, trace=_cut(baseline.trace, first)),
        replace(candidate, trace=_cut(candidate.trace, second)),
    )


def _follow(units: Units) -> bool:
    """True for repetitions of which each begins where the one before it ends."""
    if units.kind != "repeat":
        return False
    whole_ns = int(units.starts_ns[-1] + units.walls_ns[-1] - units.starts_ns[0])
    return bool(units.walls_ns.sum() >= _FOLLOW * whole_ns)


def _cut(trace: Trace, units: Units) -> Trace:
    """Return a trace whose runs are these units; calls of none are outside every run."""
    runs = runs_frame(
        run=range(units.count),
        kind=[REPEAT] * units.count,
        start_ns=pd.array(units.starts_ns, "Int64"),
        dur_ns=units.walls_ns,
        profiled=[True] * units.count,
        launches=_launches(trace, units),
    )
    run = pd.array(units.unit_of, "Int64")
    run[units.unit_of < 0] = pd.NA
    others = [note for note in trace.diagnostics if note.code != "no_runs"]
    note = Diagnostic("info", "runs_repeated", units.count)
    return replace(trace, runs=runs, calls=trace.calls.assign(run=run), diagnostics=(*others, note))


def _launches(trace: Trace, units: Units) -> pd.arrays.IntegerArray:
    """Return how often the host launched kernels of each unit; null where the file lacks it."""
    counts = np.zeros(units.count, dtype="int64")
    if trace.host is None or not len(trace.host.launch_rows):
        return pd.arrays.IntegerArray(counts, np.ones(units.count, dtype=bool))
    lanes, times = trace.host.launches_of(trace.calls["source_row"].to_numpy("int64", na_value=-1))
    is_kernel = ~copies_of(trace)[trace.calls["operator"].to_numpy()]
    known = (lanes >= 0) & is_kernel & (units.unit_of >= 0)
    distinct = np.unique(np.stack((units.unit_of[known], lanes[known], times[known])), axis=1)
    counts = np.bincount(distinct[0], minlength=units.count)
    return pd.arrays.IntegerArray(counts, np.zeros(units.count, dtype=bool))
