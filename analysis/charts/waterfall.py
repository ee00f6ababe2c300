"""From the baseline's time to the candidate's, one bar a step."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fusescope.analysis import units
from fusescope.analysis.axis import bars_start
from fusescope.analysis.charts.figure import BARE, label_text
from fusescope.analysis.colours import LIGHT, OPACITY, Colours
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message
from fusescope.analysis.trace import RunWord
from fusescope.analysis.wording.counted import runs_of
from fusescope.analysis.wording.explanation.waterfall import axis, steps_of
from fusescope.analysis.wording.waterfall import Step, ends_ns

_LINE_CHARS = 32
_BAR_HEIGHT = 36
_MARGIN = 0.05  # of what the axis shows, beyond the longest bar
CUT = Message("{axis}; the axis begins at {start:duration}")


def waterfall(comparison: Comparison, colours: Colours = LIGHT) -> go.Figure | None:
    """Return the steps from the baseline's to the candidate's time per run, one bar each, top to
    bottom; None where there are none (`steps_of`).

    Groups or changes that are faster or slower have their colours; grey may be either, as all are
    where the verdict cannot tell, and hatched is what belongs to no group, or what no change
    accounts for.
    """
    steps = steps_of(comparison)
    if not comparison.verdict.has_direction:
        colours = colours.without_direction()
    return falling(steps, _axis(comparison), colours) if steps else None


def falling(steps: Sequence[Step], axis: Message, colours: Colours = LIGHT) -> go.Figure:
    """Bars of steps from a total to another one, on an axis of that name, which has the `unit`."""
    scale, unit = (1e6, "ms") if abs(steps[0].value_ns) >= 1e6 else (1e3, "µs")
    ends = [end / scale for end in ends_ns(steps)]
    sizes = [step.value_ns / scale for step in steps]
    start = bars_start(ends)
    title = axis.text(unit=unit)
    if start:
        title = CUT.text(axis=title, start=start * scale)
    figure = go.Figure(_bars(steps, sizes, ends, colours))
    figure.layout = dict(
        height=_BAR_HEIGHT * len(steps) + 56,
        # A loss has its number on the right, perhaps past the end of the axis.
        margin={"l": 8, "r": 56 if any(s.value_ns > 0 for s in steps[1:-1]) else 8, "t": 4, "b": 8},
        **BARE,
        showlegend=False,
        bargap=0.35,
        shapes=[*_joints(ends, colours), *(_breaks(len(steps), colours) if start else [])],
        xaxis={
            "title": {"text": title},
            "range": [
                start or min(0.0, min(ends) * 1.15),
                max(ends) + _MARGIN * (max(ends) - start),
            ],
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


def _breaks(bars: int, colours: Colours) -> list[dict[str, Any]]:
    """Two slanted lines through both totals, whose bars begin before the axis."""
    line = {"color": colours.ink, "width": 3}
    return [
        {
            "type": "line", "xref": "paper", "x0": x, "x1": x + 0.008, "y0": at + 0.36,
            "y1": at - 0.36, "line": line,
        }
        for at in (0, bars - 1)
        for x in (0.012, 0.022)
    ]  # fmt: skip


_MEANS: Mapping[RunWord, Message] = {
    "runs": Message("mean time per run, {unit}"),
    "steps": Message("mean time per step, {unit}"),
    "repetitions": Message("mean time per repetition, {unit}"),
}


def _axis(comparison: Comparison) -> Message:
    """What the axis shows, in `unit`."""
    if comparison.is_explained and comparison.explanation is not None:
        return axis(comparison.explanation.unit)
    match comparison.baseline.trace.has_runs, comparison.candidate.trace.has_runs:
        case True, True if any(
            comparison.ledger.reconciliation.slow_runs_ns
        ):  # from one typical run to the other
            return Message("time per run, {unit}")
        case True, True:
            return _MEANS[runs_of(comparison).word]
        case False, False:
            return Message("time per file, {unit}")
        case True, False:
            return Message("mean time per run, the candidate's of its whole file, {unit}")
        case _:
            return Message("mean time per run, the baseline's of its whole file, {unit}")


def _bars(
    steps: Sequence[Step], sizes: Sequence[float], ends: Sequence[float], colours: Colours
) -> go.Bar:
    """A bar a step, from where the one before it ends; `sizes` and `ends` in the axis's unit."""
    inner = steps[1:-1]  # between the totals, which have the colours of their sides
    changed = {"faster": colours.faster, "slower": colours.slower}
    fills = [changed.get(step.kind, colours.neutral) for step in inner]
    # go.Waterfall knows two colours for changes: what is neither a gain nor a loss would be one.
    return go.Bar(
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
        customdata=np.array([_hover(step) for step in steps], dtype=object),
        hovertemplate="%{customdata[0]}: %{customdata[1]} ns%{customdata[2]}<extra></extra>",
    )


def _hover(step: Step) -> tuple[str, str, str]:
    """What is read over a bar: label, whole nanoseconds, and the note on a line of its own."""
    return (
        label_text(step.label, 160),
        units.grouped(step.value_ns, "d" if step.kind == "total" else "+d"),
        f"<br>{label_text(step.note, 80)}" if step.note else "",
    )


def _joints(ends: Sequence[float], colours: Colours) -> list[dict[str, Any]]:
    """Lines from where a bar ends down to the next one."""
    line = {"color": colours.neutral, "width": 1}
    return [
        {"type": "line", "x0": end, "x1": end, "y0": i + 0.33, "y1": i + 0.67, "line": line}
        for i, end in enumerate(ends[:-1])
    ]


def _two_lines(label: str) -> str:
    """A label beside a bar: on two lines where it is long, as Plotly shows it literally."""
    first, *rest = textwrap.wrap(label, _LINE_CHARS) or [""]
    lines = [first, " ".join(rest)] if rest else [first]
    return "<br>".join(label_text(line, _LINE_CHARS) for line in lines)
