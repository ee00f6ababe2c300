"""Small-op ratio and short operators: how much of the work is what fusion can remove."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.utilisation import MAX_UNKNOWN
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.operators.classes import is_light
from fusescope.analysis.quantity import ratio
from fusescope.analysis.trace import Trace

ASSUMED_TAU_NS = 10_000.0
DISPATCH_FACTOR = 10.0


class SmallOps(msgspec.Struct, frozen=True):
    """Time and count in light operators; ratios are fractions, the rest is per run.

    `unknown_time` is the share of time in operators of unknown class: it stays in the
    denominator, so the ratios are lower bounds by that much.
    """

    time: float | None
    count: float | None
    light_ns: float
    light_count: float
    unknown_time: float | None

    @property
    def mostly_unknown(self) -> bool:
        """True where the ratios say little, and are not given: most of the time is in operators of
        unknown class."""
        return (self.unknown_time or 0.0) > MAX_UNKNOWN


class ShortOps(msgspec.Struct, frozen=True):
    """Operators shorter than tau: share of time and of count as fractions, per-run sums."""

    time: float | None
    count: float | None
    short_ns: float
    short_count: float


@once
def small_ops(trace: Trace) -> SmallOps:
    """Small-op ratio (time) = time in light operators / time in all operators; (count) likewise.

    Communication is outside.
    """
    operator, dur_ns, n, runs = _compute_calls(trace)
    classes = trace.texts("op_class")
    light = np.array([is_light(name) for name in classes], dtype=bool)[operator]
    unknown = np.array([name == "unknown" for name in classes], dtype=bool)[operator]
    total = float(dur_ns.sum())
    light_ns, light_count = float(dur_ns[light].sum()), float(n[light].sum())
    return SmallOps(
        time=ratio(light_ns, total),
        count=ratio(light_count, float(n.sum())),
        light_ns=light_ns / runs,
        light_count=light_count / runs,
        unknown_time=ratio(float(dur_ns[unknown].sum()), total),
    )


def short_ops(trace: Trace, tau_ns: float) -> ShortOps:
    """Operators whose mean duration in the row is below `tau_ns`; communication is outside."""
    _, dur_ns, n, runs = _compute_calls(trace)
    short = dur_ns / n < tau_ns
    short_ns, short_count = float(dur_ns[short].sum()), float(n[short].sum())
    return ShortOps(
        time=ratio(short_ns, float(dur_ns.sum())),
        count=ratio(short_count, float(n.sum())),
        short_ns=short_ns / runs,
        short_count=short_count / runs,
    )


def runs_nothing(trace: Trace, dur_ns: np.ndarray) -> np.ndarray:
    """Return which of these times are of layers that an engine lists and does not execute: those
    whose mean over all iterations is 0. A single execution of 0 ns may be a short one."""
    are_means = any(note.code == "averaged" for note in trace.diagnostics)
    listed: np.ndarray = (dur_ns == 0) & are_means
    return listed


def default_tau(dispatch_ns: float | None) -> tuple[float, Literal["measured", "assumed"]]:
    """Tau for both sides: 10 x the measured dispatch cost, but at least 10 µs, assumed.

    Durations come from a profile, which charges each operator 2 to 6 µs: below 10 µs a bound
    would compare the profiler with itself.
    """
    tau_ns = DISPATCH_FACTOR * (dispatch_ns or 0.0)
    return (tau_ns, "measured") if tau_ns > ASSUMED_TAU_NS else (ASSUMED_TAU_NS, "assumed")


def _compute_calls(trace: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return operator, dur_ns and n of the calls that count, without communication and without what
    runs nothing, and of how many runs they are."""
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    computes = ~trace.operators["is_communication"].to_numpy()[calls["operator"].to_numpy()]
    computes &= ~runs_nothing(trace, calls["dur_ns"].to_numpy())
    operator, dur_ns, n = (calls[name].to_numpy()[computes] for name in ("operator", "dur_ns", "n"))
    return operator, dur_ns, n, max(1, len(steady.runs))
