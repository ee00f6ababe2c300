"""What fusion changed, a sentence a pattern, as the rows of a comparison of recordings have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, Part, passage, say
from fusescope.analysis.wording.counted import per_text
from fusescope.analysis.wording.fusion.became import added_parts, becomes_cell, originals_text
from fusescope.analysis.wording.fusion.title import came_from_parts

TITLE = Message("What the groups of operators gain")
GROUP = Message("Group")
IN_PART = Message("Show {operator:name} with its operators")
OTHERS = Message("{n:count} other pattern", "{n:count} other patterns")
REST = Message("Not in groups: other operators, idle time, slow runs and the profiler's part")
TIMES_ALONE = Message("These are times of operators as profiled.")
_PROFILED = Message(
    "These are times of operators as profiled. The verdict is of runs that are not profiled."
)
_SUM = Message(
    "These are times of operators as profiled, {groups:signed_duration} together. The un-profiled "
    "run of the verdict changes by {whole:signed_duration}."
)
_ELSEWHERE = Message(
    "These are times of operators as profiled, {groups:signed_duration} together. The un-profiled "
    "run of the verdict changes by {whole:signed_duration}, most of it in none of these groups."
)
_MOST = 0.5  # of the whole change, which groups make up that it is in
_FUSED = Message(
    "{n:count} group of {pattern:name} runs as {becomes:name}: **{ns:signed_duration}** {per}.",
    "{n:count} groups of {pattern:name} run as {becomes:name}: **{ns:signed_duration}** {per}.",
)
_REPLACED = Message(
    "{n:count} group of {pattern:name} is replaced by another one of that type: "
    "**{ns:signed_duration}** {per}.",
    "{n:count} groups of {pattern:name} are replaced by others of that type: "
    "**{ns:signed_duration}** {per}.",
)
_KEPT = Message(
    "{n:count} group of {pattern:name} runs as before: **{ns:signed_duration}** {per}.",
    "{n:count} groups of {pattern:name} run as before: **{ns:signed_duration}** {per}.",
)
_SAME_OPERATORS = Message(
    "{n:count} group of {pattern:name} keeps its operators: **{ns:signed_duration}** {per}.",
    "{n:count} groups of {pattern:name} keep their operators: **{ns:signed_duration}** {per}.",
)
_GONE = Message(
    "{n:count} group of {pattern:name} runs no longer: **{ns:signed_duration}** {per}.",
    "{n:count} groups of {pattern:name} run no longer: **{ns:signed_duration}** {per}.",
)
_NAME_CHARS = 80
_IS_GONE = ("folded", "removed", "loaded")


def pattern_parts(comparison: Comparison, pattern: Mapping[Any, Any]) -> tuple[Part, ...]:
    """Return how many groups of a pattern run as what, and by how much less or more that takes."""
    kind = pattern["kind"]
    originals, becomes = originals_text(pattern), becomes_cell(pattern)
    message = _GONE if kind in _IS_GONE else _KEPT if kind == "kept" else _FUSED
    if message is _FUSED and becomes == originals:
        message = _REPLACED
    if message is _KEPT and came_from_parts(comparison):  # another device, engine or precision
        message = _SAME_OPERATORS
    said = message.parts(
        n=int(pattern["groups"]),
        pattern=originals,
        becomes=becomes,
        ns=-float(pattern["gain_ns"]),
        per=per_text(comparison),
    )
    rows = comparison.ledger.rows
    added = added_parts(comparison, rows[rows["key"] == pattern["key"]])
    return passage(said, added) if added else said


def profiled_parts(groups_ns: float, whole_ns: int | None) -> tuple[Part, ...]:
    """Return that these are times as profiled, what all groups come to, and what the run of the
    verdict changes by where that is known: most of it may be in no group."""
    if whole_ns is None:
        return _PROFILED.parts()
    is_elsewhere = groups_ns * whole_ns <= 0 or abs(groups_ns) < _MOST * abs(whole_ns)
    return (_ELSEWHERE if is_elsewhere else _SUM).parts(groups=groups_ns, whole=whole_ns)


def group_names(comparison: Comparison) -> dict[int, str]:
    """Return what to call each group: its module where no other one has it, else its first
    operator."""
    scopes = comparison.ledger.rows.set_index("group")["scope"].to_dict()
    times = pd.Series(list(scopes.values()), dtype="object").value_counts()
    names = {}
    for group in comparison.fusion.groups:
        scope = str(scopes.get(group.id, ""))
        first = next((o.name for o in (*group.original, *group.baseline) if o.name), "")
        name = scope if scope and times[scope] == 1 else first
        names[group.id] = units.middle_cut(name or say("group {id}", id=group.id), _NAME_CHARS)
    return names
