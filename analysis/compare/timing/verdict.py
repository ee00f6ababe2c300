"""Verdict: faster, slower, cannot tell or noise unknown, with what it rests on.

The procedure, and the study of recorded blocks behind it, is described in docs/verdict.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fusescope.analysis.compare.timing.runs_apart import RunsApart, runs_apart
from fusescope.analysis.compare.timing.samples import (
    BlockTimes,
    control_differences,
    paired_differences,
    record_times,
)
from fusescope.analysis.compare.timing.statistics import (
    MIN_SAMPLES,
    Estimate,
    look_alpha,
    trimmed_mean,
    welch_of_means,
    yuen,
    yuen_welch,
)
from fusescope.analysis.experiment import ExperimentRecord
from fusescope.analysis.trace import RunWord

# command_wall, command_printed: of a recorded command, whose traces need not be of the same runs.
TimeSource = Literal[
    "unprofiled_wall", "run_span", "run_sum", "busy_union", "kernel_sum",
    "command_wall", "command_printed",
]  # fmt: skip
TIMED: frozenset[TimeSource] = frozenset(("unprofiled_wall", "command_wall", "command_printed"))
# Why nothing can be told, and why the noise is not known.
CannotTell = Literal[
    "no_times", "runs_unknown", "different_models", "different_phases", "within_noise",
    "within_process_spread", "control_differs", "marked", "two_ranks", "like_two_ranks",
    "different_ranks", "different_jobs", "capture_and_replay", "no_change",
    "different_sizes", "models_unknown",
]  # fmt: skip
NoiseUnknown = Literal["single_run", "one_process", "few_runs"]
VerdictReason = CannotTell | NoiseUnknown
# Both sides do other work, or nothing shows that they do the same: no time of one stands for a time
# of the other.
OTHER_WORK: tuple[VerdictReason, ...] = (
    "different_models", "different_phases", "different_ranks", "different_jobs",
    "capture_and_replay", "different_sizes", "models_unknown",
)  # fmt: skip
# Both sides are, or look like, ranks of one job, which wait for one another.
ONE_JOB: tuple[VerdictReason, ...] = ("two_ranks", "like_two_ranks")
VerdictOutcome = Literal["faster", "slower", "cannot_tell", "noise_unknown"]
Pairing = Literal[
    "blocks", "unpaired_blocks", "unpaired_runs", "paired_files", "alternating_files",
    "separate_files",
]  # fmt: skip

CONTROL_ALPHA = 0.01
SHOWN_ALPHA = 0.05
# What drift of the machine adds between several processes of one side and several of the other
# recorded after them, and what two single processes of one graph differ by. How often either is
# exceeded was measured: docs/verdict.md.
DRIFT_SPREAD = math.log(1.12)
PROCESS_SPREAD = math.log(1.3)
_SPREADS: Mapping[Pairing, float] = {
    "unpaired_blocks": DRIFT_SPREAD,
    "separate_files": DRIFT_SPREAD,
    "unpaired_runs": PROCESS_SPREAD,
}


@dataclass(frozen=True)
class Interval:
    """Bounds of a ratio or a change, low <= high."""

    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """How candidate and baseline compare in time.

    `speedup` = t_baseline / t_candidate, None when the two have no times to compare. `times_ns`
    (baseline, candidate) are the times behind it, whose ratio it is. `reason` is a code.
    noise_unknown, where there is a speedup but no interval: single_run, one_process, few_runs.
    cannot_tell, where the interval holds no change: within_noise; where drift may be larger:
    within_process_spread; control_differs; where nothing compares: no_times, runs_unknown,
    different_models, different_sizes (of the weights of models), models_unknown (nothing shows
    that they are one), different_phases (of serving), capture_and_replay (of a graph),
    different_ranks or different_jobs that run
    different work, two_ranks and like_two_ranks (of one job, by ids in the files or by ranks and
    times), marked (a side also copies the results of operators out); where nothing in two traces
    of unknown noise changed by more than their units of work differ: no_change.
    `samples` are blocks, files or runs (baseline, candidate), as `pairing` says: of unpaired_runs,
    where a side is a single process. `processes` are behind them, `averaged` the iterations that
    the single time of a side is the mean of, `decided_at` the look that settled it, `alpha` its
    level, which (looks, candidates) share. `interval` is at 95 %, `corrected` at 1 - alpha, wide
    enough for all candidates together. `runs_apart` are runs of each side far from the others,
    where its time is a mean that they move, as with `is_of_means`. `run_word` is what the runs of
    both sides are called.
    """

    outcome: VerdictOutcome
    reason: VerdictReason | None
    of: TimeSource
    pairing: Pairing
    speedup: float | None
    interval: Interval | None
    noise_floor: Interval | None
    smallest_detectable: float | None
    samples: tuple[int, int]
    decided_at: int | None = None
    alpha: float = SHOWN_ALPHA
    times_ns: tuple[float, float] | None = None
    averaged: tuple[int | None, int | None] = (None, None)
    corrected: Interval | None = None
    processes: tuple[int, int] = (1, 1)
    shared_by: tuple[int, int] = (1, 1)
    runs_apart: tuple[RunsApart | None, RunsApart | None] = (None, None)
    is_of_means: bool = False
    run_word: RunWord = "runs"

    @property
    def is_decided(self) -> bool:
        """Return whether it says faster or slower; all else is headed without colour."""
        return self.outcome in ("faster", "slower")

    @property
    def has_direction(self) -> bool:
        """Return False where it cannot be told whether the candidate is faster or slower: no part
        of the change is shown in the colour of either."""
        return self.outcome != "cannot_tell"

    @property
    def shown(self) -> tuple[Interval, float] | None:
        """The interval that goes with the outcome, and its confidence: at 95 %, but where that
        holds a change that the verdict's own level does not show, at that level; None without."""
        if self.interval is None:
            return None
        holds_no_change = self.interval.low <= 1 <= self.interval.high
        if self.reason == "within_noise" and self.corrected is not None and not holds_no_change:
            return self.corrected, 1 - self.alpha
        return self.interval, 1 - SHOWN_ALPHA

    @property
    def visible_change(self) -> float | None:
        """The smallest change that would have been seen, as a fraction of the time: what the spread
        of the differences hides, or what two copies of the baseline may be apart, if that is
        more."""
        if self.smallest_detectable is None:
            return None
        return max(self.smallest_detectable, self.control_change or 0.0)

    @property
    def control_change(self) -> float | None:
        """How far two copies of the baseline may be apart, as a fraction of the time; None without
        a control."""
        noise = self.noise_floor
        return None if noise is None else max(abs(noise.low - 1), abs(noise.high - 1))

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
    sides = (record_times(record.variant(baseline)), record_times(record.variant(candidate)))
    differences = paired_differences(*sides)
    control = yuen(control_differences(record))
    noise = _as_ratios(control.interval(CONTROL_ALPHA)) if control else None
    shared_by = (len(record.settings.looks), len(record.variants) - 1)
    alpha = look_alpha(*shared_by)
    estimate = yuen(differences)
    outcome, reason = _without_interval(len(differences), "unprofiled_wall")
    decided_at = None
    if estimate is not None:
        outcome, reason = "cannot_tell", "within_noise"
        for look in _looks_reached(record.settings.looks, len(differences)):
            at_look = yuen(differences[:look])
            sign = _sign(at_look, alpha) if at_look else None
            if sign is not None:
                outcome, reason, decided_at = sign, None, look
                break
        if noise is not None and not noise.low <= 1 <= noise.high:
            outcome, reason, decided_at = "cannot_tell", "control_differs", None
    verdict = Verdict(
        outcome=outcome,
        reason=reason,
        of=_recorded_time(record),
        pairing="blocks",
        speedup=math.exp(-trimmed_mean(differences)) if len(differences) else None,
        times_ns=_paired_times(sides[0], differences),
        interval=_as_ratios(estimate.interval(SHOWN_ALPHA)) if estimate else None,
        corrected=_as_ratios(estimate.interval(alpha)) if estimate else None,
        noise_floor=noise,
        smallest_detectable=estimate.detectable(alpha) if estimate else None,
        samples=(len(differences), len(differences)),
        processes=(len(differences), len(differences)),
        decided_at=decided_at,
        alpha=alpha,
        shared_by=shared_by,
    )
    is_marked = any(record.variant(name).is_marked for name in (baseline, candidate))
    return without_change(verdict, "marked") if is_marked else verdict


def _recorded_time(record: ExperimentRecord) -> TimeSource:
    """What the samples of a recording are times of."""
    if record.command is None:
        return "unprofiled_wall"
    return "command_wall" if record.command.time == "wall" else "command_printed"


def unpaired_verdict(
    baseline: np.ndarray,
    candidate: np.ndarray,
    of: TimeSource,
    pairing: Pairing,
    missing: CannotTell = "no_times",
    averaged: tuple[int | None, int | None] = (None, None),
    candidates: int = 1,
    processes: tuple[int, int] | None = None,
) -> Verdict:
    """Two sides that share no block: ln(seconds) of their blocks, files or runs, Welch-type Yuen.

    They count as different only beyond what `pairing` leaves uncontrolled: nothing where files
    alternate, DRIFT_SPREAD between recordings of several processes, PROCESS_SPREAD between single
    processes, whose runs say nothing of other processes: within it their noise is unknown.
    `missing` is the reason without times, `processes` are as many as blocks or files where not
    given. Where they are one pair of several, Bonferroni over `candidates`.
    """
    has_times = min(len(baseline), len(candidate)) > 0
    typical = (trimmed_mean(baseline), trimmed_mean(candidate)) if has_times else None
    found = _unpaired(
        yuen_welch(baseline, candidate),
        None if typical is None else (_as_ns(typical[0]), _as_ns(typical[1])),
        (len(baseline), len(candidate)),
        of,
        pairing,
        missing,
        candidates,
    )
    return replace(found, averaged=averaged, processes=processes or found.samples)


def mean_verdict(
    baseline: np.ndarray,
    candidate: np.ndarray,
    of: TimeSource,
    averaged: tuple[int | None, int | None] = (None, None),
    candidates: int = 1,
) -> Verdict:
    """Two traces of a process each: the ns of their runs, which compare by their means, because
    what explains the change adds up to these.

    Welch's interval of the ratio; they count as different only beyond PROCESS_SPREAD, as in
    `unpaired_verdict`.
    """
    has_times = len(baseline) > 0 and len(candidate) > 0
    found = _unpaired(
        welch_of_means(baseline, candidate),
        (float(baseline.mean()), float(candidate.mean())) if has_times else None,
        (len(baseline), len(candidate)),
        of,
        "unpaired_runs",
        "no_times",
        candidates,
    )
    apart = (runs_apart(baseline), runs_apart(candidate)) if has_times else (None, None)
    return replace(found, averaged=averaged, runs_apart=apart, is_of_means=True)


def _unpaired(
    estimate: Estimate | None,
    times_ns: tuple[float, float] | None,
    samples: tuple[int, int],
    of: TimeSource,
    pairing: Pairing,
    missing: CannotTell,
    candidates: int,
) -> Verdict:
    """The verdict on two sides whose times, and the estimate of ln of their ratio, are known."""
    alpha = look_alpha(1, candidates)
    outcome, reason = _without_interval(min(samples), of, missing, pairing)
    if estimate is not None:
        outcome, reason = _beyond(estimate, pairing, alpha)
        if reason == "one_process":
            estimate = None
    return Verdict(
        outcome=outcome,
        reason=reason,
        of=of,
        pairing=pairing,
        speedup=None if times_ns is None else times_ns[0] / times_ns[1],
        times_ns=times_ns,
        interval=_as_ratios(estimate.interval(SHOWN_ALPHA)) if estimate else None,
        corrected=_as_ratios(estimate.interval(alpha)) if estimate else None,
        noise_floor=None,
        smallest_detectable=estimate.detectable(alpha) if estimate else None,
        samples=samples,
        alpha=alpha,
        shared_by=(1, candidates),
    )


def _beyond(
    estimate: Estimate, pairing: Pairing, alpha: float
) -> tuple[VerdictOutcome, VerdictReason | None]:
    """Outcome and reason of an interval, at that level, that two sides apart have."""
    sign, spread = _sign(estimate, alpha), _SPREADS.get(pairing, 0.0)
    low, high = estimate.interval(alpha)
    if sign is not None and min(abs(low), abs(high)) >= spread:
        return sign, None
    if pairing == "unpaired_runs":
        return "noise_unknown", "one_process"
    return "cannot_tell", "within_noise" if sign is None else "within_process_spread"


def paired_files_verdict(
    baseline: BlockTimes, candidate: BlockTimes, of: TimeSource, candidates: int = 1
) -> Verdict:
    """Files that were recorded alternately: log-ratios of neighbours, file n of either side; as
    one pair of several, Bonferroni over `candidates`."""
    differences, alpha = paired_differences(baseline, candidate), look_alpha(1, candidates)
    estimate, pairs = yuen(differences), len(differences)
    outcome, reason = _without_interval(pairs, of, "no_times", "paired_files")
    if estimate is not None:
        outcome, reason = _beyond(estimate, "paired_files", alpha)
    return Verdict(
        outcome=outcome,
        reason=reason,
        of=of,
        pairing="paired_files",
        speedup=math.exp(-trimmed_mean(differences)) if pairs else None,
        times_ns=_paired_times(baseline, differences),
        interval=_as_ratios(estimate.interval(SHOWN_ALPHA)) if estimate else None,
        corrected=_as_ratios(estimate.interval(alpha)) if estimate else None,
        noise_floor=None,
        smallest_detectable=estimate.detectable(alpha) if estimate else None,
        samples=(pairs, pairs),
        alpha=alpha,
        processes=(pairs, pairs),
        shared_by=(1, candidates),
    )


def without_change(verdict: Verdict, reason: CannotTell) -> Verdict:
    """The verdict where times are not of the same work: none, and no number that looks like one."""
    return replace(
        verdict,
        outcome="cannot_tell",
        reason=reason,
        speedup=None,
        interval=None,
        corrected=None,
        noise_floor=None,
        smallest_detectable=None,
        decided_at=None,
        times_ns=None,
        runs_apart=(None, None),
    )


def unchanged(verdict: Verdict) -> Verdict:
    """Return the verdict on two traces in which nothing changed; their times and the ratio stay."""
    return replace(verdict, outcome="cannot_tell", reason="no_change")


def decided(record: ExperimentRecord) -> bool:
    """True when the blocks so far settle every candidate: recording may stop at this look. One
    whose times compare with nothing has nothing to settle.

    A control that differs is never settled: more blocks may show that it was chance.
    """
    baseline = record.settings.baseline
    candidates = [v.name for v in record.variants if v.name != baseline and not v.is_marked]
    return all(paired_verdict(record, baseline, candidate).is_decided for candidate in candidates)


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


def _paired_times(baseline: BlockTimes, differences: np.ndarray) -> tuple[float, float] | None:
    """The baseline's typical time, and that times the paired ratio: what is shown of both sides
    has the change that the verdict has, which two trimmed means of their own need not have."""
    if not len(differences):
        return None
    typical = trimmed_mean(baseline.mean.to_numpy(dtype=float))
    return _as_ns(typical), _as_ns(typical + trimmed_mean(differences))


def _as_ns(log_seconds: float) -> float:
    return math.exp(log_seconds) * 1e9


def _without_interval(
    samples: int,
    of: TimeSource,
    missing: CannotTell = "no_times",
    pairing: Pairing = "blocks",
) -> tuple[VerdictOutcome, VerdictReason | None]:
    """Outcome and reason below 5 blocks, files or runs a side: unknown noise is not noise."""
    if samples == 0:
        return "cannot_tell", missing
    if samples == 1 or (of == "unprofiled_wall" and pairing == "unpaired_runs"):
        return "noise_unknown", "one_process" if of == "unprofiled_wall" else "single_run"
    return "noise_unknown", "few_runs" if samples < MIN_SAMPLES else None
