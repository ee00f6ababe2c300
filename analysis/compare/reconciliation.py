"""The ledger's sum: where the change of the run time went, each term computed from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.compare.run_times import RunTimes
from analysis.compare.verdict import TimeSource

WEAK_SHARE = 0.25


@dataclass(frozen=True)
class Reconciliation:
    """delta = groups + ungrouped + overlap + dispatch + profiler_bias + rounding, exactly.

    Candidate - baseline of means per run in whole ns, so faster is negative; None where the
    traces do not have it. `of` names the time of which `delta_ns` is the change.
    `groups_ns`: minus the sum of the gains; `ungrouped_ns`: operators in no group; `overlap_ns`:
    (union - sum) of operator time, 0 where none ran side by side; `dispatch_ns`: profiled run
    span - union (- sum where the files have no start times); `profiler_bias_ns`: un-profiled
    time - profiled run span; `rounding_ns`: what rounding every row and term to whole ns took.
    `weak`: |dispatch + profiler bias| exceeds a quarter of |delta|, so the profile does not show
    where the change came from.
    `baseline_ns`: the baseline's mean run, from which delta leads to the candidate's.
    """

    of: TimeSource
    delta_ns: int | None = None
    groups_ns: int | None = None
    ungrouped_ns: int | None = None
    overlap_ns: int | None = None
    dispatch_ns: int | None = None
    profiler_bias_ns: int | None = None
    rounding_ns: int | None = None
    weak: bool = False
    baseline_ns: int | None = None


def change_ns(baseline: RunTimes, candidate: RunTimes, of: TimeSource) -> float | None:
    """Candidate - baseline of the mean time per run by that source; None where one lacks it."""
    before, after = _mean(baseline, of), _mean(candidate, of)
    return None if before is None or after is None else float(after - before)


def reconcile(
    baseline: RunTimes,
    candidate: RunTimes,
    of: TimeSource,
    gains_ns: np.ndarray,
    ungrouped_ns: np.ndarray,
) -> Reconciliation:
    """The sum of these rows: gains by group (before - after), changes by ungrouped operator.

    No term is the remainder of the others: that they add up is a property of the definitions.
    """
    delta = change_ns(baseline, candidate, of)
    if delta is None:
        return Reconciliation(of)
    overlap = dispatch = bias = None
    inner = "kernel_ns"
    if of != "kernel_sum":
        if baseline.busy_ns is not None and candidate.busy_ns is not None:
            overlap = _change(baseline, candidate, "busy_ns", "kernel_ns")
            inner = "busy_ns"
        if of != "busy_union":
            dispatch = _change(baseline, candidate, "span_ns", inner)
            if of != "run_span":
                bias = _change(baseline, candidate, "wall_ns", "span_ns")
    terms = [term for term in (overlap, dispatch, bias) if term is not None]
    exact = [*(-gains_ns), *ungrouped_ns, *terms]
    took = math.fsum(value - round(value) for value in exact) - (delta - round(delta))
    beside = (dispatch or 0.0) + (bias or 0.0)
    return Reconciliation(
        of=of,
        delta_ns=round(delta),
        groups_ns=-_rounded_sum(gains_ns),
        ungrouped_ns=_rounded_sum(ungrouped_ns),
        overlap_ns=_rounded(overlap),
        dispatch_ns=_rounded(dispatch),
        profiler_bias_ns=_rounded(bias),
        rounding_ns=round(took),
        weak=abs(beside) > WEAK_SHARE * abs(delta),
        baseline_ns=_rounded(_mean(baseline, of)),
    )


def _mean(times: RunTimes, of: TimeSource) -> float | None:
    """Mean time per run by that source; None where the trace lacks it."""
    field = {
        "unprofiled_wall": "wall_ns",
        "run_span": "span_ns",
        "busy_union": "busy_ns",
        "kernel_sum": "kernel_ns",
    }[of]
    value = getattr(times, field)
    return None if value is None else float(value)


def _change(baseline: RunTimes, candidate: RunTimes, outer: str, inner: str) -> float:
    """Change of (outer - inner)."""
    before = getattr(baseline, outer) - getattr(baseline, inner)
    after = getattr(candidate, outer) - getattr(candidate, inner)
    return float(after - before)


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _rounded_sum(values: np.ndarray) -> int:
    return sum(round(float(value)) for value in values)
