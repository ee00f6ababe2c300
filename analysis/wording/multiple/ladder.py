"""What each step of an engine brings: names and sentences, and the bars from first to last rung."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.compare.multiple.ladder import Gain, Ladder, LadderStep
from fusescope.analysis.compare.multiple.rungs import StepCode
from fusescope.analysis.compare.timing.verdict import VerdictOutcome
from fusescope.analysis.messages import Message, Part, Said, listed, paragraph, passage, say
from fusescope.analysis.units import Column
from fusescope.analysis.wording.sentences import level_text
from fusescope.analysis.wording.waterfall import Step, StepKind

LADDER_HELP = Message(
    "The variants of an engine, from nothing to all that it does, and the un-profiled time that "
    "each step from one to the next saves. A step between variants of which another one was not "
    "recorded is one step with both names."
)
NAMES: Mapping[StepCode, Message] = {
    "capture": Message("capture"),
    "code_generation": Message("code generation"),
    "fusion": Message("fusion"),
    "capture_and_code_generation": Message("capture with code generation"),
    "code_generation_and_fusion": Message("code generation with fusion"),
    "compilation": Message("compilation"),
    "one_graph": Message("one graph"),
    "basic": Message("basic optimisation"),
    "extended": Message("extended optimisation"),
    "layout": Message("layout optimisation"),
    "one_graph_and_basic": Message("one graph with basic optimisation"),
    "one_graph_basic_and_extended": Message("one graph with basic and extended optimisation"),
    "basic_and_extended": Message("basic with extended optimisation"),
    "extended_and_layout": Message("extended with layout optimisation"),
    "all_optimisations": Message("optimisation"),
}
MEANINGS: Mapping[StepCode, Message] = {
    "capture": Message(
        "The operators become one compiled graph, each still with the kernel that it had."
    ),
    "code_generation": Message("Each operator gets a kernel that the compiler generates for it."),
    "fusion": Message(
        "Operators that follow each other can run as one, with whatever else only this variant has "
        "on."
    ),
    "capture_and_code_generation": Message(
        "The operators become one compiled graph, and each gets a kernel that the compiler "
        "generates. The variant between the two steps was not recorded."
    ),
    "code_generation_and_fusion": Message(
        "The compiler generates kernels, for one operator or for several that follow each other. "
        "The variant between the two steps was not recorded."
    ),
    "compilation": Message("All operations become one compiled program, none of them fused."),
    "one_graph": Message("All nodes run in one session, where each had a session of its own."),
    "basic": Message(
        "Constants are folded, what is redundant goes, and some operators are fused into their "
        "neighbours."
    ),
    "extended": Message("Fusions that need kernels of this engine are on, such as attention."),
    "layout": Message("The rest is on, above all the blocked layout of convolutions."),
    "one_graph_and_basic": Message(
        "All nodes run in one session, with the basic optimisations. The variant between the two "
        "steps was not recorded."
    ),
    "one_graph_basic_and_extended": Message(
        "All nodes run in one session, with the basic and the extended optimisations. The variants "
        "between these steps were not recorded."
    ),
    "basic_and_extended": Message(
        "The basic and the extended optimisations are on. The variant between the two steps was "
        "not recorded."
    ),
    "extended_and_layout": Message(
        "The extended optimisations and the blocked layout are on. The variant between the two "
        "steps was not recorded."
    ),
    "all_optimisations": Message(
        "All optimisations of the engine are on: its fusions, and others such as the blocked "
        "layout of convolutions."
    ),
}
_TITLE = Message("What each step from {first:name} to {last:name} brings")
_SAVES = Message("Of **{total:duration}** that {whole:name} saves against {first:name}, {parts}.")
_LOSES = Message("{whole:name} takes **{total:duration}** longer than {first:name}: {parts}.")
_CANNOT_TELL = Message(
    "It **cannot be told from noise** whether {whole:name} is faster than {first:name}. As "
    "measured, it saves {total:duration}: {parts}."
)
_CANNOT_TELL_LOSS = Message(
    "It **cannot be told from noise** whether {whole:name} is faster than {first:name}. As "
    "measured, it costs {total:duration}: {parts}."
)
_HIDDEN = Message(
    "As measured here {whole:name} saves **{total:duration}** against {first:name}, which is "
    "within the noise: {parts}."
)
_HIDDEN_LOSS = Message(
    "As measured here {whole:name} takes **{total:duration}** longer than {first:name}, which is "
    "within the noise: {parts}."
)
_UNKNOWN_NOISE = Message("The noise is unknown.")
_CONTROL = Message("The two copies of the baseline differ, so this machine was not steady.")
_BRINGS = Message("{step} brings {gain:duration}")
_COSTS = Message("{step} costs {gain:duration}")
_BRINGS_NOISE = Message("{step} brings {gain:duration} (within the noise)")
_COSTS_NOISE = Message("{step} costs {gain:duration} (within the noise)")


def ladder_title(ladder: Ladder) -> tuple[Part, ...]:
    """'What each step from eager to fused brings', in pieces."""
    return _TITLE.parts(first=ladder.first.variant, last=ladder.last.variant)


def ladder_parts(ladder: Ladder) -> tuple[Part, ...]:
    """What the whole saves and how it divides, in pieces: 'Of 3.1 ms that torch.compile saves …'.

    A step is said to be within the noise where another one is not.
    """
    some_told = any(step.outcome in ("faster", "slower") for step in ladder.steps)
    values = {
        "whole": ladder.whole or ladder.last.variant,
        "first": ladder.first.variant,
        "parts": listed([_clause(step, some_told) for step in ladder.steps]),
    }
    total = ladder.total.value
    if ladder.outcome == "cannot_tell":
        if ladder.direct in ("faster", "slower"):
            alone = {"before": ladder.first.variant, "after": ladder.last.variant}
            hidden = (_HIDDEN_LOSS if total < 0 else _HIDDEN).parts(total=abs(total), **values)
            return passage(hidden, _DIRECT[ladder.direct].parts(**alone))
        control = _CONTROL.parts() if ladder.noise == "control_differs" else ()
        measured = _CANNOT_TELL_LOSS if total < 0 else _CANNOT_TELL
        return passage(measured.parts(total=abs(total), **values), control)
    message = _LOSES if total < 0 else _SAVES
    unknown = _UNKNOWN_NOISE.parts() if ladder.noise == "unknown" else ()
    return passage(message.parts(total=abs(total), **values), unknown)


def ladder_sentence(ladder: Ladder) -> str:
    """`ladder_parts` as text."""
    return "".join(part.text for part in ladder_parts(ladder))


def _clause(step: LadderStep, some_told: bool) -> str:
    is_noise = some_told and step.outcome == "cannot_tell"
    is_loss = step.gain.value < 0
    noisy, plain = (_COSTS_NOISE, _COSTS) if is_loss else (_BRINGS_NOISE, _BRINGS)
    return (noisy if is_noise else plain).text(step=NAMES[step.code], gain=abs(step.gain.value))


_BROUGHT = Message("It saves {gain:duration}, between {low:duration} and {high:duration}.")
_COST = Message("It costs {gain:duration}, between {low:duration} and {high:duration}.")
# By whether the step costs time, as measured; `slower` and `faster` are the ends of its interval.
_WITHIN_NOISE: Mapping[bool, Message] = {
    False: Message(
        "It saves {gain:duration} as measured, which is within the noise: from {slower:duration} "
        "slower to {faster:duration} faster."
    ),
    True: Message(
        "It costs {gain:duration} as measured, which is within the noise: from {slower:duration} "
        "slower to {faster:duration} faster."
    ),
}
_NOT_TOLD: Mapping[bool, Message] = {
    False: Message("It saves {gain:duration} as measured, which cannot be told from noise."),
    True: Message("It costs {gain:duration} as measured, which cannot be told from noise."),
}
_NO_INTERVAL: Mapping[bool, Message] = {
    False: Message("It saves {gain:duration}; the noise is unknown."),
    True: Message("It costs {gain:duration}; the noise is unknown."),
}
_DIRECT: Mapping[VerdictOutcome, Message] = {
    "faster": Message("Compared with {before:name} alone, {after:name} is shown to be faster."),
    "slower": Message("Compared with {before:name} alone, {after:name} is shown to be slower."),
    "cannot_tell": Message(
        "Compared with {before:name} alone, {after:name} cannot be told from it."
    ),
}
_WAY = Message("{before:name} → {after:name}")


def step_way(step: LadderStep) -> str:
    """'eager → captured'."""
    return _WAY.text(before=step.before.variant, after=step.after.variant)


def step_meaning(step: LadderStep) -> str:
    """What the step is: sentences."""
    return MEANINGS[step.code].text()


def step_result(step: LadderStep) -> str:
    """What it saved: sentences; also what a direct comparison says, where that is another one."""
    gain, is_loss = step.gain, step.gain.value < 0
    if gain.low is None or gain.high is None:
        return _NO_INTERVAL[is_loss].text(gain=abs(gain.value))
    if step.outcome == "slower":
        told = _COST.text(gain=-gain.value, low=-gain.high, high=-gain.low)
    elif step.outcome == "faster":
        told = _BROUGHT.text(gain=gain.value, low=gain.low, high=gain.high)
    elif gain.low <= 0 <= gain.high:
        ends = {"slower": -gain.low, "faster": gain.high}
        told = _WITHIN_NOISE[is_loss].text(gain=abs(gain.value), **ends)
    else:
        told = _NOT_TOLD[is_loss].text(gain=abs(gain.value))
    if step.direct == step.outcome or step.direct not in _DIRECT:
        return told
    names = {"before": step.before.variant, "after": step.after.variant}
    return paragraph(told, _DIRECT[step.direct].text(**names))


def step_sentences(step: LadderStep) -> str:
    """What the step is and what it saved."""
    return paragraph(step_meaning(step), step_result(step))


def interval_head(ladder: Ladder) -> str:
    """Return what stands over the intervals: '99.29 % interval'."""
    if ladder.total.low is None:
        return say("interval")
    return say("{level} interval", level=level_text(1 - ladder.alpha))


def interval_text(gain: Gain, column: Column) -> str:
    """The change that goes with a gain, in the unit of its column: '−17.1 to −11.2'; '' without
    one."""
    if gain.low is None or gain.high is None:
        return ""
    low, high = (column.number(-bound, signed=True) for bound in (gain.high, gain.low))
    return say("{low} to {high}", low=low, high=high)


_BASIS = Message(
    "Un-profiled wall time, {n:count} block of fresh processes.",
    "Un-profiled wall time, {n:count} blocks of fresh processes.",
)
_SUM = Message(
    "Each time is that of {baseline:name} × their ratio, paired inside blocks: the steps add up to "
    "the whole, to the ns."
)
_LEVEL = Message("Each interval is at {level}, so that those of all steps hold together at 95 %.")
_MEANS = Message(
    "These are typical runs, as in the verdict; the sums of fusion groups are of mean runs."
)


def ladder_basis(ladder: Ladder, *, has_ledger: bool = False) -> tuple[Part, ...]:
    """What the times rest on, how they add up, and at which level the intervals are, in pieces;
    where a ledger stands beside them, why its sum is another one."""
    return passage(
        _BASIS.parts(n=ladder.blocks),
        _SUM.parts(baseline=ladder.baseline),
        () if ladder.total.low is None else _LEVEL.parts(level=level_text(1 - ladder.alpha)),
        _MEANS.parts() if has_ledger else (),
    )


LADDER_AXIS = Message("un-profiled time per run, {unit}")
_REACHED = Message("to {after:name}, {time:duration}")


def ladder_steps(ladder: Ladder) -> tuple[Step, ...]:
    """Bars from the first rung's time to the last one's, which add up exactly."""
    return (
        Step(ladder.first.variant, ladder.first.time_ns, "total"),
        *(
            Step(NAMES[step.code].text(), -step.gain.value, _kind(step), str(_reached(step)))
            for step in ladder.steps
        ),
        Step(ladder.last.variant, ladder.last.time_ns, "total"),
    )


def _kind(step: LadderStep) -> StepKind:
    match step.outcome:
        case "faster":
            return "faster"
        case "slower":
            return "slower"
        case _:
            return "same"


def _reached(step: LadderStep) -> Said:
    return _REACHED.of(after=step.after.variant, time=step.after.time_ns)
