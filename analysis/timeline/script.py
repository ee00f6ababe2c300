"""The timeline's script and style sheet as text, for the two pages that host it.

The script is ES modules in web/. A report has to be one file and a Streamlit component one string,
so the modules are joined here, each after those that it imports: without their imports and exports
they share one scope, in which no two may give the same name (a test holds that).
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.resources import files

from fusescope.analysis.colours import timeline_sheet

_IMPORT = re.compile(r'^import \{[^}]*\} from "(?P<file>\.[\w./]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


@cache
def style_sheet() -> str:
    """CSS of the timeline, the same for both hosts."""
    return _asset("timeline.css") + timeline_sheet()


@cache
def joined(entry: str) -> str:
    """The module `entry` of web/ and all that it imports as text of one scope."""
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", _asset(name))) for name in modules(entry))


def modules(entry: str) -> list[str]:
    """The module `entry` and all that it imports, each behind those that it imports itself."""
    order: list[str] = []

    def add(name: str) -> None:
        for needed in imports(name):
            if needed not in order:
                add(needed)
        order.append(name)

    add(entry)
    return order


def imports(name: str) -> list[str]:
    """The modules that a module of web/ imports itself, as paths below web/."""
    found = (match["file"] for match in _IMPORT.finditer(_asset(name)))
    return [posixpath.normpath(posixpath.join(posixpath.dirname(name), file)) for file in found]


def component_script() -> str:
    """The drawing and its Streamlit host: an ES module with a default export."""
    return joined("component.js")


def loader_script() -> str:
    """The Streamlit component that brings what the drawing shows: an ES module likewise."""
    return joined("loader.js")


def report_script() -> str:
    """The drawing and its report host: one plain script to put inline, with its hash in the CSP.

    It draws the JSON in `<script type="application/json" id="timeline-data">` into
    `<div id="timeline">`, and does nothing on a page without them.
    """
    return f'(() => {{\n"use strict";\n\n{joined("boot.js")}}})();\n'


def _asset(name: str) -> str:
    return files(__package__).joinpath("web", *name.split("/")).read_text(encoding="utf-8")
