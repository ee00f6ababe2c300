"""Units that do different work: two phases of a serving engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.compare.explanation.explanation import ClassTime, UnitTimes
from analysis.messages import Message, Said
from analysis.operators.classes import LABELS
from analysis.work_units.work import Phase, Work

_PHASES: Mapping[Phase, Message] = {
    "prefill": Message("a prefill of {tokens:count} tokens"),
    "decode": Message("a decoding step of {batch:count} sequences"),
    "mixed": Message("a mixed step of {batch:count} sequences"),
}
_TWO_PHASES = Message(
    "The two files show two phases of serving, which do different work: the baseline {before} "
    "({took:duration} of the device), the candidate {after} ({takes:duration} of the device)."
)
_MOST = Message(
    "Of the baseline's kernels {before} take most, {took:duration}; of the candidate's {after}, "
    "{takes:duration}."
)


def phases_sentence(unit: UnitTimes, classes: Sequence[ClassTime]) -> Sequence[Said]:
    """Return which phases the two sides are, and which class of operators takes most of each."""
    said = _TWO_PHASES.of(
        before=work_said(unit.works[0]),
        after=work_said(unit.works[1]),
        took=unit.busy_ns[0],
        takes=unit.busy_ns[1],
    )
    if not classes:
        return (said,)
    first = max(classes, key=lambda each: each.before_ns)
    second = max(classes, key=lambda each: each.after_ns)
    most = _MOST.of(
        before=LABELS[first.op_class],
        after=LABELS[second.op_class],
        took=first.before_ns,
        takes=second.after_ns,
    )
    return (said, most)


def work_said(work: Work) -> Said:
    """Return what a unit of this work is called. Only works with a phase have a name."""
    if work.phase is None:
        raise ValueError("a work without a phase has no name")
    return _PHASES[work.phase].of(tokens=work.tokens, batch=work.batch)
