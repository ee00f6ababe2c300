"""Verdict: faster, slower or cannot tell, with what it rests on.

The procedure, and the study of recorded blocks behind it, is described in docs/verdict.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.compare.samples import (
    control_differences,
    paired_differences,
    record_times,
)
from analysis.compare.statistics import (
    MIN_SAMPLES,
    Estimate,
    look_alpha,
    trimmed_mean,
    yuen,
    yuen_welch,
)
from analysis.experiment import ExperimentRecord

TimeSource = Literal["unprofiled_wall", "run_span", "busy_union", "kernel_sum"]
VerdictOutcome = Literal["faster", "slower", "cannot_tell"]
Pairing = Literal["blocks", "unpaired_blocks", "unpaired_runs"]

CONTROL_ALPHA = 0.01
SHOWN_ALPHA = 0.05
# Two recordings of the same graph differ by up to 12 % on a quiet machine (measured), which their
# own runs or blocks cannot show; under changing load by much more, which docs/verdict.md says.
PROCESS_SPREAD = math.log(1.12)


@dataclass(frozen=True)
class Interval:
    """Bounds of a ratio or a change, low <= high."""

    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """How candidate and baseline compare in time.

    `speedup` = t_baseline / t_candidate, None when a side has no time. `reason` is a code when the
    outcome is cannot_tell: single_run, few_runs, no_times, runs_unknown, control_differs,
    within_noise, within_process_spread. `samples` are blocks or runs (baseline, candidate),
    `decided_at` the look that settled it, `alpha` its significance level.
    """

    outcome: VerdictOutcome
    reason: str | None
    of: TimeSource
    pairing: Pairing
    speedup: float | None
    interval: Interval | None
    noise_floor: Interval | None
    smallest_detectable: float | None
    samples: tuple[int, int]
    decided_at: int | None = None
    alpha: float = SHOWN_ALPHA

    @property
    def latency_change(self) -> float | None:
        """t_candidate / t_baseline - 1."""
        return None if self.speedup is None else 1 / self.speedup - 1

    @property
    def throughput_change(self) -> float | None:
        """speedup - 1: the same change, read as work per time."""
        return None if self.speedup is None else self.speedup - 1


def paired_verdict(record: ExperimentRecord, baseline: str, candidate: str) -> Verdict:
    """Two variants recorded together: log-ratios of blocks, sequential looks, A/A control."""
    differences = paired_differences(
        record_times(record.variant(baseline)), record_times(record.variant(candidate))
    )
    control = yuen(control_differences(record))
    noise = _as_ratios(control.interval(CONTROL_ALPHA)) if control else None
    alpha = look_alpha(len(record.settings.looks), len(record.variants) - 1)
    estimate = yuen(differences)
    outcome: VerdictOutcome = "cannot_tell"
    reason, decided_at = _too_few(len(differences)), None
    if estimate is not None:
        reason = "within_noise"
        for look in _looks_reached(record.settings.looks, len(differences)):
            at_look = yuen(differences[:look])
            sign = _sign(at_look, alpha) if at_look else None
            if sign is not None:
                outcome, reason, decided_at = sign, None, look
                break
        if noise is not None and not noise.low <= 1 <= noise.high:
            outcome, reason, decided_at = "cannot_tell", "control_differs", None
    return Verdict(
        outcome=outcome,
        reason=reason,
        of="unprofiled_wall",
        pairing="blocks",
        speedup=math.exp(-trimmed_mean(differences)) if len(differences) else None,
        interval=_as_ratios(estimate.interval(SHOWN_ALPHA)) if estimate else None,
        noise_floor=noise,
        smallest_detectable=estimate.detectable(alpha) if estimate else None,
        samples=(len(differences), len(differences)),
        decided_at=decided_at,
        alpha=alpha,
    )


def unpaired_verdict(
    baseline: np.ndarray,
    candidate: np.ndarray,
    of: TimeSource,
    pairing: Pairing,
    missing: str = "no_times",
) -> Verdict:
    """Two recordings of their own: ln(seconds) of their blocks or runs, Welch-type Yuen.

    They count as different only beyond PROCESS_SPREAD; `missing` is the reason without times.
    """
    estimate = yuen_welch(baseline, candidate)
    fewest = min(len(baseline), len(candidate))
    outcome: VerdictOutcome = "cannot_tell"
    reason = _too_few(fewest) if fewest else missing
    if estimate is not None:
        sign = _sign(estimate, SHOWN_ALPHA)
        reason = "within_noise"
        if sign is not None:
            low, high = estimate.interval(SHOWN_ALPHA)
            nearest = min(abs(low), abs(high))
            if nearest < PROCESS_SPREAD:
                reason = "within_process_spread"
            else:
                outcome, reason = sign, None
    log_ratio = trimmed_mean(candidate) - trimmed_mean(baseline) if fewest else None
    return Verdict(
        outcome=outcome,
        reason=reason,
        of=of,
        pairing=pairing,
        speedup=None if log_ratio is None else math.exp(-log_ratio),
        interval=_as_ratios(estimate.interval(SHOWN_ALPHA)) if estimate else None,
        noise_floor=None,
        smallest_detectable=estimate.detectable(SHOWN_ALPHA) if estimate else None,
        samples=(len(baseline), len(candidate)),
    )


def decided(record: ExperimentRecord, look_blocks: int) -> bool:
    """True when the look after `look_blocks` blocks settles every candidate: recording may stop.

    A control that differs is never settled: more blocks may show that it was chance.
    """
    del look_blocks  # the record holds exactly the blocks so far
    baseline = record.settings.baseline
    candidates = [v.name for v in record.variants if v.name != baseline]
    return all(
        paired_verdict(record, baseline, candidate).outcome != "cannot_tell"
        for candidate in candidates
    )


def _looks_reached(looks: tuple[int, ...], blocks: int) -> list[int]:
    """Planned looks that there are blocks for, and one at the end of a recording cut short.

    A time budget or Ctrl-C does not look at the data, so that look takes the place of the next
    planned one at the same level.
    """
    reached = [look for look in looks if look <= blocks]
    cut_short = blocks < looks[-1] if looks else True
    return [*reached, blocks] if cut_short and blocks not in reached else reached


def _sign(estimate: Estimate, alpha: float) -> Literal["faster", "slower"] | None:
    low, high = estimate.interval(alpha)
    return "faster" if high < 0 else "slower" if low > 0 else None


def _as_ratios(log_interval: tuple[float, float]) -> Interval:
    """Speedup bounds from bounds of ln(candidate / baseline)."""
    low, high = log_interval
    return Interval(math.exp(-high), math.exp(-low))


def _too_few(samples: int) -> str | None:
    if samples == 0:
        return "no_times"
    if samples == 1:
        return "single_run"
    return "few_runs" if samples < MIN_SAMPLES else None
