"""Finding units of work: what one step of a trace is, and what it is on both sides of a pair."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units.earlier import behind_earlier
from fusescope.analysis.work_units.marked import units_of_annotations, units_of_runs
from fusescope.analysis.work_units.units import Units, whole_file
from fusescope.analysis.work_units.work import Work


def units_of(trace: Trace) -> Units:
    """Return the units of work of a trace: its runs, else annotations of its host that cover most
    launches, else repeats in the order of its kernels, else the file as one."""
    units = _named(trace)
    if units is not None:
        return units
    from fusescope.analysis.work_units.repeated import units_of_repeats

    units = units_of_repeats(trace)
    return units if units is not None else whole_file(trace)


def common_units(before: Trace, after: Trace) -> tuple[Units, Units]:
    """Return units of both traces that mean the same: where one side has only repeats or the file,
    and the other side named steps, repeats of both if both repeat, else the files. Where a single
    step of one side begins behind earlier kernels, so does that of the other side."""
    named = [_named(trace) for trace in (before, after)]
    first, second = named
    if first is not None and second is not None:
        if first.is_behind != second.is_behind:
            first, second = behind_earlier(before, first, 0), behind_earlier(after, second, 0)
        return first, second
    from fusescope.analysis.work_units.repeated import common_repeats

    repeats = common_repeats(before, after)
    if repeats is not None:
        return repeats
    if named == [None, None] or any(each is not None and each.count > 1 for each in named):
        return whole_file(before), whole_file(after)
    units = (first or units_of(before), second or units_of(after))
    one_each = all(each.count == 1 for each in units)
    return units if one_each else (whole_file(before), whole_file(after))


def _named(trace: Trace) -> Units | None:
    """Return the units that the file names: runs, else annotations; None without any."""
    units = units_of_runs(trace)
    return units if units is not None else units_of_annotations(trace)


def same_work(before: Units, after: Units, work: Work | None = None) -> tuple[Units, Units]:
    """Return the units of `work` if both sides have it, else of the kind of work that both have and
    that takes most time; where they have none in common, each of its own."""
    kinds = (before.kinds_of_work(), after.kinds_of_work())
    shared = [each for each in kinds[0] if each in kinds[1]]
    if not shared:
        return before.of_work(kinds[0][0]), after.of_work(kinds[1][0])
    chosen = work if work in shared else shared[0]
    return before.of_work(chosen), after.of_work(chosen)


def steady_units(trace: Trace, units: Units) -> tuple[Units, int]:
    """Return units of a trace that are its runs without the slow ones at its beginning, which no
    figure counts, and how many these are."""
    slow = steady_runs(trace).slow if trace.has_runs and units.kind != "file" else 0
    return (units.taken(np.arange(slow, units.count)), slow) if slow else (units, 0)


def are_two_phases(before: Trace, after: Trace) -> bool:
    """Return whether annotations say that the traces are of two phases of serving, such as decoding
    and prefill, and have no kind of work in common."""
    first, second = _named(before), _named(after)
    if first is None or second is None or set(first.work) & set(second.work):
        return False
    phases = [units.kinds_of_work()[0].phase for units in (first, second)]
    return None not in phases and phases[0] != phases[1]
