"""Axes of charts on pages and in the report: round ticks, as fractions of the axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fusescope.analysis import units

_MIN_GAP = 0.13
_NARROW_GAP = 0.06
_BEFORE = 0.5  # of all changes together, by which a cut axis begins before them
_LEAST = 0.02  # of the longest bar, likewise: no change looks large that is none
_SMALL = 0.15  # of the longest bar: changes beyond it are seen beside whole bars


@dataclass(frozen=True)
class Tick:
    """One tick: `at` is a fraction of the axis, 0 at its low end."""

    at: float
    text: str


@dataclass(frozen=True)
class LogScale:
    """Values on a logarithmic axis: equal ratios are equal lengths. 0 < low < high."""

    low: float
    high: float

    def value(self, at: float) -> float:
        """The value at a fraction of the axis."""
        return self.low * math.exp(at * math.log(self.high / self.low))

    def at(self, value: float) -> float:
        """Where `value` lies as a fraction of the axis, kept inside it."""
        inside = min(max(value, self.low), self.high)
        return math.log(inside / self.low) / math.log(self.high / self.low)


def time_ticks(span_ns: float, count: int = 8) -> tuple[Tick, ...]:
    """About `count` round ticks of a linear time axis from 0 to `span_ns`; none without span."""
    if span_ns <= 0:
        return ()
    return round_ticks(span_ns, lambda ns: _time(ns, span_ns), count)


def bars_start(ends: Sequence[float]) -> float:
    """Return where the axis of bars begins that end at these times, each where the next one starts:
    0, or shortly before the least of them where the changes would be a small part of it."""
    low, high = min(ends), max(ends)
    if high - low > _SMALL * high:
        return 0.0
    return low - max(_BEFORE * (high - low), _LEAST * high)


def time_ticks_between(start_ns: float, end_ns: float, count: int = 5) -> tuple[Tick, ...]:
    """Return about `count` round ticks of a linear time axis that does not begin at 0, each with
    the digits that tell it from the next one."""
    span = end_ns - start_ns
    step = _round_step(span / count)
    size, unit = units.scale_of(end_ns, units.TIMES)
    digits = max(0, -math.floor(math.log10(step / size) + 1e-9))
    first, last = math.ceil(start_ns / step), math.floor(end_ns / step)
    return tuple(
        Tick(
            (k * step - start_ns) / span, f"{units.grouped(k * step / size, f'.{digits}f')} {unit}"
        )
        for k in range(first, last + 1)
    )


def round_ticks(most: float, text: Callable[[float], str], count: int = 8) -> tuple[Tick, ...]:
    """About `count` round ticks of a linear axis from 0 to `most`, above 0."""
    step = _round_step(most / count)
    marks = [k * step for k in range(int(most / step) + 1)]
    return tuple(Tick(value / most, text(value)) for value in marks)


def log_time_ticks(scale: LogScale, count: int = 8) -> tuple[Tick, ...]:
    """Round times on a logarithmic axis, far enough from each other to be read."""
    if scale.high / scale.low > 6:
        first, last = (math.floor(math.log10(end)) for end in (scale.low, scale.high))
        marks = [f * 10.0**power for power in range(first, last + 1) for f in (1, 2, 5)]
    else:
        step = _round_step((scale.high - scale.low) / count)
        first = math.ceil(scale.low / step)
        marks = [k * step for k in range(first, first + 2 * count + 2)]
    kept: list[Tick] = []
    for ns in marks:
        if scale.low <= ns <= scale.high and (not kept or scale.at(ns) - kept[-1].at >= _MIN_GAP):
            kept.append(Tick(scale.at(ns), _time(ns, scale.high)))
    return tuple(kept)


def decades(scale: LogScale, text: Callable[[float], str]) -> tuple[Tick, ...]:
    """Powers of ten on an axis; with 2 and 5 between them where there are few."""
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    factors = (1, 2, 5) if last - first <= 3 else (1,)
    kept: list[Tick] = []
    for value in (factor * 10.0**power for power in range(first, last + 1) for factor in factors):
        inside = scale.low <= value <= scale.high
        if inside and (not kept or scale.at(value) - kept[-1].at >= _NARROW_GAP):
            kept.append(Tick(scale.at(value), text(value)))
    return tuple(kept)


def plain(value: float) -> str:
    """A round number of an axis: 0.05 -> '0.05', 20000 -> '20 000'."""
    return units.grouped(value, ".0f" if abs(value) >= 1e3 else ".4g")


def _round_step(raw: float) -> float:
    """The smallest of 1, 2, 5 x a power of ten that is at least `raw`."""
    power = 10.0 ** math.floor(math.log10(raw))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= raw * 0.9999)


def _time(ns: float, largest: float) -> str:
    if ns == 0:
        return "0"
    size, unit = units.scale_of(largest, units.TIMES)
    return f"{plain(ns / size)} {unit}"
