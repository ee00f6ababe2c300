"""The verdict as a picture: speedup with its interval, the A/A control, and where 1x lies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fusescope.analysis.axis import LogScale, Tick
from fusescope.analysis.compare.timing.verdict import Verdict

_MARGIN = 0.12
_MIN_GAP = 0.09
# Rounder speedups first: the axis takes those that leave room to be read.
_MARKS = (
    (1, 2, 0.5, 10, 0.1, 5, 0.2, 1.5, 0.7, 3, 0.3, 1.2, 0.8, 1.1, 0.9, 1.05, 0.95)
    + (1.02, 0.98, 1.01, 0.99, 20, 0.05, 50, 0.02, 100, 0.01, 1.005, 0.995, 1.002, 0.998)
)  # fmt: skip


@dataclass(frozen=True)
class IntervalPicture:
    """Fractions of a logarithmic axis of speedups: the point, its interval, the control band."""

    scale: LogScale

    one: float
    point: float
    interval: tuple[float, float] | None
    noise: tuple[float, float] | None
    ticks: tuple[Tick, ...]


def interval_picture(verdict: Verdict) -> IntervalPicture | None:
    """The picture, None where there is nothing to set the speedup against."""
    interval = verdict.shown[0] if verdict.shown else None
    pairs = [pair for pair in (interval, verdict.noise_floor) if pair is not None]
    if verdict.speedup is None or not pairs:
        return None
    values = [1.0, verdict.speedup, *(v for pair in pairs for v in (pair.low, pair.high))]
    half_width = max(math.log(max(values) / min(values)), 0.01) * (1 + _MARGIN)
    middle = (math.log(max(values)) + math.log(min(values))) / 2
    scale = LogScale(math.exp(middle - half_width / 2), math.exp(middle + half_width / 2))

    def span(low: float, high: float) -> tuple[float, float]:
        return scale.at(low), scale.at(high)

    noise = verdict.noise_floor
    return IntervalPicture(
        scale=scale,
        one=scale.at(1.0),
        point=scale.at(verdict.speedup),
        interval=span(interval.low, interval.high) if interval else None,
        noise=span(noise.low, noise.high) if noise else None,
        ticks=_ticks(scale),
    )


def _ticks(scale: LogScale) -> tuple[Tick, ...]:
    kept: list[Tick] = []
    for mark in _MARKS:
        at = scale.at(mark)
        is_free = all(abs(at - other.at) >= _MIN_GAP for other in kept)
        if scale.low <= mark <= scale.high and is_free:
            kept.append(Tick(at, f"{mark:g}×"))
    return tuple(sorted(kept, key=lambda tick: tick.at))
