"""A figure of one variant over batch sizes or threads, a line for each value of the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Literal

import plotly.graph_objects as go

from fusescope.analysis.charts.figure import BARE, label_text
from fusescope.analysis.charts.pareto import SYMBOLS
from fusescope.analysis.colours import LIGHT, Colours
from fusescope.analysis.compare.multiple.scaling import Estimated, ScalingPoint
from fusescope.analysis.messages import Message, say
from fusescope.analysis.wording.multiple import scaling as words
from fusescope.analysis.wording.multiple.scaling import Measure

Across = Literal["batch", "threads"]
ACROSS: dict[Across, Message] = {"batch": Message("batch size"), "threads": Message("threads")}
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")  # lines differ by more than colour
_UNITS: dict[Measure, tuple[float, str]] = {
    "latency": (1e6, " ms"), "throughput": (1, " /s"), "speedup": (1, "×"),
    "efficiency": (0.01, " %"), "batch_gain": (1, "×"), "small_op_ratio": (0.01, " %"),
}  # fmt: skip


def scaling(
    points: Sequence[ScalingPoint], measure: Measure, across: Across, colours: Colours = LIGHT
) -> go.Figure | None:
    """The measure with its intervals; None where no point has it."""
    others = dict.fromkeys(_other(point, across) for point in points)  # of one mark in each figure
    points = [point for point in points if words.value_of(point, measure) is not None]
    if not points:
        return None
    unit, suffix = _UNITS[measure]
    figure = go.Figure()
    for other, dash, symbol in zip(others, cycle(_DASHES), cycle(SYMBOLS), strict=False):
        line = [point for point in points if _other(point, across) == other]
        if not line:
            continue
        values = [(words.value_of(point, measure) or 0.0) / unit for point in line]
        bounds = [_bounds(point, measure) for point in line]
        figure.add_trace(
            go.Scatter(
                x=[str(getattr(point, across)) for point in line],
                y=values,
                mode="lines+markers",
                name=label_text(_line_name(line[0], across)),
                line={"color": colours.candidate, "dash": dash, "width": 2},
                marker={"symbol": symbol, "size": 9, "color": colours.candidate},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [high / unit - y for y, (_, high) in zip(values, bounds, strict=True)],
                    "arrayminus": [
                        y - low / unit for y, (low, _) in zip(values, bounds, strict=True)
                    ],
                    "thickness": 1,
                    "width": 4,
                },
                customdata=[_hover(point, measure) for point in line],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    order = sorted({getattr(point, across) for point in points}, key=lambda value: value or 0)
    figure.layout = dict(
        height=280,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        **BARE,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        hovermode="closest",
        xaxis={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [str(value) for value in order],
            "title": {"text": ACROSS[across].text()},
            "automargin": True,
            "fixedrange": True,
        },
        yaxis={
            "rangemode": "tozero",
            "ticksuffix": suffix,
            "separatethousands": True,
            "automargin": True,
            "fixedrange": True,
        },
    )
    return figure


def _other(point: ScalingPoint, across: Across) -> int | None:
    return point.threads if across == "batch" else point.batch


def _line_name(point: ScalingPoint, across: Across) -> str:
    if across == "batch":
        return say("{threads:threads}", threads=point.threads)
    return say("batch size {batch:count}", batch=point.batch)


def _bounds(point: ScalingPoint, measure: Measure) -> tuple[float, float]:
    """The interval, or the value twice: an error bar of no height."""
    found: Estimated | float | None = getattr(point, measure)
    if isinstance(found, Estimated) and found.interval is not None:
        return found.interval.low, found.interval.high
    value = words.value_of(point, measure) or 0.0
    return value, value


def _hover(point: ScalingPoint, measure: Measure) -> str:
    value, interval = words.value_text(point, measure), words.interval_text(point, measure)
    shown = say("{value} ({interval})", value=value, interval=interval) if interval else value
    told = say("{setting}: {value}", setting=words.setting_text(point), value=shown)
    return label_text(told, 160)
