"""Small-op ratio and short operators: how much of the work is what fusion can remove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from analysis.metrics.breakdown import steady_calls
from analysis.metrics.warmup import steady_runs
from analysis.operators.classes import is_light
from analysis.quantity import ratio
from analysis.trace import Trace

ASSUMED_TAU_NS = 10_000.0
DISPATCH_FACTOR = 10.0


@dataclass(frozen=True)
class SmallOps:
    """Time and count in light operators; ratios are fractions, the rest is per run.

    `unknown_time` is the share of time in operators of unknown class: it stays in the
    denominator, so the ratios are lower bounds by that much.
    """

    time: float | None
    count: float | None
    light_ns: float
    light_count: float
    unknown_time: float | None


@dataclass(frozen=True)
class ShortOps:
    """Operators shorter than tau: share of time and of count as fractions, per-run sums."""

    time: float | None
    count: float | None
    short_ns: float
    short_count: float


def small_ops(trace: Trace) -> SmallOps:
    """Small-op ratio (time) = time in light operators / time in all operators; (count) likewise.

    Communication is outside.
    """
    calls, runs = _compute_calls(trace)
    classes = trace.operators["op_class"].astype(str)
    light_ids = classes.index[[is_light(name) for name in classes]]
    light = calls["operator"].isin(light_ids)
    unknown = calls["operator"].isin(classes.index[classes == "unknown"])
    total = float(calls["dur_ns"].sum())
    return SmallOps(
        time=ratio(float(calls["dur_ns"][light].sum()), total),
        count=ratio(float(calls["n"][light].sum()), float(calls["n"].sum())),
        light_ns=float(calls["dur_ns"][light].sum()) / runs,
        light_count=float(calls["n"][light].sum()) / runs,
        unknown_time=ratio(float(calls["dur_ns"][unknown].sum()), total),
    )


def short_ops(trace: Trace, tau_ns: float) -> ShortOps:
    """Operators whose mean duration in the row is below `tau_ns`; communication is outside."""
    calls, runs = _compute_calls(trace)
    short = calls["dur_ns"] / calls["n"] < tau_ns
    return ShortOps(
        time=ratio(float(calls["dur_ns"][short].sum()), float(calls["dur_ns"].sum())),
        count=ratio(float(calls["n"][short].sum()), float(calls["n"].sum())),
        short_ns=float(calls["dur_ns"][short].sum()) / runs,
        short_count=float(calls["n"][short].sum()) / runs,
    )


def default_tau(dispatch_ns: float | None) -> tuple[float, Literal["measured", "assumed"]]:
    """Tau for both sides: 10 x the measured dispatch cost, but at least 10 µs, assumed.

    Durations come from a profile, which charges each operator 2 to 6 µs: below 10 µs a bound
    would compare the profiler with itself.
    """
    tau_ns = DISPATCH_FACTOR * (dispatch_ns or 0.0)
    return (tau_ns, "measured") if tau_ns > ASSUMED_TAU_NS else (ASSUMED_TAU_NS, "assumed")


def _compute_calls(trace: Trace) -> tuple[pd.DataFrame, int]:
    """Calls that count without communication, and the number of runs they are of."""
    steady = steady_runs(trace)
    calls = steady_calls(trace, steady)
    outside = trace.operators.index[trace.operators["is_communication"]]
    return calls[~calls["operator"].isin(outside)], max(1, len(steady.runs))
