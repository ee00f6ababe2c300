"""Cards of the samples: what each shows in a sentence or two and a picture, and the way to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis.messages import Message, language, say
from fusescope.analysis.report.pictures.bars_svg import bars_svg
from fusescope.analysis.report.sample_card import Piece
from fusescope.app.parts import panels
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.sources import cards
from fusescope.app.sources.cards import Shown

_TITLES = {
    "torch_compile": Message("Two PyTorch traces"),
    "ascend": Message("One Ascend trace"),
    "fusion": Message("Fusion, measured here"),
}
_SOURCES = {
    "torch_compile": Message("PyTorch profiler: two transformer blocks on one CPU thread"),
    "ascend": Message("Ascend PyTorch Profiler: written by hand, to show the format"),
    "fusion": Message("ONNX Runtime: MobileNetV2 on two CPU threads, in 8 processes"),
}


def show(pages: Mapping[Shows, StreamlitPage]) -> None:
    """Draw a card of every sample that is there, each with the way to the page that shows it."""
    samples = cards.shown()
    if not samples:
        return
    st.subheader(say("Or begin with a sample"), anchor=False)
    columns = st.columns(len(samples), gap="medium")
    for column, shown in zip(columns, samples, strict=True):
        with column, st.container(border=True, height="stretch", gap="xsmall"):
            _card(shown, pages)


def _card(shown: Shown, pages: Mapping[Shows, StreamlitPage]) -> None:
    page, query = opening.place_of(shown.example.ids)
    name, card = shown.example.name, shown.card
    st.page_link(
        pages[page],
        label=f"**{panels.own(_TITLES[name].text())}**",
        icon=":material/arrow_forward:",
        query_params=query,
    )
    st.markdown(_sentence(card.lead))
    st.markdown(_sentence(card.cause))
    alt = say("How long the bars of this sample are is said above")
    st.image(bars_svg(card.bars, panels.mark_colours()), width="stretch", alt=alt)
    st.caption(panels.own(_SOURCES[name].text()))


def _sentence(said: Mapping[str, Sequence[Piece]]) -> str:
    """Return a sentence in the language that is spoken, as Markdown."""
    pieces = said.get(language.current()) or said[language.ENGLISH]
    return panels.parts_text([piece.part for piece in pieces], "blue")
