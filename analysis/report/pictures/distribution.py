"""Run times of both sides, block by block: a strip plot and the table that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.axis import LogScale, Tick, log_time_ticks
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.timing.statistics import Statistic
from fusescope.analysis.distribution import PADDING, ROLES, Column, Role, distribution
from fusescope.analysis.report.pictures.path_data import path_data

# The plot's own units; it is stretched to the page.
WIDTH, HEIGHT = 1000, 100
MAX_COLUMNS = 48
MAX_DOTS = 200  # of one strip
MAX_ROWS = 96
SPARSE = 80  # runs in all, up to which dots are drawn large
# Beyond this many times the slower side's median a run would flatten everything else.
FAR = 2.5
_SIDES = ("baseline", "candidate")
_MARGIN = 0.06


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
class StripPlot:
    """What the section draws; `far` runs lie above the plot, `columns_cut` blocks beside it."""

    marks: tuple[Mark, ...]
    columns: tuple[Tick, ...]
    ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    times: units.Column  # of the times in rows
    in_blocks: bool
    line: Statistic
    is_profiled: bool
    paired: bool
    of_files: bool
    has_warmup: bool
    is_sparse: bool
    far: int
    columns_cut: int
    rows_cut: int


def strip_plot(comparison: Comparison) -> StripPlot | None:
    """The plot and its table, None where there is nothing to draw (`distribution`)."""
    found = distribution(comparison)
    if found is None:
        return None
    columns, every = found.columns, found.times_ns
    typical = [column.typical_ns(side) for column in columns for side in _SIDES]
    slowest = max((time for time in typical if time is not None), default=float(every.max()))
    high = min(float(every.max()), FAR * slowest) * (1 + _MARGIN)
    low = float(every.min()) / (1 + _MARGIN)
    scale = LogScale(low, high)
    shown = columns[:MAX_COLUMNS]
    rows = [_row(column) for column in columns]
    return StripPlot(
        marks=_marks(shown, scale),
        columns=tuple(
            Tick((number + 0.5) / len(shown), column.label) for number, column in enumerate(shown)
        ),
        ticks=log_time_ticks(scale),
        rows=tuple(rows[:MAX_ROWS]),
        times=units.column_of(
            ns for row in rows[:MAX_ROWS] for ns in (*row.typical_ns, *row.largest_ns)
        ),
        in_blocks=found.in_blocks,
        line=found.line,
        is_profiled=found.is_profiled,
        of_files=found.of_files,
        paired=found.paired,
        has_warmup=found.has_warmup,
        is_sparse=len(every) <= SPARSE,
        far=int((every > high).sum()),
        columns_cut=len(columns) - len(shown),
        rows_cut=max(0, len(rows) - MAX_ROWS),
    )


def _marks(columns: Sequence[Column], scale: LogScale) -> tuple[Mark, ...]:
    parts: dict[Role, tuple[list[str], list[str], list[str]]] = {
        role: ([], [], []) for role in ROLES
    }
    for number, column in enumerate(columns):
        left = WIDTH * (number + PADDING) / len(columns)
        room = WIDTH * (1 - 2 * PADDING) / len(columns) / max(1, len(column.strips))
        for index, strip in enumerate(column.strips):
            start = left + index * room
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
        Mark(role, path_data(dots), path_data(warmup), path_data(lines))
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
        runs=(column.count("baseline"), column.count("candidate")),
        typical_ns=typical,
        largest_ns=(column.largest_ns("baseline"), column.largest_ns("candidate")),
        speedup=None if before is None or after is None else before / after,
    )
