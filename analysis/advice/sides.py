"""Which side is advised on when the user names a file and, perhaps, a variant."""

from __future__ import annotations

from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import chosen_names, side_of
from fusescope.analysis.compare.runs.units import with_runs
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units import Work


def advised_names(record: ExperimentRecord, variant: str | None = None) -> tuple[str, str]:
    """The variant that is advised on, the most optimised one unless named, behind the one that it
    is compared with."""
    return chosen_names(record, candidate=variant)


def advised(
    value: Trace | Experiment, variant: str | None = None, work: Work | None = None
) -> Subject:
    """The side that findings are about, a trace by its units of `work`, else of the kind of work
    that takes most time. Raises FuseScopeError for an
    unknown variant (naming the nearest), and for a variant of a trace."""
    if not isinstance(value, Experiment):
        return Subject(with_runs(side_of(value, variant), work))
    baseline, candidate = advised_names(value.record, variant)
    side = side_of(value, candidate)
    if candidate == baseline:
        return Subject(side)
    return Subject(side, compare(side_of(value, baseline), side))
