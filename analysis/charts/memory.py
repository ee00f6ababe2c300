"""Memory over time: what each device had allocated, as steps, and what was reserved for it."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from fusescope.analysis.charts.figure import BARE, label_text
from fusescope.analysis.colours import LIGHT, Colours
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.messages import say

_MAX_DEVICES = 2  # that have a colour; those with most


def memory(uses: Sequence[MemoryUse], start_ns: int, colours: Colours = LIGHT) -> go.Figure | None:
    """Bytes over time of the devices with most; time counts from `start_ns`. None without any."""
    if not uses:
        return None
    figure = go.Figure()
    last = max(int(use.times_ns[-1]) for use in uses) - start_ns
    scale, unit = (1e9, "s") if last >= 1e10 else (1e6, "ms") if last >= 1e6 else (1e3, "µs")
    size = max(use.peak if use.reserved is None else int(use.reserved.max()) for use in uses)
    bytes_scale, bytes_unit = (1e9, "GB") if size >= 1e10 else (1e6, "MB")
    for use, colour in zip(uses[:_MAX_DEVICES], (colours.candidate, colours.baseline)):
        x = (use.times_ns - start_ns) / scale
        columns = [(say("{device:name}, allocated", device=use.device), use.allocated, "solid")]
        if use.reserved is not None:
            told = say("{device:name}, reserved", device=use.device)
            columns.append((told, use.reserved, "dot"))
        for name, values, dash in columns:
            figure.add_trace(
                go.Scatter(
                    x=x,
                    y=values / bytes_scale,
                    name=label_text(name),
                    mode="lines",
                    line={
                        "shape": "hv",
                        "dash": dash,
                        "width": 1.5,
                        "color": colour,
                    },
                    fill="tozeroy" if dash == "solid" and len(uses) == 1 else None,
                    hovertemplate=f"%{{y:.4~g}} {bytes_unit}<extra>%{{fullData.name}}</extra>",
                )
            )
    figure.layout = dict(
        height=260,
        margin={"l": 8, "r": 8, "t": 4, "b": 8},
        **BARE,
        legend={"orientation": "h", "y": -0.25, "x": 0},
        hovermode="x unified",
        xaxis={"ticksuffix": f" {unit}", "separatethousands": True, "automargin": True},
        yaxis={"ticksuffix": f" {bytes_unit}", "rangemode": "tozero", "automargin": True},
    )
    return figure
