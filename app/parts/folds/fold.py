"""A part of a page behind its title: what is in it is computed only while it is open."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

import streamlit as st

from fusescope.analysis.messages import Message
from fusescope.app import state
from fusescope.app.language import spoken
from fusescope.app.parts import panels

_component = st.components.v2.component(
    "fusescope_bring",
    js=files(__package__).joinpath("bring.js").read_text(encoding="utf-8"),
    css=".st-key-bring {\n  position: absolute; width: 0; height: 0;\n}",  # it takes no place
    isolate_styles=False,
)


@st.fragment
@spoken
def fold(key: str, title: Message, draw: Callable[[], None]) -> None:
    """Draw a title that opens what `draw` draws; the address holds under `key` that it is open."""
    with panels.guarded():
        box = st.expander(title.text(), key=key, bind="query-params")
        if box.open:
            with box, panels.guarded():
                draw()


def bring() -> None:
    """Bring the part that was opened from elsewhere into view, once."""
    key, number = state.folds.brought()
    _component(key="bring", data={"key": key, "number": number})
