"""What fusion bought, group by group, and why it did not buy more."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import say
from fusescope.analysis.wording.counted import runs_of
from fusescope.analysis.wording.explanation import waterfall as explained_steps
from fusescope.app import state
from fusescope.app.language import spoken
from fusescope.app.parts import exports, ledger, panels
from fusescope.app.parts.advice import missed, scorecard
from fusescope.app.parts.fusion import groups, ungrouped
from fusescope.app.parts.heads import told
from fusescope.app.parts.table import Table, choice
from fusescope.app.sources.comparisons import Shown

TABLE = "ledger_table"


def show(shown: Shown, record_page: st.Page) -> None:
    """Draw the groups of a comparison; `record_page` is where what is missing can be recorded."""
    comparison = shown.comparison
    if comparison.explanation is None:
        _lead(comparison)
    _sums(comparison)
    if comparison.is_of_other_work:
        return
    _waterfall(comparison)
    if comparison.fusion.groups:
        _groups(shown)
    missed.missed_fusions(shown, record_page)
    scorecard.show(comparison)
    missed.ablation(comparison)


def _lead(comparison: Comparison) -> None:
    """Draw what fusion bought in a sentence; of two traces, the rows above the parts say it."""
    headline, rest = wording.headline_and_rest(comparison)
    st.subheader(panels.parts_text(headline, panels.outcome_colour(comparison)), anchor=False)
    if rest:
        st.markdown(panels.parts_text(rest, "gray"))


def _sums(comparison: Comparison) -> None:
    """Draw what is known of the groups together."""
    if came_from := wording.came_from_parts(comparison):
        st.markdown(panels.parts_text(came_from, "gray"))
    with st.container(gap="xxsmall"):
        st.caption(panels.own(wording.coverage_sentence(comparison)))
        if terms := wording.sum_sentence(comparison):
            st.caption(panels.own(terms))
        if beside := wording.beside_explanation(comparison):
            st.caption(panels.own(beside))
        if slow := wording.slow_parts(comparison.ledger):
            st.caption(panels.parts_text(slow, "gray"))


def _waterfall(comparison: Comparison) -> None:
    from fusescope.analysis.charts.waterfall import waterfall

    is_explained = comparison.is_explained
    help_ = (
        explained_steps.HELP.text()
        if is_explained
        else wording.counted(wording.WATERFALL_HELP, comparison)
    )
    st.subheader(explained_steps.TITLE.text(), anchor=False, help=help_)
    figure = waterfall(comparison, panels.mark_colours())
    if figure is None:
        st.caption(panels.own(told(wording.NO_WATERFALL)))
        return
    of = wording.time_of_sum(comparison)
    alt = say("Waterfall from baseline to candidate: {time}", time=of)
    panels.chart(figure, "waterfall", alt)
    if not is_explained:
        st.caption(panels.own(wording.waterfall_basis(comparison)))


@st.fragment
@spoken
def _groups(shown: Shown) -> None:
    """Timelines, ledger and the chosen group, linked: a click in one shows it in all."""
    from fusescope.app.parts.timeline import group_timeline

    with panels.guarded():
        known = {group.id for group in shown.comparison.fusion.groups}
        before = state.groups.selected_group(shown.key)
        before = before if before in known else None
        st.subheader(
            say("Timelines of the groups"),
            anchor=False,
            help=wording.timelines_help(shown.comparison),
        )
        chosen, row = group_timeline(
            shown.drawing,
            highlight=before,
            row=state.groups.picked_row(shown.key),
            key="group_timeline",
        )
        chosen = chosen if chosen in known else None
        state.groups.pick_row(shown.key, row)
        state.groups.select_group(shown.key, chosen)
        if chosen != before:
            _unfold_to(shown, chosen)
            state.table.pick_beside()
        _ledger(shown, chosen)
        if chosen is not None:
            groups.show(shown.comparison, chosen)
        elif row is None or not ungrouped.show_picked(shown.comparison, row):
            st.caption(say("Choose a group in the table or in the timelines to see its operators."))


def _ledger(shown: Shown, chosen: int | None) -> None:
    from fusescope.app.parts import rows as table_rows

    comparison = shown.comparison
    if not comparison.ledger.has_gains:
        return
    title, search, order, tools = st.columns([0.95, 2.75, 2.4, 2.35], vertical_alignment="center")
    help_ = wording.counted(wording.LEDGER_HELP, comparison)
    title.subheader(say("Ledger"), anchor=False, help=help_)
    placeholder = say("pattern, module, operator or tensor")
    text = panels.search(search, say("Search groups"), "group_search", placeholder)
    with order:
        by = panels.switch(
            say("Order"), list(ledger.orders()), "group_order",
            shown=lambda code: ledger.ORDER_NAMES[code].text(),
        )  # fmt: skip
    found = ledger.matching(comparison, text)
    unfolded = state.groups.unfolded(shown.key)
    drawn = ledger.lines(comparison.ledger, by, unfolded=unfolded, found=found)
    whole = ledger.table(comparison, drawn, unfolded if found is None else {*_keys(comparison)})
    with tools:
        more = _tools(shown, whole, is_search=found is not None)
    alone = ungrouped.matching(comparison, text)
    runs = runs_of(comparison)
    if not drawn:
        if alone.empty:
            st.caption(say("No group matches."))
        ungrouped.show_found(alone, runs)
        return
    table = whole.only(more)
    here = [line.group for line in drawn]
    line = here.index(chosen) if chosen in here and chosen is not None else None
    state.table.mark_line(TABLE, line)
    table.draw(
        TABLE,
        say("Fusion groups by pattern, largest change first"),
        max_rows=10,
        on_select=lambda: _clicked(shown.key, drawn),
    )
    if unshared := wording.no_shares_sentence(comparison.ledger):
        st.caption(panels.own(unshared))
    table_rows.linked(TABLE, line, len(drawn))
    if found is not None and chosen is not None and line is None:
        st.caption(wording.PICKED_IS_HIDDEN.text())
    if found is not None:
        some = say(
            "{found:count} of {n:count} group",
            "{found:count} of {n:count} groups",
            found=len(found),
            n=len(comparison.fusion.groups),
        )
        st.caption(some)
        ungrouped.show_found(alone, runs)


def _unfold_to(shown: Shown, group: int | None) -> None:
    """A group that was picked in the timelines gets a line of its own in the ledger."""
    rows = shown.comparison.ledger.rows
    keys = rows.loc[rows["group"] == group, "key"]
    state.groups.unfold(
        shown.key, state.groups.unfolded(shown.key) | {*keys} & {*_keys(shown.comparison)}
    )


def _tools(shown: Shown, table: Table, *, is_search: bool) -> list[str]:
    """The buttons beside the ledger; the columns that are shown beside the first ones."""
    keys = _keys(shown.comparison)
    is_folded = not state.groups.unfolded(shown.key)
    with st.container(horizontal=True, horizontal_alignment="right", gap="xsmall"):
        more = choice(table, "ledger_columns")
        st.button(
            say("Unfold all") if is_folded else say("Fold all"),
            key="fold",
            on_click=state.groups.unfold,
            args=(shown.key, keys if is_folded else []),
            disabled=is_search or not keys,
        )
        st.download_button(
            "CSV",
            lambda: exports.ledger_csv(shown.comparison),
            file_name="fusion_ledger.csv",
            mime="text/csv",
            on_click="ignore",
            key="download_groups",
            help=say(
                "Every group and the other terms of the sum. They add up to the whole change."
            ),
        )
    return more


def _keys(comparison: Comparison) -> list[str]:
    """Keys of the patterns that can be unfolded."""
    patterns = comparison.ledger.patterns
    return list(patterns["key"][patterns["groups"] > 1])


def _clicked(of: str, drawn: list[ledger.Line]) -> None:
    """A pattern folds or unfolds, a group is shown; a second click on it hides it again."""
    position = state.table.clicked_line(TABLE)
    line = drawn[position] if position is not None and position < len(drawn) else None
    if line is None:
        state.groups.select_group(of, None)
    elif line.group is None:
        state.groups.unfold(of, state.groups.unfolded(of) ^ {line.key})
    else:
        state.groups.select_group(
            of, None if line.group == state.groups.selected_group(of) else line.group
        )
