"""The explanation of one trace in sentences: its unit of work, where the time goes, and the
largest thing that need not be."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.advice.explanation.explanation import TraceExplanation
from analysis.messages import Message, Said, paragraph
from analysis.wording.explanation.blocks import blocks_said
from analysis.wording.explanation.savings import saving_said
from analysis.wording.explanation.traced_unit import unit_said

FEW = 4  # savings that follow the largest
_LEADS = 0.1  # of a unit, from which the largest saving is told first
# Whoever knows the file knows the time of all its steps.
_IN_ALL = Message("In {n:steps} together that is {all:duration} of {whole:duration}.")
_NOTHING = Message("Nothing large stands out that need not be.")


def trace_sentence(found: TraceExplanation) -> str:
    """Return what a unit is and takes, what that goes to, and the largest thing that need not be,
    as one paragraph."""
    return paragraph(*(str(said) for part in told_said(found) for said in part))


def told_said(found: TraceExplanation) -> tuple[Sequence[Said], ...]:
    """Return the parts of `lead_said` in the order in which they are told: the largest thing that
    need not be comes before what the time goes to, where it is much of a unit."""
    unit, blocks, saving = lead_said(found)
    return (unit, saving, blocks) if saving_leads(found) else (unit, blocks, saving)


def saving_leads(found: TraceExplanation) -> bool:
    """Return whether the largest thing that need not be is much of a unit."""
    return bool(found.savings) and found.savings[0].ns >= _LEADS * found.unit.wall_ns


def lead_said(found: TraceExplanation) -> tuple[Sequence[Said], Sequence[Said], Sequence[Said]]:
    """Return the sentences of the unit, of what its time goes to, and of the largest thing that
    need not be."""
    unit = found.unit
    largest = [saving_said(each, unit) for each in found.savings[:1]]
    return unit_said(unit), blocks_said(found), [*largest, *whole_said(found)] or [_NOTHING.of()]


def whole_said(found: TraceExplanation) -> list[Said]:
    """Return how much the largest thing that need not be is in all units together, of several that
    annotations name; nothing of others."""
    unit = found.unit
    if not found.savings or unit.kind != "annotation" or unit.count < 2:
        return []
    ns, count = found.savings[0].ns, unit.count
    return [_IN_ALL.of(n=count, all=ns * count, whole=unit.wall_ns * count)]


def following_said(found: TraceExplanation) -> list[Said]:
    """Return what else need not be, the largest first."""
    return [saving_said(each, found.unit) for each in found.savings[1 : FEW + 1]]
