"""The landing page: what FuseScope answers, where traces are dropped, what was used last, and
samples."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis.messages import Message, say
from fusescope.app import state
from fusescope.app.library.items import last_used
from fusescope.app.parts import panels
from fusescope.app.parts.start import opening, recent, sample_cards
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.start.recent import Recent
from fusescope.app.parts.upload import files
from fusescope.app.server.same_origin import is_local
from fusescope.app.sources import places

_PROFILERS = Message(
    "PyTorch · Nsight Systems · Ascend and MindSpore · TensorRT · XLA · ROCm · OpenVINO · ONNX "
    "Runtime: files, a profiler's folder as a zip, several at once"
)
_COMMAND = "fusescope before.json after.json"
_COLUMNS = 2
_DROP_HEIGHT = 148  # kept for the place to drop files, so that nothing below it moves
_ROW_HEIGHT = 34


def show(pages: Mapping[Shows, StreamlitPage], record_page: st.Page, library_page: st.Page) -> None:
    """Draw the page, or lead to the one of `pages` that shows what the address or what was dropped
    asks for; a model is recorded on the `record_page`."""
    with panels.page():
        linked = state.pair.linked_query()  # addresses of comparisons had no page in them once
        if linked:
            st.switch_page(pages["compare"], query_params=linked)
        opening.follow(pages, is_compared_here=False)
        st.header(
            say("Which change made this model faster or slower, where, and can you believe it?"),
            anchor=False,
        )
        st.markdown(
            say("Drop one trace to see what limits it, two to see what changed between them.")
        )
        _drop()
        _other_ways(record_page)
        _recent(pages, library_page)
        sample_cards.show(pages)


def _drop() -> None:
    """Draw where files are dropped, of which profilers, and what became of those that were."""
    below = st.container()
    with st.container(key="drop", height=_DROP_HEIGHT, border=False):
        files.drop(None, below)
    st.caption(panels.own(_PROFILERS.text()), text_alignment="center")
    files.show_fates()


def _other_ways(record_page: st.Page) -> None:
    """Draw the other ways in: a model recorded here, larger files, a path, the terminal."""
    below = st.container()
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        label = say("Record a model here")
        st.page_link(record_page, label=label, icon=":material/radio_button_checked:")
        with st.container(width=180, height=_ROW_HEIGHT, border=False):
            files.larger(None, below)
        if places.folders():
            with st.popover(say("Open by path"), icon=":material/folder_open:"):
                files.by_path(None)
        if is_local():
            st.markdown(panels.code_span(_COMMAND), width="content")


def _recent(pages: Mapping[Shows, StreamlitPage], library_page: st.Page) -> None:
    """Draw what was used last; nothing where nobody has opened or recorded anything."""
    if not is_local():
        return
    opened = state.files.opened()
    used_last = last_used(recent.MAX_LISTED + len(opened))  # the newest may be those that are open
    kept = [Recent(name, used, (id_,), content) for id_, name, used, content in used_last]
    found = recent.recent(opened, state.pair.compared(), kept)
    if not found:
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.subheader(say("Go on with"), anchor=False, width="content")
        st.page_link(library_page, label=say("All of them"))
    columns = st.columns(_COLUMNS, gap="medium")
    for at, one in enumerate(found):
        with columns[at % _COLUMNS]:
            _link(one, pages)


def _link(one: Recent, pages: Mapping[Shows, StreamlitPage]) -> None:
    label = panels.name(one.name, panels.WHOLE_NAME_CHARS)
    if one.used:
        label += f" :small[:gray[{panels.own(one.used.replace('T', ' '))}]]"
    if one.fleet:
        st.page_link(pages["fleet"], label=label, query_params=state.pages.fleet_query(one.fleet))
        return
    page, query = opening.place_of(one.ids)
    st.page_link(pages[page], label=label, query_params=query)
