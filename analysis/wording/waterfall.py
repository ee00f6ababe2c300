"""The way from the baseline's time per run to the candidate's, in steps that add up exactly."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.ledger import Ledger, gain_kind
from fusescope.analysis.compare.ledger.reconciliation import Reconciliation, SideTimes
from fusescope.analysis.compare.side import Role
from fusescope.analysis.messages import Message, listed, say
from fusescope.analysis.wording.fusion.became import becomes_text, originals_text
from fusescope.analysis.wording.fusion.terms import SHOWN_ROUNDING_NS, TERMS, Term, term_label
from fusescope.analysis.wording.noise.slow_executions import slow_note

MAX_PATTERNS = 6
SMALL_SHARE = 0.01  # of the largest pattern: smaller ones share a bar
_INNER_TERMS: tuple[Term, ...] = ("ungrouped_ns", "communication_ns", "slow_ns", "dispatch_ns")
_BIAS: Mapping[Role, Message] = {
    "baseline": Message("profiler bias, baseline"),
    "candidate": Message("profiler bias, candidate"),
}
_OUTLYING: Mapping[Role, Message] = {
    "baseline": Message("slow runs, baseline"),
    "candidate": Message("slow runs, candidate"),
}
_OVERLAP: Mapping[Role, Message] = {
    "baseline": Message("overlap of streams, baseline"),
    "candidate": Message("overlap of streams, candidate"),
}
_BEYOND: Mapping[Role, Message] = {
    "baseline": Message("operators outside their own run, baseline"),
    "candidate": Message("operators outside their own run, candidate"),
}
# What the sentence below the picture says of steps.
_GROUPS = Message("groups of operators as profiled")
_NO_GROUP = Message("what is in no group")
_CAPTIONS: Mapping[tuple[Literal["slow", "bias", "beyond", "overlap"], Role], Message] = {
    ("slow", "baseline"): Message("what slow runs add to the first"),
    ("bias", "baseline"): Message("profiled less un-profiled time of the first"),
    ("beyond", "baseline"): Message("what ran outside the runs of the first"),
    ("overlap", "baseline"): Message("what ran side by side in the first"),
    ("overlap", "candidate"): Message("what ran side by side in the second (subtracted)"),
    ("beyond", "candidate"): Message("what ran outside the runs of the second (subtracted)"),
    ("bias", "candidate"): Message("profiled less un-profiled time of the second (subtracted)"),
    ("slow", "candidate"): Message("what slow runs add to the second (subtracted)"),
}
StepKind = Literal["total", "faster", "slower", "same", "term"]


@dataclass(frozen=True)
class Step:
    """One bar: a total, or a change of the time per run (candidate - baseline: negative is faster).

    `kind`: total (a side's time); faster, slower or same (groups; same where the interval holds
    no change, and for groups that share a bar); term (no group, but what closes the sum).
    `caption` is what the sentence below the picture says of it; '' of totals and rounding.
    """

    label: str
    value_ns: int
    kind: StepKind
    note: str = ""
    caption: str = ""


def waterfall_terms(comparison: Comparison) -> str:
    """Return what leads from one total of the waterfall to the other, in the order of its steps."""
    told = (step.caption for step in waterfall_steps(comparison))
    return listed(list(dict.fromkeys(filter(None, told)))) or _GROUPS.text()


def waterfall_steps(comparison: Comparison) -> tuple[Step, ...]:
    """Baseline, changes, candidate: the changes lead from one total to the other exactly.

    The baseline's typical run, which the verdict compares; what its mean run has beyond that, its
    profiler bias and overlap, which lead to what its operators and the gaps between them take; the
    patterns with the largest |gain|, the other groups in one step, what is in no group,
    communication, slow executions and idle time; then back to the candidate's typical run by its
    own overlap, bias and slow runs. In this order no step goes below zero: everything is taken
    from where it was. Rounding below SHOWN_ROUNDING_NS is part of the last term, whose note says
    so. Empty where the traces have no time of a whole run in common. Labels and notes hold text of
    the traces.
    """
    sum_ = comparison.ledger.reconciliation
    if sum_.delta_ns is None or sum_.baseline_ns is None or sum_.groups_ns is None:
        return ()
    into, out = _sides_steps(sum_)
    outlying = sum_.slow_runs_ns
    last_ns = sum_.baseline_ns + sum_.delta_ns
    slow = slow_note(comparison.ledger)
    inner = [
        Step(
            str(term_label(name, has_starts=sum_.has_starts)),
            value,
            "term",
            slow if name == "slow_ns" else "",
            _NO_GROUP.text(),
        )
        for name in _INNER_TERMS
        if (value := getattr(sum_, name))
    ]
    beside = sum(step.value_ns for step in (*into, *out))
    rounding = (sum_.rounding_ns or 0) - beside
    rounding += (sum_.overlap_ns or 0) + (sum_.profiler_bias_ns or 0)
    return (
        Step(comparison.baseline.name, sum_.baseline_ns - outlying[0], "total"),
        *_outlying_step("baseline", outlying[0], sum_.baseline_ns),
        *into,
        *_pattern_steps(comparison.ledger),
        *_with_rounding([*inner, *out], rounding),
        *_outlying_step("candidate", -outlying[1], last_ns),
        Step(comparison.candidate.name, last_ns - outlying[1], "total"),
    )


def _outlying_step(role: Role, change_ns: int, mean_ns: int) -> list[Step]:
    """Between the typical run and the mean run of a side; none where they are the same."""
    note = say("mean run {time:duration}", time=mean_ns)
    if not change_ns:
        return []
    return [Step(_OUTLYING[role].text(), change_ns, "term", note, _CAPTIONS["slow", role].text())]


def _sides_steps(sum_: Reconciliation) -> tuple[list[Step], list[Step]]:
    """From the baseline's run to its operators, and from the candidate's operators to its run."""
    into: list[Step] = []
    out: list[Step] = []
    both: tuple[tuple[SideTimes, Role, int, list[Step]], ...] = (
        (sum_.baseline, "baseline", 1, into),
        (sum_.candidate, "candidate", -1, out),
    )
    for side, name, sign, steps in both:
        if sum_.profiler_bias_ns is not None:
            value = _less(side.profiled_ns, side.run_ns)
            note = say("mean profiled run {time:duration}", time=side.profiled_ns)
            caption = _CAPTIONS["bias", name].text()
            steps.append(Step(_BIAS[name].text(), sign * value, "term", note, caption))
        if sum_.overlap_ns is not None:
            own_ns = side.busy_ns if side.own_ns is None else side.own_ns
            beyond, streams = _less(own_ns, side.busy_ns), _less(side.operators_ns, own_ns)
            caption = _CAPTIONS["beyond", name].text()
            steps.append(Step(_BEYOND[name].text(), sign * beyond, "term", caption=caption))
            note = say("operators {time:duration}", time=side.operators_ns)
            caption = _CAPTIONS["overlap", name].text()
            steps.append(Step(_OVERLAP[name].text(), sign * streams, "term", note, caption))
    return [step for step in into if step.value_ns], [step for step in out[::-1] if step.value_ns]


def _less(value: int | None, other: int | None) -> int:
    return (value or 0) - (other or 0)


def ends_ns(steps: Sequence[Step]) -> list[int]:
    """The time per run at which each step ends, and the change after it starts."""
    ends: list[int] = []
    for step in steps:
        ends.append(step.value_ns if step.kind == "total" else ends[-1] + step.value_ns)
    return ends


def _pattern_steps(ledger: Ledger) -> list[Step]:
    # Of the rows rounded one by one, as the sum has them.
    gains = ledger.rows["gain_ns"].round().groupby(ledger.rows["key"]).sum().to_dict()
    min_gain = SMALL_SHARE * max((abs(gain) for gain in gains.values()), default=0.0)
    patterns = ledger.patterns.to_dict("records")
    large = [row for row in patterns[:MAX_PATTERNS] if abs(gains[row["key"]]) >= min_gain]
    if len(patterns) - len(large) == 1:
        large = patterns  # a bar for one pattern can as well be that pattern
    steps = [_pattern_step(row, -round(gains[row["key"]])) for row in large]
    alone = {row["key"] for row in large}
    rest = [row for row in patterns if row["key"] not in alone]
    if rest:
        count = sum(int(row["groups"]) for row in rest)
        change = -sum(round(gains[row["key"]]) for row in rest)
        label = say("{n:count} other group", "{n:count} other groups", n=count)
        steps.append(Step(label, change, "same", caption=_GROUPS.text()))
    return [step for step in steps if step.value_ns]


# A pattern may end in how often it has its last type: '2 groups of MatMul ×2'.
_SEVERAL = Message("{n:count} group of {pattern:name}", "{n:count} groups of {pattern:name}")


def _pattern_step(row: Mapping[Hashable, Any], change_ns: int) -> Step:
    count = int(row["groups"])
    label = originals_text(row)
    if count > 1:
        label = _SEVERAL.text(n=count, pattern=label)
    return Step(label, change_ns, gain_kind(row), becomes_text(row), _GROUPS.text())


def _with_rounding(steps: list[Step], rounding: int) -> list[Step]:
    """The steps and what rounding took: of its own where it is large, else in the last one."""
    if not rounding:
        return steps
    if abs(rounding) >= SHOWN_ROUNDING_NS or not steps:
        return [*steps, Step(TERMS["rounding_ns"].text(), rounding, "term")]
    *first, last = steps
    note = say("{rounding} ns of rounding included", rounding=units.grouped(rounding, "+d"))
    if last.note:
        note = say("{note}; {more}", note=last.note, more=note)
    return [*first, replace(last, value_ns=last.value_ns + rounding, note=note)]
