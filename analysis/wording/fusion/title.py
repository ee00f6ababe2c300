"""What the change came from, as the title of its table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from fusescope.analysis import units
from fusescope.analysis.compare.causes import OTHER_STEPS, Cause, CauseCode, causes
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, Part, Said

_CAUSES: Mapping[CauseCode, Message] = {
    "fusion": Message("fusion"),
    "engine": Message("engine"),
    "precision": Message("precision"),
    "device": Message("device"),
    "layout": Message("layout"),
    "one_graph": Message("one graph"),
    "capture": Message("capture"),
    "code_generation": Message("code generation"),
    "compilation": Message("compilation"),
}
_FUSIONS: tuple[CauseCode, ...] = ("fusion", "lost_fusion")
_FROM_TO = Message("{cause} ({before:name} → {after:name})")
_LISTED = Message("{causes}, {cause}")


def change_parts(comparison: Comparison, *, by_pattern: bool = False) -> tuple[Part, ...]:
    """'What fusion bought' or 'What lost fusions cost' where fusion is what changed, else 'Where
    the change came from' with what else changed: 'Where the change came from: precision (float32 →
    float16)'. Of variants of one engine, fusion is one of the steps between them, and named beside
    the others.

    `by_pattern` is the title of a table by pattern. What changed is told in the file's words, as
    names. Where nothing changed, they are the groups.
    """
    if not _has_changed(comparison):
        return (_BY_PATTERN if by_pattern else _FUSION_GROUPS).parts()
    found = _causes(comparison)
    if found and found[0].code == "fusion":
        return (_BOUGHT_BY_PATTERN if by_pattern else _BOUGHT).parts()
    if found and found[0].code == "lost_fusion" and _groups_lost(comparison):
        return (_COST_BY_PATTERN if by_pattern else _COST).parts()
    told = _told(found)
    if told is None:
        return (_CAME_FROM_BY_PATTERN if by_pattern else _CAME_FROM).parts()
    return (_CAME_FROM_THESE_BY_PATTERN if by_pattern else _CAME_FROM_THESE).parts(causes=told)


def came_from_parts(comparison: Comparison) -> tuple[Part, ...]:
    """`change_parts` where something else than fusion changed and is named; else none."""
    found = _causes(comparison) if _has_changed(comparison) else ()
    is_named = bool(found) and found[0].code not in _FUSIONS and _told(found) is not None
    return change_parts(comparison) if is_named else ()


def is_of_fusion(comparison: Comparison) -> bool:
    """Return whether fusion is what the change came from."""
    return change_parts(comparison) == _BOUGHT.parts()


def _has_changed(comparison: Comparison) -> bool:
    return comparison.has_changes and comparison.verdict.reason != "no_change"


def _causes(comparison: Comparison) -> tuple[Cause, ...]:
    of = comparison
    return causes(of.baseline, of.candidate, of.fusion, of.ledger)


def _groups_lost(comparison: Comparison) -> bool:
    return (comparison.ledger.reconciliation.groups_ns or 0.0) > 0


def _told(found: tuple[Cause, ...]) -> Said | None:
    """Those that are named, as a list; None without any."""
    in_steps = any(cause.code in OTHER_STEPS for cause in found)
    told = [_cause(cause) for cause in found if in_steps or cause.code not in _FUSIONS]
    if not told:
        return None
    return reduce(lambda causes, cause: _LISTED.of(causes=causes, cause=cause), told)


_FUSION_GROUPS = Message("Fusion groups")
_BY_PATTERN = Message("Fusion groups, by pattern")
_BOUGHT = Message("What fusion bought")
_BOUGHT_BY_PATTERN = Message("What fusion bought, by pattern")
_COST = Message("What lost fusions cost")
_COST_BY_PATTERN = Message("What lost fusions cost, by pattern")
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
