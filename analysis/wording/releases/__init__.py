"""Texts of releases: what one makes different of a model, and why one was left out."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from analysis import units
from analysis.messages import Message, paragraph
from analysis.releases.changes import Change, GroupChange
from analysis.releases.history import History, Reason, Release
from analysis.text import clean_text
from analysis.wording.gate import group_lines

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
_LOST = Message("lost {types:name}")
_WON = Message("won {types:name}")
_BOTH = Message("{lost}; {won}")
_SPLIT = Message("{n:count} group runs as more operators", "{n:count} groups run as more operators")
_JOINED = Message(
    "{n:count} group runs as fewer operators", "{n:count} groups run as fewer operators"
)
_OTHERS = Message("no fusion was lost or won: {types:name}")
_INTO_LAYOUT = Message("In the blocked layout (NCHWc) now: {types:name}.")
_OUT_OF_LAYOUT = Message("No longer in the blocked layout (NCHWc): {types:name}.")
_IN_ALL = Message("Operators that came and went in all: {types:name}.")
_MODEL = Message("{model:name} ({inputs:name})")
_NODES = Message("{before:count} operators became {after:count}.")
_SAME_NODES = Message("There are {n:count} operators in both.")
_LASTS = Message("It lasts up to {newest:name}.")
_ENDED = Message("It does not last: in {newest:name} it is undone.")
_CHANGE = Message("{older:name} → {newer:name}: {what}.")
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
    """'lost BiasGelu ×2; won Gelu ×2': what a row of a table has room for."""
    lost, won = (_types(counted) for counted in (change.lost, change.won))
    split, joined = len(change.of("split")), len(change.of("joined"))
    told = [
        message
        for message, is_told in (
            (_LOST.of(types=lost), lost),
            (_SPLIT.of(n=split), split),
            (_WON.of(types=won), won),
            (_JOINED.of(n=joined), joined and not (lost or split or won)),
        )
        if is_told
    ]
    if told:
        return str(functools.reduce(lambda first, then: _BOTH.of(lost=first, won=then), told))
    return _OTHERS.text(types=_signed(change.types))


def change_sentence(change: Change, newest: str) -> str:
    """The two releases, what is different, operators before and after, and whether it lasts."""
    before, after = change.nodes
    nodes = _SAME_NODES.text(n=after)
    if before != after:
        nodes = _NODES.text(before=before, after=after)
    lasts = (
        "" if change.newer == newest else (_LASTS if change.lasts else _ENDED).text(newest=newest)
    )
    said = _CHANGE.text(older=change.older, newer=change.newer, what=what_changed(change))
    return paragraph(said, nodes, lasts)


def change_lines(change: Change) -> list[str]:
    """What ran and what runs, alike groups in one sentence, and what came and went in all."""
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
    return [*lines, *([_IN_ALL.text(types=_signed(change.types))] if change.types else [])]


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


def _signed(types: Mapping[str, int]) -> str:
    """'BiasGelu -2, Gelu +2', what is gone first."""
    ranked = sorted(types.items(), key=lambda item: (item[1], item[0]))
    return ", ".join(
        f"{clean_text(name, _CHARS)} {units.grouped(count, '+d')}" for name, count in ranked
    )


def _types(counted: Mapping[str, int]) -> str:
    """'Gemm ×6, Gelu', most first."""
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    names = ((clean_text(name, _CHARS), count) for name, count in ranked)
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in names)
