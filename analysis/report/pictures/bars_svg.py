"""Bars as an SVG: both sides of a pair below one another, or the parts of one trace in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fusescope.analysis.colours import LIGHT, Colours
from fusescope.analysis.units import duration

WIDTH = 320
_BAR, _GAP, _TIMES = 14, 6, 64  # heights of a bar and between two; the width of times beside them
# How solid the colour of a part is; idle time is an empty frame.
_SOLID = {"computing": 1.0, "communication": 0.6, "copies": 0.35, "idle": 0.0}


class Bar(Protocol):
    """How long a bar is, and the side or the part of a run that it stands for."""

    @property
    def role(self) -> str: ...

    @property
    def ns(self) -> float: ...


def bars_svg(bars: Sequence[Bar], colours: Colours = LIGHT) -> str:
    """Return the picture; the sentences beside it say the same."""
    sides = {"baseline": colours.baseline, "candidate": colours.candidate}
    is_pair = all(bar.role in sides for bar in bars)
    marks = _rows(bars, sides) if is_pair else _parts(bars, colours.candidate)
    height = max(len(bars), 1) * (_BAR + _GAP) - _GAP if is_pair else _BAR
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">{marks}</svg>'
    )


def _rows(bars: Sequence[Bar], fills: dict[str, str]) -> str:
    """Return a bar a row with its time, as long as it takes beside the longest."""
    longest = max((bar.ns for bar in bars), default=0.0) or 1.0
    drawn = []
    for at, bar in enumerate(bars):
        top, fill = at * (_BAR + _GAP), fills[bar.role]
        width = (WIDTH - _TIMES) * bar.ns / longest
        drawn.append(_rect(0, top, width, fill, 1.0))
        drawn.append(
            f'<text x="{WIDTH}" y="{top + _BAR - 3}" text-anchor="end" fill="{fill}">'
            f"{duration(bar.ns)}</text>"
        )
    return "".join(drawn)


def _parts(bars: Sequence[Bar], fill: str) -> str:
    """Return the bars in one row, which is as long as all of them."""
    whole = sum(bar.ns for bar in bars) or 1.0
    drawn, left = [], 0.0
    for bar in bars:
        width = WIDTH * bar.ns / whole
        drawn.append(_rect(left, 0, width, fill, _SOLID[bar.role]))
        left += width
    return "".join(drawn)


def _rect(left: float, top: float, width: float, fill: str, solid: float) -> str:
    # Half a pixel inside, or the edge of the picture cuts the frame.
    return (
        f'<rect x="{left + 0.5:.1f}" y="{top + 0.5:.1f}" width="{max(width - 1, 0.5):.1f}" '
        f'height="{_BAR - 1}" fill="{fill}" fill-opacity="{solid}" stroke="{fill}"/>'
    )
