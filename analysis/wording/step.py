"""Where the time of a run goes: its parts as bars, and what a change went to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Role, Side
from fusescope.analysis.compare.step import (
    PARTS,
    StepPart,
    mean_steps,
    part_ns,
    parts_of,
    step_change,
    why_no_parts,
)
from fusescope.analysis.compare.timing.verdict import TIMED
from fusescope.analysis.messages import Message, Part, listed, paragraph, say
from fusescope.analysis.trace import RunWord
from fusescope.analysis.work_units import run_word

TITLES: Mapping[RunWord, Message] = {
    "runs": Message("Where the time of a run goes"),
    "steps": Message("Where the time of a step goes"),
    "repetitions": Message("Where the time of a repetition goes"),
}
STEP_HELP = Message(
    "The mean as profiled, in parts that add up to it. Computing: the time in which at "
    "least one operator ran. Communication and copies that are not hidden: their time during which "
    "nothing was computed. Idle: the time in which nothing ran, for example while the host "
    "dispatches the next operator. Bars are as long as the time as profiled, to which the "
    "profiler adds."
)
STEP_BASIS = Message("Measured: shares of the mean time as profiled.")
LABELS: Mapping[StepPart, Message] = {
    "computing": Message("computing"),
    "communication": Message("communication not hidden"),
    "copies": Message("copies not hidden"),
    "idle": Message("idle"),
}
_LESS: Mapping[StepPart, Message] = {
    "computing": Message("less computing"),
    "communication": Message("less communication that is not hidden"),
    "copies": Message("less time in copies that are not hidden"),
    "idle": Message("less idle time"),
}
_MORE: Mapping[StepPart, Message] = {
    "computing": Message("more computing"),
    "communication": Message("more communication that is not hidden"),
    "copies": Message("more time in copies that are not hidden"),
    "idle": Message("more idle time"),
}
_BAR = Message("{side:name}: {parts}.")
_NO_BAR: Mapping[str, Message] = {
    "runs_unknown": Message("Not known for {side:name}: its file does not mark its runs."),
    "no_start_times": Message("Not known for {side:name}: its file gives no start times."),
    "mixed_levels": Message(
        "Not known for {side:name}: its file mixes operators of the host with kernels of a device."
    ),
    "kernels_missing": Message(
        "Not known for {side:name}: its file lacks kernels of launched graphs."
    ),
    "longer_than_run": Message(
        "Not known for {side:name}: the calls of a run are longer than the run that its file marks."
    ),
}
_ROLES: tuple[Role, Role] = ("baseline", "candidate")
_NEARLY_ALL, _MOST = 0.98, 0.5  # shares of the whole change
_GAIN = (
    Message("The gain comes from {what}; other parts take some of it back."),
    Message("All of the gain comes from {what}."),
    Message("Nearly all of the gain comes from {what}."),
    Message("Most of the gain comes from {what}."),
    Message("The largest part of the gain comes from {what}."),
)
_LOSS = (
    Message("The loss comes from {what}; other parts give some of it back."),
    Message("All of the loss comes from {what}."),
    Message("Nearly all of the loss comes from {what}."),
    Message("Most of the loss comes from {what}."),
    Message("The largest part of the loss comes from {what}."),
)


@dataclass(frozen=True)
class Piece:
    """One part of a bar: its time, its `share` of the run, how it reads, and how the share does."""

    part: StepPart
    ns: int
    share: float
    text: str
    share_text: str


@dataclass(frozen=True)
class StepBar:
    """One side's run: `length` as a share of the longer one's, and its parts; of both sides the
    same ones."""

    role: Role
    label: str
    length: float
    pieces: tuple[Piece, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """All of it to be read, in pieces of which one is the side's name."""
        pieces = listed([piece.share_text for piece in self.pieces])
        return _BAR.parts(side=self.label, parts=pieces)


def step_title(*sides: Side) -> str:
    """Return 'Where the time of a step goes', by what the runs of these sides are called."""
    return TITLES[run_word(*(side.trace for side in sides))].text()


def step_bars(comparison: Comparison) -> tuple[StepBar, ...]:
    """A bar for each side whose file tells the parts; none where neither does."""
    sides = (comparison.baseline, comparison.candidate)
    return bars_of(list(zip(_ROLES, sides, strict=True)))


def bars_of(sides: Sequence[tuple[Role, Side]]) -> tuple[StepBar, ...]:
    """A bar for each of these sides whose file tells the parts of a run."""
    found = [parts_of(side) for _, side in sides]
    longest = max((step.span_ns for step in found if step is not None), default=0)
    shown = [part for part in PARTS if any(part_ns(one, part) for one in found if one is not None)]
    return tuple(
        StepBar(
            role,
            side.name,
            step.span_ns / longest,
            _pieces({part: part_ns(step, part) for part in shown}, step.span_ns),
        )
        for (role, side), step in zip(sides, found, strict=True)
        if step is not None and longest
    )


def step_lines(comparison: Comparison) -> tuple[tuple[Part, ...], ...]:
    """Both sides to be read, also the one without a bar; none where neither has one."""
    bars = {bar.role: bar.parts for bar in step_bars(comparison)}
    sides = zip(_ROLES, (comparison.baseline, comparison.candidate), strict=True)
    lines = tuple(bars.get(role) or _no_bar(side) for role, side in sides)
    return lines if bars else ()


def _no_bar(side: Side) -> tuple[Part, ...]:
    return _NO_BAR[why_no_parts(side) or "runs_unknown"].parts(side=side.name)


def step_sentence(comparison: Comparison) -> str:
    """Return 'Most of the gain comes from less computing. Shares of the change, as profiled: …';
    that the runs as profiled change the other way than the verdict; '' for no known change."""
    change = step_change(comparison)
    if change is None:
        return _against_verdict(comparison)
    is_gain = change.whole_ns < 0
    what = (_LESS if is_gain else _MORE)[change.leading]
    degree = (
        0 if change.share > 1
        else 1 if change.share == 1
        else 2 if change.share >= _NEARLY_ALL
        else 3 if change.share >= _MOST
        else 4
    )  # fmt: skip
    told = (_GAIN if is_gain else _LOSS)[degree].text(what=what)
    if degree <= 1:  # shares beyond the whole, or one alone
        return told
    shares = units.shares_of_whole([ns / change.whole_ns for ns in change.parts.values()])
    terms = [
        say("{label} {share:percent}", label=LABELS[part], share=share)
        for part, share in zip(change.parts, shares, strict=True)
    ]
    return paragraph(told, say("Shares of the change, as profiled: {terms}.", terms=listed(terms)))


def _against_verdict(comparison: Comparison) -> str:
    """Return that the slower side is the shorter one as profiled, or the faster one the longer; ''
    elsewhere."""
    before, after = mean_steps(comparison)
    verdict = comparison.verdict
    if before is None or after is None or verdict.of not in TIMED:
        return ""
    changed_ns = after.span_ns - before.span_ns
    name = comparison.candidate.name
    if verdict.outcome == "slower" and changed_ns < 0:
        return _SLOWER_YET_SHORTER.text(side=name, time=-changed_ns)
    if verdict.outcome == "faster" and changed_ns > 0:
        return _FASTER_YET_LONGER.text(side=name, time=changed_ns)
    return ""


_SLOWER_YET_SHORTER = Message(
    "As profiled the mean run of {side:name} is {time:duration} shorter, although without the "
    "profiler, as in the verdict, it is slower."
)
_FASTER_YET_LONGER = Message(
    "As profiled the mean run of {side:name} is {time:duration} longer, although without the "
    "profiler, as in the verdict, it is faster."
)


def _pieces(parts: Mapping[StepPart, int], whole_ns: int) -> tuple[Piece, ...]:
    """Return the parts of a run, each with the share that every other sentence has of it; rounded,
    they may add up to 0.1 % more or less than all."""
    return tuple(
        Piece(
            part,
            ns,
            ns / whole_ns,
            say(
                "{label} {time:duration} ({share:percent})",
                label=LABELS[part],
                time=ns,
                share=ns / whole_ns,
            ),
            say("{label} {share:percent}", label=LABELS[part], share=ns / whole_ns),
        )
        for part, ns in parts.items()
    )
