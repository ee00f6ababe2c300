"""What the device ran before its only step, in sentences: work that was launched before the file
began."""

from __future__ import annotations

from fusescope.analysis.compare.explanation.explanation import Explanation
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.wording.explanation.changes import change_said

_EQUAL = 0.005  # of that time, by which both sides may differ and take the same
_MOST = 3  # changes of that work, which are said


def earlier_said(explanation: Explanation) -> list[Said]:
    """Return what the device ran before the only step, and what changed in that; nothing where a
    side shows nothing of it."""
    earlier = explanation.earlier
    if earlier is None:
        return []
    changes = earlier.changes if earlier.outcome in ("changed", "clock") else ()
    said = (change_said(change, earlier.unit) for change in changes[:_MOST])
    return [earlier_sentence(explanation, earlier), *said]


def earlier_sentence(explanation: Explanation, earlier: Explanation) -> Said:
    """Return how long that work takes, and how many layers it has where both sides have as
    many."""
    sides, unit = explanation.sides, earlier.unit
    layers = [side.earlier_layers for side in sides] if sides is not None else [0, 0]
    values = {"before": unit.before_ns, "after": unit.after_ns, "change": unit.change_ns}
    if layers[0] == layers[1] > 0:
        is_same = abs(unit.change_ns) < _EQUAL * unit.before_ns
        return (_LAYERS_OF_BOTH if is_same else _LAYERS).of(n=layers[0], **values)
    return _EARLIER_KERNELS.of(**values)


_LAYERS = Message(
    "When the recording began the device still ran {n:count} layer of earlier work, which is no "
    "part of the step: {after:duration} instead of {before:duration} ({change:signed_duration}).",
    "When the recording began the device still ran {n:count} layers of earlier work, which are no "
    "part of the step: {after:duration} instead of {before:duration} ({change:signed_duration}).",
)
_LAYERS_OF_BOTH = Message(
    "When the recording began the device still ran {n:count} layer of earlier work, which is no "
    "part of the step: {after:duration} on both sides.",
    "When the recording began the device still ran {n:count} layers of earlier work, which are no "
    "part of the step: {after:duration} on both sides.",
)
_EARLIER_KERNELS = Message(
    "Before the step the device ran what the host had launched before the file began: "
    "{after:duration}, in the baseline {before:duration}. How much of it a file shows depends on "
    "when it begins."
)
