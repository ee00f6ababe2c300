"""Units of work as the runs of sides: those of a side by itself, and those that two sides share.

Two windows of a fixed time hold different numbers of the same work, so their whole times say
nothing; the time of one unit does.
"""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.compare.joining.same_place import with_launchers
from fusescope.analysis.compare.side import Side
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units import Work, with_common_runs, with_unit_runs


def with_runs(side: Side, work: Work | None = None) -> Side:
    """Return a side whose runs are its units of `work`, else of the work that takes most time;
    unchanged where it marks its runs, shows no units, or is a variant or of several files."""
    if not _is_one_trace(side):
        return side
    made = _made(side.trace)
    if work not in made:
        found = with_launchers(with_unit_runs(side.trace, work))
        made[work] = None if found is side.trace else found
    trace = made[work]
    return side if trace is None else replace(side, trace=trace)


@once
def _made(trace: Trace) -> dict[Work | None, Trace | None]:
    """Return the traces that were made of one with its units of a kind of work as runs, by kind;
    None for the trace itself, which would never go if it were kept."""
    return {}


def with_shared_runs(
    baseline: Side, candidate: Side, work: Work | None = None
) -> tuple[Side, Side]:
    """Return both sides with runs that are units of the same work; unchanged where units of one
    mean nothing on the other."""
    if not (_is_one_trace(baseline) and _is_one_trace(candidate)):
        return baseline, candidate
    traces = with_common_runs(baseline.trace, candidate.trace, work)
    return replace(baseline, trace=traces[0]), replace(candidate, trace=traces[1])


def _is_one_trace(side: Side) -> bool:
    return not side.has_model and not side.files
