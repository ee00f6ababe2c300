"""The ledger's sum: where the change of the run time went, each term computed from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fusescope.analysis.compare.timing.gain_interval import gain_intervals
from fusescope.analysis.compare.timing.run_times import RunTimes
from fusescope.analysis.compare.timing.verdict import SHOWN_ALPHA, TimeSource, Verdict

WEAK_SHARE = 0.25
_SAME = 0.0005  # of a run: two times that read as one


@dataclass(frozen=True)
class SideTimes:
    """Mean times per run of one side in whole ns: the run as compared, the profiled run, the union
    of its operators, their sum, and the union of those that it started, of which the last may end
    after it; None where the traces do not have it. `typical_ns` is no mean: the run that the
    verdict compares, None where that is the mean run."""

    run_ns: int | None = None
    profiled_ns: int | None = None
    busy_ns: int | None = None
    operators_ns: int | None = None
    own_ns: int | None = None
    typical_ns: int | None = None


@dataclass(frozen=True)
class Reconciliation:
    """The change of the run time and its terms.

    delta = groups + ungrouped + communication + slow + overlap + dispatch + profiler_bias +
    rounding, exactly; `whole_ns` = delta + outlying.
    Candidate - baseline of means per run in whole ns, so faster is negative; None where the
    traces do not have it. `of` names the time of which `delta_ns` is the change.
    `groups_ns`: minus the sum of the gains; `ungrouped_ns`: operators in no group;
    `communication_ns`: communication, None where neither side has any; what of it ran beside other
    operators is taken back in the overlap; `slow_ns`: what slow executions took beyond their
    medians, which is in none of these; `overlap_ns`: (union - sum) of
    operator time, 0 where none ran side by side or after its run: the sum of `streams_ns`, what ran
    side by side, and `beyond_ns`, operators that ran outside the run that started them;
    `dispatch_ns`: profiled run span - union (- sum
    where the files have no start times); `profiler_bias_ns`: un-profiled time - profiled run span;
    `rounding_ns`: what rounding every row and term to whole ns took.
    `outlying_ns`: what leads from the change of mean runs to that of typical runs, which the
    verdict compares: slow runs count in a mean; None where the two are the same.
    `weak`: |slow + dispatch + profiler bias| exceeds a quarter of |delta|, so operators do not show
    where the change came from. A pause in a profiled run alone is in slow and, turned round, in
    the bias: together nothing.
    `baseline_ns`: the baseline's mean run, from which delta leads to the candidate's.
    `low_ns`, `high_ns`: 95 % interval of delta, None below 5 blocks or runs a side.
    """

    of: TimeSource
    delta_ns: int | None = None
    groups_ns: int | None = None
    ungrouped_ns: int | None = None
    communication_ns: int | None = None
    slow_ns: int | None = None
    overlap_ns: int | None = None
    streams_ns: int | None = None
    beyond_ns: int | None = None
    dispatch_ns: int | None = None
    profiler_bias_ns: int | None = None
    rounding_ns: int | None = None
    outlying_ns: int | None = None
    weak: bool = False
    baseline_ns: int | None = None
    low_ns: int | None = None
    high_ns: int | None = None
    baseline: SideTimes = SideTimes()
    candidate: SideTimes = SideTimes()

    @property
    def has_starts(self) -> bool:
        """Return whether both sides say when operators ran; without that, `dispatch_ns` is the time
        of a run less the sum of its operators, of which nothing shows that it was idle."""
        return self.overlap_ns is not None

    @property
    def whole_ns(self) -> int | None:
        """The change of the run that the verdict compares, which all terms add up to; None where
        the traces do not have it."""
        return None if self.delta_ns is None else self.delta_ns + (self.outlying_ns or 0)

    @property
    def slow_runs_ns(self) -> tuple[int, int]:
        """What the mean run of each side has beyond its typical one; 0 where they are the same."""
        if self.baseline_ns is None or self.delta_ns is None:
            return 0, 0
        before, after = self.baseline_ns, self.baseline_ns + self.delta_ns
        typical = (self.baseline.typical_ns, self.candidate.typical_ns)
        first, second = (
            0 if one is None else mean - one
            for mean, one in zip((before, after), typical, strict=True)
        )
        return first, second

    @property
    def beside_ns(self) -> int:
        """What the operators' usual times do not show: slow executions, dispatch, profiler bias."""
        return (self.slow_ns or 0) + (self.dispatch_ns or 0) + (self.profiler_bias_ns or 0)

    @property
    def interval_of_no_change(self) -> tuple[int, int] | None:
        """Return the interval of delta where it includes no change; None of others."""
        if self.low_ns is None or self.high_ns is None or not self.low_ns <= 0 <= self.high_ns:
            return None
        return self.low_ns, self.high_ns


def change_ns(baseline: RunTimes, candidate: RunTimes, of: TimeSource) -> float | None:
    """Candidate - baseline of the mean time per run by that source; None where one lacks it."""
    before, after = baseline.mean_ns(of), candidate.mean_ns(of)
    return None if before is None or after is None else after - before


def reconcile(
    baseline: RunTimes,
    candidate: RunTimes,
    of: TimeSource,
    gains_ns: np.ndarray,
    ungrouped_ns: np.ndarray,
    communication_ns: np.ndarray,
    paired: bool,
) -> Reconciliation:
    """The sum of these rows: gains by group (before - after), changes by ungrouped operator
    and by operator of communication.

    No term is the remainder of the others: that they add up is a property of the definitions.
    """
    delta = change_ns(baseline, candidate, of)
    if delta is None:
        return Reconciliation(of)
    slow = candidate.slow.per_run_ns - baseline.slow.per_run_ns
    overlap = dispatch = bias = None
    inner: TimeSource = "kernel_sum"
    if of not in ("kernel_sum", "run_sum"):
        overlap = _change(baseline, candidate, "busy_union", "kernel_sum")
        if overlap is not None:
            inner = "busy_union"
        if of != "busy_union":
            dispatch = _change(baseline, candidate, "run_span", inner)
            if of != "run_span":
                bias = _change(baseline, candidate, "unprofiled_wall", "run_span")
    terms = [term for term in (slow, overlap, dispatch, bias) if term is not None]
    exact = [*(-gains_ns), *ungrouped_ns, *communication_ns, *terms]
    took = math.fsum(value - round(value) for value in exact) - (delta - round(delta))
    low, high = _interval(baseline, candidate, of, delta, paired)
    streams = overlap if overlap is None else _streams(baseline, candidate, overlap)
    beside = slow + (dispatch or 0.0) + (bias or 0.0)
    return Reconciliation(
        of=of,
        delta_ns=round(delta),
        groups_ns=-_rounded_sum(gains_ns),
        ungrouped_ns=_rounded_sum(ungrouped_ns),
        communication_ns=_rounded_sum(communication_ns) if len(communication_ns) else None,
        slow_ns=round(slow),
        overlap_ns=_rounded(overlap),
        streams_ns=_rounded(streams),
        beyond_ns=None if overlap is None or streams is None else round(overlap) - round(streams),
        dispatch_ns=_rounded(dispatch),
        profiler_bias_ns=_rounded(bias),
        rounding_ns=round(took),
        weak=abs(beside) > WEAK_SHARE * abs(delta),
        baseline_ns=_rounded(baseline.mean_ns(of)),
        low_ns=low,
        high_ns=high,
        baseline=_side(baseline, of),
        candidate=_side(candidate, of),
    )


def with_typical(sum_: Reconciliation, verdict: Verdict) -> Reconciliation:
    """Return the sum with the typical runs that the verdict compares; as it is where the verdict
    has none or compares another kind of time. A typical run that is the mean run to three digits is
    that."""
    if verdict.times_ns is None or sum_.delta_ns is None or sum_.baseline_ns is None:
        return sum_
    if verdict.of != sum_.of:
        return sum_
    means = (sum_.baseline_ns, sum_.baseline_ns + sum_.delta_ns)
    before, after = (
        None if abs(typical - mean) <= _SAME * mean else round(typical)
        for typical, mean in zip(verdict.times_ns, means, strict=True)
    )
    if before is None and after is None:
        return sum_
    made = replace(
        sum_,
        baseline=replace(sum_.baseline, typical_ns=before),
        candidate=replace(sum_.candidate, typical_ns=after),
    )
    slow = made.slow_runs_ns
    return replace(made, outlying_ns=slow[0] - slow[1])


def _interval(
    baseline: RunTimes, candidate: RunTimes, of: TimeSource, delta: float, paired: bool
) -> tuple[int | None, int | None]:
    """Of candidate - baseline: the gain of the baseline over the candidate."""
    after, before = (times.means[of].by_unit[:, np.newaxis] for times in (candidate, baseline))
    low, high = gain_intervals(np.array([delta]), after, before, SHOWN_ALPHA, paired)
    if np.isnan(low[0]):
        return None, None
    return math.floor(low[0]), math.ceil(high[0])


def _side(times: RunTimes, of: TimeSource) -> SideTimes:
    return SideTimes(
        run_ns=_rounded(times.mean_ns(of)),
        profiled_ns=_rounded(times.mean_ns("run_span")),
        busy_ns=_rounded(times.mean_ns("busy_union")),
        own_ns=_rounded(_own_ns(times)),
        operators_ns=_rounded(times.mean_ns("kernel_sum")),
    )


def _own_ns(times: RunTimes) -> float | None:
    """The union of what a run started; that of what ran in it where no other is known."""
    return times.mean_ns("busy_union") if times.own_ns is None else times.own_ns


def _streams(baseline: RunTimes, candidate: RunTimes, overlap: float) -> float:
    """The part of the change of `overlap` that operators make which ran side by side."""
    left: list[float] = []
    for times in (baseline, candidate):
        own, whole = _own_ns(times), times.mean_ns("kernel_sum")
        if own is None or whole is None:
            return overlap
        left.append(own - whole)
    return left[1] - left[0]


def _change(
    baseline: RunTimes, candidate: RunTimes, outer: TimeSource, inner: TimeSource
) -> float | None:
    """Change of (outer - inner); None where a side lacks one of them."""
    left: list[float] = []
    for times in (baseline, candidate):
        outside, inside = times.mean_ns(outer), times.mean_ns(inner)
        if outside is None or inside is None:
            return None
        left.append(outside - inside)
    return left[1] - left[0]


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _rounded_sum(values: np.ndarray) -> int:
    return sum(round(float(value)) for value in values)
