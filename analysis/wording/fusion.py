"""What fusion bought, how sure it is, and the words for groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis import units
from analysis.compare.causes import causes
from analysis.compare.comparison import Comparison
from analysis.compare.groups.fusion import Fusion, group_places
from analysis.messages import Part
from analysis.wording.counted import whole_text
from analysis.wording.phrases import capital, listed, plural, saved_text
from analysis.wording.texts import TIME_SOURCES
from analysis.wording.unknown_noise import OF_FILES

if TYPE_CHECKING:
    from analysis.compare.ledger import Ledger
    from analysis.compare.reconciliation import Reconciliation

KINDS: Mapping[str, str] = {
    "kept": "kept",
    "fused": "fused",
    "replaced": "replaced",
    "split": "split",
    "folded": "folded into weights",
    "removed": "removed",
    "loaded": "loaded as a weight",
}
KNOWN_BY: Mapping[str, str] = {
    "name": "tensor names",
    "value": "tensor values",
    "structure": "graph structure",
    "merged": "merged neighbours",
    "members": "names in the trace",
    "inferred": "inferred",
    "launched_by": "launched by",
    "op_class": "operator class",
}
KNOWN_BY_HELP = (
    "How it is known that these operators became those. Tensor names: both graphs carry the "
    "boundary by name. Tensor values: on the same input a tensor of both graphs held the same "
    "values, and no other came near. Graph structure: the engine's node names and the shape of "
    "the graphs. Merged neighbours: a boundary could not be proven, so groups were joined. Names "
    "in the trace: the profiler lists the original operators. Inferred: same type, shapes and "
    "order in two traces without graphs, which nothing proves. Launched by: the kernels have "
    "other names on either side, and the same operator of the framework launched them. Operator "
    "class: kernels of one class that nothing else ties together."
)
LEDGER_HELP = (
    "A fusion group is the smallest set of operators with the same boundary tensors on both "
    "sides. Before and after are profiled times, mean per run, which add, without "
    "what slow executions took beyond their medians: single ones of more than three times the "
    "operator's median, which are a line of their own. Gain is before - after, positive when the "
    "candidate takes less. Share is the gain / the whole change of the time. Hurts: the 95 % "
    "interval of the gain, corrected for the number of groups, lies below zero."
)
WATERFALL_HELP = (
    "From the baseline's time to the candidate's, mean per run. Groups and ungrouped operators "
    "are changes of profiled time. Communication is a term of its own; what of it ran beside "
    "operators is taken back in the overlap of streams. Slow executions: what single ones, of more "
    "than three times their operator's median, took beyond it. Dispatch is the change of the time "
    "between operators. Profiler bias is the change of (un-profiled time - profiled run span): the "
    "profiler charges every operator, and fusion removes operators. The picture shows each side's "
    "own: from the baseline's run to its profiled run first, and from the candidate's profiled run "
    "to its run last; likewise the overlap of streams. Every term is computed from the data by "
    "itself, and together they are the whole change."
)
TERMS: Mapping[str, str] = {
    "groups_ns": "groups",
    "ungrouped_ns": "operators in no group",
    "communication_ns": "communication",
    "slow_ns": "slow executions",
    "overlap_ns": "overlap of streams",
    "dispatch_ns": "dispatch",
    "profiler_bias_ns": "profiler bias",
    "rounding_ns": "rounding",
}


# Before the sentence, where the verdict does not say faster or slower.
_UNSURE = {
    "cannot_tell": "The whole change cannot be told from noise; ",
    "noise_unknown": "The noise of the whole change is unknown; ",
}


def fusion_parts(comparison: Comparison) -> tuple[Part, ...]:
    """One sentence in pieces: which groups bought most of the gain, or most of the loss.

    The share is of the gains of all groups that gained (or of the losses of those that lost),
    so it is at most 100 %; what the whole change is beside them follows. Where more than
    half of it is a term beside the groups, that comes first. Op types come from a trace: parts with
    the role `name`.
    """
    if comparison.are_two_models:
        return (Part("Two models have no fusion groups in common."),)
    rows = comparison.ledger.rows
    if comparison.fusion.source == "none" or rows.empty:
        return (Part("It is not known which operators became which."),)
    if not comparison.ledger.has_gains:
        return (Part("What each group gained is not known: a file does not mark its runs."),)
    if not rows["kind"].isin(["fused", "replaced", "split", "folded", "removed"]).any():
        largest = _largest_term(comparison.ledger.reconciliation)
        return (Part(_nothing_fused(comparison.ledger) + largest),)
    start = _UNSURE.get(comparison.verdict.outcome, "")
    sum_ = comparison.ledger.reconciliation
    lead = _lead(sum_, start)
    slower = _tells_losses(comparison, led=bool(lead))
    gains = -rows["gain_ns"] if slower else rows["gain_ns"]
    whole = float(gains[gains > 0].sum())
    noun = "loss" if slower else "gain"
    begun = "" if lead else start
    if whole <= 0:
        none = f"no group {'got slower' if slower else 'gained'}."
        return (*lead, Part(f"{begun}{none}" if begun else none.capitalize()))
    families = rows["pattern"].map(_family)
    by_family = gains.groupby(families).sum().sort_values(ascending=False, kind="stable")
    best = str(by_family.index[0])
    members = rows[families == best]
    share = _share(float(by_family.iloc[0]) / whole)
    groups = "group" if len(members) == 1 else "groups"
    return (
        *lead,
        Part(begun),
        Part(share if begun else capital(share), "text" if lead else "number"),
        Part(f" of the {noun} in groups comes from {units.count(len(members))} "),
        Part(best, "name"),
        Part(f" {groups} {_became(members, _precision(comparison, members))}."),
        Part("" if lead else _rest(sum_)),
    )


def _tells_losses(comparison: Comparison, *, led: bool) -> bool:
    """Whether the losses of groups are told: the verdict's direction, or that of their sum where
    the verdict has none or the sentence began with it."""
    outcome = comparison.verdict.outcome
    if not led and outcome in ("faster", "slower"):
        return outcome == "slower"
    return (comparison.ledger.reconciliation.groups_ns or 0) > 0


def _lead(sum_: Reconciliation, start: str) -> tuple[Part, ...]:
    """The whole change, its largest term and the groups' part, where more than half of it is a term
    beside the groups; () elsewhere."""
    if sum_.groups_ns is None or sum_.delta_ns is None:
        return ()
    largest = _largest(sum_)
    if largest in (None, "groups_ns"):
        return ()
    whole = f"{whole_text(sum_.of)} {saved_text(sum_.delta_ns)}; the largest term, "
    weak = ": attribution is weak" if sum_.weak else ""
    return (
        Part(start.replace("; ", ". ") + capital(whole)),
        Part(f"{TERMS[str(largest)]}, {saved_text(getattr(sum_, str(largest)))}", "number"),
        Part(f". Groups {saved_text(sum_.groups_ns)} in all{weak}. "),
    )


def headline_and_rest(parts: Sequence[Part]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """`parts` up to the end of the sentence that holds their first number, and what follows."""
    parts = [part for part in parts if part.text]
    numbers = [at for at, part in enumerate(parts) if part.role == "number"]
    for at in range(numbers[0] + 1 if numbers else len(parts), len(parts)):
        if parts[at].role != "text":
            continue
        end, stop, rest = parts[at].text.partition(". ")
        if stop or end.endswith("."):
            following = [Part(rest.strip() + " "), *parts[at + 1 :]] if rest else parts[at + 1 :]
            return (*parts[:at], Part(end.removesuffix(".") + ".")), tuple(following)
    return tuple(parts), ()


def fusion_sentence(comparison: Comparison) -> str:
    """'93 % of the gain in groups comes from 52 Conv + BatchNormalization groups run as …'."""
    return "".join(part.text for part in fusion_parts(comparison))


def _largest(sum_: Reconciliation) -> str | None:
    """The term that is more than half of the whole change; None where no term is."""
    values = {name: abs(getattr(sum_, name) or 0) for name in TERMS}
    name = max(values, key=lambda term: values[term])
    return name if sum_.delta_ns is not None and abs(sum_.delta_ns) / 2 < values[name] else None


def _largest_term(sum_: Reconciliation) -> str:
    """' The whole run gained 8.22 ms; the largest term, dispatch, gained 7.22 ms.'; '' where none
    is."""
    name = _largest(sum_)
    if name is None:
        return ""
    whole = f" {capital(whole_text(sum_.of))} {saved_text(sum_.delta_ns)}"
    term = saved_text(getattr(sum_, name))
    if name == "groups_ns":
        # Of one figure twice the second would read as another.
        is_all = term == saved_text(sum_.delta_ns)
        return f"{whole}, in operators." if is_all else f"{whole}; operators alone {term}."
    return f"{whole}; the largest term, {TERMS[name]}, {term}."


def _nothing_fused(ledger: Ledger) -> str:
    """Why there is no fusion to speak of: there was none, or it is not known."""
    reasons = ledger.ungrouped["reason"]
    lost = int((~reasons.isin(["inserted", "communication"])).sum())
    if not lost:
        sides = ledger.ungrouped["side"][reasons == "inserted"].value_counts()
        before, after = (int(sides.get(side, 0)) for side in ("baseline", "candidate"))
        but = f", but for {plural(before + after, 'inserted one')}" if before + after else ""
        if before and after:
            but = f", but for inserted ones, {before} before and {after} after"
        return f"Nothing was fused: both sides ran the same operators{but}."
    return f"No fusion was found; it is not known what became of {plural(lost, 'operator')}."


def _rest(sum_: Reconciliation) -> str:
    """What the groups gained beside the whole change, and what the rest is: time saved, as in the
    ledger; '' where the groups are all of it but a twentieth."""
    if sum_.groups_ns is None or sum_.delta_ns is None:
        return ""
    whole = f"{whole_text(sum_.of)} {saved_text(sum_.delta_ns)}"
    text = f" Groups {saved_text(sum_.groups_ns)}, {whole}"
    if sum_.weak:
        return f"{text}: attribution is weak."
    if abs(sum_.ungrouped_ns or 0) > abs(sum_.delta_ns) / 4:
        return f"{text}: much of it is in operators in no group."
    if abs(sum_.delta_ns - sum_.groups_ns) <= abs(sum_.delta_ns) / 20:
        return ""
    others = {name: getattr(sum_, name) or 0 for name in TERMS if name != "groups_ns"}
    name = max(others, key=lambda term: abs(others[term]))
    return f"{text}; the largest other term, {TERMS[name]}, {saved_text(others[name])}."


def _share(share: float) -> str:
    """'93 %'; never 100 % for less than all."""
    if share > 1 - 1e-9:
        return "all"
    return "over 99 %" if share > 0.99 else f"{share * 100:.0f} %"


def _family(pattern: object) -> str:
    """The first two op types: Conv + BatchNormalization for all that only differ after them."""
    return " + ".join(str(pattern).split(" + ")[:2])


def _precision(comparison: Comparison, members: pd.DataFrame) -> str:
    """'8-bit ' where all of these groups multiply 8-bit numbers on the candidate's side alone,
    'partly 8-bit ' where some do, '' where none does."""
    before, after = (_eight_bit(comparison, side) for side in ("baseline", "candidate"))
    if not after - before:
        return ""
    changed = members["group"].isin(after - before)
    return "8-bit " if changed.all() else "partly 8-bit " if changed.any() else ""


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


def _became(members: pd.DataFrame, precision: str) -> str:
    """What runs in their place; `precision` is what `_precision` says of it."""
    before, after = members["operators_baseline"], members["operators_candidate"]
    each = "" if len(members) == 1 else " each"
    if precision:
        return _became_precise(before, after, precision, each)
    if (members["kind"] == "kept").all():
        return "that kept their operators" if each else "that kept its operator"
    if (members["kind"] == "folded").all():
        return "computed when the model is loaded"
    if (after == 0).all():
        return "that no longer run" if each else "that no longer runs"
    if (after == 1).all() and (before > 1).any():
        return f"run as one operator{each}"
    if (before == 1).all() and (after > 1).all():
        return f"split into several operators{each}"
    if after.sum() < before.sum():
        return "run as fewer operators"
    return "run by other operators"


def _became_precise(before: pd.Series, after: pd.Series, precision: str, each: str) -> str:
    is_one = bool((after == 1).all() and (before > 1).any())
    what = f"run as one {precision}operator{each}" if is_one else f"run by {precision}operators"
    is_fused = bool((after < before).any())
    why = "fusion and precision together" if is_fused else "another precision, not fusion"
    return f"{what}: {why}"


def becomes_cell(row: Mapping[Any, Any]) -> str:
    """Op types that run in the place of a group or pattern; its kind where none is known."""
    types = str(row["becomes"])
    is_told = types.replace("unknown", "").strip(" +×0123456789") != ""
    return types if is_told else KINDS[row["kind"]]


def becomes_text(row: Mapping[Any, Any]) -> str:
    """What became of a group or pattern: '→ Conv', 'kept', 'folded into weights'."""
    kind, cell = KINDS[row["kind"]], becomes_cell(row)
    return kind if row["kind"] == "kept" or cell == kind else f"→ {cell}"


def coverage_sentence(comparison: Comparison) -> str:
    """How many original operators are accounted for, and how the groups are known; without groups
    why, and what to do."""
    fusion = comparison.fusion
    if comparison.are_two_models:
        return "Compare two recordings of one model to see what fusion bought."
    if not fusion.groups:
        return _no_groups(comparison)
    if fusion.source == "inferred":
        if any(group.known_by != "inferred" for group in fusion.groups):
            return (
                f"{plural(len(fusion.groups), 'group')} in two traces without graphs: nothing "
                f"proves them. {known_by_sentence(fusion)}"
            )
        return (
            f"{plural(len(fusion.groups), 'group')}, inferred from op types, shapes and order in "
            "two traces without graphs: nothing proves them."
        )
    mapped, original = units.count(fusion.mapped_nodes), units.count(fusion.original_nodes)
    if fusion.mapped_nodes == fusion.original_nodes:
        parts = [f"every original operator accounted for: {mapped} of {original}"]
    else:
        lost = plural(fusion.original_nodes - fusion.mapped_nodes, "operator")
        parts = [f"{mapped} of {original} original operators accounted for, {lost} in no group"]
    if fusion.source == "members":
        parts.append("as the trace names them")
    else:
        count = fusion.boundary_mismatches
        parts.append(f"{units.count(count)} boundary mismatch{'' if count == 1 else 'es'}")
    parts.append(f"largest group {plural(fusion.largest, 'operator')}")
    inserted = len(fusion.inserted[1])
    if inserted:
        parts.append(f"{plural(inserted, 'operator')} inserted between groups")
    text = ", ".join(parts)
    return f"{capital(text)}. {known_by_sentence(fusion)}".strip()


def _no_groups(comparison: Comparison) -> str:
    """Why no operator is known to have become another, and the next step."""
    sides = {"baseline": comparison.baseline, "candidate": comparison.candidate}
    drawn = [side.graph is not None for side in sides.values()]
    graphs = "the graphs cannot be set beside each other" if all(drawn) else "a side has no graph"
    graphs = graphs if any(drawn) else "the files have no graphs of the model"
    bare = [name for name, side in sides.items() if side.trace.operators["inputs"].isna().all()]
    agree = "type and count" if bare else "type, shapes and count"
    collect = "record both variants with fusescope collect MODEL, which keeps the graphs"
    whose = "both sides" if len(bare) == 2 else f"the {bare[0]}" if bare else ""
    step = f"record {whose} with shapes of tensors, or {collect}" if bare else collect
    return (
        f"No groups: {graphs}, and no operators of the two sides agree in {agree}. To see what "
        f"became of them, {step}."
    )


def known_by_sentence(fusion: Fusion) -> str:
    """'How groups are known: tensor names (50) and tensor values (6).'; '' without groups."""
    counts = Counter(group.known_by for group in fusion.groups)
    if not counts:
        return ""
    texts = [f"{KNOWN_BY[code]} ({units.count(count)})" for code, count in counts.most_common()]
    return f"How groups are known: {listed(texts)}."


def reconciliation_sentence(sum_: Reconciliation) -> str:
    """The change as the sum of its terms; '' where there is no change to explain."""
    if sum_.delta_ns is None:
        return ""
    values = {name: getattr(sum_, name) for name in TERMS}
    shown = [
        f"{TERMS[name]} {units.duration(value, signed=True)}"
        for name, value in values.items()
        if value is not None and (value or name == "groups_ns")
    ]
    of = "file" if sum_.of in OF_FILES else "mean run"
    return f"Change of the {of} {units.duration(sum_.delta_ns, signed=True)} = " + ", ".join(shown)


def no_shares_sentence(ledger: Ledger) -> str:
    """Why no line has a share of the change; '' where they have."""
    if ledger.no_shares is None or ledger.reconciliation.delta_ns is None:
        return ""
    of = "file" if ledger.reconciliation.of in OF_FILES else "mean run"
    why = {
        "within_noise": f"the 95 % interval of the {of}'s change includes no change",
        "cancels": (
            f"gains and losses cancel each other: the change of the {of} is less than half of "
            "what the lines add up to without their signs"
        ),
    }
    return f"No shares of the change are shown: {why[ledger.no_shares]}."


NO_WATERFALL = "The two files have no time of a whole run in common, so there is no sum to draw."


def change_parts(comparison: Comparison, then: str = "") -> tuple[Part, ...]:
    """'What fusion bought' where fusion is what changed, else 'Where the change came from' with
    what else changed: 'Where the change came from: precision (float32 → float16)'.

    `then` goes on after the first words. What changed is told in the file's words, as names.
    """
    if not comparison.has_changes:
        return (Part(f"Fusion groups{then}"),)
    found = causes(comparison.baseline, comparison.candidate, comparison.fusion, comparison.ledger)
    if found and found[0].code == "fusion":
        return (Part(f"What fusion bought{then}"),)
    parts = [Part(f"Where the change came from{then}")]
    for place, cause in enumerate(one for one in found if one.code != "fusion"):
        parts.append(Part(f"{', ' if place else ': '}{cause.code}"))
        if cause.before and cause.after:
            before, after = (units.middle_cut(t, 24) for t in (cause.before, cause.after))
            parts += [Part(" ("), Part(before, "name"), Part(" → "), Part(after, "name"), Part(")")]
    return tuple(parts)


def change_title(comparison: Comparison) -> str:
    """`change_parts` as plain text."""
    return "".join(part.text for part in change_parts(comparison))


def waterfall_terms(sum_: Reconciliation) -> str:
    """What leads from one total of the waterfall to the other, in the order of its steps."""
    terms = (sum_.ungrouped_ns, sum_.communication_ns, sum_.slow_ns, sum_.dispatch_ns)
    shown = ["groups of operators as profiled"]
    if any(terms):
        shown.append("what is in no group")
    if sum_.profiler_bias_ns:
        shown.insert(0, "what the profiler adds to the first")
        shown.append("what the profiler adds to the second taken off again")
    return listed(shown)


def waterfall_basis(sum_: Reconciliation) -> str:
    """What the waterfall's totals and bars are, and how exact their sum is."""
    of = "of the file" if sum_.of in OF_FILES else "mean per run over the blocks or runs"
    return (
        f"Totals: {TIME_SOURCES[sum_.of]}, {of}, measured. Groups: "
        "profiled time, measured. Grey: may be a gain or a loss. Hatched: no groups. The bars add "
        "up exactly to the change in whole ns."
    )
