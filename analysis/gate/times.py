"""Conditions on times: the interval over blocks has to lie beyond the limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from fusescope.analysis.compare.timing.samples import (
    BlockTimes,
    cpu_times,
    paired_differences,
    quantile_times,
    record_times,
)
from fusescope.analysis.compare.timing.statistics import MIN_SAMPLES, look_alpha, yuen
from fusescope.analysis.experiment import ExperimentRecord, VariantRecord
from fusescope.analysis.gate.condition import DEFAULT_CONFIDENCE, Condition
from fusescope.analysis.gate.judged import Judged, Outcome, Reason

MAX_BLOCKS = 1000  # beyond it the number of blocks that would tell is not worth saying
_SHOWN_ALPHA = 0.05
_QUANTILES: Mapping[str, float] = MappingProxyType(
    {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}
)


def judge_times(
    condition: Condition,
    record: ExperimentRecord,
    names: tuple[str, str],
    timed: int = 1,
    is_control_steady: bool = True,
) -> Judged:
    """A condition on a time of two variants (baseline, candidate) of one recording.

    The interval is Yuen's over log-ratios of blocks, at the level of `level_of`.
    """
    baseline, candidate = (_times(condition, record.variant(name)) for name in names)
    differences = paired_differences(baseline, candidate)  # ln(candidate) - ln(baseline)
    blocks, estimate = len(differences), yuen(differences)
    if estimate is None:
        return Judged(
            condition, "cannot_tell", reason="few_blocks", blocks=blocks, blocks_needed=MIN_SAMPLES
        )
    alpha = level_of(condition, record.settings.looks, timed)
    # In logarithms: that of the speedup, or of candidate / baseline.
    sign = -1 if condition.kind == "ratio" else 1
    low, high = sorted(sign * bound for bound in estimate.interval(alpha))
    limit, is_above = _limit(condition)
    outcome, reason = _beyond(low, high, limit, is_above)
    if not is_control_steady:
        outcome, reason = "cannot_tell", "control_differs"
    needed = blocks_needed(sign * estimate.mean, limit, (high - low) / 2, blocks)
    shown = math.exp if condition.kind == "ratio" else math.expm1
    return Judged(
        condition,
        outcome,
        value=shown(sign * estimate.mean),
        low=shown(low),
        high=shown(high),
        level=1 - alpha,
        reason=reason,
        blocks=blocks,
        blocks_needed=needed if reason == "within_noise" else None,
    )


def level_of(condition: Condition, looks: Sequence[int], timed: int) -> float:
    """Significance level of a condition's interval: (1 - confidence) / `timed`, the number of
    conditions that have one (Bonferroni), corrected for the looks of the recording (Pocock), so
    that all of them together are wrong no more often than 1 - confidence."""
    corrected = look_alpha(len(looks), timed) / _SHOWN_ALPHA
    return (1 - (condition.confidence or DEFAULT_CONFIDENCE)) * corrected


def _times(condition: Condition, variant: VariantRecord) -> BlockTimes:
    if condition.quantity in _QUANTILES:
        return quantile_times(variant, _QUANTILES[condition.quantity])
    return cpu_times(variant) if condition.quantity == "cpu_time" else record_times(variant)


def _limit(condition: Condition) -> tuple[float, bool]:
    """The logarithm that must not be passed, and whether the condition is true above it."""
    if condition.kind == "ratio":
        limit = math.log(condition.limit) if condition.limit > 0 else -math.inf
        return limit, condition.relation in (">", ">=")
    if condition.relation == "slower":
        return math.log1p(condition.limit), True
    return (math.log1p(-condition.limit) if condition.limit < 1 else -math.inf), False


def _beyond(low: float, high: float, limit: float, is_above: bool) -> tuple[Outcome, Reason | None]:
    if (low > limit) if is_above else (high < limit):
        return "failed", None
    if (high <= limit) if is_above else (low >= limit):
        return "passed", None
    return "cannot_tell", "within_noise"


def blocks_needed(value: float, limit: float, half_width: float, blocks: int) -> int | None:
    """Blocks after which the interval would end before the limit, if the value stays where it is:
    its half width falls with the root of their number. None where these are too many."""
    distance = abs(value - limit)
    if distance == 0 or not math.isfinite(distance):
        return None
    needed = math.ceil(blocks * (half_width / distance) ** 2)
    return max(blocks + 1, needed) if needed <= MAX_BLOCKS else None
