"""Timelines and the operator table, linked: one fragment, so that a click redraws nothing else."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import wording
from analysis.operators.classes import LABELS, OP_CLASSES
from app import state
from app.parts import ascend, panels, tables
from app.parts.table import HEIGHT, ROW_HEIGHT, choice
from app.sources.comparisons import Shown

TABLE = "operator_table"
VIEWS = ("Operators", "Ascend")
_ASCEND = ("ascend", "msprof", "mindspore_legacy")  # how the names of their formats start


@st.fragment
def show(shown: Shown) -> None:
    """Timelines and operators, linked: a click in one highlights in the other."""
    from app.parts.timeline import timeline

    with panels.guarded():
        st.subheader("Timelines", anchor=False, help=wording.timelines_help(shown.comparison))
        before = state.selected_row(shown.key)
        row = timeline(shown.drawing, selected=before, key="timeline")
        if row != before:
            state.select_row(shown.key, row)
            state.pick_beside()
        _operators(shown, row)


def _operators(shown: Shown, selected: int | None) -> None:
    from app.parts import rows as table_rows

    rows = tables.operator_rows(shown)
    title, search, classes = st.columns([4, 3, 3], vertical_alignment="bottom")
    with title.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.subheader(
            "Operators",
            anchor=False,
            help=wording.table_help(wording.OPERATORS_HELP, shown.comparison),
            width="content",
        )
        view = VIEWS[0]
        if _is_ascend(shown):
            help_ = wording.ASCEND_HELP.text()
            view = panels.switch("View", VIEWS, "ascend_view", default=VIEWS[1], help_=help_)
        is_ascend = view == VIEWS[1]
        # A choice for each view: their columns are not the same ones.
        make, key = tables.operator_table, "operator_columns"
        if is_ascend:
            make, key = ascend.kernel_table, "ascend_columns"
        more = choice(make(rows).of(shown.comparison), key)
    found = _found(rows, search, classes)
    if found.empty:
        st.caption("No operator matches.")
        return
    here = list(found["row"])
    state.mark_table(TABLE, here, selected)
    make(found).only(more).of(shown.comparison).draw(
        TABLE,
        f"Operators of both sides, {wording.order_text(shown.comparison)}",
        height=min(HEIGHT, ROW_HEIGHT * (len(rows) + 2) + 4),
        on_select=lambda: state.table_clicked(TABLE, shown.key),
    )
    table_rows.linked(TABLE, here.index(selected) if selected in here else None, len(here))
    if selected is not None and selected not in here:
        st.caption(wording.PICKED_IS_HIDDEN.text())
    if len(found) < len(rows):
        st.caption(f"{len(found)} of {len(rows)} operators")
    if is_ascend:
        st.markdown("**In total**")
        ascend.totals(shown.comparison)


def _found(rows: pd.DataFrame, search: DeltaGenerator, classes: DeltaGenerator) -> pd.DataFrame:
    """The rows that the fields in these two columns leave."""
    text = panels.search(search, "Search", "search", "name, type or shape")
    chosen = classes.multiselect(
        "Classes",
        [name for name in OP_CLASSES if (rows["op_class"] == name).any()],
        format_func=lambda name: LABELS[name].text(),
        key="classes",
        placeholder="all classes",
        label_visibility="collapsed",
    )
    return tables.matching(rows, text, chosen)


def _is_ascend(shown: Shown) -> bool:
    """True where a trace is of the profilers whose users know these columns."""
    sides = (shown.comparison.baseline.trace, shown.comparison.candidate.trace)
    return any(trace.meta.format.startswith(_ASCEND) for trace in sides)
