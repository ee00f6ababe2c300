"""Two fleets paired by rank: how the parts of a step changed."""

from __future__ import annotations

from fusescope.analysis.fleet.versus import Change, Versus
from fusescope.analysis.messages import Message, Part, Shown
from fusescope.analysis.wording.fleet.bases import PARTS
from fusescope.analysis.wording.fleet.sentences import ranks_text

_PAIRED = Message("{n:count} rank is in both fleets.", "{n:count} ranks are in both fleets.")
_ALONE = Message("Rank {ranks} is in one of them only.", "Ranks {ranks} are in one of them only.")
_CHANGED = Message(
    "{part}: {baseline:duration} → {candidate:duration}, **{change:change}** "
    "({low:change} to {high:change})."
)
_UNSURE = Message(
    "{part}: {baseline:duration} → {candidate:duration}, {change:change}; fewer than five ranks, "
    "so no interval."
)
_NONE = Message("{part}: nothing to compare.")


def versus_sentences(found: Versus) -> list[tuple[Part, ...]]:
    """How many ranks are compared, and how each part of their step changed."""
    told = [_PAIRED.parts(n=found.paired)]
    if found.alone:
        told.append(_ALONE.parts(ranks=ranks_text(found.alone), n=len(found.alone)))
    return [*told, *map(change_parts, found.changes)]


def change_parts(change: Change) -> tuple[Part, ...]:
    """How one part changed, with its interval where there is one."""
    part = PARTS[change.part]
    if change.ratio is None:
        return _NONE.parts(part=part)
    values: dict[str, Shown] = {
        "part": part,
        "baseline": change.baseline_ns,
        "candidate": change.candidate_ns,
        "change": change.ratio - 1,
    }
    if change.low is None or change.high is None:
        return _UNSURE.parts(**values)
    return _CHANGED.parts(low=change.low - 1, high=change.high - 1, **values)
