"""Runs far from the others, which move the mean that leads, as a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.compare.side import Role
from fusescope.analysis.compare.timing.runs_apart import RunsApart
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.messages import Message, paragraph
from fusescope.analysis.messages.formats import shown
from fusescope.analysis.wording.quantities import range_said

_APART: Mapping[Role, Message] = {
    "baseline": Message(
        "{others:count} of the baseline's {runs} take {near}, the other one takes {far}.",
        "{others:count} of the baseline's {runs} take {near}, the other {n:count} take {far}.",
    ),
    "candidate": Message(
        "{others:count} of the candidate's {runs} take {near}, the other one takes {far}.",
        "{others:count} of the candidate's {runs} take {near}, the other {n:count} take {far}.",
    ),
}
_SPREAD: Mapping[Role, Message] = {
    "baseline": Message(
        "The baseline's {runs} take {near}, half of them {median:duration} or less."
    ),
    "candidate": Message(
        "The candidate's {runs} take {near}, half of them {median:duration} or less."
    ),
}
_TWO: Mapping[Role, Message] = {
    "baseline": Message("The baseline's {runs} take {first:duration} and {last:duration}."),
    "candidate": Message("The candidate's {runs} take {first:duration} and {last:duration}."),
}
_ROLES: tuple[Role, Role] = ("baseline", "candidate")


def apart_text(verdict: Verdict) -> str:
    """Return which runs of both sides are far from the others; '' where none are."""
    sides = zip(_ROLES, verdict.runs_apart, verdict.samples, strict=True)
    word = verdict.run_word
    return paragraph(
        *(_of_side(role, found, count, shown(count, word)) for role, found, count in sides if found)
    )


def _of_side(role: Role, found: RunsApart, count: int, runs: str) -> str:
    if count == 2:
        first, last = found.near_ns
        return _TWO[role].text(runs=runs, first=first, last=last)
    message = _APART[role] if found.others else _SPREAD[role]
    return message.text(
        n=found.count,
        others=found.others,
        runs=runs,
        near=range_said(*found.near_ns),
        far=range_said(*found.far_ns),
        median=found.median_ns,
    )
