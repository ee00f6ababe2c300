"""Delays of ranks: a heat map, a row for each rank and a column for each step."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from fusescope.analysis import units
from fusescope.analysis.charts.figure import BARE
from fusescope.analysis.colours import LIGHT, Colours
from fusescope.analysis.fleet.step_split import Delays
from fusescope.analysis.messages import say

_MIN_HEIGHT, _MAX_HEIGHT = 180, 620
_ROW = 14
_LEAST = 0.01


def _brightest(found: Delays) -> float:
    """Share of the brightest colour: twice that of the rank which is usually latest, so that a
    single slow kernel does not outshine it; 1 % at the least."""
    medians = [np.nanmedian(row) for row in found.shares if not np.isnan(row).all()]
    return max(_LEAST, 2 * float(max(medians, default=0.0)))


def _scale(top: float) -> dict[str, object]:
    """Return ticks from 0 to the brightest share, each with a text of its own."""
    ticks = [0.0, top / 2, top]
    return {"tickvals": ticks, "ticktext": [units.percent(share) for share in ticks]}


def delays(found: Delays, colours: Colours = LIGHT) -> go.Figure | None:
    """Share of each step by which a rank came late by itself; None where nothing is known."""
    if not found.ranks or not found.steps:
        return None
    ranks, steps = [str(rank) for rank in found.ranks], [str(step) for step in found.steps]
    shares = [
        [None if math.isnan(share) else share for share in row] for row in found.shares.tolist()
    ]
    top = _brightest(found)
    figure = go.Figure(
        go.Heatmap(
            x=steps,
            y=ranks,
            z=shares,
            zmin=0,
            zmax=top,
            customdata=[[units.percent(share) for share in row] for row in shares],
            hovertemplate=say("rank")
            + " %{y}, "
            + say("step")
            + " %{x}: %{customdata}<extra></extra>",
            colorscale=[[0, f"{colours.slower}00"], [1, colours.slower]],
            colorbar={**_scale(top), "thickness": 12, "len": 1, "outlinewidth": 0},
            xgap=1,
            ygap=1 if len(ranks) <= 64 else 0,
        )
    )
    height = min(_MAX_HEIGHT, max(_MIN_HEIGHT, _ROW * len(ranks) + 70))
    figure.layout = dict(
        height=height,
        margin={"l": 8, "r": 8, "t": 4, "b": 8},
        **BARE,
        xaxis={
            "title": {"text": say("step")},
            "type": "category",
            "automargin": True,
            "showgrid": False,
        },
        yaxis={
            "title": {"text": say("rank")},
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "automargin": True,
        },
    )
    return figure
