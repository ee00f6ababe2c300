"""What changed between two traces, or what one shows: the cause of most of it, then the others."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.compare.side import Side
from fusescope.analysis.report.explanation.group_rows import group_rows
from fusescope.analysis.report.explanation.rows import explained_rows
from fusescope.analysis.report.explanation.trace_rows import trace_rows
from fusescope.app.parts import panels
from fusescope.app.parts.copying import buttons
from fusescope.app.parts.explanation.changes import show_changes, show_findings, show_groups
from fusescope.app.parts.explanation.products import show_products
from fusescope.app.sources.alone import Drawn
from fusescope.app.sources.comparisons import Shown

_MOST_LINES = 6  # for which first_style.css keeps a height
_CHARS = 40  # of a name of a kernel, as sentences of an explanation have it


def show(shown: Shown) -> None:
    """Draw what changed, the cause of most of it first, each change with its kernels behind it; of
    recordings the patterns that were fused, each with its groups."""
    comparison = shown.comparison
    is_traced = comparison.explanation is not None
    rows = explained_rows(comparison, shown.changes) if is_traced else group_rows(comparison)
    if rows is None or comparison.is_of_other_work and not is_traced:
        return
    with panels.guarded(), st.container(key="explained", gap="xsmall"):
        for parts in rows.before:
            st.markdown(panels.parts_text(parts, "gray", _CHARS))
        if rows.products is not None:
            show_products(rows.products)
        if rows.rows:
            lines = len(rows.rows) + bool(rows.more)  # behind a title of their own
            with st.container(key=f"rows_kept_{min(lines, _MOST_LINES)}"):
                (show_changes if is_traced else show_groups)(rows, shown.key)
        for parts in rows.after:
            st.markdown(panels.parts_text(parts, "gray", _CHARS))


def show_trace(found: Drawn, side: Side, id_: str) -> None:
    """Draw what the trace `id_` shows: its unit of work, where the time goes, what need not be,
    each with its kernels behind it, and buttons that copy it; nothing where there is no
    explanation."""
    explained, trace = found.explained, side.trace
    if explained is None:
        return
    rows = trace_rows(explained, trace, found.places(trace))
    buttons.show_of_trace(side, rows, id_)
    with panels.guarded(), st.container(key="explained", gap="xsmall"):
        for parts in rows.before:
            st.markdown(panels.parts_text(parts, "blue", _CHARS))
        if rows.rows:
            show_findings(rows, f"trace:{id_}")
        for parts in rows.after:
            st.markdown(panels.parts_text(parts, "blue", _CHARS))
