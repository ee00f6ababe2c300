"""Texts of releases: what one makes different of a model, and why one was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from fusescope.analysis import units
from fusescope.analysis.messages import Message, paragraph
from fusescope.analysis.releases.changes import Change, GroupChange
from fusescope.analysis.releases.history import History, Reason, Release
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.gate import group_lines

_CHARS = 60
_NONE = Message(
    "All {n:count} releases from {first:name} to {last:name} run this model with the same "
    "operators."
)
_SOME = Message(
    "{n:count} of {of:count} releases from {first:name} to {last:name} changes the operators "
    "that run.",
    "{n:count} of {of:count} releases from {first:name} to {last:name} change the operators "
    "that run.",
)
_OTHER_KERNELS = Message(
    "as many of each type, {n:count} group in other kernels",
    "as many of each type, {n:count} groups in other kernels",
)
_GONE = Message("Fused operators that are gone: {types:name}.")
_COME = Message("New fused operators: {types:name}.")
_INTO_LAYOUT = Message("In the blocked layout (NCHWc) now: {types:name}.")
_OUT_OF_LAYOUT = Message("No longer in the blocked layout (NCHWc): {types:name}.")
_INSERTED = Message("Operators that only move data, in no group: {types:name}.")
_MODEL = Message("{model:name} ({inputs:name})")
_NODES = Message("{before:count} operators became {after:count}: {what}.")
_SAME_NODES = Message("There are {n:count} operators in both: {what}.")
_LASTS = Message("It lasts up to {newest:name}.")
_ENDED = Message("It does not last: in {newest:name} it is undone.")
_CHANGE = Message("{older:name} → {newer:name}: {nodes}")
_REASONS: Mapping[Reason, Message] = MappingProxyType(
    {
        "no_wheel": Message("there is no wheel for this Python and machine"),
        "refused": Message("it could not run the model"),
        "not_importable": Message(
            "it cannot be imported with the packages that are installed here"
        ),
    }
)
_SAID = Message("{reason}: {said:name}")


def history_sentence(history: History, changes: Sequence[Change]) -> str:
    """How many releases change something."""
    compared = history.compared
    ends = {"first": compared[0].version, "last": compared[-1].version}
    if not changes:
        return _NONE.text(n=len(compared), **ends)
    return _SOME.text(n=len(changes), of=len(compared), **ends)


def model_text(history: History) -> str:
    """The model and its inputs: 'net (x float32[1, 8])'."""
    inputs = (f"{one.name} {one.dtype}{list(one.shape)}" for one in history.model.inputs)
    return _MODEL.text(
        model=clean_text(history.model.name, _CHARS), inputs=clean_text(", ".join(inputs), 300)
    )


def what_changed(change: Change) -> str:
    """'BiasGelu 2 → 0, Gelu 0 → 2': of which types there are more or fewer; they add up."""
    if not change.types:
        return _OTHER_KERNELS.text(n=len(change.groups))
    return _counts(change.types)


def change_sentence(change: Change, newest: str) -> str:
    """Return the two releases, operators before and after, in all and by type, which fused ones are
    gone or have come, and whether it lasts."""
    before, after = change.nodes
    what = what_changed(change)
    nodes = _SAME_NODES.of(n=after, what=what)
    if before != after:
        nodes = _NODES.of(before=before, after=after, what=what)
    lasts = (
        "" if change.newer == newest else (_LASTS if change.lasts else _ENDED).text(newest=newest)
    )
    fused = [
        message.text(types=_types(types))
        for message, types in ((_GONE, change.lost), (_COME, change.won))
        if types
    ]
    return paragraph(
        _CHANGE.text(older=change.older, newer=change.newer, nodes=nodes), *fused, lasts
    )


def change_lines(change: Change) -> list[str]:
    """Return what ran and what runs, alike groups in one sentence, and what was inserted beside
    them."""
    as_others = [one.group for one in change.groups if not _is_layout(one)]
    lines = group_lines(as_others)
    for layout, message in ((1, _INTO_LAYOUT), (-1, _OUT_OF_LAYOUT)):
        types = Counter(
            one.op_type
            for group in change.groups
            if _is_layout(group) and group.layout == layout
            for one in group.group.candidate
        )
        if types:
            lines.append(message.text(types=_types(types)))
    return [*lines, *([_INSERTED.text(types=_counts(change.inserted))] if change.inserted else [])]


def skipped_text(release: Release) -> str:
    """Why a release was left out; '' for one that was not."""
    if release.reason is None:
        return ""
    reason = _REASONS[release.reason]
    if not release.said:
        return reason.text()
    return _SAID.text(reason=reason.of(), said=clean_text(release.said, 300))


def _is_layout(change: GroupChange) -> bool:
    """Whether the same op types run, in another layout."""
    sides = (change.group.baseline, change.group.candidate)
    before, after = (Counter(one.op_type for one in side) for side in sides)
    return bool(change.layout) and before == after


def _counts(types: Mapping[str, tuple[int, int]]) -> str:
    """'BiasGelu 2 → 0, Gelu 0 → 2' of counts before and after."""
    return ", ".join(
        f"{clean_text(name, _CHARS)} {units.grouped(before)} → {units.grouped(after)}"
        for name, (before, after) in types.items()
    )


def _types(counted: Mapping[str, int]) -> str:
    """'Gemm ×6, Gelu', most first."""
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    names = ((clean_text(name, _CHARS), count) for name, count in ranked)
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in names)
