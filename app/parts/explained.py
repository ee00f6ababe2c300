"""What changed between two traces, below the verdict: the cause of most of it, then the others."""

from __future__ import annotations

import streamlit as st

from analysis.compare.comparison import Comparison
from analysis.wording.explanation import explained_parts
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
