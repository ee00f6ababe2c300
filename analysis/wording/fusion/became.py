"""What became of the operators of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import group_places
from fusescope.analysis.compare.ledger.operator_texts import sequence_text
from fusescope.analysis.messages import Message, Part
from fusescope.analysis.operators.short_names import short_pattern
from fusescope.analysis.wording.fusion.groups import KINDS

Precision = Literal["", "8-bit", "partly 8-bit"]
_MUCH = 0.1  # of the time of groups, from which on what the engine adds to them is said
_ADDED = Message(
    "In the baseline {time:duration} of its {whole:duration} is in {operators:name}, which the "
    "engine adds to these operators."
)
_SOME = Message("{pattern:name} ({n:count} of {operators:distinct})")


def precision_of(comparison: Comparison, members: pd.DataFrame) -> Precision:
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
    if ran.empty:
        return frozenset()
    trace = getattr(comparison, side).trace
    groups = comparison.fusion.groups
    claims = [getattr(group, side) for group in groups]
    places = group_places(trace.texts("name"), claims)
    of_int8 = trace.operators["operator"].isin(set(ran))
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
_LISTED = Message(
    "A generated kernel names it in its place: a claim, no proof.",
    "Generated kernels name them in their place: a claim, no proof.",
)
_SPLIT = Message(
    "It is split into several operators.", "They are split into several operators each."
)
_FEWER = Message("It runs as fewer operators.", "They run as fewer operators.")
OTHERS = Message("Other operators run in its place.", "Other operators run in their place.")
# By precision, whether each runs as one operator, and whether any has fewer operators.
_PRECISE: Mapping[tuple[Precision, bool, bool], Message] = {
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


def became(members: pd.DataFrame, precision: Precision) -> Message:
    """What runs in their place; `precision` is what `precision_of` says of it."""
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
    if (members["known_by"] == "listed").all():
        return _LISTED
    if is_one:
        return _AS_ONE
    if (before == 1).all() and (after > 1).all():
        return _SPLIT
    return _FEWER if after.sum() < before.sum() else OTHERS


def added_parts(comparison: Comparison, members: pd.DataFrame) -> tuple[Part, ...]:
    """Return how much of the baseline's time in these groups is in operators that move data for
    them and that the model does not have there; () where that is little."""
    added = comparison.ledger.added
    found = [added[group] for group in members["group"].tolist() if group in added]
    if not found:
        return ()
    added_ns, whole_ns = sum(one.ns for one in found), float(members["before_ns"].sum())
    if not added_ns >= _MUCH * whole_ns:
        return ()
    types = sequence_text(max(found, key=lambda one: one.ns).operators)
    return _ADDED.parts(operators=short_pattern(types), time=added_ns, whole=whole_ns)


def becomes_cell(row: Mapping[Any, Any]) -> str:
    """Return the op types that run in the place of a group or pattern, kernels of libraries by
    their short names; its kind where none is known."""
    types = str(row["becomes"])
    is_told = types.replace("unknown", "").strip(" +×0123456789") != ""
    return short_pattern(types) if is_told else KINDS[row["kind"]].text()


def originals_text(row: Mapping[Any, Any]) -> str:
    """Return the pattern of a group, kernels of libraries by their short names, and how many of its
    type it holds where it has some of them alone."""
    shown = short_pattern(str(row["pattern"]))
    if pd.isna(row.get("ran")):
        return shown
    return _SOME.text(pattern=shown, n=int(row["inside"]), operators=int(row["ran"]))


def becomes_text(row: Mapping[Any, Any]) -> str:
    """What became of a group or pattern: '→ Conv', 'kept', 'folded into weights'."""
    kind, cell = KINDS[row["kind"]].text(), becomes_cell(row)
    return kind if row["kind"] == "kept" or cell == kind else f"→ {cell}"
