"""Texts of what a change between two releases costs, where both were recorded together."""

from __future__ import annotations

import math

from analysis.compare.comparison import Comparison
from analysis.compare.ledger import sequence_text
from analysis.messages import Message, paragraph
from analysis.releases.changes import Change
from analysis.text import clean_text
from analysis.wording.sentences import verdict_basis, verdict_sentence

_COST = Message(
    "{before:name} became {after:name} in {n:groups}: {cost:signed_duration} a run, between "
    "{low:signed_duration} and {high:signed_duration} (95 %, the sum of their intervals)."
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
_BOUNDS = ("gain_ns", "low_ns", "high_ns")


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
    rows = comparison.ledger.rows.set_index("group")
    alike: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for group in comparison.fusion.groups:
        if group.id not in rows.index or wanted.isdisjoint(one.name for one in group.original):
            continue
        gain, low, high = (float(rows[name][group.id]) for name in _BOUNDS)
        cost = (-gain, -high, -low)
        sides = (sequence_text(group.baseline), sequence_text(group.candidate))
        before, after = (text or str(_NOTHING) for text in sides)
        alike.setdefault((before, after), []).append(cost)
    summed = {sides: [sum(part) for part in zip(*of, strict=True)] for sides, of in alike.items()}
    ranked = sorted(
        ((sides, of) for sides, of in summed.items() if not math.isnan(of[0])),
        key=lambda item: -item[1][0],
    )
    return [_line(sides, of, len(alike[sides])) for sides, of in ranked]


def _line(sides: tuple[str, str], of: list[float], count: int) -> str:
    cost, low, high = of
    before, after = sides
    if math.isnan(low) or math.isnan(high):
        return _COST_ALONE.text(before=before, after=after, n=count, cost=cost)
    return _COST.text(before=before, after=after, n=count, cost=cost, low=low, high=high)
