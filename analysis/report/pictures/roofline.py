"""The roofline as a still picture, and the table of the operators with most time in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fusescope.analysis import units, wording
from fusescope.analysis.axis import LogScale, Tick, decades, plain
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.roofline import Dot, Line, Picture, roofline_picture
from fusescope.analysis.messages import say
from fusescope.analysis.operators.short_names import short_name
from fusescope.analysis.report.text import unbroken
from fusescope.analysis.units import Column, column_of
from fusescope.analysis.wording.roofline import (
    attained,
    line_label,
    line_name,
    place_text,
    roof_name,
    share_text,
)

WIDTH, HEIGHT = 960, 400
MAX_DRAWN = 300  # of one side
TABLE_ROWS = 20
_MIN_RADIUS, _MAX_RADIUS = 3.0, 15.0
_NAME_CHARS = 46


@dataclass(frozen=True)
class Mark:
    """One operator: centre and radius in the picture's units. `kind` is '' or int8."""

    side: str
    kind: str
    x: float
    y: float
    radius: float
    title: str


@dataclass(frozen=True)
class Roof:
    """One roof from (x1, y1) to (x2, y2); `kind` is cache or machine, `side` '' for both. `dashes`
    are SVG's; `label` stands at (left, bottom), fractions of the axes, `place` of the point."""

    name: str
    label: str
    left: float
    bottom: float
    place: str
    dashes: str
    kind: str
    side: str
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Row:
    """One operator of one side, as text."""

    side: int
    name: str
    shown_name: str
    op_type: str
    time: str
    intensity: str
    attained: str
    share: str
    roof: str


@dataclass(frozen=True)
class Roofline:
    """What the section draws; ticks are fractions of the axes. `cut` dots are not drawn."""

    marks: tuple[Mark, ...]
    roofs: tuple[Roof, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    unit: str  # of their times
    notes: tuple[str, ...]
    cut: int
    has_int8: bool


def roofline(comparison: Comparison) -> Roofline | None:
    """The picture; None where no operator has FLOPs, bytes and a time."""
    picture = roofline_picture(comparison)
    if picture is None:
        return None
    across, up = LogScale(*picture.intensities), LogScale(*picture.rates)
    drawn = [
        dot
        for side in ("baseline", "candidate")
        for dot in [dot for dot in picture.dots if dot.side == side][:MAX_DRAWN]
    ]
    drawn.sort(key=lambda dot: -dot.share)  # small ones on top
    times = column_of(dot.time_ns for dot in picture.dots[:TABLE_ROWS])
    return Roofline(
        marks=tuple(_mark(dot, across, up) for dot in drawn),
        roofs=tuple(_roof(line, picture, across, up) for line in picture.lines),
        x_ticks=decades(across, plain),
        y_ticks=decades(up, units.flop_rate),
        rows=tuple(_row(dot, times) for dot in picture.dots[:TABLE_ROWS]),
        unit=times.unit,
        notes=tuple(unbroken(note) for note in wording.roofline_notes(comparison.roofs, picture)),
        cut=len(picture.dots) - len(drawn),
        has_int8=any(dot.int8 for dot in drawn),
    )


def _mark(dot: Dot, across: LogScale, up: LogScale) -> Mark:
    radius = _MIN_RADIUS + (_MAX_RADIUS - _MIN_RADIUS) * math.sqrt(min(1.0, dot.share))
    return Mark(
        side=dot.side,
        kind="int8" if dot.int8 else "",
        x=round(WIDTH * across.at(dot.intensity), 1),
        y=round(HEIGHT * (1 - up.at(dot.flops_per_s)), 1),
        radius=round(radius, 1),
        title=say(
            "{operator:name} ({op_type:name}): {time:duration} a run, {place}, {share}",
            operator=dot.name,
            op_type=dot.op_type,
            time=dot.time_ns,
            place=place_text(dot),
            share=share_text(dot),
        ),
    )


def _roof(line: Line, picture: Picture, across: LogScale, up: LogScale) -> Roof:
    (x1, y1), (x2, y2) = picture.ends(line)
    x, y = picture.label(line)
    above = "below" if line.side == "candidate" else "above"
    return Roof(
        name=line_name(line),
        label=line_label(line) if x1 < x2 else "",
        left=round(across.at(x), 4),
        bottom=round(up.at(y), 4),
        place="under" if line.rises else above,
        dashes=" ".join(map(str, line.dashes)),
        kind="cache" if line.what.startswith("L") else "machine",
        side=line.side or "",
        x1=round(WIDTH * across.at(x1), 1),
        y1=round(HEIGHT * (1 - up.at(y1)), 1),
        x2=round(WIDTH * across.at(x2), 1),
        y2=round(HEIGHT * (1 - up.at(y2)), 1),
    )


def _row(dot: Dot, times: Column) -> Row:
    known = dot.bound_share is not None
    return Row(
        side=0 if dot.side == "baseline" else 1,
        name=dot.name,
        shown_name=units.middle_cut(short_name(dot.name), _NAME_CHARS),
        op_type=units.middle_cut(short_name(dot.op_type), 32),
        time=times.number(dot.time_ns),
        intensity=f"~{dot.intensity:.3g}",
        attained=f"~{attained(dot)}",
        share=f"~{units.percent(dot.bound_share)}" if known else units.MISSING,
        roof=roof_name(dot),
    )
