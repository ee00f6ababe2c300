"""The timelines of a report: as many executions as fit, their script, and the still picture."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from analysis.report import languages
from analysis.report.pages import template
from analysis.report.pictures.still import still
from analysis.timeline import script
from analysis.timeline.packing import packed_json
from analysis.timeline.payload import REPORT_CALLS, texts

MAX_DRAWING = 900_000  # characters of the timelines, so that a report stays below 2 MB
_FEWEST_CALLS = 1000


@dataclass(frozen=True)
class Drawing:
    """A payload of the timelines, and all of it as JSON, told in every language."""

    payload: dict[str, Any]
    json: str


def drawing(payload_of: Callable[[int], dict[str, Any]]) -> Drawing:
    """What `payload_of` makes for so many executions a side, as many as fit MAX_DRAWING."""
    calls = REPORT_CALLS
    while True:
        payload = payload_of(calls)
        said = languages.in_each(partial(texts, payload))
        first, *others = said
        json = packed_json(payload, said[first], {code: said[code] for code in others})
        most = max(len(side["calls"]["op"]) for side in payload["sides"])
        if len(json) <= MAX_DRAWING or most <= _FEWEST_CALLS:
            return Drawing(payload, json)
        calls = max(_FEWEST_CALLS, int(0.9 * most * MAX_DRAWING / len(json)))


def section(drawn: Drawing, what: str) -> Markup:
    """The section of a page, in the language that is spoken; `what` is drawn: 'median run'."""
    made = template("timelines.html").render(
        drawn=what,
        still=still(drawn.payload),
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
