"""What was tried beside the present best, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.advice.tried import Outcome, Tried, kept
from analysis.compare.timing.verdict import Verdict
from analysis.messages import Message, say
from analysis.wording.findings.texts import TEXTS
from analysis.wording.scorecard import interval_text
from analysis.wording.sentences import pair_parts, verdict_interval

TITLE = Message("Tried beside {best:name}")
NOTHING_TO_TRY = Message(
    "FuseScope cannot try by itself what the findings of {best:name} ask for: fusescope advise "
    "lists them with what to do."
)
NOTES = Message(
    "Predicted of a run as profiled, measured un-profiled, with 90 % and 95 % intervals. Every "
    "variant ran in the same processes as {best:name}, in random order."
)
_OUTCOMES: Mapping[Outcome, Message] = {
    "kept": Message("Kept: it is faster."),
    "taken_back": Message("Taken back: it is slower."),
    "cannot_tell": Message("Taken back: it is not shown to be faster."),
    "other_outputs": Message("It is faster, but computes something else: decide yourself."),
    "outputs_unknown": Message("It is faster, but its outputs were not compared: decide yourself."),
    "not_recorded": Message("Not recorded: {reason}."),
}
_KEPT = Message("Keep {variant:name}: {factor:factor} faster than {best:name} ({interval:name}).")
_NONE_KEPT = Message("Nothing that was tried is faster: keep {best:name}.")


def head_text(one: Tried) -> str:
    """What was tried, and the kind of finding that it answers."""
    label = TEXTS[one.remedy.code].label.text()
    return say("{variant:name}, for: {label}", variant=one.remedy.variant, label=label)


def lines(one: Tried, best: str) -> tuple[str, ...]:
    """What came, beside what was predicted; what became of the outputs and of the remedy."""
    verdict = one.verdict
    if verdict is None:
        return (_OUTCOMES[one.outcome].text(reason=str(one.reason or "")),)
    sentence = "".join(part.text for part in pair_parts(verdict, best, one.remedy.variant))
    interval = verdict_interval(verdict)
    gain, saved = one.remedy.gain, one.saved
    return tuple(
        filter(
            None,
            (
                say("{verdict:name} ({interval}).", verdict=sentence, interval=interval)
                if interval
                else say("{verdict:name}.", verdict=sentence),
                say("Predicted saving: {gain:name}.", gain=interval_text(gain)) if gain else "",
                say("Measured saving: {gain:name}.", gain=interval_text(saved)) if saved else "",
                say("The kernel alone, against the same cut: {gain:name}.",
                    gain=interval_text(one.by_kernel)) if one.by_kernel else "",
                _of_several(verdict),
                _difference(one),
                _OUTCOMES[one.outcome].text(),
            ),
        )
    )  # fmt: skip


def _of_several(verdict: Verdict) -> str:
    """Where the interval of the pair alone holds a change, and that of several at once does not."""
    interval = verdict.interval
    if verdict.reason != "within_noise" or interval is None or interval.low <= 1 <= interval.high:
        return ""
    return say(
        "Several variants were tried at once, so one of them looks changed by chance more often: "
        "this interval alone does not show a change."
    )


def _difference(one: Tried) -> str:
    if not one.difference:
        return ""
    return say("Largest difference of its outputs: {part:name} of the largest output.",
               part=f"{one.difference:.1e}")  # fmt: skip


def conclusion(results: Sequence[Tried], best: str) -> str:
    """What to keep."""
    one = kept(results)
    if one is None or one.verdict is None or one.verdict.speedup is None:
        return _NONE_KEPT.text(best=best)
    return _KEPT.text(
        variant=one.remedy.variant,
        factor=one.verdict.speedup,
        best=best,
        interval=verdict_interval(one.verdict),
    )
