"""Kinds of work: what the units of one trace, or of a pair, process, to choose one of them."""

from __future__ import annotations

import msgspec

from fusescope.analysis.metrics.memo import once
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units.marked import units_of_annotations, units_of_runs
from fusescope.analysis.work_units.work import Work


class WorkKind(msgspec.Struct, frozen=True):
    """A kind of work: how many units of it a trace has, and how long one takes on average, in
    ns."""

    work: Work
    count: int
    mean_ns: float


@once
def kinds_of_work(trace: Trace) -> tuple[WorkKind, ...]:
    """Return the kinds of work that a file names, the one of most time first; none where its units
    have no names that say it."""
    units = units_of_runs(trace)
    units = units if units is not None else units_of_annotations(trace)
    if units is None:
        return ()
    kinds = []
    for work in units.kinds_of_work():
        mine = units.of_work(work)
        kinds.append(WorkKind(work, mine.count, mine.mean_ns))
    return tuple(kinds)


def common_kinds(before: Trace, after: Trace) -> tuple[tuple[WorkKind, WorkKind], ...]:
    """Return the kinds of work that both traces have, the one of most time of the first trace
    first."""
    others = {kind.work: kind for kind in kinds_of_work(after)}
    return tuple((kind, others[kind.work]) for kind in kinds_of_work(before) if kind.work in others)


def code_of(work: Work) -> str:
    """Return what a kind of work is called on the command line and in JSON: 'decode-32',
    'prefill-15-15360', 'other' for one without a phase."""
    if work.phase is None:
        return "other"
    sizes = [work.batch] if work.phase == "decode" else [work.batch, work.tokens]
    return "-".join([work.phase, *(str(size) for size in sizes if size is not None)])
