"""Values -> Plotly figures. Text from a trace is escaped: Plotly reads labels as markup."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis import units
from analysis.axis import LogScale, Tick, decades, log_time_ticks, plain
from analysis.colours import LIGHT, OPACITY, Colours
from analysis.compare.comparison import Comparison
from analysis.compare.roofline import Dot, Line, Picture, roofline_picture
from analysis.compare.side import Side
from analysis.compare.timing.verdict import Verdict
from analysis.interval import interval_picture
from analysis.wording.counted import mean_text
from analysis.wording.roofline import line_label, line_name, place_text, share_text
from analysis.wording.waterfall import ends_ns, waterfall_steps

_SEPARATORS = ". "  # the decimal sign and what stands between groups of digits, as everywhere
_SPREAD = 0.16
_ROOM = 1.04  # at both ends of a logarithmic axis
_LABEL_CHARS = 40
_LINE_CHARS = 32
_BAR_HEIGHT = 36
_LEAST_DOT, _LARGEST_DOT = 7.0, 34.0  # px, diameter: the area is the share of the time


def run_times(comparison: Comparison, colours: Colours = LIGHT) -> go.Figure | None:
    """Every run as a dot: one column a block (or the one process of a profile), both sides.

    Un-profiled runs where the side has them, else profiled ones. The short line is the lower
    quartile, what the verdict rests on. None when no side has two runs,
    since one is no distribution, and when the sides' times are not of the same runs.
    """
    if all(len(shown_runs(side)) < 2 for side in _sides(comparison)):
        return None
    if not comparison.has_changes:  # a whole file beside one run
        return None
    figure = go.Figure()
    for side, colour, shift in (
        (comparison.baseline, colours.baseline, -0.21),
        (comparison.candidate, colours.candidate, 0.21),
    ):
        runs = shown_runs(side)
        if runs.empty:
            continue
        label = label_text(side.name)
        for copy in sorted(set(runs["copy"])):
            group = runs[runs["copy"] == copy]
            figure.add_trace(_dots(group, label, colour, shift, copy))
        figure.add_trace(_quartiles(runs, label, colour, shift))
    times = pd.concat([shown_runs(side)["ms"] for side in _sides(comparison)]) * 1e6
    times = times[times > 0]
    if times.empty:
        return None
    scale = LogScale(float(times.min()) / _ROOM, float(times.max()) * _ROOM)
    blocks = max(len(shown_runs(side)["block"].unique()) for side in _sides(comparison))
    figure.update_layout(
        height=320,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        separators=_SEPARATORS,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        hovermode="closest",
        xaxis={
            "title": {"text": "block (a fresh process each)" if blocks > 1 else "process"},
            "range": [0.5, blocks + 0.5],
            "dtick": 1,
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
        },
        yaxis={
            "title": {"text": "run time, logarithmic"},
            "type": "log",
            **_ticks(log_time_ticks(scale), scale, 1e6),
            "automargin": True,
            "zeroline": False,
        },
    )
    return figure


def _ticks(ticks: Sequence[Tick], scale: LogScale, unit: float = 1.0) -> dict[str, object]:
    """The report's ticks on a logarithmic axis of Plotly; `unit` divides the values."""
    ends = (scale.low / unit, scale.high / unit)
    return {
        "range": [float(end) for end in np.log10(ends)],
        "tickvals": [scale.value(tick.at) / unit for tick in ticks],
        "ticktext": [tick.text for tick in ticks],
    }


def interval(verdict: Verdict, colours: Colours = LIGHT) -> go.Figure | None:
    """The verdict on a logarithmic axis of speedups: the point, its 95 % interval, the A/A control
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
    for name, pair, width, opacity in (
        ("A/A control: two copies of the baseline", verdict.noise_floor, 18, 0.3),
        ("95 % interval", verdict.interval, 6, 1.0),
    ):
        if pair is not None:
            figure.add_trace(
                go.Scatter(
                    x=[pair.low, pair.high],
                    y=[0, 0],
                    mode="lines",
                    name=name,
                    opacity=opacity,
                    line={"color": colours.neutral if width > 6 else colour, "width": width},
                    hovertemplate=f"{name}: {units.factor(pair.low)} to {units.factor(pair.high)}"
                    "<extra></extra>",
                )
            )
    known = "" if verdict.interval else ", without interval"
    figure.add_trace(
        go.Scatter(
            x=[verdict.speedup],
            y=[0],
            mode="markers",
            name=f"speedup {units.factor(verdict.speedup)}{known}",
            marker={"color": colour, "size": 13},
            hovertemplate=f"speedup {units.factor(verdict.speedup)}<extra></extra>",
        )
    )
    figure.update_layout(
        height=64,
        margin={"l": 8, "r": 8, "t": 2, "b": 24},
        separators=_SEPARATORS,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=False,  # it has no room on a narrow page: the caption below is the key
        shapes=shapes,
        hovermode="closest",
        xaxis={"type": "log", **_ticks(picture.ticks, scale), "zeroline": False},
        yaxis={"range": [-1, 1], "visible": False, "fixedrange": True},
    )
    return figure


def shown_runs(side: Side) -> pd.DataFrame:
    """The runs that are drawn: `block` from 1, `copy`, `ms`; un-profiled ones if there are any."""
    sampled = side.trace.sampled_runs
    runs = sampled if not sampled.empty else side.trace.profiled_runs
    blocks = runs["block"].fillna(0).astype(int)
    return pd.DataFrame(
        {
            "block": blocks.rank(method="dense").astype(int),
            "copy": runs["copy"].fillna(1).astype(int),
            "ms": runs["dur_ns"] / 1e6,
        }
    )


def label_text(text: str, chars: int = _LABEL_CHARS) -> str:
    """A name as Plotly shows it literally: cut in the middle, markup escaped."""
    return html.escape(units.middle_cut(text, chars), quote=False)


def waterfall(comparison: Comparison, colours: Colours = LIGHT) -> go.Figure | None:
    """From the baseline's to the candidate's mean time per run, one bar a step, top to bottom.

    Groups that gained or lost have their colours; grey is what may be either, hatched what is no
    group. None where there are no steps (`waterfall_steps`).
    """
    steps = waterfall_steps(comparison)
    if not steps:
        return None
    inner = steps[1:-1]  # between the totals, which have the colours of their sides
    changed = {"faster": colours.faster, "slower": colours.slower}
    fills = [changed.get(step.kind, colours.neutral) for step in inner]
    scale, unit = (1e6, "ms") if abs(steps[0].value_ns) >= 1e6 else (1e3, "µs")
    ends = [end / scale for end in ends_ns(steps)]
    sizes = [step.value_ns / scale for step in steps]
    figure = go.Figure(
        # go.Waterfall knows two colours for changes: what is no gain and no loss would be one.
        go.Bar(
            orientation="h",
            y=list(range(len(steps))),
            x=sizes,
            base=[end - size for end, size in zip(ends, sizes, strict=True)],
            marker={
                "color": [colours.baseline, *fills, colours.candidate],
                # A gain is told from the candidate's total by it, as in the report.
                "opacity": [OPACITY if step.kind == "faster" else 1.0 for step in steps],
                "pattern": {"shape": ["/" if step.kind == "term" else "" for step in steps]},
            },
            text=[units.duration(step.value_ns, signed=step.kind != "total") for step in steps],
            # Beside a long bar there is no room on a narrow page.
            textposition=["inside" if step.kind == "total" else "outside" for step in steps],
            insidetextanchor="end",
            insidetextfont={"color": colours.ink},
            cliponaxis=False,
            customdata=np.array(
                [
                    (
                        label_text(step.label, 160),
                        units.grouped(step.value_ns, "d" if step.kind == "total" else "+d"),
                        f"<br>{label_text(step.note, 80)}" if step.note else "",
                    )
                    for step in steps
                ],
                dtype=object,
            ),
            hovertemplate="%{customdata[0]}: %{customdata[1]} ns%{customdata[2]}<extra></extra>",
        )
    )
    figure.update_layout(
        height=_BAR_HEIGHT * len(steps) + 56,
        # A loss has its number on the right, perhaps past the end of the axis.
        margin={"l": 8, "r": 56 if any(s.value_ns > 0 for s in steps[1:-1]) else 8, "t": 4, "b": 8},
        separators=_SEPARATORS,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=False,
        bargap=0.35,
        shapes=[
            {
                "type": "line",
                "x0": end,
                "x1": end,
                "y0": place + 0.33,
                "y1": place + 0.67,
                "line": {"color": colours.neutral, "width": 1},
            }
            for place, end in enumerate(ends[:-1])
        ],
        xaxis={
            "title": {"text": f"time {mean_text(comparison)}, {unit}"},
            "range": [min(0.0, min(ends) * 1.15), max(ends) * 1.05],
            "separatethousands": True,
            "automargin": True,
            "zeroline": True,
        },
        yaxis={
            "tickvals": list(range(len(steps))),
            "ticktext": [_two_lines(step.label) for step in steps],
            "range": [len(steps) - 0.5, -0.5],
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
        },
    )
    return figure


def roofline(comparison: Comparison, colours: Colours = LIGHT) -> go.Figure | None:
    """Operators under the machine's roofs, both axes logarithmic; a dot's area is its part of the
    time. None where no operator has FLOPs, bytes and a time (`roofline_picture`)."""
    picture = roofline_picture(comparison)
    if picture is None:
        return None
    figure = go.Figure()
    for line in picture.lines:
        figure.add_trace(_roof(line, picture, colours))
    for side, colour, role in (
        (comparison.baseline, colours.baseline, "baseline"),
        (comparison.candidate, colours.candidate, "candidate"),
    ):
        dots = [dot for dot in picture.dots if dot.side == role]
        if dots:
            figure.add_trace(_operators(dots, label_text(side.name), colour))
    across, up = LogScale(*picture.intensities), LogScale(*picture.rates)
    of_int8 = " (of 8-bit numbers OP/s)" if any(dot.int8 for dot in picture.dots) else ""
    figure.update_layout(
        height=440,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        separators=_SEPARATORS,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "itemsizing": "constant",
        },
        hovermode="closest",
        annotations=[_roof_label(line, picture) for line in picture.lines],
        xaxis={
            "title": {"text": "arithmetic intensity, FLOP/B"},
            "type": "log",
            **_ticks(decades(across, plain), across),
            "automargin": True,
        },
        yaxis={
            "title": {"text": f"attained{of_int8}"},
            "type": "log",
            **_ticks(decades(up, units.flop_rate), up),
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
    """Its name at the line: above the end of a flat one, right below a rising one."""
    x, y = picture.label(line)
    above = not line.rises and line.side != "candidate"
    return {
        "x": float(np.log10(x)),
        "y": float(np.log10(y)),
        "text": label_text(line_label(line)),
        "showarrow": False,
        "xanchor": "left" if line.rises else "right",
        "yanchor": "bottom" if above else "top",
        "xshift": 5 if line.rises else 0,
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
            "size": [_LEAST_DOT + (_LARGEST_DOT - _LEAST_DOT) * dot.share**0.5 for dot in dots],
            "symbol": ["diamond" if dot.int8 else "circle" for dot in dots],
            "opacity": OPACITY,
            "line": {"color": colour, "width": 1},
        },
        customdata=np.array(
            [
                (
                    label_text(dot.name, 120),
                    label_text(dot.op_type, 60),
                    f"{units.duration(dot.time_ns)} a run, {units.percent(dot.share)}",
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


def _two_lines(label: str) -> str:
    """A label beside a bar: on two lines where it is long, as Plotly shows it literally."""
    first, *rest = textwrap.wrap(label, _LINE_CHARS) or [""]
    lines = [first, " ".join(rest)] if rest else [first]
    return "<br>".join(label_text(line, _LINE_CHARS) for line in lines)


def _sides(comparison: Comparison) -> tuple[Side, Side]:
    return comparison.baseline, comparison.candidate


def _dots(runs: pd.DataFrame, label: str, colour: str, shift: float, copy: int) -> go.Scatter:
    second = copy > 1
    order = runs.groupby("block").cumcount()
    count = runs.groupby("block")["ms"].transform("size")
    # Evenly spread in the order of the runs: deterministic, and a drift inside a block shows.
    x = runs["block"] + shift + _SPREAD * (2 * (order + 0.5) / count - 1)
    return go.Scatter(
        x=x,
        y=runs["ms"],
        mode="markers",
        name=f"{label} (A/A control)" if second else label,
        marker={
            "color": "rgba(0,0,0,0)" if second else colour,
            "size": 4,
            "opacity": OPACITY,
            "line": {"color": colour, "width": 1 if second else 0},
        },
        customdata=np.stack([runs["block"], order + 1], axis=1),
        hovertemplate="block %{customdata[0]}, run %{customdata[1]}: %{y:,.3f} ms",
    )


def _quartiles(runs: pd.DataFrame, label: str, colour: str, shift: float) -> go.Scatter:
    lower = runs.groupby("block")["ms"].quantile(0.25)
    x: list[float | None] = []
    y: list[float | None] = []
    for block, value in lower.items():
        centre = float(block) + shift  # type: ignore[arg-type]
        x += [centre - _SPREAD - 0.03, centre + _SPREAD + 0.03, None]
        y += [float(value), float(value), None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        name=f"{label}, lower quartile",
        line={"color": colour, "width": 3},
        hovertemplate="lower quartile %{y:,.3f} ms",
    )
