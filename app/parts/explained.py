"""What changed between two traces, below the verdict: the cause of most of it, then the others."""

from __future__ import annotations

import streamlit as st

from analysis.compare.comparison import Comparison
from analysis.wording.explanation import explained_parts
from app.parts import panels


def show(comparison: Comparison) -> None:
    """Draw the sentences of the explanation; nothing for recordings, whose groups say it."""
    if comparison.explanation is None:
        return
    lead, *others = explained_parts(comparison.explanation)
    with st.container(key="explained", gap="xxsmall"):
        st.markdown(panels.parts_text(lead, panels.outcome_colour(comparison)))
        if others:
            st.markdown("\n".join(f"- {panels.parts_text(parts, 'gray')}" for parts in others))
