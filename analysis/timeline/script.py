"""The timeline's script and style sheet as text, for the two pages that host it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from analysis.colours import timeline_sheet

# One script in several files: they share the scope of the function around them.
DRAWING = (
    "text.js",
    "elements.js",
    "calls.js",
    "columns.js",
    "groups.js",
    "selection.js",
    "steps.js",
    "palette.js",
    "modes.js",
    "folded.js",
    "ribbons.js",
    "painter.js",
    "tooltip.js",
    "timeline.js",
)


@cache
def style_sheet() -> str:
    """CSS of the timeline, the same for both hosts."""
    return _asset("timeline.css") + timeline_sheet()


@cache
def drawing_script() -> str:
    """A plain script without dependencies that defines `FuseScopeTimeline = {mount}`."""
    body = "\n".join(_asset(name) for name in DRAWING)
    return (
        "globalThis.FuseScopeTimeline = (() => {\n"
        f'"use strict";\n\n{body}\nreturn {{ mount }};\n}})();\n'
    )


def component_script() -> str:
    """The drawing and its Streamlit host: an ES module with a default export."""
    return f"{drawing_script()}\n{_asset('component.js')}"


def report_script() -> str:
    """The drawing and its report host: one plain script to put inline, with its hash in the CSP.

    It draws the JSON in `<script type="application/json" id="timeline-data">` into
    `<div id="timeline">`, and does nothing on a page without them.
    """
    return f"{drawing_script()}\n{_asset('boot.js')}"


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
