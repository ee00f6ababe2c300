"""The timeline canvas of analysis.timeline as a Streamlit component."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from analysis.timeline import script

_component = st.components.v2.component(
    "fusescope_timeline", css=script.style_sheet(), js=script.component_script()
)


def timeline(payload: dict[str, Any], *, selected: int | None, key: str) -> int | None:
    """Draw `payload` and return the selected row of the operator table, or None.

    The canvas highlights the row `selected`. The answer is `selected` as well, except in the one
    rerun that a click in the canvas causes: then it is the row of the operator clicked on, or
    None for a click beside all operators and for an operator in no table. The page keeps it:

        row = timeline(payload, selected=row_before, key="timeline")

    Hovering, zooming and panning stay in the browser; an equal payload keeps the zoom.
    """
    result = _component(
        key=key,
        # As text: the browser compares and parses it only when it has changed.
        data={"payload": json.dumps(payload, allow_nan=False), "selected": selected},
        on_picked_change=_rerun,
    )
    picked = result.picked
    return selected if picked is None else _row(picked)


def _rerun() -> None:
    """A click needs no callback of its own: the rerun that it causes reads it."""


def _row(picked: object) -> int | None:
    row = picked.get("row") if isinstance(picked, dict) else None
    return row if isinstance(row, int) and not isinstance(row, bool) else None
