"""The timeline canvas of analysis.timeline as a Streamlit component."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

import streamlit as st

from fusescope.analysis.timeline import script
from fusescope.analysis.timeline.drawing import Drawing
from fusescope.analysis.timeline.question import question_of
from fusescope.app import state
from fusescope.app.server import answering
from fusescope.app.server.desk import DESK

if TYPE_CHECKING:
    from fusescope.analysis.timeline.highlight import Highlight

Mode = Literal["time", "flow", "aligned"]

_component = st.components.v2.component(
    "fusescope_timeline", css=script.style_sheet(), js=script.component_script()
)
# It brings what is drawn, and answers: what a click shows runs without them.
_loader = st.components.v2.component("fusescope_timeline_loader", js=script.loader_script())


def timeline(
    drawing: Drawing, *, selected: int | None, key: str, shown: tuple[Highlight, int] | None = None
) -> int | None:
    """Draw a drawing and return the selected row of the operator table, or None.

    The canvas highlights the row `selected`. The answer is `selected` as well, except in the one
    rerun that a click in the canvas causes: then it is the row of the operator clicked on, or
    None for a click beside all operators and for an operator in no table. The page keeps it:

        row = timeline(drawing, selected=row_before, key="timeline")

    `shown` is what to show of the time, and its number: it is shown when the number is new.

    Hovering, zooming, panning and the mode stay in the browser; an equal drawing keeps the zoom.
    What the browser asks for beside runs nothing of the page.
    """
    picked = _draw(drawing, "row", selected, "time", key, shown)
    return selected if picked is None else _picked(picked, "row")


def group_timeline(
    drawing: Drawing,
    *,
    highlight: int | None,
    row: int | None,
    key: str,
    mode: Mode = "flow",
) -> tuple[int | None, int | None]:
    """Draw a drawing with the fusion group `highlight` lit on both sides, the rest dimmed.

    The answer is `highlight` and `row`, except in the one rerun that a click in the canvas causes:
    then it is the group of the ribbon or operator clicked on, or None for a click beside them and
    for an operator in no group; and the row of the operator table of the operator clicked on, or
    None. The page keeps both as that of `timeline`. `mode` is what is shown until the user chooses
    another.
    """
    picked = _draw(drawing, "group", highlight, mode, key)
    if picked is None:
        return highlight, row
    return _picked(picked, "group"), _picked(picked, "row")


def _draw(
    drawing: Drawing,
    by: Literal["row", "group"],
    selected: int | None,
    mode: Mode,
    key: str,
    shown: tuple[Highlight, int] | None = None,
) -> object:
    """Draw it; what was clicked on is returned in the rerun that a click causes, else None."""
    data = {
        "drawing": drawing.id,
        "route": _route(drawing),
        "by": by,
        "selected": selected,
        "mode": mode,
        "stretch": shown and {**asdict(shown[0]), "number": shown[1]},
    }
    sides = len(drawing.layers.payload["sides"])
    with st.container(gap=None, key=f"{key}_place_{min(sides, 2)}"):
        above = st.container(gap=None)
        result = _component(key=key, data=data, on_picked_change=_rerun)
    with above:  # where what is drawn does not move it
        _load(drawing, f"{key}_loader")
    return result.picked


def _route(drawing: Drawing) -> dict[str, str] | None:
    """How the browser asks about a drawing; None where the server has no route for that, as under
    `streamlit run`."""
    if not DESK.is_served:
        return None
    ticket = state.timeline.ticket(DESK.ticket, DESK.knows)
    DESK.draw(ticket, drawing)
    return {"address": answering.PATH, "ticket": ticket}


@st.fragment
def _load(drawing: Drawing, key: str) -> None:
    """The drawing; and the answer to what the browser asked about it where it has no route, or the
    route did not answer."""
    question = question_of(state.timeline.asked(key))
    is_known = question is not None and question.drawing == drawing.id
    data = drawing.answer(question) if question is not None and is_known else drawing.base
    _loader(key=key, data=data, height=1, on_asked_change=_rerun)


def _rerun() -> None:
    """A click needs no callback of its own: the rerun that it causes reads it."""


def _picked(answer: object, by: str) -> int | None:
    """The row or group that the browser names; None for anything but a whole number."""
    value = answer.get(by) if isinstance(answer, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
