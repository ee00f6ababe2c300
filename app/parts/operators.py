"""Timelines and the operator table, linked: one fragment, so that a click redraws nothing else."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fusescope.analysis import wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, say
from fusescope.analysis.operators.classes import LABELS, OP_CLASSES
from fusescope.app import state
from fusescope.app.language import spoken
from fusescope.app.parts import ascend, panels, tables
from fusescope.app.parts.model_tree.fold import show_tree
from fusescope.app.parts.paging.pages import page_of, place_of
from fusescope.app.parts.table import HEIGHT, ROW_HEIGHT, Table, choice
from fusescope.app.sources.comparisons import Shown

_TITLE = Message("Operators, modules and shapes of both sides")
TABLE = "operator_table"
PLAIN, ASCEND = "operators", "ascend"
VIEWS = {PLAIN: Message("Operators"), ASCEND: Message("Ascend")}
_ASCEND = ("ascend", "msprof", "mindspore_legacy")  # how the names of their formats start


@st.fragment
@spoken
def show(shown: Shown) -> None:
    """Timelines and operators, linked: a click in one highlights in the other."""
    from fusescope.app.parts.timeline import timeline

    with panels.guarded():
        st.subheader(say("Timelines"), anchor=False, help=wording.timelines_help(shown.comparison))
        before = state.table.selected_row(shown.key)
        row = timeline(
            shown.drawing, selected=before, key="timeline", shown=state.table.highlighted(shown.key)
        )
        if row != before:
            state.table.select_row(shown.key, row)
            state.table.pick_beside()
        box = st.expander(_TITLE.text(), key="operators", bind="query-params")
        if box.open:
            with box:
                _operators(shown, row, is_new=row != before)
                show_tree(shown.comparison)


def _operators(shown: Shown, selected: int | None, *, is_new: bool) -> None:
    from fusescope.app.parts import rows as table_rows

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
        more = choice(make(_with_every_column(shown, rows)).of(shown.comparison), key)
    found = _found(rows, search, classes)
    if found.empty:
        st.caption(say("No operator matches."))
        return
    table, below = st.container(), st.container()
    place = place_of(found["row"].to_numpy(), selected)
    page = page_of(found, f"{TABLE}_page", below, place if is_new else None)
    here = [int(one) for one in page.rows["row"]]
    state.table.mark_table(TABLE, here, selected)
    with table:
        _draw(make(page.rows).only(more), shown, len(rows))
    table_rows.linked(TABLE, here.index(selected) if selected in here else None, len(here))
    if selected is not None and place is None:
        st.caption(wording.PICKED_IS_HIDDEN.text())
    _told(shown, len(found), len(rows), is_ascend=is_ascend)


def _draw(table: Table, shown: Shown, count: int) -> None:
    table.of(shown.comparison).draw(
        TABLE,
        _alt(shown.comparison),
        height=min(HEIGHT, ROW_HEIGHT * (count + 2) + 4),
        on_select=lambda: state.table.table_clicked(TABLE, shown.key),
    )


def _told(shown: Shown, found: int, count: int, *, is_ascend: bool) -> None:
    """Draw how many were found, what means include, and what Ascend's table has in total."""
    if found < count:
        some = say(
            "{found:count} of {n:count} row",
            "{found:count} of {n:count} rows",
            found=found,
            n=count,
        )
        st.caption(some)
    if slow := wording.slow_in_means(shown.comparison):
        st.caption(panels.own(slow))
    if is_ascend:
        st.markdown(f"**{panels.own(say('In total'))}**")
        ascend.totals(shown.comparison)


_SEEN: WeakKeyDictionary[Shown, list[int]] = WeakKeyDictionary()


def _with_every_column(shown: Shown, rows: pd.DataFrame) -> pd.DataFrame:
    """A few of the rows, which have a value in every column that any row has one in: the choice of
    columns needs no more, and is the same on every page."""
    if shown not in _SEEN:
        firsts = (rows[name].first_valid_index() for name in rows.columns)
        labels = pd.Index([label for label in firsts if label is not None]).unique()
        _SEEN[shown] = sorted(rows.index.get_indexer(labels).tolist())
    return rows.iloc[_SEEN[shown]]


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
