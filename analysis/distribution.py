"""Run times of both sides, block by block: what the dashboard and the report draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.latency import are_neighbours, are_of_mean_runs, are_paired
from fusescope.analysis.compare.timing.statistics import Statistic, trimmed_mean, typical_log
from fusescope.analysis.messages import say
from fusescope.analysis.metrics.warmup import steady_runs

Role = Literal["baseline", "baseline_copy", "candidate"]
ROLES: tuple[Role, ...] = ("baseline", "baseline_copy", "candidate")

PADDING = 0.14  # of a column, at both its sides
_SIDES = ("baseline", "candidate")


@dataclass(frozen=True)
class Strip:
    """The runs of one side in one block or file, in the order in which they ran.

    `line` is what the verdict makes of the runs that count, and `typical_ns` that.
    """

    role: Role
    times_ns: np.ndarray
    warmup: np.ndarray
    line: Statistic

    @property
    def side(self) -> str:
        """baseline or candidate."""
        return self.role.partition("_")[0]

    @property
    def typical_ns(self) -> float | None:
        """The line in the plot; None without a run that counts."""
        counted = self.times_ns[~self.warmup & (self.times_ns > 0)]
        if not len(counted):
            return None
        if self.line == "mean":
            return float(counted.mean())
        is_quartile = self.line == "lower_quartile"
        return math.exp(typical_log(counted) if is_quartile else trimmed_mean(np.log(counted)))


@dataclass(frozen=True)
class Column:
    """One column of the plot: a block, or all runs of a file. `label` stands on the axis, `name`
    in the table."""

    label: str
    name: str
    strips: tuple[Strip, ...]

    def count(self, side: str) -> int:
        """How many runs of one side it holds."""
        return sum(len(strip.times_ns) for strip in self.strips if strip.side == side)

    def largest_ns(self, side: str) -> float | None:
        """The longest run of one side, None without any."""
        times = [strip.times_ns for strip in self.strips if strip.side == side]
        return max((float(each.max()) for each in times if len(each)), default=None)

    def typical_ns(self, side: str) -> float | None:
        """The block's time of one side: geometric mean over its copies."""
        times = [s.typical_ns for s in self.strips if s.side == side]
        known = [math.log(time) for time in times if time is not None]
        return math.exp(sum(known) / len(known)) if known else None


@dataclass(frozen=True)
class Distribution:
    """All runs in columns, in blocks or files; `paired` blocks ran both sides. `of_files`: blocks
    are files of two sides of several, paired ones neighbours. `is_profiled`: runs ran under the
    profiler."""

    columns: tuple[Column, ...]
    in_blocks: bool
    paired: bool
    is_profiled: bool
    of_files: bool = False

    @property
    def strips(self) -> list[Strip]:
        """Those of all columns, in order."""
        return [strip for column in self.columns for strip in column.strips]

    @property
    def times_ns(self) -> np.ndarray:
        """Every run's time above 0."""
        every = np.concatenate([strip.times_ns for strip in self.strips] or [np.empty(0)])
        return every[every > 0]

    @property
    def line(self) -> Statistic:
        """The line that stands for the runs of a strip."""
        return self.strips[0].line

    @property
    def has_warmup(self) -> bool:
        """Return whether there are runs that are not counted."""
        return any(bool(strip.warmup.any()) for strip in self.strips)


def distribution(comparison: Comparison) -> Distribution | None:
    """The distribution, None where no side has two runs, or none a time, and where the times of
    the sides are not of the same runs."""
    if not comparison.has_changes:
        return None
    sides = (comparison.baseline, comparison.candidate)
    of_files = all(bool(side.files) for side in sides)
    is_profiled = any(side.sampled_runs.empty for side in sides)
    in_blocks = of_files or (not is_profiled and any(side.is_in_blocks for side in sides))
    paired = in_blocks and (are_paired(*sides) or are_neighbours(*sides))
    if in_blocks:
        columns = _block_columns(sides, paired)
    else:
        are_means = are_of_mean_runs(*(side.trace for side in sides))
        line: Statistic = "mean" if are_means else "trimmed_mean"
        columns = [
            *_file_columns(sides[0], "baseline", line, is_profiled),
            *_file_columns(sides[1], "candidate", line, is_profiled),
        ]
    found = Distribution(tuple(columns), in_blocks, paired, is_profiled, of_files)
    counts = [sum(column.count(side) for column in columns) for side in _SIDES]
    return found if len(found.times_ns) and max(counts) >= 2 else None


def distribution_of(side: Side) -> Distribution | None:
    """The distribution of one side by itself: its un-profiled runs, else its profiled ones. None
    where it has less than two runs, or none a time."""
    is_profiled = side.sampled_runs.empty
    in_blocks = not is_profiled and side.is_in_blocks
    if in_blocks:
        blocks = sorted(_strips(side.sampled_runs).items())
        columns = [
            Column(str(block), f"block {block}", _with_roles(strips, "candidate", "candidate"))
            for block, strips in blocks
        ]
    else:
        line: Statistic = "trimmed_mean" if side.is_in_blocks else "mean"
        columns = _file_columns(side, "candidate", line, is_profiled)
    found = Distribution(tuple(columns), in_blocks, paired=False, is_profiled=is_profiled)
    many = sum(column.count("candidate") for column in columns) >= 2
    return found if len(found.times_ns) and many else None


def _block_columns(sides: tuple[Side, Side], paired: bool) -> list[Column]:
    """A column per block: both sides in it where they were recorded together."""
    of_files = all(side.files for side in sides)
    sampled = all(not side.sampled_runs.empty for side in sides)
    first, second = (_strips(side.sampled_runs if sampled else _profiled(side)) for side in sides)
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
                say("pair {number:count}", number=block) if of_files else f"block {block}",
                (*as_baseline.get(block, ()), *as_candidate.get(block, ())),
            )
            for block in sorted({*as_baseline, *as_candidate})
        ]
    return [
        Column(
            str(block),
            side.files[block - 1].name if of_files else f"{side.name}, block {block}",
            strips,
        )
        for side, blocks in zip(sides, (as_baseline, as_candidate), strict=True)
        for block, strips in sorted(blocks.items())
    ]


def _strips(sampled: pd.DataFrame) -> dict[int, list[tuple[np.ndarray, np.ndarray]]]:
    """Times and warm-up marks by block, one entry a copy. Runs without a block count as block 0.
    A block is a file where a side has several."""
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
        Strip(others if number else first, *strip, "lower_quartile")
        for number, strip in enumerate(strips)
    )


def _profiled(side: Side) -> pd.DataFrame:
    """Profiled runs, those that do not count marked as warm-up; the whole file as one run is
    none."""
    runs = side.trace.profiled_runs
    counted = runs["run"].isin(steady_runs(side.trace).runs)
    return runs.assign(warmup=~counted)[runs["kind"] != "file"]


def _file_columns(side: Side, role: Role, line: Statistic, is_profiled: bool) -> list[Column]:
    """A column with the runs of a file, profiled or not; none of a file that marks none."""
    runs = _profiled(side) if is_profiled else side.sampled_runs
    if runs.empty:
        return []
    return [Column(side.name, side.name, (Strip(role, *_columns(runs), line),))]


def _columns(runs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return runs["dur_ns"].to_numpy(dtype=float), runs["warmup"].to_numpy(dtype=bool)
