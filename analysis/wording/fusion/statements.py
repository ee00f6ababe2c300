"""What fusion bought: the headline, and what follows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import environments_differ
from fusescope.analysis.compare.timing.verdict import ONE_JOB, VerdictOutcome, VerdictReason
from fusescope.analysis.messages import Message, Part, Shown, passage, say
from fusescope.analysis.wording.diagnostics.attribution import share_of_change
from fusescope.analysis.wording.fusion.became import OTHERS, added_parts, became, precision_of
from fusescope.analysis.wording.fusion.terms import TERMS, Term, term_label
from fusescope.analysis.wording.fusion.unfused_gain import unfused_gain_parts
from fusescope.analysis.wording.noise.unknown_noise import OF_FILES

if TYPE_CHECKING:
    from fusescope.analysis.compare.ledger import Ledger
    from fusescope.analysis.compare.ledger.reconciliation import Reconciliation

_UNSURE: Mapping[VerdictOutcome, Message] = {
    "cannot_tell": Message("The whole change cannot be told from noise."),
    "noise_unknown": Message("The noise of the whole change is unknown."),
}
_TWO_MODELS = Message("Two models have no fusion groups in common.")
_UNKNOWN_MODELS = Message(
    "Nothing shows that both sides are the same model, so no groups of theirs are compared."
)
_TWO_PHASES = Message("Two phases of serving run different kernels, which says nothing of fusion.")
_CAPTURE = Message("A capture of a graph runs none of its kernels, which says nothing of fusion.")
_OTHER_RANKS = Message(
    "Ranks that run different work have other kernels, which says nothing of fusion."
)
_OTHER_WORK: Mapping[VerdictReason | None, Message] = {
    "models_unknown": _UNKNOWN_MODELS,
    "different_phases": _TWO_PHASES,
    "capture_and_replay": _CAPTURE,
    "different_ranks": _OTHER_RANKS,
}
_NOT_KNOWN = Message("It is not known which operators became which.")
_NO_GAINS = Message("What each group saves is not known: a file does not mark its runs.")
_NONE_GAINED = Message("No group got faster.")
_NONE_LOST = Message("No group got slower.")
_NO_PATTERN_GAINED = Message("No pattern of operators got faster as a whole.")
_NO_PATTERN_LOST = Message("No pattern of operators got slower as a whole.")
# Of the faster ones, or of the slower ones: what all groups take together stands beside it.
_GAIN_FROM = Message(
    "**{share}** of what faster groups save comes from {n:count} {pattern:name} group.",
    "**{share}** of what faster groups save comes from {n:count} {pattern:name} groups.",
)
_LOSS_FROM = Message(
    "**{share}** of what slower groups add comes from {n:count} {pattern:name} group.",
    "**{share}** of what slower groups add comes from {n:count} {pattern:name} groups.",
)
# Of groups of several patterns, which other places count one by one.
_GAIN_FROM_SEVERAL = Message(
    "**{share}** of what faster groups save comes from {n:count} groups that begin with "
    "{pattern:name}."
)
_LOSS_FROM_SEVERAL = Message(
    "**{share}** of what slower groups add comes from {n:count} groups that begin with "
    "{pattern:name}."
)


class _Change(msgspec.Struct, frozen=True):
    """A sentence on a change of time: `less` where it takes less, `more` where it takes more."""

    less: Message
    more: Message

    def parts(self, change_ns: float | None, **values: Shown) -> tuple[Part, ...]:
        """It with that change; () without one."""
        if not change_ns:
            return ()
        message = self.less if change_ns < 0 else self.more
        return message.parts(time=abs(change_ns), **values)


_TYPICAL_RUN = _Change(
    Message("The typical run takes {time:duration} less."),
    Message("The typical run takes {time:duration} more."),
)
_WHOLE_RUN = _Change(
    Message("The whole run takes {time:duration} less."),
    Message("The whole run takes {time:duration} more."),
)
_OPERATORS = _Change(
    Message("Operators run for {time:duration} less."),
    Message("Operators run for {time:duration} more."),
)
_GROUPS = _Change(
    Message("All groups together take {time:duration} less."),
    Message("All groups together take {time:duration} more."),
)
_TERM = _Change(
    Message("The largest term is **{term}**, **{time:duration}** less."),
    Message("The largest term is **{term}**, **{time:duration}** more."),
)
_OTHER_TERM = _Change(
    Message("The largest other term is {term}, {time:duration} less."),
    Message("The largest other term is {term}, {time:duration} more."),
)
_GROUPS_ALONE = _Change(
    Message("The groups alone take {time:duration} less."),
    Message("The groups alone take {time:duration} more."),
)
_NOT_OPERATORS = Message("Operators do not explain the change.")
_WEAK = Message("Operators explain only part of the change.")
_BEYOND = Message("Operators change by more than the run: what is beside them goes the other way.")
_IN_GROUPS = Message("All of it is in the groups.")
_IN_NO_GROUP = _Change(
    Message("Operators in no group take {time:duration} less."),
    Message("Operators in no group take {time:duration} more."),
)
# Fields of the sum that say what of the change is in operators.
_OF_CHANGE = (
    "delta_ns", "whole_ns", "communication_ns", "slow_ns", "dispatch_ns", "profiler_bias_ns",
)  # fmt: skip
_CHANGING = ("fused", "replaced", "split", "folded", "removed")
_REPEATS = re.compile(r" ×\d+$")
Statement = tuple[Part, ...]


def fusion_statements(comparison: Comparison) -> list[Statement]:
    """Which groups bought most of the gain, or most of the loss, sentence by sentence.

    The share is of the gains of all families of patterns that gained (or of the losses of those
    that lost), so it is at most 100 % and that of the ledger's lines; what the whole change is
    beside them follows. Where more than half of it is a term beside the groups, that comes first.
    Op types come from a trace: parts with the role `name`.
    """
    if comparison.is_of_other_work:
        return [_OTHER_WORK.get(comparison.verdict.reason, _TWO_MODELS).parts()]
    rows = comparison.ledger.rows
    if comparison.fusion.source == "none" or rows.empty:
        return [_NOT_KNOWN.parts()]
    if not comparison.ledger.has_gains:
        return [_NO_GAINS.parts()]
    sum_ = comparison.ledger.reconciliation
    if not rows["kind"].isin(_CHANGING).any():
        # Nothing is read from a change that is not told from noise.
        is_told = comparison.verdict.outcome != "cannot_tell"
        is_told &= comparison.verdict.reason != "marked"
        term = _largest_term(comparison) if is_told else []
        return [*_nothing_fused(comparison.ledger), *term]
    is_of_ranks = comparison.verdict.reason in ONE_JOB  # of which no time is told
    unsure = None if is_of_ranks else _UNSURE.get(comparison.verdict.outcome)
    start = [unsure.parts()] if unsure else []
    lead = _lead(comparison)
    slower = _tells_losses(comparison, led=bool(lead))
    gains = -rows["gain_ns"] if slower else rows["gain_ns"]
    families = rows["pattern"].map(_family)
    by_family = gains.groupby(families).sum().sort_values(ascending=False, kind="stable")
    whole = float(by_family[by_family > 0].sum())
    if whole <= 0:
        none, no_pattern = (
            (_NONE_LOST, _NO_PATTERN_LOST) if slower else (_NONE_GAINED, _NO_PATTERN_GAINED)
        )
        return [*start, *lead, (no_pattern if (gains > 0).any() else none).parts()]
    best = str(by_family.index[0])
    members = rows[families == best]
    share = _share(float(by_family.iloc[0]) / whole)
    are_several = members["pattern"].nunique() > 1
    pattern = best if are_several else str(members["pattern"].iloc[0])
    of_one, of_several = (
        (_LOSS_FROM, _LOSS_FROM_SEVERAL) if slower else (_GAIN_FROM, _GAIN_FROM_SEVERAL)
    )
    told = (of_several if are_several else of_one).parts(
        share=share, n=len(members), pattern=pattern
    )
    apart = environments_differ(comparison.baseline, comparison.candidate)
    after = OTHERS if apart else became(members, precision_of(comparison, members))
    became_parts = after.parts(n=len(members))
    added = added_parts(comparison, members)
    if added:
        became_parts = passage(became_parts, added)
    if not slower:
        became_parts = passage(became_parts, unfused_gain_parts(comparison))
    if comparison.verdict.reason == "marked":  # what the runs gained is the copies that one lacks
        return [told, became_parts, _GROUPS.parts(sum_.groups_ns or 0)]
    rest = [] if lead else _rest(comparison)
    return [*start, *lead, _plain(told) if lead else told, became_parts, *rest]


def fusion_parts(comparison: Comparison) -> tuple[Part, ...]:
    """`fusion_statements` as one passage."""
    return passage(*fusion_statements(comparison))


def headline_and_rest(comparison: Comparison) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """`fusion_statements` up to the first one with a number, and what follows it."""
    told = fusion_statements(comparison)
    numbers = [at for at, parts in enumerate(told) if any(p.role == "number" for p in parts)]
    end = numbers[0] + 1 if numbers else len(told)
    return passage(*told[:end]), passage(*told[end:])


def fusion_sentence(comparison: Comparison) -> str:
    """'93 % of what faster groups save comes from 52 groups that begin with Conv + …'."""
    return "".join(part.text for part in fusion_parts(comparison))


def _tells_losses(comparison: Comparison, *, led: bool) -> bool:
    """Whether the losses of groups are told: the verdict's direction, or that of their sum where
    the verdict has none or the sentence began with it."""
    outcome = comparison.verdict.outcome
    if not led and outcome in ("faster", "slower"):
        return outcome == "slower"
    return (comparison.ledger.reconciliation.groups_ns or 0) > 0


def _whole(comparison: Comparison) -> list[Statement]:
    """The change that the verdict is about; [] where it cannot be told from noise."""
    if comparison.verdict.outcome == "cannot_tell":
        return []
    if comparison.ledger.reconciliation.of in OF_FILES:
        change = _OPERATORS
    else:
        is_typical = any(comparison.ledger.reconciliation.slow_runs_ns)
        change = _TYPICAL_RUN if is_typical else _WHOLE_RUN
    return [change.parts(comparison.ledger.reconciliation.whole_ns)]


def _plain(parts: Statement) -> Statement:
    """The parts without emphasis."""
    return tuple(replace(p, role="text") if p.role == "number" else p for p in parts)


def _lead(comparison: Comparison) -> list[Statement]:
    """The whole change, its largest term and the groups' part, where more than half of it is a term
    beside the groups; [] elsewhere."""
    sum_ = comparison.ledger.reconciliation
    if sum_.groups_ns is None or sum_.whole_ns is None:
        return []
    largest = _largest(sum_)
    if largest is None or largest == "groups_ns":
        return []
    term = _TERM.parts(getattr(sum_, largest), term=_label(sum_, largest))
    weak = [_weak(sum_)] if sum_.weak else []
    return [*_whole(comparison), term, _GROUPS.parts(sum_.groups_ns), *weak]


def _weak(sum_: Reconciliation) -> Statement:
    """Return that operators are not the change, and on which side of it they are, as the doubt
    about it does."""
    share = share_of_change({name: getattr(sum_, name) for name in _OF_CHANGE})
    return (_BEYOND if share > 1 else _WEAK if share > 0 else _NOT_OPERATORS).parts()


def _label(sum_: Reconciliation, name: Term) -> Message:
    return term_label(name, has_starts=sum_.has_starts)


def _largest(sum_: Reconciliation) -> Term | None:
    """The term that is more than half of the whole change; None where no term is."""
    values = {name: abs(getattr(sum_, name) or 0) for name in TERMS}
    name = max(values, key=values.__getitem__)
    return name if sum_.whole_ns is not None and abs(sum_.whole_ns) / 2 < values[name] else None


def _largest_term(comparison: Comparison) -> list[Statement]:
    """'The whole run takes 8.22 ms less. The largest term is idle time, 7.22 ms less.'; [] where
    none is."""
    sum_ = comparison.ledger.reconciliation
    name = _largest(sum_)
    if name is None:
        return []
    change = getattr(sum_, name)
    if name == "groups_ns":
        # Of one figure twice the second would read as another.
        is_all = units.duration(change) == units.duration(sum_.whole_ns)
        return [
            *_whole(comparison),
            _IN_GROUPS.parts() if is_all else _GROUPS_ALONE.parts(change),
        ]
    return [*_whole(comparison), _plain(_TERM.parts(change, term=_label(sum_, name)))]


_NOTHING = Message("Nothing was fused: both sides ran the same operators.")
_NOTHING_BUT = Message(
    "Nothing was fused: apart from {n:count} inserted operator, both sides ran the same ones.",
    "Nothing was fused: apart from {n:count} inserted operators, both sides ran the same ones.",
)
_NOTHING_BUT_BOTH = Message(
    "Nothing was fused: apart from inserted operators ({before:count} before, {after:count} "
    "after), both sides ran the same ones."
)
_NOT_FOUND = Message("No fusion was found.")
_BECAME = Message(
    "It is not known what became of {n:count} operator.",
    "It is not known what became of {n:count} operators.",
)
_REPLACES = Message(
    "It is not known what {n:count} operator replaces.",
    "It is not known what {n:count} operators replace.",
)
_NEITHER_KNOWN = Message(
    "It is not known what became of {before:operators} of the baseline, or what {after:operators} "
    "of the candidate came from."
)


def _nothing_fused(ledger: Ledger) -> list[Statement]:
    """Why no fusion is reported: there was none, or it is not known."""
    reasons = ledger.ungrouped["reason"]
    lost = ledger.ungrouped["side"][~reasons.isin(["inserted", "communication"])].value_counts()
    gone, new = (int(lost.get(side, 0)) for side in ("baseline", "candidate"))
    if gone and new:
        return [_NOT_FOUND.parts(), _NEITHER_KNOWN.parts(before=gone, after=new)]
    if gone or new:
        return [_NOT_FOUND.parts(), (_BECAME if gone else _REPLACES).parts(n=gone or new)]
    sides = ledger.ungrouped["side"][reasons == "inserted"].value_counts()
    before, after = (int(sides.get(side, 0)) for side in ("baseline", "candidate"))
    if before and after:
        return [_NOTHING_BUT_BOTH.parts(before=before, after=after)]
    if before + after:
        return [_NOTHING_BUT.parts(n=before + after)]
    return [_NOTHING.parts()]


def _rest(comparison: Comparison) -> list[Statement]:
    """What the groups gained beside the whole change, and what the rest is; [] where the groups are
    all of it but a twentieth. Of runs without a profiler only what speaks against the groups: their
    times are those of runs with one, and the ledger adds up both."""
    sum_ = comparison.ledger.reconciliation
    if sum_.groups_ns is None or sum_.whole_ns is None:
        return []
    is_unprofiled = sum_.of == "unprofiled_wall"
    both = [] if is_unprofiled else [_GROUPS.parts(sum_.groups_ns), *_whole(comparison)]
    if sum_.weak:
        return [*both, _weak(sum_)]
    if abs(sum_.ungrouped_ns or 0) > abs(sum_.whole_ns) / 4:
        return [*both, _IN_NO_GROUP.parts(sum_.ungrouped_ns)]
    if is_unprofiled or abs(sum_.whole_ns - sum_.groups_ns) <= abs(sum_.whole_ns) / 20:
        return []
    others = {name: getattr(sum_, name) or 0 for name in TERMS if name != "groups_ns"}
    largest = max(others, key=lambda term: abs(others[term]))
    return [*both, _OTHER_TERM.parts(others[largest], term=_label(sum_, largest))]


def _share(share: float) -> str:
    """'93 %' at the start of a sentence; never 100 % for less than all."""
    if share > 1 - 1e-9:
        return say("All")
    return say("Over 99 %") if share > 0.99 else f"{share * 100:.0f} %"


def _family(pattern: object) -> str:
    """The first two op types, once each: Conv + BatchNormalization for all that only differ after
    them or in repeats. Where all are one pattern, that is named."""
    return " + ".join(_REPEATS.sub("", part) for part in str(pattern).split(" + ")[:2])
