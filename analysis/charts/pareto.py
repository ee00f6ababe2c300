"""Speed against accuracy and memory: one row of axes a cost, one shape a variant."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from fusescope.analysis.charts.figure import BARE, label_text
from fusescope.analysis.colours import LIGHT, Colours
from fusescope.analysis.compare.multiple.pareto import LEAST_DIFFERENCE, Cost, Pareto, Point
from fusescope.analysis.experiment import MAX_DIFFERENCE
from fusescope.analysis.wording.multiple.comparison import point_text
from fusescope.analysis.wording.texts import FIGURES

# Shapes tell variants apart: so many colours could not be told by everybody.
SYMBOLS = (
    "circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "star", "hexagon",
)  # fmt: skip
_HEIGHT = 190  # of a row, px
_GAP = 0.14
_ROOM = 0.08


def pareto(found: Pareto, names: Sequence[str], colours: Colours = LIGHT) -> go.Figure:
    """Each variant at its latency, once for each cost; filled on the Pareto front. `names` are
    those of all sides, by position; the baseline has its own colour."""
    figure = go.Figure()
    rows = len(found.costs)
    slowest = max(point.latency_ns for point in found.points)
    scale, unit = (1e6, "ms") if slowest >= 1e6 else (1e3, "µs")
    for row, cost in enumerate(found.costs, 1):
        for point in found.points:
            figure.add_trace(_mark(point, cost, names[point.side], row, scale, colours))
    figure.layout = dict(
        height=_HEIGHT * rows + 90,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        **BARE,
        hovermode="closest",
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    if "output_difference" in found.costs:  # what lies below is rounding
        figure.add_hline(
            MAX_DIFFERENCE,
            row=None,
            line={"color": colours.neutral, "dash": "dash", "width": 1},
        )
    for row, cost in enumerate(found.costs, 1):
        low, high = 1 - row / rows, 1 - (row - 1) / rows
        end = "" if row == 1 else str(row)
        domain = [low + (_GAP / 2 if row < rows else 0), high - (_GAP / 2 if row > 1 else 0)]
        figure.update_layout(
            {
                f"yaxis{end}": {
                    "domain": domain,
                    "title": {"text": FIGURES[cost].label},
                    "automargin": True,
                    "fixedrange": True,
                    "anchor": f"x{end}",
                    **_axis(found, cost),
                },
                f"xaxis{end}": {
                    "anchor": f"y{end}",
                    "matches": "x" if row > 1 else None,
                    "range": [0, slowest / scale * (1 + _ROOM)],
                    "ticksuffix": f" {unit}",
                    "title": {"text": FIGURES["latency"].label} if row == rows else None,
                    "automargin": True,
                    "fixedrange": True,
                },
            }
        )
    return figure


def _mark(
    point: Point, cost: Cost, name: str, row: int, scale: float, colours: Colours
) -> go.Scatter:
    symbol = SYMBOLS[point.side % len(SYMBOLS)]
    value = point.costs[cost] or 0.0
    colour = colours.baseline if point.side == 0 else colours.candidate
    end = "" if row == 1 else str(row)
    hover = point_text(name, point, cost)
    return go.Scatter(
        x=[point.latency_ns / scale],
        y=[max(value, LEAST_DIFFERENCE) if cost == "output_difference" else value / 1e6],
        mode="markers",
        name=label_text(name),
        legendgroup=str(point.side),
        showlegend=row == 1,
        xaxis=f"x{end}",
        yaxis=f"y{end}",
        marker={
            "symbol": symbol if not point.dominated_by else f"{symbol}-open",
            "size": 12,
            "color": colour,
            "line": {"color": colour, "width": 2},
        },
        hovertemplate=f"{label_text(hover, 160)}<extra></extra>",
    )


def _axis(found: Pareto, cost: Cost) -> dict[str, object]:
    """A logarithmic axis of differences up to rounding at least, one from 0 of memory."""
    values = [point.costs[cost] or 0.0 for point in found.points]
    if cost == "memory":
        return {"range": [0, max(values) / 1e6 * (1 + _ROOM)], "ticksuffix": " MB"}
    low, high = math.log10(LEAST_DIFFERENCE), math.log10(max(MAX_DIFFERENCE, *values))
    decades = range(int(low), math.ceil(high) + 1, 2)
    return {
        "type": "log",
        "range": [low - 0.5, high + 0.5],
        "tickvals": [10.0**power for power in decades],
        "ticktext": ["≤ 1e-8", *(f"1e{power}" for power in decades[1:])],
    }
