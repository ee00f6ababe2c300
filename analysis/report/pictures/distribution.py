"""Run times of both sides, block by block: a strip plot and the table that says the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from analysis.axis import LogScale, Tick, log_time_ticks
from analysis.compare.comparison import Comparison
from analysis.compare.side import Side
from analysis.compare.timing.latency import are_paired
from analysis.compare.timing.statistics import trimmed_mean, typical_log
from analysis.metrics.warmup import steady_runs

Role = Literal["baseline", "baseline_copy", "candidate"]

# The plot's own units; it is stretched to the page.
WIDTH, HEIGHT = 1000, 100
MAX_COLUMNS = 48
MAX_DOTS = 200  # of one strip
MAX_ROWS = 96
SPARSE = 80  # runs in all, up to which dots are drawn large
# Beyond this many times the slower side's median a run would flatten everything else.
FAR = 2.5
_SIDES = ("baseline", "candidate")
_PADDING = 0.14
_MARGIN = 0.06


@dataclass(frozen=True)
class Strip:
    """The runs of one side in one block or file, in the order in which they ran.

    `typical_ns` is what the verdict makes of the runs that count: their lower quartile in a block,
    their trimmed mean in a file.
    """

    role: Role
    times_ns: np.ndarray
    warmup: np.ndarray
    in_block: bool

    @property
    def typical_ns(self) -> float | None:
        """The line in the plot; None without a run that counts."""
        counted = self.times_ns[~self.warmup & (self.times_ns > 0)]
        if not len(counted):
            return None
        return math.exp(typical_log(counted) if self.in_block else trimmed_mean(np.log(counted)))


@dataclass(frozen=True)
class Column:
    """One column of the plot: a block, or all runs of a file. `label` stands on the axis, `name`
    in the table."""

    label: str
    name: str
    strips: tuple[Strip, ...]

    def typical_ns(self, side: str) -> float | None:
        """The block's time of one side: geometric mean over its copies."""
        times = [s.typical_ns for s in self.strips if s.role.startswith(side)]
        known = [math.log(time) for time in times if time is not None]
        return math.exp(sum(known) / len(known)) if known else None


@dataclass(frozen=True)
class Mark:
    """SVG path data of one role: dots of runs, dots of warm-up runs, lines of block times."""

    role: Role
    dots: str
    warmup: str
    lines: str


@dataclass(frozen=True)
class Row:
    """One block in the table; times in ns, `speedup` = baseline / candidate of that block."""

    name: str
    runs: tuple[int, int]
    typical_ns: tuple[float | None, float | None]
    largest_ns: tuple[float | None, float | None]
    speedup: float | None


@dataclass(frozen=True)
class Distribution:
    """What the section draws; `far` runs lie above the plot, `columns_cut` blocks beside it."""

    marks: tuple[Mark, ...]
    columns: tuple[Tick, ...]
    ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    in_blocks: bool
    paired: bool
    has_warmup: bool
    is_sparse: bool
    far: int
    columns_cut: int
    rows_cut: int


def distribution(comparison: Comparison) -> Distribution | None:
    """The distribution, None where no side has two runs, or none a time, and where the times of
    the sides are not of the same runs."""
    if not comparison.has_changes:
        return None
    sides = (comparison.baseline, comparison.candidate)
    in_blocks = all(not side.trace.sampled_runs.empty for side in sides)
    paired = in_blocks and are_paired(*sides)
    columns = _block_columns(sides, paired) if in_blocks else _run_columns(sides)
    times = [strip.times_ns for column in columns for strip in column.strips]
    every = np.concatenate(times) if times else np.empty(0)
    every = every[every > 0]
    most = max(sum(_count(column, side) for column in columns) for side in _SIDES)
    if not len(every) or most < 2:
        return None
    typical = [column.typical_ns(side) for column in columns for side in _SIDES]
    slowest = max((time for time in typical if time is not None), default=float(every.max()))
    high = min(float(every.max()), FAR * slowest) * (1 + _MARGIN)
    low = float(every.min()) / (1 + _MARGIN)
    scale = LogScale(low, high)
    shown = columns[:MAX_COLUMNS]
    rows = [_row(column) for column in columns]
    return Distribution(
        marks=_marks(shown, scale),
        columns=tuple(
            Tick((number + 0.5) / len(shown), column.label) for number, column in enumerate(shown)
        ),
        ticks=log_time_ticks(scale),
        rows=tuple(rows[:MAX_ROWS]),
        in_blocks=in_blocks,
        paired=paired,
        has_warmup=any(bool(strip.warmup.any()) for c in columns for strip in c.strips),
        is_sparse=len(every) <= SPARSE,
        far=int((every > high).sum()),
        columns_cut=len(columns) - len(shown),
        rows_cut=max(0, len(rows) - MAX_ROWS),
    )


def _block_columns(sides: tuple[Side, Side], paired: bool) -> list[Column]:
    """A column per block: both sides in it where they were recorded together."""
    first, second = (_strips(side.trace.sampled_runs) for side in sides)
    as_baseline = {
        block: _with_roles(strips, "baseline", "baseline_copy") for block, strips in first.items()
    }
    as_candidate = {
        block: _with_roles(strips, "candidate", "candidate") for block, strips in second.items()
    }
    if paired:
        return [
            Column(
                str(block),
                f"block {block}",
                (*as_baseline.get(block, ()), *as_candidate.get(block, ())),
            )
            for block in sorted({*as_baseline, *as_candidate})
        ]
    return [
        Column(str(block), f"{side.name}, block {block}", strips)
        for side, blocks in zip(sides, (as_baseline, as_candidate), strict=True)
        for block, strips in sorted(blocks.items())
    ]


def _strips(sampled: pd.DataFrame) -> dict[int, list[tuple[np.ndarray, np.ndarray]]]:
    """Times and warm-up marks by block, one entry a copy. Runs without a block count as block 0."""
    found: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    keyed = sampled.assign(
        block=sampled["block"].fillna(0).astype(int), copy=sampled["copy"].fillna(1).astype(int)
    )
    for _, runs in keyed.groupby(["block", "copy"], sort=True):
        block = int(runs["block"].iloc[0])
        ordered = runs.sort_values("round", kind="stable")
        found.setdefault(block + 1, []).append(_columns(ordered))
    return found


def _with_roles(
    strips: list[tuple[np.ndarray, np.ndarray]], first: Role, others: Role
) -> tuple[Strip, ...]:
    return tuple(
        Strip(others if number else first, *strip, in_block=True)
        for number, strip in enumerate(strips)
    )


def _run_columns(sides: tuple[Side, Side]) -> list[Column]:
    """A column per file with its profiled runs; the whole file as one run is none."""
    columns = []
    roles: tuple[Role, Role] = ("baseline", "candidate")
    for side, role in zip(sides, roles, strict=True):
        runs = side.trace.profiled_runs
        runs = runs[runs["kind"] != "file"]
        if not runs.empty:
            counted = runs["run"].isin(steady_runs(side.trace).runs).to_numpy()
            strip = Strip(role, runs["dur_ns"].to_numpy(dtype=float), ~counted, in_block=False)
            columns.append(Column(side.name, side.name, (strip,)))
    return columns


def _columns(runs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return runs["dur_ns"].to_numpy(dtype=float), runs["warmup"].to_numpy(dtype=bool)


def _marks(columns: list[Column], scale: LogScale) -> tuple[Mark, ...]:
    parts: dict[Role, tuple[list[str], list[str], list[str]]] = {
        "baseline": ([], [], []),
        "baseline_copy": ([], [], []),
        "candidate": ([], [], []),
    }
    for number, column in enumerate(columns):
        left = WIDTH * (number + _PADDING) / len(columns)
        room = WIDTH * (1 - 2 * _PADDING) / len(columns) / max(1, len(column.strips))
        for place, strip in enumerate(column.strips):
            start = left + place * room
            dots, warmup, lines = parts[strip.role]
            picked = _spread(len(strip.times_ns))
            for nth, run in enumerate(picked):
                x = start + room * (0.1 + 0.8 * (nth + 0.5) / len(picked))
                y = _height(float(strip.times_ns[run]), scale)
                (warmup if strip.warmup[run] else dots).append(f"M{x:.1f} {y}h0")
            if strip.typical_ns is not None:
                y = _height(strip.typical_ns, scale)
                lines.append(f"M{start:.1f} {y}h{room:.1f}")
    return tuple(
        Mark(role, "".join(dots), "".join(warmup), "".join(lines))
        for role, (dots, warmup, lines) in parts.items()
        if dots or warmup
    )


def _spread(count: int) -> list[int]:
    """Positions of at most MAX_DOTS runs, evenly apart."""
    if count <= MAX_DOTS:
        return list(range(count))
    return [round(k * (count - 1) / (MAX_DOTS - 1)) for k in range(MAX_DOTS)]


def _height(ns: float, scale: LogScale) -> str:
    return f"{HEIGHT * (1 - scale.at(max(ns, scale.low))):.1f}"


def _row(column: Column) -> Row:
    typical = (column.typical_ns("baseline"), column.typical_ns("candidate"))
    before, after = typical
    return Row(
        name=column.name,
        runs=(_count(column, "baseline"), _count(column, "candidate")),
        typical_ns=typical,
        largest_ns=(_largest(column, "baseline"), _largest(column, "candidate")),
        speedup=None if before is None or after is None else before / after,
    )


def _count(column: Column, side: str) -> int:
    return sum(len(strip.times_ns) for strip in column.strips if strip.role.startswith(side))


def _largest(column: Column, side: str) -> float | None:
    times = [s.times_ns for s in column.strips if s.role.startswith(side) and len(s.times_ns)]
    return float(np.concatenate(times).max()) if times else None
