"""Missed fusions: patterns that the engine could run as one operator and did not."""

from __future__ import annotations

from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.finding import Finding, Gain
from fusescope.analysis.advice.missed_fusions import MissedFusion, missed_fusions
from fusescope.analysis.advice.own_kernels import kernel_for
from fusescope.analysis.advice.settings import conditions_of, why_no_conditions
from fusescope.analysis.advice.subject import MAX_NAMES, Answer, Subject, shown
from fusescope.analysis.operators.classes import is_heavy, op_class

# These say why a whole variant fuses nothing, not why a place does; the kind `dynamic_dimensions`
# has those that need no more than sizes.
_OF_ANOTHER_KIND = frozenset(
    ("optimisation_off", "own_pass", "own_kernel", "same_cut", "quantised", "dynamic_dimensions")
)


def missed_fusion(subject: Subject) -> Answer:
    """Each pattern whose operators take 2 % of the run, or more, with what blocked it."""
    comparison, side = subject.comparison, subject.side
    if side.experiment is None or side.experiment.model_graph is None or side.graph is None:
        return "no_graph"
    told = conditions_of(side)
    if told is None:
        return why_no_conditions(side)
    if comparison is None:
        return () if told.level == "none" else "no_comparison"
    return tuple(
        _finding(subject, miss, float(miss.stake_ns))
        for miss in missed_fusions(comparison)
        if miss.blocked_by not in _OF_ANOTHER_KIND
        and miss.stake_ns is not None
        and subject.matters(miss.stake_ns)
    )


def _finding(subject: Subject, miss: MissedFusion, stake_ns: float) -> Finding:
    gain = predicted(miss, stake_ns)
    names = tuple(dict.fromkeys(shown(name) for name in miss.nodes))[:MAX_NAMES]
    return Finding(
        "missed_fusion",
        values={
            **miss.values,
            "pattern": shown(miss.pattern),
            "tensor": miss.tensor,
            "blocked_by": miss.blocked_by,
            "places": miss.count,
            "stake_ns": stake_ns,
            "share": subject.share(stake_ns),
            "bytes": miss.bytes_saved,
            "op_types": " + ".join(miss.op_types),
            "own_places": miss.own_places,
        },
        at_most_ns=max(stake_ns, gain.high),
        share=subject.share(stake_ns),
        gain=gain,
        where="operators",
        names=names,
        confidence="low" if gain.low <= 0 else "medium",
    )


def predicted(miss: MissedFusion, stake_ns: float) -> Gain:
    """What fusing all places would save of a run as profiled."""
    if any(is_heavy(op_class(op_type)) for op_type in miss.op_types):
        return prediction.absorbed(stake_ns, max(0.0, float(miss.spent_ns or stake_ns) - stake_ns))
    return prediction.chained(float(miss.gone_ns or 0.0), _by(miss))


def _by(miss: MissedFusion) -> prediction.By:
    """Who has the kernel for a place of light operators."""
    if miss.blocked_by != "no_kernel":
        return "engine"
    match kernel_for(miss.op_types):
        case "":
            return "own"
        case "elementwise":
            return "inside"
        case _:
            return "inside_rows"
