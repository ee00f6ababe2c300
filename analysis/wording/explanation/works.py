"""Units that do different work, or run on different devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.compare.explanation.explanation import Explanation
from analysis.messages import Message, Said
from analysis.operators.classes import is_heavy
from analysis.wording.explanation.kernels import kernel_text
from analysis.wording.explanation.units import word
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
_SIZES = Message(
    "The two files process different amounts at once: the baseline is {before}, the candidate "
    "{after}."
)
_LAYERS = Message("Both run the same number of layers, {n:count}.")
_HEAVIEST = Message(
    "The largest part of the baseline's time is in {before} ({before_n:executions}, "
    "{took:duration}), that of the candidate's in {after} ({after_n:executions}, {takes:duration})."
)
_TWO_DEVICES = Message(
    "The two sides run different kernels. Matrix products, attention and convolutions take "
    "{heavy_after:duration} instead of {heavy_before:duration} "
    "(**{heavy_change:signed_duration}**), all other operators {light_after:duration} instead of "
    "{light_before:duration} (**{light_change:signed_duration}**)."
)

_AFTER = {
    "step": Message(
        "Of both together, {after:duration} is after the step ends (before {before:duration})."
    ),
    "run": Message(
        "Of both together, {after:duration} is after the run ends (before {before:duration})."
    ),
}
_LEAST = 0.005  # of a unit, below which kernels that run after its end are not told


def phases_sentences(explanation: Explanation) -> Sequence[Said]:
    """Return which phases the two sides are, how many layers they have, and which kernels take most
    of each."""
    unit = explanation.unit
    said = [
        _TWO_PHASES.of(
            before=work_said(unit.works[0]),
            after=work_said(unit.works[1]),
            took=unit.busy_ns[0],
            takes=unit.busy_ns[1],
        )
    ]
    copies = [max((each.copies for each in side), default=0) for side in explanation.layers]
    if copies[0] == copies[1] > 0:
        said.append(_LAYERS.of(n=copies[0]))
    if all(explanation.kernels):
        before, after = (kernels[0].time for kernels in explanation.kernels)
        said.append(
            _HEAVIEST.of(
                before=kernel_text([before]),
                after=kernel_text([after]),
                before_n=round(before.count),
                after_n=round(after.count),
                took=before.ns,
                takes=after.ns,
            )
        )
    return said


def devices_sentence(explanation: Explanation) -> Said:
    """Return what operators that compute much and what all others take on two devices."""
    heavy, light = [0, 0], [0, 0]
    for each in explanation.classes:
        if each.op_class == "communication":
            continue
        total = heavy if is_heavy(each.op_class) else light
        total[0] += each.before_ns
        total[1] += each.after_ns
    return _TWO_DEVICES.of(
        heavy_before=heavy[0],
        heavy_after=heavy[1],
        heavy_change=heavy[1] - heavy[0],
        light_before=light[0],
        light_after=light[1],
        light_change=light[1] - light[0],
    )


def after_said(explanation: Explanation) -> list[Said]:
    """Return how much of what both kinds of operators take is after the end of a single step, which
    that does not count; nothing of several, in which the ones before run."""
    unit, sides = explanation.unit, explanation.sides
    which = word(unit.kind, unit.name)
    if sides is None or unit.counts != (1, 1) or which not in _AFTER:
        return []
    before, after = (side.after_ns for side in sides)
    if max(before, after) < _LEAST * unit.before_ns:
        return []
    return [_AFTER[which].of(before=before, after=after)]


def sizes_sentence(explanation: Explanation) -> Said:
    """Return how much a unit of each side processes."""
    before, after = map(work_said, explanation.unit.works)
    return _SIZES.of(before=before, after=after)


def work_said(work: Work) -> Said:
    """Return what a unit of this work is called. Only works with a phase have a name."""
    if work.phase is None:
        raise ValueError("a work without a phase has no name")
    return _PHASES[work.phase].of(tokens=work.tokens, batch=work.batch)
