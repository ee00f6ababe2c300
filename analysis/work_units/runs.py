"""Units of work as the runs of a trace: found once, before anything is measured, so that every
figure of a trace is of the same work as what explains it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from fusescope.analysis.host_activity import call_lengths
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.spans import call_times, lacks_kernels
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import (
    UNIT_RUNS,
    Diagnostic,
    DiagnosticCode,
    RunWord,
    Trace,
    Value,
    noted,
    runs_frame,
)
from fusescope.analysis.work_units.earlier import launched_earlier
from fusescope.analysis.work_units.finding import are_two_phases, common_units, same_work, units_of
from fusescope.analysis.work_units.units import Units
from fusescope.analysis.work_units.work import Work

_CHARS = 80  # of an annotation in a note
_BESIDE = 0.001  # of the time of all runs: what a file shows beside them is not told below it


def with_unit_runs(trace: Trace, work: Work | None = None) -> Trace:
    """Return a trace whose runs are its units of `work`, else of the kind of work that takes most
    time; unchanged where it marks its runs and launched all that runs in them, and where nothing in
    it shows units.

    Units of other work and kernels that were launched before the file begins are in no run, and are
    counted by a note.
    """
    if not _can_have_units(trace):
        return trace
    units = units_of(trace)
    kinds = units.kinds_of_work()
    chosen = units.of_work(work if work in kinds else kinds[0])
    return _with_runs(trace, chosen, units.count - chosen.count)


def with_common_runs(before: Trace, after: Trace, work: Work | None = None) -> tuple[Trace, Trace]:
    """Return both traces with runs that are units of the same work; of two phases of serving each
    with its own, and as they are where units of one side mean nothing on the other. Where a side
    marks steps of its host, their periods on the device are its runs in any case, as they are of
    one trace."""
    if not (_can_have_units(before) and _can_have_units(after)):
        return before, after
    if are_two_phases(before, after):
        return with_unit_runs(before, work), with_unit_runs(after, work)
    common = common_units(before, after)
    if any(units.kind == "file" for units in common):
        return _with_own_runs(before), _with_own_runs(after)
    chosen = same_work(*common, work)
    others = [units.count - mine.count for units, mine in zip(common, chosen, strict=True)]
    first, second = map(_with_runs, (before, after), chosen, others)
    return first, second


def _with_own_runs(trace: Trace) -> Trace:
    """Return a trace with the periods of its device as runs, where it marks steps of its host."""
    return with_unit_runs(trace) if trace.has_runs else trace


def run_word(*traces: Trace) -> RunWord:
    """Return what the profiled runs of traces are called: steps, which the profiler or an
    annotation marks, or repetitions of the kernels; runs of all else, and where traces differ.
    Beside un-profiled runs they are runs of a model, too, whatever the profiler calls them."""
    words: set[RunWord] = set()
    for trace in traces:
        kinds = set(map(str, trace.profiled_runs["kind"]))
        is_step = bool(kinds) and kinds <= {"step", "annotation"} and trace.sampled_runs.empty
        words.add("steps" if is_step else "repetitions" if kinds == {"repeat"} else "runs")
    return words.pop() if len(words) == 1 else "runs"


def _can_have_units(trace: Trace) -> bool:
    """Return False of a trace without calls, that ends early, that is of several files or has
    un-profiled runs, and that lacks kernels: it cannot be said what its units run."""
    is_one = not trace.meta.parts and trace.sampled_runs.empty
    return len(trace.calls) > 0 and is_one and not trace.ends_early and not lacks_kernels(trace)


def _with_runs(trace: Trace, units: Units, others: int) -> Trace:
    """Return a trace whose runs are these units; calls of none are outside every run."""
    if units.kind == "file" or _are_runs(trace, units):
        return trace
    notes = [note for note in trace.diagnostics if note.code != "no_runs"]
    notes += [
        *_notes(units),
        *noted("info", "runs_of_other_work", others),
        *_outside_notes(trace, units),
    ]
    run = pd.array(units.unit_of, "Int64")
    run[units.unit_of < 0] = pd.NA
    calls = trace.calls.assign(run=run)
    return replace(trace, runs=_runs(trace, units), calls=calls, diagnostics=tuple(notes))


def _are_runs(trace: Trace, units: Units) -> bool:
    """Return whether the runs of a trace are these units already, and not steps of the host whose
    periods on the device are others."""
    if not trace.has_runs:
        return False
    kind = str(trace.profiled_runs["kind"].iloc[0])
    is_period = units.host_ns is not None and "host_ns" not in trace.runs
    return not is_period and units.kind == (kind if kind in UNIT_RUNS else "step")


def _notes(units: Units) -> Iterator[Diagnostic]:
    """Yield what counts as a run, and why."""
    host: dict[str, Value] = {"host": units.host_ns}
    if units.kind == "repeat":
        code: DiagnosticCode = "runs_cut_alike" if units.is_shared else "runs_repeated"
        yield Diagnostic("info", code, units.count, values={"end": units.end})
    elif units.kind == "annotation":
        name: dict[str, Value] = {"name": clean_text(units.name, _CHARS)}
        yield Diagnostic("info", "runs_annotated", units.count, values=name)
    elif units.host_ns is not None and not units.is_behind:
        yield Diagnostic("info", "runs_of_device", units.count, values=host)
    if units.is_behind:
        yield Diagnostic("info", "run_behind_earlier", 1, values=host)


def _outside_notes(trace: Trace, units: Units) -> Iterator[Diagnostic]:
    """Yield how long the file shows the device before the first run, between runs and after the
    last one, and what runs in none, of which what was launched before the file begins apart;
    nothing of a file that is nearly all runs, and without starts. Where a run begins behind that,
    its own note says what is before it."""
    calls = trace.calls
    if (units.starts_ns < 0).any() or bool(calls["start_ns"].isna().any()):
        return
    starts, lasts = call_times(calls)
    ends_ns = units.starts_ns + units.walls_ns
    before = 0 if units.is_behind else int(units.starts_ns[0]) - int(starts.min())
    after = int((starts + lasts).max()) - int(ends_ns[-1])
    between = int(np.maximum(0, units.starts_ns[1:] - ends_ns[:-1]).sum())
    earlier = launched_earlier(trace) & (units.unit_of < 0)
    outside = (units.unit_of < 0) & ~earlier
    dur_ns = calls["dur_ns"].to_numpy()
    time_ns, earlier_ns = int(dur_ns[outside].sum()), int(dur_ns[earlier].sum())
    beside_ns = max(0, before) + between + max(0, after)
    if max(beside_ns, time_ns) > _BESIDE * int(units.walls_ns.sum()):
        values: dict[str, Value] = {
            "before": max(0, before),
            "between": between,
            "after": max(0, after),
            "time": time_ns,
            "runs": units.count,
        }
        yield Diagnostic("info", "runs_beside", int(outside.sum()), values=values)
    has_note = any(note.code == "launched_before" for note in trace.diagnostics)
    if earlier.any() and not has_note:
        values = {"ns": earlier_ns}
        yield Diagnostic("info", "launched_before", int(earlier.sum()), values=values)


def _runs(trace: Trace, units: Units) -> pd.DataFrame:
    """Return the table of runs: one for each unit, with its own annotation."""
    return runs_frame(
        run=range(units.count),
        kind=[units.kind if units.kind in UNIT_RUNS else units.name] * units.count,
        start_ns=pd.array([None if at < 0 else at for at in units.starts_ns.tolist()], "Int64"),
        dur_ns=units.walls_ns,
        profiled=[True] * units.count,
        **_launches(trace, units),
        name=pd.Categorical(units.names),
        **_period(units),
    )


def _period(units: Units) -> dict[str, object]:
    """Return the columns of runs that are periods of the device, none of others."""
    if units.host_ns is None:
        return {}
    return {
        "host_ns": [units.host_ns] * units.count,
        "is_behind": [units.is_behind] * units.count,
    }


def _launches(trace: Trace, units: Units) -> dict[str, pd.arrays.IntegerArray]:
    """Return how often the host handed kernels of each unit to the device, and its time in those
    calls; null where the file lacks it. One entry in a queue of the host may launch many kernels,
    so the calls count that take them out of it."""
    host, empty = trace.host, np.zeros(units.count, dtype="int64")
    unknown = pd.arrays.IntegerArray(empty, np.ones(units.count, dtype=bool))
    if host is None or not len(host.launch_rows):
        return {"launches": unknown, "launch_ns": unknown}
    lanes, times = host.submissions_of(trace.calls["source_row"].to_numpy("int64", na_value=-1))
    is_kernel = ~copies_of(trace)[trace.calls["operator"].to_numpy()]
    known = (lanes >= 0) & is_kernel & (units.unit_of >= 0)
    distinct = np.unique(np.stack((units.unit_of[known], lanes[known], times[known])), axis=1)
    counts = np.bincount(distinct[0], minlength=units.count)
    lengths_ns = call_lengths(host, distinct[1], distinct[2])
    if (lengths_ns < 0).any():
        return {"launches": _known(counts), "launch_ns": unknown}
    launch_ns = empty.copy()
    np.add.at(launch_ns, distinct[0], lengths_ns)
    return {"launches": _known(counts), "launch_ns": _known(launch_ns)}


def _known(values: np.ndarray) -> pd.arrays.IntegerArray:
    return pd.arrays.IntegerArray(values, np.zeros(len(values), dtype=bool))
