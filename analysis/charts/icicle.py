"""The time of a run as a tree: a column a level, a box as high as its part of the time."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from fusescope.analysis import units
from fusescope.analysis.charts.figure import BARE, label_text
from fusescope.analysis.colours import DARK, LIGHT, Colours, ink_on, mixed
from fusescope.analysis.messages import say
from fusescope.analysis.metrics.hierarchy import Node
from fusescope.analysis.operators.short_names import short_names
from fusescope.analysis.wording.trees.hierarchy import node_text

_LEVELS = 4  # that are seen at once; a click leads deeper
_FRAMES = 6  # of call stacks, whose frames have little beside them
_HEIGHT = 420
_CHARS = 44  # what a box has room for on a wide page: text that does not fit is hidden
_HOVER_CHARS = 120
_PALE = {LIGHT.ink: "#dbe9f4", DARK.ink: "#1f3442"}  # of a box with next to no time, by theme


def icicle(nodes: Sequence[Node], colours: Colours = LIGHT) -> go.Figure | None:
    """The tree of `hierarchy`; a click on a box makes it the whole. None without nodes.

    The darker a box, the larger its part of the run.
    """
    if not nodes:
        return None
    whole_ns = nodes[0].ns
    parents = {node.parent for node in nodes}
    shares = [node.ns / whole_ns for node in nodes]
    names = [node_text(node) for node in nodes]
    in_boxes, below = short_names(names, _CHARS), short_names(names, _HOVER_CHARS)
    texts = [label_text(in_boxes[name], _CHARS) for name in names]
    # The whole says nothing by its colour.
    grounds = [mixed(_PALE[colours.ink], colours.candidate, part) for part in (0.0, *shares[1:])]
    figure = go.Figure(
        go.Icicle(
            ids=[str(place) for place in range(len(nodes))],
            parents=["" if node.parent is None else str(node.parent) for node in nodes],
            labels=texts,
            # Leaves alone have a value: sums of floats must not exceed their parent.
            values=[0.0 if place in parents else node.ns for place, node in enumerate(nodes)],
            branchvalues="remainder",
            maxdepth=_FRAMES if any(node.level == "frame" for node in nodes) else _LEVELS,
            sort=False,
            tiling={"orientation": "h"},
            text=[units.duration(node.ns) for node in nodes],
            texttemplate="%{label}<br>%{text}",
            customdata=[
                label_text(
                    say(
                        "{name:name}: {time:duration} ({share:percent}), {n:distinct}",
                        name=below[name],
                        time=node.ns,
                        share=share,
                        n=node.count,
                    ),
                    200,
                )
                for node, name, share in zip(nodes, names, shares, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            marker={"colors": grounds, "line": {"width": 1}},
            leaf={"opacity": 1},  # so that a text is read on the colour that it was chosen for
            textfont={"color": [ink_on(ground) for ground in grounds]},
            pathbar={"visible": True, "thickness": 24},
        )
    )
    figure.layout = dict(
        height=_HEIGHT,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        uniformtext={"minsize": 11, "mode": "hide"},  # no text where it would be too small to read
        **BARE,
    )
    return figure
