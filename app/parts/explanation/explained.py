"""What changed between two traces, or what one shows: the cause of most of it, then the others."""

from __future__ import annotations

import streamlit as st

from analysis.advice.explanation.explanation import TraceExplanation
from analysis.messages import passage
from analysis.report.explanation.rows import explained_rows
from analysis.wording.explanation.trace import following_said, lead_said
from app.parts import panels
from app.parts.explanation.changes import show_changes
from app.sources.comparisons import Shown

_CHARS = 40  # of a name of a kernel, as sentences of an explanation have it


def show(shown: Shown) -> None:
    """Draw what changed, the cause of most of it first, each change with its kernels behind it;
    nothing for recordings, whose groups say it."""
    rows = explained_rows(shown.comparison, shown.changes)
    if rows is None:
        return
    with panels.guarded(), st.container(key="explained", gap="xsmall"):
        for parts in rows.before:
            st.markdown(panels.parts_text(parts, "gray", _CHARS))
        if rows.rows:
            show_changes(rows, shown.key)
        for parts in rows.after:
            st.markdown(panels.parts_text(parts, "gray", _CHARS))


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
