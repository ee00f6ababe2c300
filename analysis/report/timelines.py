"""The timelines of a report: in as much detail as fits, their script, and the still picture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from fusescope.analysis.report import languages
from fusescope.analysis.report.pages import template
from fusescope.analysis.report.pictures.still import still
from fusescope.analysis.timeline import script
from fusescope.analysis.timeline.drawing import Layers, packed
from fusescope.analysis.timeline.packing import Columns, json_text
from fusescope.analysis.timeline.payload import texts
from fusescope.analysis.wording.timeline import drawn as wording

MAX_DRAWING = 900_000  # characters of the timelines, so that a report stays below 2 MB
_MOST_CALLS = 240_000  # of which it is tried whether they fit
_MOST_ITEMS = 60_000
_FEWEST_ITEMS = 1000


@dataclass(frozen=True)
class Drawing:
    """A payload of the timelines, and as JSON, told in every language, what the page has of it: all
    executions, or those of `exact_ns` and more and how much ran in bins of that width."""

    payload: dict[str, Any]
    json: str
    exact_ns: int | None


def drawing(payload: dict[str, Any]) -> Drawing:
    """Every execution of a payload if they fit MAX_DRAWING, else an overview: the longest ones, and
    how much ran beside them in bins of time, as narrow as fit."""
    said = languages.in_each(partial(texts, payload))
    first, *others = said
    layers = Layers(payload)
    calls = sum(len(side["calls"]["op"]) for side in payload["sides"])
    items = None if calls <= _MOST_CALLS else _MOST_ITEMS
    while True:
        columns = Columns(as_text=True)
        told = {code: said[code] for code in others}
        whole = packed(layers, said[first], columns, told, items)
        json = json_text(whole)
        if len(json) <= MAX_DRAWING or (items is not None and items <= _FEWEST_ITEMS):
            return Drawing(payload, json, None if items is None else 2 ** whole["level"])
        items = _MOST_ITEMS if items is None else int(0.9 * items * MAX_DRAWING / len(json))


def section(drawn: Drawing, what: str | None) -> Markup:
    """Return the section of a page, in the language that is spoken; `what` is drawn: 'median run'.
    None is one timeline, whose own head says it."""
    made = template("timelines.html").render(
        drawn=what,
        still=still(drawn.payload),
        exact=None if drawn.exact_ns is None else wording.exact_text(drawn.exact_ns),
        payload=Markup(_script_data(drawn.json)),
        timeline_script=Markup(timeline_script()),
    )
    return Markup(made)


def timeline_script() -> str:
    """The script that the section runs."""
    return script.report_script()


def style_sheets() -> tuple[str, str]:
    """CSS of the section."""
    return script.style_sheet(), _dark_still()


def _dark_still() -> str:
    """The timeline's dark colours for the still picture, which no script can switch to them."""
    found = re.findall(r'\.fst\[data-theme="dark"\] (\{[^}]*\})', script.style_sheet())
    rules = " ".join(f".fst.still {rule}" for rule in found)
    return f"@media screen and (prefers-color-scheme: dark) {{ {rules} }}"


def _script_data(json_text: str) -> str:
    """JSON that can stand inside a script element: nothing in it can end or open one."""
    for sign in "<>&'":
        json_text = json_text.replace(sign, f"\\u{ord(sign):04x}")
    return json_text
