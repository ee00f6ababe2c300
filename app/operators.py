"""Timelines and the operator table, linked: one fragment, so that a click redraws nothing else."""

from __future__ import annotations

import streamlit as st

from analysis import wording
from analysis.op_classes import LABELS, OP_CLASSES
from app import panels, state, tables
from app.loading import Shown

TABLE = "operator_table"


@st.fragment
def show(shown: Shown) -> None:
    """Timelines and operators, linked: a click in one highlights in the other."""
    from app.timeline import timeline

    with panels.guarded():
        st.subheader("Timelines", anchor=False, help=wording.TIMELINES_HELP)
        before = state.selected_row(shown.key)
        row = timeline(shown.payload, selected=before, key="timeline")
        if row != before:
            state.select_row(shown.key, row)
        _operators(shown, row)


def _operators(shown: Shown, selected: int | None) -> None:
    rows = tables.operator_rows(shown)
    title, search, classes = st.columns([3, 3, 4], vertical_alignment="bottom")
    title.subheader("Operators", anchor=False, help=wording.OPERATORS_HELP)
    text = search.text_input(
        "Search",
        key="search",
        type="search",
        placeholder="name, type or shape",
        label_visibility="collapsed",
        max_chars=200,
    )
    present = [name for name in OP_CLASSES if (rows["op_class"] == name).any()]
    chosen = classes.multiselect(
        "Classes",
        present,
        format_func=lambda name: LABELS[name],
        key="classes",
        placeholder="all classes",
        label_visibility="collapsed",
    )
    found = tables.matching(rows, text or "", chosen)
    if found.empty:
        st.caption("No operator matches.")
        return
    table = tables.operator_table(found)
    state.mark_table(TABLE, found["row"], selected)
    st.dataframe(
        table.frame,
        key=TABLE,
        height=min(tables.HEIGHT, tables.ROW_HEIGHT * (len(rows) + 2) + 4),
        row_height=tables.ROW_HEIGHT,
        hide_index=True,
        column_config=table.settings,
        on_select=lambda: state.table_clicked(TABLE, shown.key),
        selection_mode="single-row",
        placeholder="",
        alt="Operators of both sides, largest change first",
    )
    if len(found) < len(rows):
        st.caption(f"{len(found)} of {len(rows)} operators")
