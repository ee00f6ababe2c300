"""Gains: times of groups on both sides, what they gained, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fusescope.analysis.compare.timing.gain_interval import gain_intervals
from fusescope.analysis.compare.timing.run_times import LabelTimes
from fusescope.analysis.compare.timing.verdict import SHOWN_ALPHA

# The shortest duration that ONNX Runtime's profile gives an operator, however little it does.
PROFILED_FLOOR_NS = 2_000.0


@dataclass(frozen=True, eq=False)
class Gains:
    """Times by label on both sides, and the resolution of either file."""

    before: LabelTimes
    after: LabelTimes
    paired: bool
    resolution_ns: tuple[float, float]
    uncontrolled: float = 0.0

    @property
    def mean_ns(self) -> np.ndarray:
        gain_ns: np.ndarray = self.before.mean_ns - self.after.mean_ns
        return gain_ns

    def interval(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        before, after = self.before, self.after
        minimum = before.rounding_error(self.resolution_ns[0])
        minimum = minimum + after.rounding_error(self.resolution_ns[1])
        return gain_intervals(
            self.mean_ns, before.by_unit, after.by_unit, alpha, self.paired, minimum
        )

    def summed(self, labels: np.ndarray, count: int) -> Gains:
        """The same by a coarser label."""
        before, after = (times.summed(labels, count) for times in (self.before, self.after))
        return replace(self, before=before, after=after)


def times_of(gains: Gains) -> dict[str, np.ndarray]:
    """Columns of a table of groups or patterns, all in ns, with 95 % intervals of the gains."""
    low, high = gains.interval(SHOWN_ALPHA)
    return {
        "before_ns": gains.before.mean_ns,
        "after_ns": gains.after.mean_ns,
        "gain_ns": gains.mean_ns,
        "slow_before_ns": gains.before.slow_ns,
        "slow_after_ns": gains.after.slow_ns,
        "low_ns": low,
        "high_ns": high,
    }


def hurts(gains: Gains, alpha: float) -> np.ndarray:
    """Slower beyond what noise, the file's resolution and the profiler's floor explain.

    Durations are cut to the resolution, so a sum of k before may be short by up to k of it. A
    profile in whole µs gives no operator less than PROFILED_FLOOR_NS: a loss below that may be the
    profiler's own.
    """
    before, after = gains.before, gains.after
    more = np.maximum(0.0, after.executions - before.executions)
    floor_ns = gains.resolution_ns[0] * before.executions + PROFILED_FLOOR_NS * more
    if max(gains.resolution_ns) > 1:
        floor_ns = np.maximum(floor_ns, PROFILED_FLOOR_NS)
    spread_ns = math.expm1(gains.uncontrolled) * before.mean_ns
    _, high = gains.interval(alpha)
    slower: np.ndarray = (high < -spread_ns) & (gains.mean_ns < -floor_ns)
    return slower
