"""What was tried beside the present best, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis.advice import Findings, Subject, missed_fusions
from fusescope.analysis.advice.remedies import SPIN, held, remedies, tried_before
from fusescope.analysis.advice.settings import conditions_of
from fusescope.analysis.advice.tried import Outcome, Tried, kept
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.experiment import FROM_FILE, ExperimentRecord, Try
from fusescope.analysis.messages import Message, listed, paragraph, say
from fusescope.analysis.wording.findings.texts import TEXTS
from fusescope.analysis.wording.scorecard import interval_text
from fusescope.analysis.wording.sentences import pair_parts, verdict_interval

TITLE = Message("Tried beside {best:name}")
_ALL_FUSED = Message("Nothing is left here that a fusion of ONNX Runtime would fuse.")
_LITTLE_LEFT = Message("No pattern that ONNX Runtime leaves unfused here takes 2 % of the run.")
_NOTHING_ASKED = Message("Nothing else stands out in {best:name}, so there is nothing to try.")
_NOT_BY_ITSELF = Message(
    "FuseScope cannot try by itself what the findings of {best:name} ask for: their remedies are "
    "changes of the model or of the machine."
)
_NOT_HERE = Message("FuseScope would try {variants:name}, but this machine lacks what that takes.")
_NEEDS: Mapping[str, Message] = {
    "inside": Message("Kernels inside the session need a C compiler (cc, gcc or clang)."),
    "custom": Message("Kernels in a cut need numba: {command:name}."),
    "threads": Message("So many threads need more cores."),
}
_IS_RECORDED = Message(
    "What FuseScope can try for the findings of {best:name} is in this recording already: "
    "{variants:name}."
)
_WAS_TRIED = Message(
    "What FuseScope can try for the findings of {best:name} was tried in this recording: "
    "{variants:name}."
)
_IS_RECORDED_OR_TRIED = Message(
    "What FuseScope can try for the findings of {best:name} is in this recording already, or was "
    "tried in it: {variants:name}."
)
_FROM_FILE = Message(
    "The recorded values of {inputs:name} came from a file, which the recording does not hold: a "
    "try draws them anew."
)
TITLE_HELP = Message(
    "What the findings asked for, recorded in the same blocks as the best variant so far. A "
    "variant is kept when it is faster by the verdict and its outputs are the same, else taken "
    "back; of several the one with the largest speedup is kept."
)
NOTES = Message(
    "Both savings are of an un-profiled run of {best:name}: predicted from profiles, with a 90 % "
    "interval, and measured, with a 95 % interval."
)
_OUTCOMES: Mapping[Outcome, Message] = {
    "kept": Message("Kept: it is faster."),
    "outpaced": Message(
        "Not kept: it is faster, but another variant that was tried has the larger speedup."
    ),
    "taken_back": Message("Taken back: it is slower."),
    "cannot_tell": Message("Taken back: it is not shown to be faster."),
    "other_outputs": Message(
        "Taken back: it is faster, but its outputs differ. Use it only where they are good enough."
    ),
    "outputs_unknown": Message(
        "Taken back: it is faster, but its outputs were not compared. Check them before you use it."
    ),
    "not_recorded": Message("Not recorded."),
}
# What a variant costs others, said where it is faster.
_AT_A_COST: Mapping[str, Message] = {
    SPIN: Message(
        "Threads that spin keep their cores busy while they wait, and take them from everything "
        "else on the machine."
    ),
}
_IN_ONE_PROCESS = Message(
    "FuseScope can try this itself: it records {variants:name} in the same processes as "
    "{best:name}, and says whether it is faster."
)
_EACH_ALONE = Message(
    "FuseScope can try this itself: it records {variants:name} in turn with {best:name}, each in "
    "processes of its own, because threads that spin would slow the other, and says whether it is "
    "faster. Processes differ more than runs inside one, so small differences may not show."
)
_SPIN_LATER = Message(
    "Threads that spin ({variant:name}) would slow all others, so they can be tried by themselves, "
    "after these."
)
_REFUSED = Message("Not recorded: {reason:name}.")
_KEPT = Message("Keep {variant:name}: {factor:factor} faster than {best:name} ({interval:name}).")
_NONE_KEPT = Message("Nothing that was tried is kept: {best:name} stays the best.")
_NOT_THE_SAME = Message(
    "Nothing that was tried is kept: {variants:name} is faster, but its outputs differ, so "
    "{best:name} stays the best that computes the same.",
    "Nothing that was tried is kept: {variants:name} are faster, but their outputs differ, so "
    "{best:name} stays the best that computes the same.",
)
_NOT_COMPARED = Message(
    "Nothing that was tried is kept: {variants:name} is faster, but its outputs were not compared, "
    "so {best:name} stays the best until they are.",
    "Nothing that was tried is kept: {variants:name} are faster, but their outputs were not "
    "compared, so {best:name} stays the best until they are.",
)
HEADS = {
    "variant": Message("Tried"),
    "finding": Message("For"),
    "predicted": Message("Predicted saving"),
    "measured": Message("Measured saving"),
    "outcome": Message("What became of it"),
}
NONE = {
    "predicted": Message("nothing measured allows a prediction"),
    "measured": Message("not known: too few blocks"),
}
_NO_SCRIPT = Message(
    "{variant:name} runs only inside FuseScope, so there is no script that opens the model that "
    "way."
)
_NO_SETTINGS = Message(
    "No script opens the model as {variant:name} does: this needs more than settings of a session, "
    "or the same optimizers as in the recording."
)
_OURS = ("eager", "segments", "custom", "inside")


def offer_text(variants: Sequence[str], best: str, possible: Sequence[Try] = ()) -> str:
    """What is recorded where these are tried, of all that are possible."""
    text = _EACH_ALONE if SPIN in variants else _IN_ONE_PROCESS
    return paragraph(
        text.text(variants=listed(variants), best=best), later_text(variants, possible)
    )


def later_text(variants: Sequence[str], possible: Sequence[Try]) -> str:
    """That one of all that are possible is left for later; '' where none is."""
    is_left = SPIN not in variants and any(one.variant == SPIN for one in possible)
    return _SPIN_LATER.text(variant=SPIN) if is_left else ""


def nothing_text(subject: Subject, found: Findings) -> str:
    """Why nothing is tried beside the side of these findings."""
    return paragraph(_fused_text(subject, found), _reason(subject, found))


def from_file_text(record: ExperimentRecord) -> str:
    """That values of inputs are drawn anew; '' where a recording like this one has the same."""
    names = [one.name for one in record.model.inputs if one.source == FROM_FILE]
    return _FROM_FILE.text(inputs=listed(names)) if names else ""


def _reason(subject: Subject, found: Findings) -> str:
    best = subject.side.label
    if asked := remedies(subject, found):
        variants = [one.variant for one in asked]
        kinds = {variant.partition(":")[0] for variant in variants}
        needs = (text for kind, text in _NEEDS.items() if kind in kinds)
        return paragraph(
            _NOT_HERE.text(variants=listed(variants)),
            *(text.text(command="pip install 'fusescope[kernels]'") for text in needs),
        )
    known, done = held(subject, found), tried_before(subject, found)
    if known or done:
        said = _IS_RECORDED if not done else _WAS_TRIED
        if done and {*known} - {*done}:
            said = _IS_RECORDED_OR_TRIED
        return said.text(best=best, variants=listed([*dict.fromkeys((*known, *done))]))
    return (_NOT_BY_ITSELF if found.found else _NOTHING_ASKED).text(best=best)


def _fused_text(subject: Subject, found: Findings) -> str:
    """What is left to the engine to fuse; '' where it leaves much, or where that is not known."""
    told = conditions_of(subject.side)
    codes = {one.code for one in found.found} | {one.code for one in found.unanswered}
    if subject.comparison is None or told is None or "missed_fusion" in codes:
        return ""
    if told.level != "all" or told.disabled or told.only:
        return ""
    return (_LITTLE_LEFT if missed_fusions(subject.comparison) else _ALL_FUSED).text()


def finding_text(one: Tried) -> str:
    """The kind of finding that it answers; its code where that is of another version."""
    known = next((text for code, text in TEXTS.items() if code == one.remedy.finding), None)
    return one.remedy.finding if known is None else known.label.text()


def head_text(one: Tried) -> str:
    """What was tried, and the kind of finding that it answers."""
    return say(
        "{variant:name}, for: {label:name}", variant=one.remedy.variant, label=finding_text(one)
    )


def lines(one: Tried, best: str) -> tuple[str, ...]:
    """What came, beside what was predicted; what became of the outputs and of the remedy."""
    savings = (
        say("Predicted saving: {gain:name}.", gain=predicted_text(one)) if one.predicted else "",
        say("Measured saving: {gain:name}.", gain=measured_text(one)) if one.saved else "",
    )
    first, *rest = outcome_lines(one, best)
    return tuple(filter(None, (first, *savings, *rest)))


def predicted_text(one: Tried) -> str:
    """What it was predicted to save, with the interval; '' without a prediction."""
    return interval_text(one.predicted) if one.predicted else ""


def measured_text(one: Tried) -> str:
    """What it saved, with the interval; '' where the noise is not known."""
    return interval_text(one.saved) if one.saved else ""


def outcome_lines(one: Tried, best: str) -> tuple[str, ...]:
    """The verdict, what became of the outputs, and whether it is kept."""
    verdict = one.verdict
    if verdict is None:
        refused = one.remedy.refused
        return (_REFUSED.text(reason=refused) if refused else _OUTCOMES[one.outcome].text(),)
    sentence = "".join(part.text for part in pair_parts(verdict, best, one.remedy.variant))
    interval = verdict_interval(verdict)
    return tuple(
        filter(
            None,
            (
                say("{verdict:name} ({interval}).", verdict=sentence, interval=interval)
                if interval
                else say("{verdict:name}.", verdict=sentence),
                say("The kernel alone, against the same cut: {gain:name}.",
                    gain=interval_text(one.by_kernel)) if one.by_kernel else "",
                _of_several(verdict),
                _difference(one),
                _AT_A_COST[one.remedy.variant].text()
                if one.outcome in ("kept", "outpaced") and one.remedy.variant in _AT_A_COST
                else "",
                _OUTCOMES[one.outcome].text(),
            ),
        )
    )  # fmt: skip


def no_script_text(variant: str) -> str:
    """Why nothing repeats that variant."""
    is_inside = variant.partition(":")[0] in _OURS
    return (_NO_SCRIPT if is_inside else _NO_SETTINGS).text(variant=variant)


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


def _none_kept(results: Sequence[Tried], best: str) -> str:
    """That nothing is kept, and why where something is faster."""
    for outcome, message in (("other_outputs", _NOT_THE_SAME), ("outputs_unknown", _NOT_COMPARED)):
        names = [one.remedy.variant for one in results if one.outcome == outcome]
        if names:
            return message.text(n=len(names), variants=listed(names), best=best)
    return _NONE_KEPT.text(best=best)


def conclusion(results: Sequence[Tried], best: str) -> str:
    """What to keep."""
    one = kept(results)
    if one is None or one.verdict is None or one.verdict.speedup is None:
        return _none_kept(results, best)
    return _KEPT.text(
        variant=one.remedy.variant,
        factor=one.verdict.speedup,
        best=best,
        interval=verdict_interval(one.verdict),
    )
