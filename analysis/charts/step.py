"""Where the time of a run goes: one bar a side, on one axis of time."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from fusescope.analysis.charts.figure import BARE, label_text
from fusescope.analysis.colours import LIGHT, Colours
from fusescope.analysis.compare.step import StepPart
from fusescope.analysis.messages import say
from fusescope.analysis.wording.step import LABELS, StepBar

# Parts differ by their pattern, sides by their colour; idle time is an empty frame.
_PATTERNS: dict[StepPart, str] = {"computing": "", "communication": "/", "copies": "|", "idle": ""}
_EMPTY = "rgba(0,0,0,0)"


def step(bars: Sequence[StepBar], colours: Colours = LIGHT) -> go.Figure | None:
    """The median profiled run of each side in parts, bars as long as the runs; None without
    bars."""
    if not bars:
        return None
    of_role = {"baseline": colours.baseline, "candidate": colours.candidate}
    marks = [of_role[bar.role] for bar in bars]
    longest = max(piece.ns for bar in bars for piece in bar.pieces)
    scale, unit = (1e6, "ms") if longest >= 1e6 else (1e3, "µs")
    figure = go.Figure()
    for at, piece in enumerate(bars[0].pieces):
        figure.add_trace(
            go.Bar(
                orientation="h",
                name=label_text(LABELS[piece.part].text()),
                y=list(range(len(bars))),
                x=[bar.pieces[at].ns / scale for bar in bars],
                marker={
                    "color": _EMPTY if piece.part == "idle" else marks,
                    "line": {"color": marks, "width": 1},
                    "pattern": {"shape": _PATTERNS[piece.part]},
                },
                customdata=[_hover(bar, at) for bar in bars],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    figure.layout = dict(
        height=36 * len(bars) + 84,
        margin={"l": 8, "r": 8, "t": 4, "b": 8},
        **BARE,
        barmode="stack",
        bargap=0.3,
        # Of the container: on a narrow page it takes three lines, and the ticks stand above them.
        legend={
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "x": 0,
            "traceorder": "normal",
            "maxheight": 1,
        },
        xaxis={"ticksuffix": f" {unit}", "separatethousands": True, "automargin": True},
        yaxis={
            "tickvals": list(range(len(bars))),
            "ticktext": [label_text(bar.label, 24) for bar in bars],
            "range": [len(bars) - 0.5, -0.5],
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )
    return figure


def _hover(bar: StepBar, at: int) -> str:
    told = say("{label}: {text}", label=bar.label, text=bar.pieces[at].text)
    return label_text(told, 160)
