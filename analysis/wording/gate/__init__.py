"""Texts of gates: what came of each condition, and of all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from fusescope.analysis import units
from fusescope.analysis.advice.missed_fusions import MissedFusion
from fusescope.analysis.compare.groups.fusion import Group
from fusescope.analysis.compare.ledger.operator_texts import common_scope, sequence_text
from fusescope.analysis.gate.condition import Condition
from fusescope.analysis.gate.fusion_changes import FusionChange
from fusescope.analysis.gate.judged import Judged, Outcome, Reason
from fusescope.analysis.messages import Message, paragraph
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.advice import near_miss_remedy, near_miss_sentence, pattern_text
from fusescope.analysis.wording.explanation import change_sentence

SHOWN_CHANGES = 10  # sentences on groups
SHOWN_PLACES = 3
OUTCOMES: Mapping[Outcome, Message] = MappingProxyType(
    {
        "failed": Message("failed"),
        "passed": Message("passed"),
        "cannot_tell": Message("cannot tell"),
        "unknown": Message("not known"),
    }
)
_FAILED = Message(
    "The gate failed: {n:count} of its {of:count} conditions is true.",
    "The gate failed: {n:count} of its {of:count} conditions are true.",
)
_ONE_FAILED = Message("The gate failed: its condition is true.")
_PASSED = Message(
    "The gate passed: its condition is not true.",
    "The gate passed: none of its {n:count} conditions is true.",
)
_UNKNOWN = Message(
    "The gate is not decided: {n:count} condition cannot be judged.",
    "The gate is not decided: {n:count} conditions cannot be judged.",
)
_PASSED_UNTOLD = Message("The gate passed.")
_UNTOLD = Message(
    "{n:count} condition cannot be told at this noise, which fails no gate.",
    "{n:count} conditions cannot be told at this noise, which fails no gate.",
)
_IS = Message("It is {value:name}.")
_THERE = Message("There is {n:count}.", "There are {n:count}.")
_CAUSE: Mapping[str, Message] = MappingProxyType(
    {
        "explanation.slower": Message(
            "What changed adds up to {value:name} of the baseline's time. Each side is one "
            "recording, so this includes how processes differ by chance."
        ),
        "explanation.cause": Message(
            "The costliest cause adds {value:name} of the baseline's time. Each side is one "
            "recording, so this includes how processes differ by chance."
        ),
    }
)
_MORE_CAUSES = Message("{n:count} more cause.", "{n:count} more causes.")
_BETWEEN = Message("It is {value:name}, between {low:name} and {high:name} ({level:percent}).")
_BLOCKS = Message(
    "About {needed:count} blocks would tell, if the estimate stays where it is; it rests on "
    "{blocks:blocks}."
)
_MANY_BLOCKS = Message("More blocks than anybody records would be needed to tell.")
_FEW_BLOCKS = Message("An interval needs {needed:count} blocks; this is {blocks:blocks}.")
REASONS: Mapping[Reason, Message] = MappingProxyType(
    {
        "within_noise": Message("The interval holds the limit."),
        "few_blocks": Message("There is no interval: the noise is unknown."),
        "control_differs": Message(
            "The two copies of the baseline differ, so this machine was not steady."
        ),
        "not_recorded_together": Message(
            "Times are judged of two variants that were recorded together in the same blocks."
        ),
        "no_groups": Message("The graphs of the two sides are not known."),
        "no_figure": Message("This figure is not known of these two sides."),
        "no_gain": Message("The times of these groups are not known."),
        "marked": Message(
            "One side also copies the results of its operators out of the model, so its run is not "
            "the model's."
        ),
        "not_explained": Message(
            "What changed is said of two traces, one a side; of a recording judge speedup, latency "
            "or fusion.lost."
        ),
        "other_work": Message("The two sides do different work, so no cause is one of a change."),
        "clocks": Message(
            "Nearly all kernels take the same share longer or shorter, as where the clocks of the "
            "device differ."
        ),
        "engines_differ": Message(
            "Two engines, or two execution providers, ran the sides. Each has operators of its "
            "own, so none is lost where the other one runs something else. Judge operators and "
            "fusions between two variants of one engine, and engines by speedup, latency, "
            "memory or output_difference."
        ),
    }
)
_CHANGE = Message("{before:name} became {after:name} in {n:groups}: {places:name}.")
_CHANGE_SOMEWHERE = Message("{before:name} became {after:name} in {n:groups}.")
# ONNX Runtime's operators in the blocked layout have the names of the standard ones.
_SAME_NAME = Message(
    "{before:name} became another operator of that name, as in another layout, in {n:groups}: "
    "{places:name}."
)
_SAME_NAME_SOMEWHERE = Message(
    "{before:name} became another operator of that name, as in another layout, in {n:groups}."
)
_MISSED = Message(
    "{pattern:name} is not fused in {n:count} place.",
    "{pattern:name} is not fused in {n:count} places.",
)
_NOTHING = Message("nothing")
_MORE_PLACES = Message("{places:name} and others")
_MORE = Message("{n:count} more group changed.", "{n:count} more groups changed.")


def gate_sentence(judged: Sequence[Judged]) -> str:
    """What came of all conditions: one or two sentences."""
    outcomes = Counter(one.outcome for one in judged)
    untold = outcomes["cannot_tell"]
    if outcomes["failed"] and len(judged) == 1:
        said = str(_ONE_FAILED)
    elif outcomes["failed"]:
        said = _FAILED.text(n=outcomes["failed"], of=len(judged))
    elif outcomes["unknown"]:
        said = _UNKNOWN.text(n=outcomes["unknown"])
    else:
        said = str(_PASSED_UNTOLD) if untold else _PASSED.text(n=len(judged))
    return paragraph(said, _UNTOLD.text(n=untold) if untold else "")


def judged_sentence(judged: Judged) -> str:
    """What was found for one condition, and why it cannot be told where it cannot."""
    found = ""
    if judged.value is not None:
        shown = _shown(judged.condition)
        if judged.condition.kind == "cause":
            found = _CAUSE[judged.condition.quantity].text(value=shown(judged.value))
        elif judged.condition.kind == "count":
            found = _THERE.text(n=int(judged.value))
        elif judged.low is None or judged.high is None:
            found = _IS.text(value=shown(judged.value))
        else:
            found = _BETWEEN.text(
                value=shown(judged.value),
                low=shown(judged.low),
                high=shown(judged.high),
                level=judged.level,
            )
    reason = str(REASONS[judged.reason]) if judged.reason else ""
    return paragraph(found, reason, _needed(judged))


def change_lines(judged: Sequence[Judged]) -> list[str]:
    """The groups behind conditions that are true, alike ones in one sentence: 'BiasGelu became
    Add + Gelu in 12 groups: layer0/ffn, layer1/ffn and others.'; at most SHOWN_CHANGES sentences,
    most groups first, and how many groups are left."""
    changes: dict[frozenset[str], FusionChange] = {}
    for one in judged:
        for change in one.changes if one.outcome == "failed" else ():
            # Of two models, groups of either have numbers of their own.
            ran = frozenset(operator.name for operator in change.group.baseline)
            named = ran or frozenset(operator.name for operator in change.group.original)
            changes.setdefault(named, change)
    return group_lines([change.group for change in changes.values()])


def cause_lines(judged: Sequence[Judged]) -> list[str]:
    """Return what makes a unit of work slower where a condition on that is true, a line a cause,
    the largest first; at most SHOWN_CHANGES, and how many are left."""
    failed = [one for one in judged if one.outcome == "failed" and one.unit is not None]
    if not failed or failed[0].unit is None:
        return []
    causes, unit = failed[0].causes, failed[0].unit
    lines = [change_sentence(change, unit) for change in causes[:SHOWN_CHANGES]]
    left = len(causes) - SHOWN_CHANGES
    return [*lines, *([_MORE_CAUSES.text(n=left)] if left > 0 else [])]


def group_lines(groups: Sequence[Group]) -> list[str]:
    """What ran and what runs in groups, alike ones in one sentence, likewise."""
    alike: dict[tuple[str, str], list[str]] = {}
    for group in groups:
        types = [sequence_text(of) for of in (group.baseline, group.candidate)]
        before, after = (text or str(_NOTHING) for text in types)
        alike.setdefault((before, after), []).append(_place(group))
    ranked = sorted(alike.items(), key=lambda item: -len(item[1]))
    lines = [_change(before, after, places) for (before, after), places in ranked[:SHOWN_CHANGES]]
    left = sum(len(places) for _, places in ranked[SHOWN_CHANGES:])
    return [*lines, *([_MORE.text(n=left)] if left else [])]


def blocked_lines(misses: Sequence[MissedFusion]) -> list[str]:
    """Why a fusion is missed and what to change, a line for each pattern and reason; at most
    SHOWN_CHANGES of them."""
    return [
        paragraph(
            _MISSED.text(pattern=pattern_text(miss), n=miss.count),
            near_miss_sentence(miss),
            near_miss_remedy(miss),
        )
        for miss in misses[:SHOWN_CHANGES]
    ]


def _change(before: str, after: str, places: Sequence[str]) -> str:
    named = [place for place in dict.fromkeys(places) if place]
    types = {"before": before} if before == after else {"before": before, "after": after}
    if not named:
        said = _SAME_NAME_SOMEWHERE if before == after else _CHANGE_SOMEWHERE
        return said.text(**types, n=len(places))
    shown = ", ".join(named[:SHOWN_PLACES])
    if len(named) > SHOWN_PLACES:
        shown = _MORE_PLACES.text(places=shown)
    said = _SAME_NAME if before == after else _CHANGE
    return said.text(**types, n=len(places), places=shown)


def _place(group: Group) -> str:
    """The module of the group, else the name of its first operator."""
    scope = common_scope(group.original)
    first = group.original[0].name if group.original else ""
    return clean_text(scope or first)


def _needed(judged: Judged) -> str:
    if judged.reason == "within_noise" and judged.blocks is not None:
        if judged.blocks_needed is None:
            return str(_MANY_BLOCKS)
        return _BLOCKS.text(needed=judged.blocks_needed, blocks=judged.blocks)
    if judged.reason == "few_blocks" and judged.blocks_needed is not None:
        return _FEW_BLOCKS.text(needed=judged.blocks_needed, blocks=judged.blocks)
    return ""


def _shown(condition: Condition) -> Callable[[float], str]:
    """How its value is written."""
    match condition.kind:
        case "ratio":
            return units.factor
        case "time" | "cause":
            return lambda value: units.percent(value, signed=True)
        case "loss":
            return units.percent
    if condition.relation in ("up", "down"):
        return lambda value: units.percent(value, signed=True)
    if condition.quantity.endswith("_ratio") or condition.quantity.startswith("agreement"):
        return units.percent
    match condition.quantity:
        case "light_time":
            return units.duration
        case "memory" | "bytes_moved":
            return units.data_size
        case "compute_utilisation":
            return units.percent
    return units.small_number
