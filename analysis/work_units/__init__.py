"""Units of work: what one step of a trace is, named by annotations, else found by repetition."""

from __future__ import annotations

from analysis.trace import Trace
from analysis.work_units.marked import units_of_annotations, units_of_runs
from analysis.work_units.repeated import common_repeats, units_of_repeats
from analysis.work_units.units import UnitKind, Units, whole_file

__all__ = ["UnitKind", "Units", "are_two_phases", "common_units", "same_work", "units_of"]


def units_of(trace: Trace) -> Units:
    """Return the units of work of a trace: runs of its profiler, else annotations of its host that
    cover most launches, else repeats in the order of its kernels, else the file as one."""
    for find in (units_of_runs, units_of_annotations, units_of_repeats):
        units = find(trace)
        if units is not None:
            return units
    return whole_file(trace)


def common_units(before: Trace, after: Trace) -> tuple[Units, Units]:
    """Return units of both traces that mean the same: where one side has only repeats or the file,
    and the other side named steps, repeats of both if both repeat, else the files."""
    named = [_named(trace) for trace in (before, after)]
    first, second = named
    if first is not None and second is not None:
        return first, second
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


def same_work(before: Units, after: Units) -> tuple[Units, Units]:
    """Return the units of the kind of work that both sides have and that takes most time; all of
    them where they have none in common."""
    shared = [work for work in before.kinds_of_work() if work in after.kinds_of_work()]
    return (before.of_work(shared[0]), after.of_work(shared[0])) if shared else (before, after)


def are_two_phases(before: Trace, after: Trace) -> bool:
    """Return whether annotations say that the traces are of two phases of serving, such as decoding
    and prefill, and have no kind of work in common."""
    if before.has_runs or after.has_runs:
        return False
    first, second = units_of_annotations(before), units_of_annotations(after)
    if first is None or second is None or set(first.work) & set(second.work):
        return False
    phases = [units.kinds_of_work()[0].phase for units in (first, second)]
    return None not in phases and phases[0] != phases[1]
