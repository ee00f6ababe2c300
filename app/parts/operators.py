"""Timelines and the operator table, linked: one fragment, so that a click redraws nothing else."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import wording
from analysis.compare.comparison import Comparison
from analysis.messages import Message, say
from analysis.operators.classes import LABELS, OP_CLASSES
from app import state
from app.language import spoken
from app.parts import ascend, panels, tables
from app.parts.table import HEIGHT, ROW_HEIGHT, choice
from app.sources.comparisons import Shown

TABLE = "operator_table"
PLAIN, ASCEND = "operators", "ascend"
VIEWS = {PLAIN: Message("Operators"), ASCEND: Message("Ascend")}
_ASCEND = ("ascend", "msprof", "mindspore_legacy")  # how the names of their formats start


@st.fragment
@spoken
def show(shown: Shown) -> None:
    """Timelines and operators, linked: a click in one highlights in the other."""
    from app.parts.timeline import timeline

    with panels.guarded():
        st.subheader(say("Timelines"), anchor=False, help=wording.timelines_help(shown.comparison))
        before = state.table.selected_row(shown.key)
        row = timeline(
            shown.drawing, selected=before, key="timeline", stretch=state.table.stretch(shown.key)
        )
        if row != before:
            state.table.select_row(shown.key, row)
            state.table.pick_beside()
        _operators(shown, row)


def _operators(shown: Shown, selected: int | None) -> None:
    from app.parts import rows as table_rows

    rows = tables.operator_rows(shown)
    title, search, classes = st.columns([4, 3, 3], vertical_alignment="bottom")
    with title.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.subheader(
            say("Operators"),
            anchor=False,
            help=wording.table_help(wording.OPERATORS_HELP, shown.comparison),
            width="content",
        )
        view = PLAIN
        if _is_ascend(shown):
            help_ = wording.ASCEND_HELP.text()
            view = panels.switch(
                say("View"), list(VIEWS), "ascend_view", default=ASCEND,
                shown=lambda code: VIEWS[code].text(), help_=help_,
            )  # fmt: skip
        is_ascend = view == ASCEND
        # A choice for each view: their columns are not the same ones.
        make, key = tables.operator_table, "operator_columns"
        if is_ascend:
            make, key = ascend.kernel_table, "ascend_columns"
        more = choice(make(rows).of(shown.comparison), key)
    found = _found(rows, search, classes)
    if found.empty:
        st.caption(say("No operator matches."))
        return
    here = list(found["row"])
    state.table.mark_table(TABLE, here, selected)
    make(found).only(more).of(shown.comparison).draw(
        TABLE,
        _alt(shown.comparison),
        height=min(HEIGHT, ROW_HEIGHT * (len(rows) + 2) + 4),
        on_select=lambda: state.table.table_clicked(TABLE, shown.key),
    )
    table_rows.linked(TABLE, here.index(selected) if selected in here else None, len(here))
    if selected is not None and selected not in here:
        st.caption(wording.PICKED_IS_HIDDEN.text())
    if len(found) < len(rows):
        some = say(
            "{found:count} of {n:count} operator",
            "{found:count} of {n:count} operators",
            found=len(found),
            n=len(rows),
        )
        st.caption(some)
    if is_ascend:
        st.markdown(f"**{panels.own(say('In total'))}**")
        ascend.totals(shown.comparison)


def _alt(comparison: Comparison) -> str:
    if comparison.has_changes:
        return say("Operators of both sides, largest change first")
    return say("Operators of both sides, longest time first")


def _found(rows: pd.DataFrame, search: DeltaGenerator, classes: DeltaGenerator) -> pd.DataFrame:
    """The rows that the fields in these two columns leave."""
    text = panels.search(search, say("Search"), "search", say("name, type or shape"))
    chosen = classes.multiselect(
        say("Classes"),
        [name for name in OP_CLASSES if (rows["op_class"] == name).any()],
        format_func=lambda name: LABELS[name].text(),
        key=state.language.told_choice("classes"),
        placeholder=say("all classes"),
        label_visibility="collapsed",
    )
    return tables.matching(rows, text, chosen)


def _is_ascend(shown: Shown) -> bool:
    """True where a trace is of the profilers whose users know these columns."""
    sides = (shown.comparison.baseline.trace, shown.comparison.candidate.trace)
    return any(trace.meta.format.startswith(_ASCEND) for trace in sides)
