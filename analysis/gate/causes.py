"""Conditions on what changed between two traces: whether it makes a unit of work slower."""

from __future__ import annotations

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.gate.condition import Condition
from fusescope.analysis.gate.judged import Judged, Outcome

_ONE = "explanation.cause"


def judge_causes(condition: Condition, comparison: Comparison) -> Judged:
    """Return what came of a condition on the causes of a change, each as a part of the baseline's
    unit of work: of `explanation.slower` all of them together, faster ones too, of
    `explanation.cause` the one that costs most.

    What no cause accounts for counts for neither. Kernels that all take the same share more are
    clocks of the device, of which nothing is told.
    """
    explanation = comparison.explanation
    if comparison.is_of_other_work:
        return Judged(condition, "unknown", reason="other_work")
    if explanation is None or explanation.unit.before_ns <= 0:
        return Judged(condition, "unknown", reason="not_explained")
    if explanation.outcome == "not_comparable":
        return Judged(condition, "unknown", reason="other_work")
    unit = explanation.unit
    slower = sorted(
        (change for change in explanation.changes if change.change_ns > 0),
        key=lambda change: -change.change_ns,
    )
    if condition.quantity == _ONE:
        ns = slower[0].change_ns if slower else 0
    else:
        ns = sum(change.change_ns for change in explanation.changes)
    value = ns / unit.before_ns
    if explanation.outcome == "clock":
        return Judged(condition, "cannot_tell", value, reason="clocks", unit=unit)
    outcome: Outcome = "failed" if value > condition.limit else "passed"
    return Judged(condition, outcome, value, causes=tuple(slower), unit=unit)
