"""Every run as a dot, in columns of blocks or files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from fusescope.analysis.axis import LogScale, log_time_ticks
from fusescope.analysis.charts.figure import BARE, label_text, ticks
from fusescope.analysis.colours import LIGHT, OPACITY, Colours
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.distribution import PADDING, ROLES, Distribution, Role, Strip, distribution
from fusescope.analysis.messages import say
from fusescope.analysis.wording.texts import run_line, run_role

_ROOM = 1.04  # at both ends of the logarithmic axis


def _axis(found: Distribution) -> str:
    """What a column is."""
    if found.of_files and found.paired:
        return say("pair of files (each of a process of its own)")
    if found.in_blocks and not found.of_files:
        return say("block (each a fresh process)")
    return say("file")


def run_times(comparison: Comparison, colours: Colours = LIGHT) -> go.Figure | None:
    """The runs of both sides; None where there is no distribution (`distribution`)."""
    found = distribution(comparison)
    names = (comparison.baseline.name, comparison.candidate.name)
    return None if found is None else run_times_of(found, names, colours)


def run_times_of(
    found: Distribution, names: tuple[str, str], colours: Colours = LIGHT
) -> go.Figure:
    """Every run as a dot: one column a block, or a file where a side has no un-profiled runs.

    A line is the time of a block or file that the verdict rests on; warm-up runs are crosses.
    `names` are those of baseline and candidate.
    """
    figure = go.Figure()
    for role in ROLES:
        for trace in _of_role(found, role, names, colours):
            figure.add_trace(trace)
    times = found.times_ns
    scale = LogScale(float(times.min()) / _ROOM, float(times.max()) * _ROOM)
    count = len(found.columns)
    figure.layout = dict(
        height=320,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        **BARE,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        hovermode="closest",
        xaxis={
            "title": {"text": _axis(found)},
            "range": [0.5, count + 0.5],
            "tickvals": list(range(1, count + 1)),
            "ticktext": [label_text(column.label) for column in found.columns],
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
        },
        yaxis={
            "title": {"text": say("time, logarithmic")},
            "type": "log",
            **ticks(log_time_ticks(scale), scale, 1e6),
            "automargin": True,
            "zeroline": False,
        },
    )
    return figure


def _of_role(
    found: Distribution, role: Role, names: tuple[str, str], colours: Colours
) -> Iterator[go.Scatter]:
    """Dots of runs, crosses of warm-up runs and lines of block times, as far as there are any."""
    places = [(left, right, strip) for left, right, strip in _places(found) if strip.role == role]
    if not places:
        return
    colour = colours.candidate if role == "candidate" else colours.baseline
    label = label_text(names[role == "candidate"])
    name = run_role(label, role)
    dots = {"color": "rgba(0,0,0,0)" if role == "baseline_copy" else colour, "size": 4}
    line = {"color": colour, "width": 1 if role == "baseline_copy" else 0}
    yield _dots(places, False, name, {**dots, "opacity": OPACITY, "line": line})
    if any(strip.warmup.any() for _, _, strip in places):
        cross = {"color": colours.neutral, "size": 5, "symbol": "x-thin-open"}
        yield _dots(places, True, run_role(label, role, warmup=True), cross)
    yield _typical(places, run_line(name, found.line), colour)


def _places(found: Distribution) -> Iterator[tuple[float, float, Strip]]:
    """Left and right end of every strip: column `k` is drawn around k, from 1."""
    for number, column in enumerate(found.columns, start=1):
        room = (1 - 2 * PADDING) / max(1, len(column.strips))
        for index, strip in enumerate(column.strips):
            left = number - 0.5 + PADDING + index * room
            yield left, left + room, strip


def _dots(
    places: list[tuple[float, float, Strip]], warmup: bool, name: str, marker: dict[str, object]
) -> go.Scatter:
    x, y, runs = [], [], []
    for left, right, strip in places:
        count = len(strip.times_ns)
        # Evenly spread in the order of the runs: deterministic, and a drift inside a block shows.
        across = left + (right - left) * (0.1 + 0.8 * (np.arange(count) + 0.5) / max(1, count))
        chosen = strip.warmup == warmup
        x.append(across[chosen])
        y.append(strip.times_ns[chosen] / 1e6)
        runs.append(np.flatnonzero(chosen) + 1)
    return go.Scatter(
        x=np.concatenate(x),
        y=np.concatenate(y),
        mode="markers",
        name=name,
        marker=marker,
        customdata=np.concatenate(runs),
        hovertemplate=say("run {number}: {time}", number="%{customdata}", time="%{y:,.3f} ms"),
    )


def _typical(places: list[tuple[float, float, Strip]], name: str, colour: str) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    for left, right, strip in places:
        if strip.typical_ns is not None:
            x += [left, right, None]
            y += [strip.typical_ns / 1e6] * 2 + [None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        name=name,
        line={"color": colour, "width": 3},
        hovertemplate="%{y:,.3f} ms",
    )
