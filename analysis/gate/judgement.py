"""Judgement: which conditions of a gate are true of a comparison."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import assert_never

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.figures import OF_RUNS
from fusescope.analysis.compare.side import engines_differ
from fusescope.analysis.gate.causes import judge_causes
from fusescope.analysis.gate.condition import NOISY, Condition
from fusescope.analysis.gate.fusion_changes import FusionChange, FusionChanges, fusion_changes
from fusescope.analysis.gate.judged import Judged, Outcome, Reason
from fusescope.analysis.gate.times import blocks_needed, judge_times, level_of

_FIGURES: Mapping[str, str] = MappingProxyType(
    {
        "small_op_ratio": "small_op_time",
        "short_op_ratio": "short_op_time",
        "light_operators": "light_count",
    }
)
_TESTS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {
        "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
        "==": operator.eq, "!=": operator.ne,
    }
)  # fmt: skip


def judge(
    conditions: Sequence[Condition],
    comparison: Comparison,
    structure: FusionChanges | None = None,
) -> tuple[Judged, ...]:
    """Each condition, in the order given. Those of structure are judged of `structure` where it is
    given, as for two models, of which each is optimised by itself."""
    if structure is None and engines_differ(comparison.baseline, comparison.candidate):
        return _of_two_engines(conditions, comparison)
    timed = sum(condition.kind in NOISY for condition in conditions)
    changes = fusion_changes(comparison.fusion)
    return tuple(
        _of_fusion(condition, structure)
        if structure is not None and condition.is_structural
        else _judged(condition, comparison, changes, timed)
        for condition in conditions
    )


def judge_structure(
    conditions: Sequence[Condition],
    changes: FusionChanges | None,
    is_of_one_engine: bool = True,
) -> tuple[Judged, ...]:
    """The same where nothing was measured: of structural conditions alone, which are exact."""
    if is_of_one_engine:
        return tuple(_of_fusion(condition, changes) for condition in conditions)
    return tuple(
        _refused(condition) or replace(_of_fusion(condition, changes), changes=())
        for condition in conditions
    )


def has_failed(judged: Sequence[Judged]) -> bool:
    """Whether the gate fails."""
    return any(one.outcome == "failed" for one in judged)


def _of_two_engines(conditions: Sequence[Condition], comparison: Comparison) -> tuple[Judged, ...]:
    """What two engines can be held against each other by: each has fused operators of its own, so
    none is lost where the other one runs something else. What is of the candidate alone is judged,
    without groups, which would say what another engine's operators became."""
    timed = sum(one.kind in NOISY and not one.needs_one_engine for one in conditions)
    changes = fusion_changes(comparison.fusion)
    return tuple(
        _refused(one) or replace(_judged(one, comparison, changes, timed), changes=())
        for one in conditions
    )


def _refused(condition: Condition) -> Judged | None:
    """What a condition is of two engines that needs one; None where it may be judged."""
    if not condition.needs_one_engine:
        return None
    return Judged(condition, "unknown", reason="engines_differ")


def _judged(
    condition: Condition, comparison: Comparison, changes: FusionChanges | None, timed: int
) -> Judged:
    match condition.kind:
        case "ratio" | "time":
            return _of_times(condition, comparison, timed)
        case "count":
            return _of_fusion(condition, changes)
        case "loss":
            return _of_lost_gain(condition, comparison, changes, timed)
        case "value":
            return _of_figure(condition, comparison)
        case "cause":
            return judge_causes(condition, comparison)
        case _:
            assert_never(condition.kind)


def _of_times(condition: Condition, comparison: Comparison, timed: int) -> Judged:
    experiment = comparison.baseline.experiment
    names = [side.variant.name for side in (comparison.baseline, comparison.candidate)
             if side.variant is not None]  # fmt: skip
    if comparison.verdict.pairing != "blocks" or experiment is None or len(names) < 2:
        return Judged(condition, "unknown", reason="not_recorded_together")
    if comparison.verdict.reason == "marked":
        return Judged(condition, "unknown", reason="marked")
    steady = comparison.verdict.reason != "control_differs"
    return judge_times(condition, experiment.record, (names[0], names[1]), timed, steady)


def _of_fusion(condition: Condition, changes: FusionChanges | None) -> Judged:
    if changes is None:
        return Judged(condition, "unknown", reason="no_groups")
    behind: tuple[FusionChange, ...] = ()
    match condition.quantity:
        case "fusion.lost":
            behind = changes.of("lost")
            count = len(behind)
        case "fusion.won":
            behind = changes.of("won")
            count = len(behind)
        case "fusion.changed":
            behind = changes.of("changed")
            count = len(behind)
        case "fusion.count":
            count = changes.operators[1][condition.argument]
            behind = tuple(c for c in changes.changes if condition.argument in c.before)
        case _:
            count = changes.operators[1].total()
    is_true = _TESTS[condition.relation](count, condition.limit)
    return Judged(condition, _outcome(is_true), float(count), changes=behind)


def _of_lost_gain(
    condition: Condition, comparison: Comparison, changes: FusionChanges | None, timed: int
) -> Judged:
    """What groups that lost a fusion take longer as profiled, as a part of the baseline's run: the
    interval of their sum, at the confidence that times are judged at."""
    if changes is None:
        return Judged(condition, "unknown", reason="no_groups")
    lost, times = changes.of("lost"), comparison.verdict.times_ns
    experiment = comparison.baseline.experiment
    looks = () if experiment is None else experiment.record.settings.looks
    alpha = level_of(condition, looks, timed)
    gain = comparison.ledger.gain_of([change.group.id for change in lost], alpha)
    if times is None or gain is None or math.isnan(gain[1]):
        return Judged(condition, "unknown", reason="no_gain", changes=lost)
    high, loss, low = (-ns / times[0] + 0.0 for ns in gain)  # a loss is the other way round
    if math.isnan(low):
        return Judged(condition, "cannot_tell", loss, reason="few_blocks", changes=lost)
    true_at = {_TESTS[condition.relation](bound, condition.limit) for bound in (low, loss, high)}
    outcome: Outcome = "cannot_tell" if len(true_at) > 1 else _outcome(true_at.pop())
    reason: Reason | None = "within_noise" if outcome == "cannot_tell" else None
    if comparison.verdict.reason == "control_differs":
        outcome, reason = "cannot_tell", "control_differs"
    told = Judged(condition, outcome, loss, low, high, 1 - alpha, reason, changes=lost)
    if comparison.verdict.pairing != "blocks" or reason != "within_noise":
        return told
    blocks = comparison.ledger.blocks
    needed = blocks_needed(loss, condition.limit, (high - low) / 2, blocks)
    return replace(told, blocks=blocks, blocks_needed=needed)


def _of_figure(condition: Condition, comparison: Comparison) -> Judged:
    code = _FIGURES.get(condition.quantity, condition.quantity)
    figure = next((one for one in comparison.figures if one.code == code), None)
    if comparison.verdict.reason == "marked" and code in OF_RUNS:
        return Judged(condition, "unknown", reason="marked")
    before = None if figure is None else figure.baseline.value
    after = None if figure is None else figure.candidate.value
    if condition.relation in _TESTS:
        value = None if after is None else float(after)
    else:
        value = None if before is None or after is None or not before else after / before - 1
    if value is None:
        return Judged(condition, "unknown", reason="no_figure")
    if condition.relation in _TESTS:
        is_true = _TESTS[condition.relation](value, condition.limit)
    else:
        is_true = (value if condition.relation == "up" else -value) > condition.limit
    return Judged(condition, _outcome(is_true), value)


def _outcome(is_true: bool) -> Outcome:
    return "failed" if is_true else "passed"
