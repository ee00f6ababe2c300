"""The roofline of a comparison as dots and lines: what the dashboard and the report draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.roofs import Roofs, UnderRoofs
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.quantity import Basis
from fusescope.analysis.trace import Trace

MAX_DOTS = 1000
_SHOWN = (
    "op_type", "intensity", "attained_flops_per_s", "per_run_ns", "share", "int8", "bound_share",
    "bound_by", "number_type",
)  # fmt: skip
ROOM = 2.0  # times, at the ends of both axes
_MIN_RATE = 1.0  # per second: a file may hold any number
_MAX_CACHES = 4
# Dashes and gaps in px by what a roof is, none for a solid line: colour tells the sides only.
_DASHES: dict[str, tuple[int, ...]] = {
    "peak": (),
    "int8_peak": (14, 5),
    "bfloat16_peak": (),
    "float16_peak": (),
    "float8_peak": (10, 3),
    "tf32_peak": (8, 8),
    "float32_peak": (18, 4),
    "float64_peak": (3, 6),
    "memory": (12, 4, 3, 4),
    "L1": (2, 3),
    "L2": (6, 4),
    "L3": (6, 3, 2, 3, 2, 3),
}
_OTHER_DASHES = (2, 7)
# How high a name is, of the axis, and how far a line rises beside it besides.
_TEXT, _RISING_TEXT = 0.06, 0.12


@dataclass(frozen=True)
class Dot:
    """One operator of one side in the picture; `share` is its part of the time of that side's
    operators. `bound_share` and `bound_by` are None without a bandwidth or a peak."""

    side: str
    name: str
    op_type: str
    intensity: float
    flops_per_s: float
    time_ns: float
    share: float
    int8: bool
    bound_share: float | None
    bound_by: str | None


@dataclass(frozen=True)
class Line:
    """One roof: rising with the intensity (`rate` in B/s) or flat (FLOP/s). `what` names it:
    peak, int8_peak, that of a data type, as bfloat16_peak, memory or the cache level, as L2; `side`
    is None where both sides share it."""

    what: str
    rate: float
    rises: bool
    side: str | None
    basis: Basis

    @property
    def dashes(self) -> tuple[int, ...]:
        """Dashes and gaps in px that set it apart from the others; () for a solid line."""
        return _DASHES.get(self.what, _OTHER_DASHES)


@dataclass(frozen=True)
class Picture:
    """The roofline of a comparison: dots, those with most time first, and what lies above them;
    `cut` dots with less time are left out."""

    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    cut: int

    @property
    def intensities(self) -> tuple[float, float]:
        """The range of the axis in FLOP/B: all dots and every ridge, with room at both ends."""
        flats = [line.rate for line in self.lines if not line.rises]
        ridges = [
            flat / line.rate
            for line in self.lines
            if line.rises and line.what == "memory"
            for flat in flats
        ]
        known = [dot.intensity for dot in self.dots] + ridges
        return min(known) / ROOM, max(known) * ROOM

    @property
    def rates(self) -> tuple[float, float]:
        """The range of the axis in FLOP/s: all dots and the peaks, with room at both ends."""
        known = [dot.flops_per_s for dot in self.dots]
        known += [line.rate for line in self.lines if not line.rises]
        return min(known) / ROOM, max(known) * ROOM

    def ends(self, line: Line) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where a roof starts and ends, as (FLOP/B, FLOP/s): a rising one ends at the highest peak
        of its side, a flat one starts where the steepest rising one reaches it. A point left of
        the picture where a cache reaches the peak before it."""
        low, high = self.intensities
        floor, ceiling = self.rates
        near = [one for one in self.lines if None in (one.side, line.side) or one.side == line.side]
        if line.rises:
            top = max((one.rate for one in near if not one.rises), default=ceiling)
            end = min(high, top / line.rate)
            start = min(end, max(low, floor / line.rate))
            return (start, start * line.rate), (end, end * line.rate)
        slopes = [one.rate for one in near if one.rises]
        start = max(low, line.rate / max(slopes)) if slopes else low
        return (min(start, high), line.rate), (high, line.rate)

    def label(self, line: Line) -> tuple[float, float]:
        """Where its name stands, as (FLOP/B, FLOP/s): at the right end of a flat roof; on a rising
        one, each at a height of its own, since caches may be about as fast as one another."""
        (x, _), (to_x, to_y) = self.ends(line)
        if not line.rises:
            return to_x, to_y
        rising = [one for one in self.lines if one.rises]
        at = x * (to_x / x) ** (0.15 + 0.7 * rising.index(line) / len(rising))
        return at, at * line.rate

    @property
    def labelled(self) -> tuple[Line, ...]:
        """The lines above which a name has room, the highest first: a legend names the others."""
        low, high = self.rates
        found: list[Line] = []
        lines = sorted(self.lines, key=lambda one: -one.rate)
        for at, line in enumerate(lines):
            room = (high / low) ** (_RISING_TEXT if line.rises else _TEXT)
            above = [one.rate for one in lines[:at] if one.rises == line.rises]
            if not above or above[-1] >= room * line.rate:
                found.append(line)
        return tuple(found)


@once
def roofline_picture(comparison: Comparison) -> Picture | None:
    """The picture; None where no operator has FLOPs, bytes and a time."""
    sides = [
        _dots(_by_own_name(comparison.operators, side, trace), side)
        for side, trace in (
            ("baseline", comparison.baseline.trace),
            ("candidate", comparison.candidate.trace),
        )
    ]
    return _picture(sides, comparison.roofs)


def roofline_of(under: UnderRoofs, operators: pd.DataFrame) -> Picture | None:
    """The picture of one side by itself; `operators` are its rows of `by_operator`, and those of
    `under`. None where no operator has FLOPs, bytes and a time."""
    own = pd.concat([operators, under.operators], axis=1).add_suffix("_candidate")
    dots = _dots(own.assign(name=operators["name"].astype(str)), "candidate")
    return _picture([dots], (under.roofs, under.roofs))


@dataclass(frozen=True)
class _Dots:
    """What one side has to draw: the first ones, most time first, of `count`, of which `int8` are
    held against the peak of 8-bit products; `types` are the data types that they multiply."""

    first: list[Dot]
    count: int
    int8: int
    types: frozenset[str]


def _by_own_name(table: pd.DataFrame, side: str, trace: Trace) -> pd.DataFrame:
    """The rows that ran on a side, by the names that it has for them: a row of two joined operators
    has the baseline's."""
    ran = table[[f"operator_{side}", *(f"{column}_{side}" for column in _SHOWN)]]
    ran = ran[ran[f"operator_{side}"].notna()]
    names = np.array(trace.texts("name"), dtype=object)
    return ran.assign(name=names[ran[f"operator_{side}"].to_numpy(dtype="int64")])


def _dots(table: pd.DataFrame, side: str) -> _Dots:
    rates = [f"{column}_{side}" for column in ("intensity", "attained_flops_per_s")]
    drawn = (table[rates].astype(float) > 0).all(axis=1)
    rows = table.loc[drawn, ["name", *(f"{column}_{side}" for column in _SHOWN)]]
    first = rows.sort_values(f"per_run_ns_{side}", ascending=False, kind="stable").head(MAX_DOTS)
    dots = [_dot(record, side) for record in first.to_dict("records")]
    types = frozenset(map(str, rows[f"number_type_{side}"].dropna()))
    return _Dots(dots, len(rows), int(rows[f"int8_{side}"].astype(bool).sum()), types)


def _picture(sides: Sequence[_Dots], roofs: tuple[Roofs, Roofs]) -> Picture | None:
    count, int8 = (sum(of) for of in zip(*((side.count, side.int8) for side in sides), strict=True))
    if not count:
        return None
    dots = [dot for side in sides for dot in side.first]
    dots.sort(key=lambda dot: -dot.time_ns)
    has_int8, has_float = int8 > 0, int8 < count
    types = sorted(frozenset().union(*(side.types for side in sides)))
    first, second = (_lines(limits, has_float, has_int8, types) for limits in roofs)
    shared = [line for line in first if line in second]
    lines = [
        *shared,
        *(replace(line, side="baseline") for line in first if line not in shared),
        *(replace(line, side="candidate") for line in second if line not in shared),
    ]
    return Picture(tuple(dots[:MAX_DOTS]), tuple(lines), max(0, count - MAX_DOTS))


def _dot(record: dict[Any, Any], side: str) -> Dot:
    share, bound = record[f"share_{side}"], record[f"bound_share_{side}"]
    op_type = record[f"op_type_{side}"]
    return Dot(
        side=side,
        name=str(record["name"]),
        op_type="" if op_type is None or pd.isna(op_type) else str(op_type),
        intensity=float(record[f"intensity_{side}"]),
        flops_per_s=float(record[f"attained_flops_per_s_{side}"]),
        time_ns=float(record[f"per_run_ns_{side}"]),
        share=0.0 if pd.isna(share) else float(share),
        int8=bool(record[f"int8_{side}"]),
        bound_share=None if pd.isna(bound) else float(bound),
        bound_by=None if pd.isna(bound) else str(record[f"bound_by_{side}"]),
    )


def _lines(limits: Roofs, has_float: bool, has_int8: bool, types: Sequence[str]) -> list[Line]:
    lines = []
    by_type = limits.tops.by_type or {}
    has_one = limits.tops.by_type is None
    lines += [
        Line(f"{kind}_peak", by_type[kind], False, None, "assumed")
        for kind in types
        if kind in by_type
    ]
    for what, quantity, rises in (
        ("peak", limits.peak if has_float and has_one else None, False),
        ("int8_peak", limits.int8 if has_int8 and has_one else None, False),
        ("memory", limits.bandwidth, True),
    ):
        if quantity is not None and quantity.value is not None:
            lines.append(Line(what, quantity.value, rises, None, quantity.basis))
    for cache in limits.caches[:_MAX_CACHES]:
        lines.append(Line(f"L{cache.level}", cache.bytes_per_s, True, None, "measured"))
    return [line for line in lines if line.rate >= _MIN_RATE]
