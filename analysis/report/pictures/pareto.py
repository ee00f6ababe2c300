"""Speed against accuracy and memory as a still picture: a panel for each cost, a name at each
mark."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.axis import LogScale, Tick, decades, round_ticks, time_ticks
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.multiple.pareto import LEAST_DIFFERENCE, Cost, Pareto, Point
from fusescope.analysis.experiment import MAX_DIFFERENCE
from fusescope.analysis.messages import say
from fusescope.analysis.wording.multiple.comparison import point_text
from fusescope.analysis.wording.texts import FIGURES

# Units of the picture, about one a pixel on a wide page.
WIDTH, PLOT_HEIGHT = 760, 200
LEFT, RIGHT = 84, 12
TOP, BETWEEN, BOTTOM = 26, 44, 44
RADIUS = 5.5
NAME_CHARS = 26
LINE = 15.0  # of a name: its height
_CHAR = 7.2  # the widest that a name's characters are on average
_GAP = 4.0
_ROOM = 1.08  # of an axis beyond its largest value
_SIZE_TICKS, _TIME_TICKS = 4, 6

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Name:
    """A name from `left` to `right` around the height `y`; `leader` is the line from a mark that it
    does not stand beside: x1, y1, x2, y2."""

    text: str
    left: float
    right: float
    y: float
    leader: tuple[float, float, float, float] | None

    @property
    def box(self) -> Box:
        """What it covers."""
        return self.left, self.y - LINE / 2, self.right, self.y + LINE / 2


@dataclass(frozen=True)
class Mark:
    """One side; `role` is baseline or candidate, `is_front` whether nothing dominates it."""

    x: float
    y: float
    role: str
    is_front: bool
    title: str
    name: Name


@dataclass(frozen=True)
class Panel:
    """One cost: ticks are fractions of its axis. `rounding` is the height of what is rounding."""

    label: str
    top: float
    bottom: float
    ticks: tuple[Tick, ...]
    rounding: float | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class ParetoPicture:
    """All panels on one axis of latency; its ticks are fractions."""

    panels: tuple[Panel, ...]
    ticks: tuple[Tick, ...]
    x_label: str
    height: float
    width: float = WIDTH
    left: float = LEFT
    right: float = WIDTH - RIGHT


def pareto_picture(multiple: MultipleComparison, found: Pareto) -> ParetoPicture:
    """The picture in the language that is spoken."""
    span = _ROOM * max(point.latency_ns for point in found.points)
    panels = []
    for row, cost in enumerate(found.costs):
        top = TOP + row * (PLOT_HEIGHT + BETWEEN)
        panels.append(_panel(multiple, found, cost, top, lambda ns: _across(ns / span)))
    return ParetoPicture(
        panels=tuple(panels),
        ticks=time_ticks(span, _TIME_TICKS),
        x_label=FIGURES["latency"].label,
        height=panels[-1].bottom + BOTTOM,
    )


def _across(at: float) -> float:
    return round(LEFT + at * (WIDTH - LEFT - RIGHT), 1)


def _panel(
    multiple: MultipleComparison,
    found: Pareto,
    cost: Cost,
    top: float,
    across: Callable[[float], float],
) -> Panel:
    bottom = top + PLOT_HEIGHT
    up, ticks = _scale([point.costs[cost] or 0.0 for point in found.points], cost)

    def height(value: float) -> float:
        return round(bottom - up(value) * PLOT_HEIGHT, 1)

    spots = [(across(p.latency_ns), height(p.costs[cost] or 0.0)) for p in found.points]
    # The baseline's name and those of the front find their place first.
    order = sorted(
        range(len(spots)),
        key=lambda at: (bool(found.points[at].dominated_by), found.points[at].side),
    )
    texts = [units.middle_cut(multiple.sides[p.side].name, NAME_CHARS) for p in found.points]
    names = dict(
        zip(
            order,
            place_names([texts[at] for at in order], [spots[at] for at in order], top, bottom),
            strict=True,
        )
    )
    return Panel(
        label=FIGURES[cost].label,
        top=top,
        bottom=bottom,
        ticks=ticks,
        rounding=height(MAX_DIFFERENCE) if cost == "output_difference" else None,
        marks=tuple(
            _mark(multiple, cost, point, spots[at], names[at])
            for at, point in enumerate(found.points)
        ),
    )


def _mark(
    multiple: MultipleComparison, cost: Cost, point: Point, spot: tuple[float, float], name: Name
) -> Mark:
    return Mark(
        x=spot[0],
        y=spot[1],
        role="candidate" if point.side else "baseline",
        is_front=not point.dominated_by,
        title=point_text(multiple.sides[point.side].name, point, cost),
        name=name,
    )


def _scale(
    values: Sequence[float], cost: Cost
) -> tuple[Callable[[float], float], tuple[Tick, ...]]:
    """Fractions of an axis: of memory from 0, of differences logarithmic and up to rounding at
    least."""
    if cost == "memory":
        most = _ROOM * max(1.0, *values)
        return lambda value: value / most, round_ticks(most, units.data_size, _SIZE_TICKS)
    scale = LogScale(LEAST_DIFFERENCE / 3, 3 * max(MAX_DIFFERENCE, *values))
    every_second = [
        tick
        for tick in decades(scale, _power)
        if round(math.log10(scale.value(tick.at) / LEAST_DIFFERENCE)) % 2 == 0
    ]
    return lambda value: scale.at(max(value, LEAST_DIFFERENCE)), tuple(every_second)


def _power(value: float) -> str:
    power = f"1e{round(math.log10(value))}"
    return say("≤ {value:name}", value=power) if value < LEAST_DIFFERENCE * 1.5 else power


def place_names(
    texts: Sequence[str], spots: Sequence[tuple[float, float]], top: float, bottom: float
) -> list[Name]:
    """A place for each name near its mark where it covers no other name and no mark, as long as
    there is one between `top` and `bottom`; the first names choose first."""
    marks = [_around(spot) for spot in spots]
    placed: list[Name] = []
    for text, spot in zip(texts, spots, strict=True):
        taken = [*marks, *(name.box for name in placed)]
        near = list(_places(text, spot, top, bottom))
        free = (name for name in near if not any(_touch(name.box, box) for box in taken))
        fewest = min(near, key=lambda name: sum(_touch(name.box, box) for box in taken))
        placed.append(next(free, fewest))
    return placed


def _places(text: str, spot: tuple[float, float], top: float, bottom: float) -> Iterator[Name]:
    """Places of a name, the best first: beside its mark, then ever higher or lower with a line to
    it. Always at least one."""
    (x, y), width = spot, text_width(text)
    right, left = x + RADIUS + _GAP, x - RADIUS - _GAP - width
    sides = [at for at in (right, left) if at >= LEFT and at + width <= WIDTH - RIGHT]
    sides = sides or [max(LEFT, min(right, WIDTH - RIGHT - width))]
    lowest, highest = bottom - LINE / 2, top + LINE / 2
    inside = min(max(y, highest), lowest)
    for at in sides:
        yield Name(text, at, at + width, inside, None)
    for step in range(1, 2 * math.ceil((bottom - top) / LINE)):
        for height in (y - step * LINE / 2, y + step * LINE / 2):
            if highest <= height <= lowest:
                for at in sides:
                    edge = at if at > x else at + width
                    yield Name(text, at, at + width, height, (x, y, edge, height))


def text_width(text: str) -> float:
    """How wide a name is at most, in units of the picture."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return round((len(text) + wide) * _CHAR, 1)


def _around(spot: tuple[float, float]) -> Box:
    x, y = spot
    return x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS


def _touch(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
