"""What a unit of work is called in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.compare.explanation.explanation import OtherKernels, UnitTimes
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.work_units.units import UnitKind

# How a change is counted: '+1.2 ms per step'.
_PER: Mapping[UnitKind, Message] = {
    "step": Message("per step"),
    "annotation": Message("per step"),
    "repeat": Message("per repetition"),
    "file": Message("in the file"),
    "earlier": Message("in that earlier work"),
}
_PER_RUN = Message("per run")
# By kind of unit; 'run' is one that its profiler does not call a step.
_ONE: Mapping[str, Message] = {
    "step": Message(
        "A step takes {after:duration} instead of {before:duration} ({change:change})."
    ),
    "annotation": Message(
        "A step takes {after:duration} instead of {before:duration} ({change:change})."
    ),
    "run": Message("A run takes {after:duration} instead of {before:duration} ({change:change})."),
    "file": Message(
        "From its first operator to its last the candidate's file spans {after:duration} instead "
        "of {before:duration} ({change:change}); operators run for {busy_after:duration} of it "
        "instead of {busy_before:duration}."
    ),
}
_SUMS = Message(
    "The operators of the candidate's file take {after:duration} together, those of the baseline's "
    "{before:duration} ({change:change})."
)
_MEAN_STEP = Message(
    "On average a step takes {after:duration} instead of {before:duration} ({change:change})."
)
_MEAN_RUN = Message(
    "On average a run takes {after:duration} instead of {before:duration} ({change:change})."
)
_MEAN_REPEAT = Message(
    "On average one repetition takes {after:duration} instead of "
    "{before:duration} ({change:change})."
)
_MEAN_REPEAT_OF = Message(
    "On average one repetition of {kernels} takes {after:duration} instead of {before:duration} "
    "({change:change})."
)
# By what is counted besides kernels that compute, which alone are *kernels* among the figures.
_KERNELS: Mapping[frozenset[OtherKernels], Message] = {
    frozenset(): Message("{n:count} kernel", "{n:count} kernels"),
    frozenset({"copies"}): Message("{n:count} kernels and copies"),
    frozenset({"collectives"}): Message("{n:count} kernels and collectives"),
    frozenset({"copies", "collectives"}): Message("{n:count} kernels, copies and collectives"),
}
# The same of layers of which some have fewer kernels than others.
_KERNELS_OF_COPIES: Mapping[bool, Message] = {
    False: Message("{fewest:count} to {most:count} kernels"),
    True: Message("{fewest:count} to {most:count} kernels and copies"),
}
# Not "beyond noise": two files that were recorded once each do not show how much noise there is.
_SAME_STEP = Message(
    "No change stands out: no cause is worth 1 % of a step. Its kernels take "
    "{busy_before:duration} and {busy_after:duration}."
)
_SAME: Mapping[str, Message] = {
    "step": _SAME_STEP,
    "annotation": _SAME_STEP,
    "run": Message(
        "No change stands out: no cause is worth 1 % of a run. Its kernels take "
        "{busy_before:duration} and {busy_after:duration}."
    ),
    "repeat": Message(
        "No change stands out: no cause is worth 1 % of a repetition. Its kernels take "
        "{busy_before:duration} and {busy_after:duration}."
    ),
    "file": Message(
        "No change stands out: no cause is worth 1 % of the file. Its kernels take "
        "{busy_before:duration} and {busy_after:duration}."
    ),
}
# Units of one file whose times differ so much that the change of their mean says nothing.
_SPREAD_STEP = Message(
    "No change stands out: steps of one file differ by as much as the two sides do. The kernels of "
    "a step take {busy_before:duration} and {busy_after:duration}; with idle time it takes "
    "{before:duration} and {after:duration} on average."
)
_SPREAD: Mapping[str, Message] = {
    "step": _SPREAD_STEP,
    "annotation": _SPREAD_STEP,
    "run": Message(
        "No change stands out: runs of one file differ by as much as the two sides do. The kernels "
        "of a run take {busy_before:duration} and {busy_after:duration}; with idle time it takes "
        "{before:duration} and {after:duration} on average."
    ),
    "repeat": Message(
        "No change stands out: repetitions of one file differ by as much as the two sides do. The "
        "kernels of one repetition take {busy_before:duration} and {busy_after:duration}; with "
        "idle time it takes {before:duration} and {after:duration} on average."
    ),
}
_NO_CHANGE = 0.02  # of a unit, below which its time did not change whatever units differ by
_EQUAL = 0.005  # of a unit, by which both sides may differ and take the same time
_BOTH: Mapping[str, Message] = {
    "step": Message("A step takes {after:duration} on both sides."),
    "run": Message("A run takes {after:duration} on both sides."),
    "annotation": Message("A step takes {after:duration} on both sides."),
    "repeat": Message("One repetition takes {after:duration} on both sides."),
}


def per(kind: UnitKind, name: str) -> Message:
    """Return the same of one file, whose profiler may call its runs other than steps."""
    return _PER_RUN if is_run(kind, name) else _PER[kind]


def per_unit(unit: UnitTimes) -> Message:
    """Return how a change of this unit is counted."""
    return per(unit.kind, unit.name)


def _key(unit: UnitTimes) -> str:
    """Return by what the sentences on a unit are kept."""
    return "run" if is_run(unit.kind, unit.name) else unit.kind


def is_run(kind: UnitKind, name: str) -> bool:
    """Return whether a unit is a run that its profiler does not call a step."""
    return kind == "step" and name != "step"


def word(kind: UnitKind, name: str) -> str:
    """Return what a unit is: a step, a run, or a repetition of kernels."""
    if kind == "repeat":
        return "repetition"
    return "run" if is_run(kind, name) else "step"


def profiled_said(unit: UnitTimes) -> list[Said]:
    """Return that a unit is one under the profiler, where the verdict is on others; nothing where
    there are no others."""
    if unit.of_other_runs:
        return [_IN_TRACES.of()]
    if unit.unprofiled_ns is None:
        return []
    before, after = unit.unprofiled_ns
    return [_AS_PROFILED.of(before=before, after=after)]


def end_said(unit: UnitTimes) -> list[Said]:
    """Return that the time between repeats is left out; nothing of other units."""
    if unit.pauses_ns is not None:
        before, after = unit.pauses_ns
        return [_TO_LAST_WITH_PAUSES.of(before=before, after=after)]
    return [_TO_LAST.of()] if unit.end_with_kernels else []


_TO_LAST_WITH_PAUSES = Message(
    "A repetition ends with its last kernel here, since not both files show what the host does "
    "after it. The next one begins {before:duration} later in the baseline and {after:duration} "
    "later in the candidate, on average."
)
_TO_LAST = Message(
    "A repetition ends with its last kernel here, since not both files show what the host does "
    "after it."
)
_IN_TRACES = Message(
    "That is of the runs in the traces; the verdict compares those that were timed."
)
_AS_PROFILED = Message(
    "That is as profiled; un-profiled runs, which the verdict compares, take {after:duration} "
    "instead of {before:duration}."
)


def unit_sentence(unit: UnitTimes) -> Said:
    """Return how long a unit takes on both sides, as a sentence."""
    if _key(unit) in _BOTH and abs(unit.change_ns) < _EQUAL * unit.before_ns:
        return _BOTH[_key(unit)].of(after=unit.after_ns)
    return _said(_message(unit), unit)


def _message(unit: UnitTimes) -> Message:
    """Return the sentence of a unit: of several that their time is a mean, of repetitions how many
    kernels one has, where both sides have as many."""
    if unit.kind == "file" and not unit.has_starts:
        return _SUMS
    if unit.kind == "repeat":
        return _MEAN_REPEAT_OF if unit.kernels[0] == unit.kernels[1] else _MEAN_REPEAT
    if unit.kind != "file" and max(unit.counts) > 1:
        return _MEAN_RUN if is_run(unit.kind, unit.name) else _MEAN_STEP
    return _ONE[_key(unit)]


def kernels_said(count: int, others: frozenset[OtherKernels]) -> Said:
    """Return how many kernels a unit has, with the others that are counted."""
    return _KERNELS[others].of(n=count)


def kernels_of_copies_said(span: tuple[int, int], others: frozenset[OtherKernels]) -> Said:
    """Return how many kernels a layer or repetition has, of which the fewest and the most are
    given, with the copies and fills of memory that are counted."""
    fewest, most = span
    if fewest == most:
        return kernels_said(most, others)
    return _KERNELS_OF_COPIES["copies" in others].of(fewest=fewest, most=most)


def batch_sentence(unit: UnitTimes, batch: float) -> Said:
    """Return that the two sides work on another batch, and what they take for as much work."""
    each = unit.after_ns / batch
    change = each / unit.before_ns - 1 if unit.before_ns else None
    return _BATCH.of(factor=batch, each=each, before=unit.before_ns, change=change)


_BATCH = Message(
    "Nearly all tensors of the candidate are {factor:factor} as large in one dimension, as with "
    "another batch: for as much work it takes {each:duration} instead of {before:duration} "
    "({change:change})."
)


def same_sentence(unit: UnitTimes) -> Said:
    """Return that no change stands out, with how long a unit takes on both sides."""
    is_spread = abs(unit.change_ns) >= _NO_CHANGE * unit.before_ns
    found = _SPREAD.get(_key(unit)) if is_spread else None
    return _said(found or _SAME[_key(unit)], unit)


def _said(message: Message, unit: UnitTimes) -> Said:
    change = unit.change_ns / unit.before_ns if unit.before_ns else None
    return message.of(
        before=unit.before_ns,
        after=unit.after_ns,
        change=change,
        kernels=kernels_said(round(unit.kernels[0]), unit.others),
        busy_before=unit.busy_ns[0],
        busy_after=unit.busy_ns[1],
    )
