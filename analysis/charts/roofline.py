"""Operators under the machine's roofs."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fusescope.analysis import units
from fusescope.analysis.axis import LogScale, decades, plain
from fusescope.analysis.charts.figure import BARE, label_text, ticks
from fusescope.analysis.colours import LIGHT, OPACITY, Colours
from fusescope.analysis.compare.roofline import Dot, Line, Picture
from fusescope.analysis.messages import say
from fusescope.analysis.operators.short_names import short_name
from fusescope.analysis.wording.roofline import line_label, line_name, place_text, share_text

_MIN_DOT, _MAX_DOT = 7.0, 34.0  # px, diameter: the area is the share of the time


def roofline(picture: Picture, names: tuple[str, str], colours: Colours = LIGHT) -> go.Figure:
    """Operators under the machine's roofs, both axes logarithmic; a dot's area is its part of the
    time. `names` are those of baseline and candidate."""
    figure = go.Figure()
    for line in picture.lines:
        figure.add_trace(_roof(line, picture, colours))
    roles = (("baseline", colours.baseline), ("candidate", colours.candidate))
    for name, (role, colour) in zip(names, roles, strict=True):
        dots = [dot for dot in picture.dots if dot.side == role]
        if dots:
            figure.add_trace(_operators(dots, label_text(name), colour))
    across, up = LogScale(*picture.intensities), LogScale(*picture.rates)
    attained = (
        say("attained (OP/s for 8-bit numbers)")
        if any(dot.int8 for dot in picture.dots)
        else say("attained")
    )
    figure.layout = dict(
        height=440,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        **BARE,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "itemsizing": "constant",
        },
        hovermode="closest",
        annotations=[_roof_label(line, picture) for line in picture.labelled],
        xaxis={
            "title": {"text": say("arithmetic intensity, FLOP/B")},
            "type": "log",
            **ticks(decades(across, plain), across),
            "automargin": True,
        },
        yaxis={
            "title": {"text": attained},
            "type": "log",
            **ticks(decades(up, units.flop_rate), up),
            "automargin": True,
        },
    )
    return figure


def _roof(line: Line, picture: Picture, colours: Colours) -> go.Scatter:
    (x, y), (to_x, to_y) = picture.ends(line)
    sides = {"baseline": colours.baseline, "candidate": colours.candidate, None: colours.neutral}
    colour = sides[line.side]
    name = label_text(line_name(line))
    return go.Scatter(
        x=[x, to_x],
        y=[y, to_y],
        mode="lines",
        name=name,
        showlegend=True,
        line={
            "color": colour,
            "width": 1.5 if line.what.startswith("L") else 2,
            "dash": ",".join(f"{length}px" for length in line.dashes) or "solid",
        },
        hovertemplate=f"{name}<extra></extra>",
    )


def _roof_label(line: Line, picture: Picture) -> dict[str, object]:
    """Its name above the line, at the end of a flat one: below it operators are."""
    x, y = picture.label(line)
    return {
        "x": float(np.log10(x)),
        "y": float(np.log10(y)),
        "text": label_text(line_label(line)),
        "showarrow": False,
        "xanchor": "right",
        "yanchor": "bottom",
        "xshift": -4 if line.rises else 0,
        "font": {"size": 11},
    }


def _operators(dots: list[Dot], label: str, colour: str) -> go.Scatter:
    return go.Scatter(
        x=[dot.intensity for dot in dots],
        y=[dot.flops_per_s for dot in dots],
        mode="markers",
        name=label,
        marker={
            "color": colour,
            "size": [_MIN_DOT + (_MAX_DOT - _MIN_DOT) * dot.share**0.5 for dot in dots],
            "symbol": ["diamond" if dot.int8 else "circle" for dot in dots],
            "opacity": OPACITY,
            "line": {"color": colour, "width": 1},
        },
        customdata=np.array(
            [
                (
                    label_text(short_name(dot.name), 120),
                    label_text(short_name(dot.op_type), 60),
                    say(
                        "{time:duration} per run, {share:percent}",
                        time=dot.time_ns,
                        share=dot.share,
                    ),
                    place_text(dot),
                    share_text(dot),
                )
                for dot in dots
            ],
            dtype=object,
        ),
        hovertemplate=(
            "%{customdata[0]} (%{customdata[1]})<br>%{customdata[2]}<br>%{customdata[3]}"
            "<br>%{customdata[4]}<extra></extra>"
        ),
    )
