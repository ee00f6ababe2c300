"""The verdict on an axis of speedups."""

from __future__ import annotations

import plotly.graph_objects as go

from fusescope.analysis.charts.figure import BARE, ticks
from fusescope.analysis.colours import LIGHT, Colours
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.interval import interval_picture
from fusescope.analysis.messages import Message, say
from fusescope.analysis.wording.sentences import level_text


def interval(verdict: Verdict, colours: Colours = LIGHT) -> go.Figure | None:
    """The verdict on a logarithmic axis of speedups: the point, its interval, the A/A control
    (a grey band) and no change (dashed). None where there is no speedup."""
    picture = interval_picture(verdict)
    if picture is None or verdict.speedup is None:
        return None
    scale = picture.scale
    outcomes = {"faster": colours.faster, "slower": colours.slower}
    colour = outcomes.get(verdict.outcome, colours.neutral)
    shapes: list[dict[str, object]] = [
        {
            "type": "line",
            "x0": 1,
            "x1": 1,
            "y0": -1,
            "y1": 1,
            "line": {"color": colours.neutral, "dash": "dash", "width": 1},
        }
    ]
    if verdict.noise_floor is not None:  # its fill is pale, so that the interval shows on it
        low, high = verdict.noise_floor.low, verdict.noise_floor.high
        line = {"color": colours.neutral, "width": 1}
        shapes.append(
            {"type": "rect", "x0": low, "x1": high, "y0": -0.45, "y1": 0.45, "line": line}
        )
    figure = go.Figure()
    shown, level = verdict.shown or (None, 0.0)
    for name, pair, width, opacity in (
        (
            Message("A/A control, two copies of the baseline: {low:factor} to {high:factor}"),
            verdict.noise_floor,
            18,
            0.3,
        ),
        (
            Message("{level} interval: {low:factor} to {high:factor}"),
            shown,
            6,
            1.0,
        ),
    ):
        if pair is not None:
            figure.add_trace(
                go.Scatter(
                    x=[pair.low, pair.high],
                    y=[0, 0],
                    mode="lines",
                    opacity=opacity,
                    line={"color": colours.neutral if width > 6 else colour, "width": width},
                    hovertemplate=(
                        f"{name.text(low=pair.low, high=pair.high, level=level_text(level))}"
                        "<extra></extra>"
                    ),
                )
            )
    speedup = say("speedup {speedup:factor}", speedup=verdict.speedup)
    figure.add_trace(
        go.Scatter(
            x=[verdict.speedup],
            y=[0],
            mode="markers",
            marker={"color": colour, "size": 13},
            hovertemplate=f"{speedup}<extra></extra>",
        )
    )
    figure.layout = dict(
        height=64,
        margin={"l": 8, "r": 8, "t": 2, "b": 24},
        **BARE,
        showlegend=False,  # it has no room on a narrow page: the caption below is the key
        shapes=shapes,
        hovermode="closest",
        xaxis={"type": "log", **ticks(picture.ticks, scale), "zeroline": False},
        yaxis={"range": [-1, 1], "visible": False, "fixedrange": True},
    )
    return figure
