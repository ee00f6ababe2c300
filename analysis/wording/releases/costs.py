"""Texts of what a change between two releases costs, where both were recorded together."""

from __future__ import annotations

import math

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.ledger.operator_texts import sequence_text
from fusescope.analysis.compare.timing.verdict import SHOWN_ALPHA
from fusescope.analysis.messages import Message, paragraph
from fusescope.analysis.releases.changes import Change
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.sentences import verdict_basis, verdict_sentence

_COST = Message(
    "{before:name} became {after:name} in {n:groups}: {cost:signed_duration} a run, between "
    "{low:signed_duration} and {high:signed_duration} (95 %)."
)
_COST_ALONE = Message(
    "{before:name} became {after:name} in {n:groups}: {cost:signed_duration} a run, without an "
    "interval."
)
_TOGETHER = Message(
    "Both releases ran in the same processes, each by its library, two copies of each, in random "
    "order."
)
_ALONE = Message(
    "Both ran in processes of their own, one after the other in random order, block by block."
)
_ALONE_BECAUSE = Message(
    "Both ran in processes of their own, one after the other in random order, block by block: "
    "{reason:name}."
)
_NOTHING = Message("nothing")


def cost_sentence(comparison: Comparison) -> str:
    """The verdict on both releases, what it rests on, and how they were run."""
    verdict = f"{verdict_sentence(comparison).rstrip('.')}."
    return paragraph(verdict, verdict_basis(comparison.verdict), _how(comparison))


def _how(comparison: Comparison) -> str:
    experiment, variant = comparison.baseline.experiment, comparison.baseline.variant
    if experiment is not None and experiment.record.releases_share_process:
        return str(_TOGETHER)
    why = None if variant is None else variant.settings.get("releases_alone_because")
    return str(_ALONE) if why is None else _ALONE_BECAUSE.text(reason=clean_text(str(why), 200))


def cost_lines(change: Change, comparison: Comparison) -> list[str]:
    """What each group that the change is about takes longer (+) or shorter (-), as profiled, alike
    groups in one sentence, the dearest first."""
    wanted = {one.name for group in change.groups for one in group.group.original}
    alike: dict[tuple[str, str], list[int]] = {}
    for group in comparison.fusion.groups:
        if wanted.isdisjoint(one.name for one in group.original):
            continue
        sides = (sequence_text(group.baseline), sequence_text(group.candidate))
        before, after = (text or str(_NOTHING) for text in sides)
        alike.setdefault((before, after), []).append(group.id)
    found = []
    for sides, groups in alike.items():
        gain = comparison.ledger.gain_of(groups, SHOWN_ALPHA)
        if gain is not None and not math.isnan(gain[1]):
            high, cost, low = (-ns for ns in gain)  # a cost is the other way round
            found.append((sides, (cost, low, high), len(groups)))
    return [_line(*one) for one in sorted(found, key=lambda one: -one[1][0])]


def _line(sides: tuple[str, str], of: tuple[float, float, float], count: int) -> str:
    cost, low, high = of
    before, after = sides
    if math.isnan(low) or math.isnan(high):
        return _COST_ALONE.text(before=before, after=after, n=count, cost=cost)
    return _COST.text(before=before, after=after, n=count, cost=cost, low=low, high=high)
