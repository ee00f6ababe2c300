"""Which of the opened profiles stand on which side: several files a side, ticked into A and B."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.messages import say
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.sources import sides
from fusescope.app.sources.choices import Pair
from fusescope.app.state.opened import Opened

_MIN = 3  # profiles; of two there is nothing to tick
_SIDES = ("A", "B")


def show(pair: Pair) -> None:
    """A button that opens the list of profiles; nothing where they are too few."""
    files = sides.profiles(state.files.opened().values())
    if len(files) < _MIN:
        return
    # A new key for each pair closes it.
    with st.popover(
        say("Several files a side"),
        icon=":material/checklist:",
        width="stretch",
        key=f"ticks_{hash(pair)}",
    ):
        st.caption(
            panels.own(
                say(
                    "Recordings of one graph, each of a process of its own, are samples: five or "
                    "more a side, recorded alternately. A is the baseline, B the candidate."
                )
            )
        )
        with st.form("ticks_form", border=False):
            chosen = {file.id: _row(file, pair) for file in files}
            clicked = st.form_submit_button(say("Compare these files"), key="ticked")
        ticked = [[id_ for id_, side in chosen.items() if side == name] for name in _SIDES]
        if clicked and all(ticked):
            state.pair.compare(*(sides.id_of(ids) for ids in ticked))
            st.rerun()
        if clicked:
            st.caption(panels.own(say("Tick at least one file into A and one into B.")))


def _row(file: Opened, pair: Pair) -> str | None:
    """One file and the side that it is ticked into, None for neither."""
    given = [side for side, id_ in zip(_SIDES, pair, strict=True) if id_ and _is_in(file, id_)]
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.text(file.name, width="stretch")
    side: str | None = row.segmented_control(
        say("Side of {file:name}", file=file.name),
        _SIDES,
        default=given[0] if given else None,
        key=f"tick_{hash(pair)}_{file.id}",
        label_visibility="collapsed",
    )
    return side


def _is_in(file: Opened, id_: str) -> bool:
    return file.id in sides.members(id_)
