"""What fusion bought, how sure it is, and the words for groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from analysis import units
from analysis.compare.causes import Cause, CauseCode, causes
from analysis.compare.comparison import Comparison
from analysis.compare.groups.fusion import Fusion, Kind, KnownBy, group_places
from analysis.compare.timing.verdict import VerdictOutcome
from analysis.messages import Message, Part, Said, Shown, listed, paragraph, passage, say
from analysis.wording.texts import TIME_SOURCES
from analysis.wording.unknown_noise import OF_FILES

if TYPE_CHECKING:
    from analysis.compare.ledger import Ledger, NoShares
    from analysis.compare.reconciliation import Reconciliation

Term = Literal[
    "groups_ns",
    "ungrouped_ns",
    "communication_ns",
    "slow_ns",
    "overlap_ns",
    "dispatch_ns",
    "profiler_bias_ns",
    "rounding_ns",
]
KINDS: Mapping[Kind, Message] = {
    "kept": Message("kept"),
    "fused": Message("fused"),
    "replaced": Message("replaced"),
    "split": Message("split"),
    "folded": Message("folded into weights"),
    "removed": Message("removed"),
    "loaded": Message("loaded as a weight"),
}
KNOWN_BY: Mapping[KnownBy, Message] = {
    "name": Message("tensor names"),
    "value": Message("tensor values"),
    "structure": Message("graph structure"),
    "merged": Message("merged neighbours"),
    "members": Message("names in the trace"),
    "inferred": Message("inferred"),
    "launched_by": Message("launched by"),
    "op_class": Message("operator class"),
}
KNOWN_BY_HELP = Message(
    "How it is known that these operators became those. Tensor names: both graphs carry "
    "the boundary by name. Tensor values: on the same input a tensor of both graphs held "
    "the same values, and no other came near. Graph structure: the engine's node names "
    "and the shape of the graphs. Merged neighbours: a boundary could not be proven, so "
    "groups were joined. Names in the trace: the profiler lists the original operators. "
    "Inferred: same type, shapes and order in two traces without graphs, which nothing "
    "proves. Launched by: the kernels have other names on either side, and the same "
    "operator of the framework launched them. Operator class: kernels of one class that "
    "nothing else ties together."
)
LEDGER_HELP = Message(
    "A fusion group is the smallest set of operators with the same boundary tensors on "
    "both sides. Before and after are profiled times, {mean}, which add, without what "
    "slow executions took beyond their medians: single ones of more than three times the "
    "operator's median, which are a line of their own. Gain is before - after, positive "
    "when the candidate takes less. Share is the gain / the whole change of the time. "
    "Hurts: the 95 % interval of the gain, corrected for the number of groups, lies below "
    "zero."
)
WATERFALL_HELP = Message(
    "From the baseline's time to the candidate's, {mean}. Groups and ungrouped operators "
    "are changes of profiled time. Communication is a term of its own; what of it ran beside "
    "operators is taken back in the overlap of streams. Slow executions: what single ones, of more "
    "than three times their operator's median, took beyond it. Dispatch is the change of the time "
    "between operators. Profiler bias is the change of (un-profiled time - profiled run span): the "
    "profiler adds time to every operator, and fusion removes operators. The picture shows each "
    "side's own: from the baseline's run to its profiled run first, and from the candidate's "
    "profiled run to its run last; likewise the overlap of streams. Every term is computed from "
    "the data by itself, and together they are the whole change."
)
TERMS: Mapping[Term, Message] = {
    "groups_ns": Message("groups"),
    "ungrouped_ns": Message("operators in no group"),
    "communication_ns": Message("communication"),
    "slow_ns": Message("slow executions"),
    "overlap_ns": Message("overlap of streams"),
    "dispatch_ns": Message("dispatch"),
    "profiler_bias_ns": Message("profiler bias"),
    "rounding_ns": Message("rounding"),
}


_UNSURE: Mapping[VerdictOutcome, Message] = {
    "cannot_tell": Message("The whole change cannot be told from noise."),
    "noise_unknown": Message("The noise of the whole change is unknown."),
}
_TWO_MODELS = Message("Two models have no fusion groups in common.")
_NOT_KNOWN = Message("It is not known which operators became which.")
_NO_GAINS = Message("What each group gained is not known: a file does not mark its runs.")
_NONE_GAINED = Message("No group gained.")
_NONE_LOST = Message("No group got slower.")
_GAIN_FROM = Message(
    "**{share}** of the gain in groups comes from {n:count} {pattern:name} group.",
    "**{share}** of the gain in groups comes from {n:count} {pattern:name} groups.",
)
_LOSS_FROM = Message(
    "**{share}** of the loss in groups comes from {n:count} {pattern:name} group.",
    "**{share}** of the loss in groups comes from {n:count} {pattern:name} groups.",
)


@dataclass(frozen=True)
class _Change:
    """A sentence on a change of time: `gained` where it takes less, `lost` where it takes more."""

    gained: Message
    lost: Message

    def parts(self, change_ns: float | None, **values: Shown) -> tuple[Part, ...]:
        """It with that change; () without one."""
        if not change_ns:
            return ()
        message = self.gained if change_ns < 0 else self.lost
        return message.parts(time=abs(change_ns), **values)


_WHOLE_RUN = _Change(
    Message("The whole run gained {time:duration}."), Message("The whole run lost {time:duration}.")
)
_WHOLE_FILE = _Change(
    Message("The whole file gained {time:duration}."),
    Message("The whole file lost {time:duration}."),
)
_GROUPS = _Change(
    Message("Groups gained {time:duration} in all."), Message("Groups lost {time:duration} in all.")
)
_TERM = _Change(
    Message("The largest term, **{term}**, gained **{time:duration}**."),
    Message("The largest term, **{term}**, lost **{time:duration}**."),
)
_OTHER_TERM = _Change(
    Message("The largest other term, {term}, gained {time:duration}."),
    Message("The largest other term, {term}, lost {time:duration}."),
)
_OPERATORS_ALONE = _Change(
    Message("Operators alone gained {time:duration}."),
    Message("Operators alone lost {time:duration}."),
)
_WEAK = Message("Attribution is weak.")
_IN_OPERATORS = Message("All of it is in operators.")
_IN_NO_GROUP = Message("Much of it is in operators in no group.")
_CHANGING = ("fused", "replaced", "split", "folded", "removed")
Statement = tuple[Part, ...]


def fusion_statements(comparison: Comparison) -> list[Statement]:
    """Which groups bought most of the gain, or most of the loss, sentence by sentence.

    The share is of the gains of all groups that gained (or of the losses of those that lost),
    so it is at most 100 %; what the whole change is beside them follows. Where more than
    half of it is a term beside the groups, that comes first. Op types come from a trace: parts with
    the role `name`.
    """
    if comparison.are_two_models:
        return [_TWO_MODELS.parts()]
    rows = comparison.ledger.rows
    if comparison.fusion.source == "none" or rows.empty:
        return [_NOT_KNOWN.parts()]
    if not comparison.ledger.has_gains:
        return [_NO_GAINS.parts()]
    sum_ = comparison.ledger.reconciliation
    if not rows["kind"].isin(_CHANGING).any():
        return [*_nothing_fused(comparison.ledger), *_largest_term(sum_)]
    unsure = _UNSURE.get(comparison.verdict.outcome)
    start = [unsure.parts()] if unsure else []
    lead = _lead(sum_)
    slower = _tells_losses(comparison, led=bool(lead))
    gains = -rows["gain_ns"] if slower else rows["gain_ns"]
    whole = float(gains[gains > 0].sum())
    if whole <= 0:
        return [*start, *lead, (_NONE_LOST if slower else _NONE_GAINED).parts()]
    families = rows["pattern"].map(_family)
    by_family = gains.groupby(families).sum().sort_values(ascending=False, kind="stable")
    best = str(by_family.index[0])
    members = rows[families == best]
    share = _share(float(by_family.iloc[0]) / whole)
    told = (_LOSS_FROM if slower else _GAIN_FROM).parts(share=share, n=len(members), pattern=best)
    became = _became(members, _precision(comparison, members)).parts(n=len(members))
    return [*start, *lead, _plain(told) if lead else told, became, *([] if lead else _rest(sum_))]


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
    """'93 % of the gain in groups comes from 52 Conv + BatchNormalization groups. …'."""
    return "".join(part.text for part in fusion_parts(comparison))


def _tells_losses(comparison: Comparison, *, led: bool) -> bool:
    """Whether the losses of groups are told: the verdict's direction, or that of their sum where
    the verdict has none or the sentence began with it."""
    outcome = comparison.verdict.outcome
    if not led and outcome in ("faster", "slower"):
        return outcome == "slower"
    return (comparison.ledger.reconciliation.groups_ns or 0) > 0


def _whole(sum_: Reconciliation) -> Statement:
    return (_WHOLE_FILE if sum_.of in OF_FILES else _WHOLE_RUN).parts(sum_.delta_ns)


def _plain(parts: Statement) -> Statement:
    """The parts without emphasis."""
    return tuple(replace(p, role="text") if p.role == "number" else p for p in parts)


def _lead(sum_: Reconciliation) -> list[Statement]:
    """The whole change, its largest term and the groups' part, where more than half of it is a term
    beside the groups; [] elsewhere."""
    if sum_.groups_ns is None or sum_.delta_ns is None:
        return []
    largest = _largest(sum_)
    if largest is None or largest == "groups_ns":
        return []
    term = _TERM.parts(getattr(sum_, largest), term=TERMS[largest])
    weak = [_WEAK.parts()] if sum_.weak else []
    return [_whole(sum_), term, _GROUPS.parts(sum_.groups_ns), *weak]


def _largest(sum_: Reconciliation) -> Term | None:
    """The term that is more than half of the whole change; None where no term is."""
    values = {name: abs(getattr(sum_, name) or 0) for name in TERMS}
    name = max(values, key=values.__getitem__)
    return name if sum_.delta_ns is not None and abs(sum_.delta_ns) / 2 < values[name] else None


def _largest_term(sum_: Reconciliation) -> list[Statement]:
    """'The whole run gained 8.22 ms. The largest term, dispatch, gained 7.22 ms.'; [] where none
    is."""
    name = _largest(sum_)
    if name is None:
        return []
    change = getattr(sum_, name)
    if name == "groups_ns":
        # Of one figure twice the second would read as another.
        is_all = units.duration(change) == units.duration(sum_.delta_ns)
        return [_whole(sum_), _IN_OPERATORS.parts() if is_all else _OPERATORS_ALONE.parts(change)]
    return [_whole(sum_), _plain(_TERM.parts(change, term=TERMS[name]))]


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
_LOST = Message(
    "It is not known what became of {n:count} operator.",
    "It is not known what became of {n:count} operators.",
)


def _nothing_fused(ledger: Ledger) -> list[Statement]:
    """Why there is no fusion to speak of: there was none, or it is not known."""
    reasons = ledger.ungrouped["reason"]
    lost = int((~reasons.isin(["inserted", "communication"])).sum())
    if lost:
        return [_NOT_FOUND.parts(), _LOST.parts(n=lost)]
    sides = ledger.ungrouped["side"][reasons == "inserted"].value_counts()
    before, after = (int(sides.get(side, 0)) for side in ("baseline", "candidate"))
    if before and after:
        return [_NOTHING_BUT_BOTH.parts(before=before, after=after)]
    if before + after:
        return [_NOTHING_BUT.parts(n=before + after)]
    return [_NOTHING.parts()]


def _rest(sum_: Reconciliation) -> list[Statement]:
    """What the groups gained beside the whole change, and what the rest is: time saved, as in the
    ledger; [] where the groups are all of it but a twentieth."""
    if sum_.groups_ns is None or sum_.delta_ns is None:
        return []
    both = [_GROUPS.parts(sum_.groups_ns), _whole(sum_)]
    if sum_.weak:
        return [*both, _WEAK.parts()]
    if abs(sum_.ungrouped_ns or 0) > abs(sum_.delta_ns) / 4:
        return [*both, _IN_NO_GROUP.parts()]
    if abs(sum_.delta_ns - sum_.groups_ns) <= abs(sum_.delta_ns) / 20:
        return []
    others = {name: getattr(sum_, name) or 0 for name in TERMS if name != "groups_ns"}
    largest = max(others, key=lambda term: abs(others[term]))
    return [*both, _OTHER_TERM.parts(others[largest], term=TERMS[largest])]


def _share(share: float) -> str:
    """'93 %' at the start of a sentence; never 100 % for less than all."""
    if share > 1 - 1e-9:
        return say("All")
    return say("Over 99 %") if share > 0.99 else f"{share * 100:.0f} %"


def _family(pattern: object) -> str:
    """The first two op types: Conv + BatchNormalization for all that only differ after them."""
    return " + ".join(str(pattern).split(" + ")[:2])


_Precision = Literal["", "8-bit", "partly 8-bit"]


def _precision(comparison: Comparison, members: pd.DataFrame) -> _Precision:
    """Whether all of these groups multiply 8-bit numbers on the candidate's side alone, some do, or
    none does."""
    before, after = (_eight_bit(comparison, side) for side in ("baseline", "candidate"))
    if not after - before:
        return ""
    changed = members["group"].isin(after - before)
    return "8-bit" if changed.all() else "partly 8-bit" if changed.any() else ""


def _eight_bit(comparison: Comparison, side: str) -> frozenset[int]:
    """Ids of the groups in which that side multiplies 8-bit numbers."""
    table = comparison.operators
    ran = table.loc[table[f"int8_{side}"].fillna(False).astype(bool), f"operator_{side}"]
    operators = getattr(comparison, side).trace.operators
    groups = comparison.fusion.groups
    claims = [getattr(group, side) for group in groups]
    places = group_places(operators["name"].astype(str).tolist(), claims)
    of_int8 = operators["operator"].isin(set(ran))
    return frozenset(
        groups[place].id
        for place, is_int8 in zip(places, of_int8, strict=True)
        if is_int8 and place >= 0
    )


_KEPT = Message("It kept its operator.", "They kept their operators.")
_FOLDED = Message(
    "It is computed when the model is loaded.", "They are computed when the model is loaded."
)
_GONE = Message("It no longer runs.", "They no longer run.")
_AS_ONE = Message("It runs as one operator.", "They run as one operator each.")
_SPLIT = Message(
    "It is split into several operators.", "They are split into several operators each."
)
_FEWER = Message("It runs as fewer operators.", "They run as fewer operators.")
_OTHERS = Message("Other operators run in its place.", "Other operators run in their place.")
# By precision, whether each runs as one operator, and whether any has fewer operators.
_PRECISE: Mapping[tuple[_Precision, bool, bool], Message] = {
    ("8-bit", True, True): Message(
        "It runs as one 8-bit operator: fusion and precision together.",
        "They run as one 8-bit operator each: fusion and precision together.",
    ),
    ("8-bit", False, True): Message(
        "8-bit operators run in its place: fusion and precision together.",
        "8-bit operators run in their place: fusion and precision together.",
    ),
    ("8-bit", False, False): Message(
        "8-bit operators run in its place: another precision, not fusion.",
        "8-bit operators run in their place: another precision, not fusion.",
    ),
    ("partly 8-bit", True, True): Message(
        "It runs as one partly 8-bit operator: fusion and precision together.",
        "They run as one operator each, some of them 8-bit: fusion and precision together.",
    ),
    ("partly 8-bit", False, True): Message(
        "Partly 8-bit operators run in its place: fusion and precision together.",
        "Partly 8-bit operators run in their place: fusion and precision together.",
    ),
    ("partly 8-bit", False, False): Message(
        "Partly 8-bit operators run in its place: another precision, not fusion.",
        "Partly 8-bit operators run in their place: another precision, not fusion.",
    ),
}


def _became(members: pd.DataFrame, precision: _Precision) -> Message:
    """What runs in their place; `precision` is what `_precision` says of it."""
    before, after = members["operators_baseline"], members["operators_candidate"]
    is_one = bool((after == 1).all() and (before > 1).any())
    if precision:
        return _PRECISE[precision, is_one, bool((after < before).any())]
    if (members["kind"] == "kept").all():
        return _KEPT
    if (members["kind"] == "folded").all():
        return _FOLDED
    if (after == 0).all():
        return _GONE
    if is_one:
        return _AS_ONE
    if (before == 1).all() and (after > 1).all():
        return _SPLIT
    return _FEWER if after.sum() < before.sum() else _OTHERS


def becomes_cell(row: Mapping[Any, Any]) -> str:
    """Op types that run in the place of a group or pattern; its kind where none is known."""
    types = str(row["becomes"])
    is_told = types.replace("unknown", "").strip(" +×0123456789") != ""
    return types if is_told else KINDS[row["kind"]].text()


def becomes_text(row: Mapping[Any, Any]) -> str:
    """What became of a group or pattern: '→ Conv', 'kept', 'folded into weights'."""
    kind, cell = KINDS[row["kind"]].text(), becomes_cell(row)
    return kind if row["kind"] == "kept" or cell == kind else f"→ {cell}"


_INFERRED = Message(
    "{n:count} group, inferred from op types, shapes and order in two traces without graphs. "
    "Nothing proves it.",
    "{n:count} groups, inferred from op types, shapes and order in two traces without graphs. "
    "Nothing proves them.",
)
_PARTLY_INFERRED = Message(
    "{n:count} group in two traces without graphs. Nothing proves it.",
    "{n:count} groups in two traces without graphs. Nothing proves them.",
)
_ALL_COVERED = Message(
    "All original operators are accounted for: {mapped:count} of {original:count}."
)
_COVERED = Message(
    "{mapped:count} of {original:count} original operators are accounted for, {n:count} operator "
    "is in no group.",
    "{mapped:count} of {original:count} original operators are accounted for, {n:count} operators "
    "are in no group.",
)
_AS_NAMED = Message("Groups are as the trace names them.")
_MISMATCHES = Message("{n:count} boundary mismatch.", "{n:count} boundary mismatches.")
_LARGEST = Message("The largest group has {operators:operators}.")
_INSERTED = Message(
    "{n:count} operator was inserted between groups.",
    "{n:count} operators were inserted between groups.",
)


def coverage_sentence(comparison: Comparison) -> str:
    """How many original operators are accounted for, and how the groups are known; without groups
    why, and what to do."""
    fusion = comparison.fusion
    if comparison.are_two_models:
        return say("Compare two recordings of one model to see what fusion bought.")
    if not fusion.groups:
        return _no_groups(comparison)
    groups = len(fusion.groups)
    if fusion.source == "inferred":
        if any(group.known_by != "inferred" for group in fusion.groups):
            return paragraph(_PARTLY_INFERRED.text(n=groups), known_by_sentence(fusion))
        return _INFERRED.text(n=groups)
    counts = {"mapped": fusion.mapped_nodes, "original": fusion.original_nodes}
    lost, inserted = fusion.original_nodes - fusion.mapped_nodes, len(fusion.inserted[1])
    return paragraph(
        _COVERED.text(n=lost, **counts) if lost else _ALL_COVERED.text(**counts),
        _AS_NAMED.text()
        if fusion.source == "members"
        else _MISMATCHES.text(n=fusion.boundary_mismatches),
        _LARGEST.text(operators=fusion.largest),
        _INSERTED.text(n=inserted) if inserted else "",
        known_by_sentence(fusion),
    )


_WITHOUT_GRAPHS = Message("No groups are known: the files have no graphs of the model.")
_ONE_GRAPH = Message("No groups are known: one side has no graph.")
_ODD_GRAPHS = Message("No groups are known: the graphs cannot be compared with each other.")
_DISAGREE = Message("No operators of the two sides agree in type, shapes and count.")
_DISAGREE_BARE = Message("No operators of the two sides agree in type and count.")
_COLLECT = Message(
    "To see what became of them, record both variants with fusescope collect MODEL, which keeps "
    "the graphs."
)
# By the sides that have no shapes.
_OR_SHAPES: Mapping[tuple[bool, bool], Message] = {
    (True, True): Message(
        "To see what became of them, record both sides with shapes of tensors, or record both "
        "variants with fusescope collect MODEL, which keeps the graphs."
    ),
    (True, False): Message(
        "To see what became of them, record the baseline with shapes of tensors, or record both "
        "variants with fusescope collect MODEL, which keeps the graphs."
    ),
    (False, True): Message(
        "To see what became of them, record the candidate with shapes of tensors, or record both "
        "variants with fusescope collect MODEL, which keeps the graphs."
    ),
    (False, False): _COLLECT,
}


def _no_groups(comparison: Comparison) -> str:
    """Why no operator is known to have become another, and the next step."""
    sides = (comparison.baseline, comparison.candidate)
    graphs = sum(side.graph is not None for side in sides)
    before, after = (bool(s.trace.operators["inputs"].isna().all()) for s in sides)
    return paragraph(
        (_WITHOUT_GRAPHS, _ONE_GRAPH, _ODD_GRAPHS)[graphs].text(),
        (_DISAGREE_BARE if before or after else _DISAGREE).text(),
        _OR_SHAPES[before, after].text(),
    )


def known_by_sentence(fusion: Fusion) -> str:
    """'How groups are known: tensor names (50) and tensor values (6).'; '' without groups."""
    counts = Counter(group.known_by for group in fusion.groups)
    if not counts:
        return ""
    ways = [
        say("{known_by} ({n:count})", known_by=KNOWN_BY[code], n=count)
        for code, count in counts.most_common()
    ]
    return say("How groups are known: {ways}.", ways=listed(ways))


def reconciliation_sentence(sum_: Reconciliation) -> str:
    """The change as the sum of its terms; '' where there is no change to explain."""
    if sum_.delta_ns is None:
        return ""
    values = {name: getattr(sum_, name) for name in TERMS}
    shown = ""
    for name, value in values.items():
        if value is None or not (value or name == "groups_ns"):
            continue
        term = say("{term} {change:signed_duration}", term=TERMS[name], change=value)
        shown = say("{start}, {next}", start=shown, next=term) if shown else term
    change = sum_.delta_ns
    if sum_.of in OF_FILES:
        return say(
            "Change of the file: {change:signed_duration} = {terms}", change=change, terms=shown
        )
    return say(
        "Change of the mean run: {change:signed_duration} = {terms}", change=change, terms=shown
    )


_NO_SHARES: Mapping[tuple[NoShares, bool], Message] = {
    ("within_noise", False): Message(
        "Shares of the change are not shown: the 95 % interval of the mean run's change includes "
        "no change."
    ),
    ("within_noise", True): Message(
        "Shares of the change are not shown: the 95 % interval of the file's change includes no "
        "change."
    ),
    ("cancels", False): Message(
        "Shares of the change are not shown: gains and losses cancel each other. The change of the "
        "mean run is less than half of what the lines add up to without their signs."
    ),
    ("cancels", True): Message(
        "Shares of the change are not shown: gains and losses cancel each other. The change of the "
        "file is less than half of what the lines add up to without their signs."
    ),
}


def no_shares_sentence(ledger: Ledger) -> str:
    """Why no line has a share of the change; '' where they have."""
    if ledger.no_shares is None or ledger.reconciliation.delta_ns is None:
        return ""
    return _NO_SHARES[ledger.no_shares, ledger.reconciliation.of in OF_FILES].text()


NO_WATERFALL = Message(
    "The two files have no time of a whole run in common, so there is no sum to draw."
)
_CAUSES: Mapping[CauseCode, Message] = {
    "fusion": Message("fusion"),
    "precision": Message("precision"),
    "device": Message("device"),
    "layout": Message("layout"),
}
_FROM_TO = Message("{cause} ({before:name} → {after:name})")
_LISTED = Message("{causes}, {cause}")


def change_parts(comparison: Comparison, *, by_pattern: bool = False) -> tuple[Part, ...]:
    """'What fusion bought' where fusion is what changed, else 'Where the change came from' with
    what else changed: 'Where the change came from: precision (float32 → float16)'.

    `by_pattern` is the title of a table by pattern. What changed is told in the file's words, as
    names.
    """
    if not comparison.has_changes:
        return (_BY_PATTERN if by_pattern else _FUSION_GROUPS).parts()
    found = causes(comparison.baseline, comparison.candidate, comparison.fusion, comparison.ledger)
    if found and found[0].code == "fusion":
        return (_BOUGHT_BY_PATTERN if by_pattern else _BOUGHT).parts()
    told = [_cause(cause) for cause in found if cause.code != "fusion"]
    if not told:
        return (_CAME_FROM_BY_PATTERN if by_pattern else _CAME_FROM).parts()
    all_ = reduce(lambda causes, cause: _LISTED.of(causes=causes, cause=cause), told)
    return (_CAME_FROM_THESE_BY_PATTERN if by_pattern else _CAME_FROM_THESE).parts(causes=all_)


_FUSION_GROUPS = Message("Fusion groups")
_BY_PATTERN = Message("Fusion groups, by pattern")
_BOUGHT = Message("What fusion bought")
_BOUGHT_BY_PATTERN = Message("What fusion bought, by pattern")
_CAME_FROM = Message("Where the change came from")
_CAME_FROM_BY_PATTERN = Message("Where the change came from, by pattern")
_CAME_FROM_THESE = Message("Where the change came from: {causes}")
_CAME_FROM_THESE_BY_PATTERN = Message("Where the change came from, by pattern: {causes}")


def _cause(cause: Cause) -> Said:
    what = _CAUSES[cause.code]
    if not (cause.before and cause.after):
        return what.of()
    before, after = (units.middle_cut(text, 24) for text in (cause.before, cause.after))
    return _FROM_TO.of(cause=what, before=before, after=after)


def change_title(comparison: Comparison) -> str:
    """`change_parts` as plain text."""
    return "".join(part.text for part in change_parts(comparison))


def waterfall_terms(sum_: Reconciliation) -> str:
    """What leads from one total of the waterfall to the other, in the order of its steps."""
    terms = (sum_.ungrouped_ns, sum_.communication_ns, sum_.slow_ns, sum_.dispatch_ns)
    shown = [say("groups of operators as profiled")]
    if any(terms):
        shown.append(say("what is in no group"))
    if sum_.profiler_bias_ns:
        shown.insert(0, say("what the profiler adds to the first"))
        shown.append(say("what the profiler adds to the second, subtracted"))
    return listed(shown)


def waterfall_basis(sum_: Reconciliation) -> str:
    """What the waterfall's totals and bars are, and how exact their sum is."""
    time = TIME_SOURCES[sum_.of]
    totals = (
        say("Totals: {time}, of the file, measured.", time=time)
        if sum_.of in OF_FILES
        else say("Totals: {time}, mean per run over the blocks or runs, measured.", time=time)
    )
    return paragraph(
        totals,
        say(
            "Groups: profiled time, measured. Grey: may be a gain or a loss. Hatched: not groups. "
            "The bars add up exactly to the change in whole ns."
        ),
    )
