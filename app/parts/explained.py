"""What changed between two traces, or what one shows: the cause of most of it, then the others."""

from __future__ import annotations

import streamlit as st

from analysis.advice.explanation.explanation import TraceExplanation
from analysis.compare.comparison import Comparison
from analysis.messages import passage
from analysis.wording.explanation import explained_parts
from analysis.wording.explanation.trace import following_said, lead_said
from app.parts import panels

_CHARS = 40  # of a name of a kernel, as sentences of an explanation have it


def show(comparison: Comparison) -> None:
    """Draw the sentences of the explanation; nothing for recordings, whose groups say it."""
    if comparison.explanation is None:
        return
    lead, *others = explained_parts(comparison.explanation)
    with st.container(key="explained", gap="xxsmall"):
        st.markdown(panels.parts_text(lead, panels.outcome_colour(comparison), _CHARS))
        if others:
            st.markdown(
                "\n".join(f"- {panels.parts_text(parts, 'gray', _CHARS)}" for parts in others)
            )


def show_trace(explained: TraceExplanation | None) -> None:
    """Draw what one trace shows: its unit of work, where the time goes, what need not be; nothing
    where there is no explanation."""
    if explained is None:
        return
    with st.container(key="explained", gap="xxsmall"):
        for sentences in filter(None, lead_said(explained)):
            parts = passage(*(said.parts() for said in sentences))
            st.markdown(panels.parts_text(parts, "blue", _CHARS))
        others = following_said(explained)
        if others:
            lines = (f"- {panels.parts_text(said.parts(), 'gray', _CHARS)}" for said in others)
            st.markdown("\n".join(lines))
