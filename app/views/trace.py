"""The Trace page: one trace or variant by itself, where its time goes and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis import wording
from fusescope.analysis.advice import Subject
from fusescope.analysis.advice.explanation.model_tree import tree_of_trace
from fusescope.analysis.compare.roofs import largest_products
from fusescope.analysis.compare.runs.units import with_runs
from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import Message, say
from fusescope.analysis.metrics.breakdown import by_operator, by_type
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.report.origins import origin_of
from fusescope.analysis.timeline import highlight
from fusescope.analysis.wording import shown as shown_words
from fusescope.analysis.wording import single as memory_words
from fusescope.analysis.wording import step as step_words
from fusescope.analysis.wording.diagnostics.early_end import end_caution
from fusescope.analysis.wording.texts import RUN_TIMES
from fusescope.analysis.wording.trees import hierarchy as tree_words
from fusescope.analysis.work_units import run_word
from fusescope.app import state
from fusescope.app.language import spoken
from fusescope.app.parts import alone, doctor, exports, panels
from fusescope.app.parts.advice import findings, tries
from fusescope.app.parts.explanation import explained
from fusescope.app.parts.heads import told
from fusescope.app.parts.model_tree.fold import show_trace_tree
from fusescope.app.parts.paging.pages import page_of, place_of
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.table import HEIGHT, ROW_HEIGHT, choice
from fusescope.app.parts.upload import files
from fusescope.app.parts.work import work_of_side
from fusescope.app.sources import choices, examples, loading
from fusescope.app.sources.alone import Drawn, drawn, roofline_of, tree

TABLE = "trace_operators"
_MAX_PRODUCTS = 4
_WIDTHS = (2.6, 1)
MAX_TYPES = 14  # rows that are shown without scrolling
_SEVERAL = Message("Op types, modules or the host's code: what the boxes on the left stand for")


def show(
    compare_page: st.Page,
    record_page: st.Page,
    shown_on: Mapping[Shows, StreamlitPage] | None = None,
) -> None:
    """Draw the page; `compare_page` is where files are opened and compared, what the findings ask
    for is tried on the `record_page`, and what is dropped leads to the page of `shown_on`."""
    with panels.page():
        opening.greet()
        others: dict[Shows, StreamlitPage] = dict(shown_on or {})
        others.pop("trace", None)
        destination = opening.follow({**others, "compare": compare_page}, is_compared_here=False)
        if destination is not None and destination.page == "trace":
            state.pages.trace(str(destination.query["trace"]))
        below = st.container(gap="xsmall")
        chooser, place = st.columns(_WIDTHS, gap="medium", vertical_alignment="bottom")
        with place:
            files.show(None, below, place, folded=True)
        is_told_last = files.has_nothing_to_heed()
        if not is_told_last:
            with below:
                files.show_fates()
        with chooser:
            id_ = _chosen()
        if id_ is None:
            st.subheader(say("Nothing to show yet"), anchor=False)
            return
        given = loading.side(id_, state.files.opened())
        side = with_runs(given, work_of_side(given))
        found = drawn(side)
        _head(side)
        if choices.is_sample(id_):
            sample = shown_words.sample_alone_sentence(examples.is_made(id_))
            panels.note(sample, ":gray[:material/science:]")
        if side.trace.ends_early:
            exports.trace_download(side, is_made=examples.is_made(id_))
            _timeline_alone(side, found, id_)
            return
        explained.show_trace(found, side, id_)
        _facts(side, compare_page, id_)
        if is_told_last:
            files.show_fates()
        if found.explained is not None:
            _operators(side, found, id_)
            show_trace_tree(tree_of_trace(side.trace), side.trace)
        _step(side)
        findings.show(found.findings, side.label, partial(_stretch, found, id_))
        tries.show(Subject(side), found.findings, record_page)
        _tree(side)
        if found.explained is None:
            _operators(side, found, id_)
            _modules_of_recording(side)
        _op_types(side)
        _memory(side)
        _roofline(side)
        _runs(side)


def _chosen() -> str | None:
    """The selector; the id of what it shows, None where there is nothing."""
    asked = state.pages.traced()
    for read, _ in loading.open_links(filter(None, (asked,)), state.files.opened):
        loading.closed(state.files.remember(read))
    ids = (asked, *state.pair.compared())
    labels = {choice.id: choice.label for choice in choices.of_all(state.files.opened(), ids)}
    if asked is not None and asked not in labels:
        panels.fate(loading.NOT_HERE)
    sides = (*reversed(state.pair.compared()), *reversed(choices.first_pair()))
    shown = next((id_ for id_ in (asked, *sides) if id_ in labels), None)
    state.pages.trace(shown)
    if shown is None:
        return None
    state.pages.show_traced(shown)
    st.selectbox(
        say("Trace or variant"),
        list(labels),
        format_func=lambda id_: labels.get(id_, ""),
        key=state.pages.TRACE_KEY,
        on_change=state.pages.pick_traced,
    )
    return shown


def _stretch(found: Drawn, id_: str, stretch: Stretch) -> None:
    """Show a stretch of the trace on its timeline."""
    shown = highlight.of_side(found.payload, 0, stretch)
    if shown is not None:
        state.table.highlight(f"trace:{id_}", shown)


def _head(side: Side) -> None:
    """Say what it is and how long a run takes; that the file ends early, where it does, with
    what it says, or that it may."""
    parts = wording.trace_parts(side)
    is_cut = side.trace.ends_early
    st.header(
        panels.parts_text(parts, "red" if is_cut else "blue", panels.WHOLE_NAME_CHARS), anchor=False
    )
    origin = origin_of(side, is_alone=True)
    st.text(say("{file:name}, {made:name}", file=origin.file_name, made=origin.made))
    if is_cut:
        st.error(panels.own(wording.trace_facts(side)), icon=":material/content_cut:")
        with (
            st.expander(say("What the file says"), key="trace_doctor", expanded=True),
            panels.guarded(),
        ):
            doctor.show(side.trace)
    elif caution := end_caution(side.trace):
        st.warning(panels.own(caution), icon=":material/content_cut:")


def _facts(side: Side, compare_page: st.Page, id_: str) -> None:
    """Say what the file contains, and the way to a comparison: behind the answer."""
    st.caption(panels.own(wording.trace_facts(side)))
    if others := wording.units_text(side.trace):
        panels.note(others, ":gray[:material/account_tree:]")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        label = say("Compare with another one")
        st.page_link(compare_page, label=label, query_params={"candidate": id_})
        exports.trace_download(side, is_made=examples.is_made(id_))
    with st.expander(say("What the file says"), key="trace_doctor"), panels.guarded():
        doctor.show(side.experiment or side.trace)


def _step(side: Side) -> None:
    from fusescope.analysis.charts.step import step

    bars = step_words.bars_of([("candidate", side)])
    figure = step(bars, panels.mark_colours())
    if figure is None:
        return
    st.subheader(step_words.step_title(side), anchor=False, help=step_words.STEP_HELP.text())
    panels.chart(figure, "step", say("The mean time in parts"))
    lines = [panels.parts_text(bar.parts, "gray") for bar in bars]
    st.caption("  \n".join((*lines, panels.own(step_words.STEP_BASIS.text()))))


@st.fragment
@spoken
def _timeline_alone(side: Side, found: Drawn, id_: str) -> None:
    """What a file that ends early has up to there; its operators have no sums."""
    from fusescope.app.parts.timeline import timeline

    with panels.guarded():
        if side.trace.calls["start_ns"].isna().any():
            return
        st.subheader(say("Timeline up to the end of the file"), anchor=False)
        key = f"trace:{id_}"
        before = state.table.selected_row(key)
        row = timeline(found.drawing, selected=before, key="trace_timeline")
        if row != before:
            state.table.select_row(key, row)


@st.fragment
@spoken
def _tree(side: Side) -> None:
    from fusescope.analysis.charts.icicle import icicle

    with panels.guarded():
        kinds = drawn(side).kinds
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.subheader(
                tree_words.HIERARCHY_TITLE.text(),
                anchor=False,
                help=told(tree_words.HIERARCHY_HELP),
                width="content",
            )
            by = kinds[0]
            if len(kinds) > 1:
                chosen = panels.switch(
                    _SEVERAL.text(), kinds, "tree_by", shown=lambda code: tree_words.BY[code].text()
                )
                by = next((kind for kind in kinds if kind == chosen), by)
        nodes = tree(side, by)
        figure = icicle(nodes, panels.mark_colours())
        if figure is None:
            st.caption(say("No operator took any time."))
            return
        panels.chart(figure, f"tree_{by}", say("The time of a run, from classes to operators"))
        beside = tree_words.beside_sentence(nodes[0].ns, Subject(side).run_ns)
        if beside is not None:
            st.caption(told(beside))


def _modules_of_recording(side: Side) -> None:
    """Draw the modules of a variant; its op types and shapes alone say no more than its tables."""
    found = tree_of_trace(side.trace)
    if found is not None and found.tree.levels.modules is not None:
        show_trace_tree(found, side.trace)


@st.fragment
@spoken
def _operators(side: Side, found: Drawn, id_: str) -> None:
    """Timeline and operators, linked: a click in one highlights in the other."""
    from fusescope.app.parts import rows as table_rows
    from fusescope.app.parts.timeline import timeline

    with panels.guarded():
        st.subheader(say("Timeline"), anchor=False)
        key = f"trace:{id_}"
        before = state.table.selected_row(key)
        row = timeline(
            found.drawing, selected=before, key="trace_timeline", shown=state.table.highlighted(key)
        )
        if row != before:
            state.table.select_row(key, row)
            state.table.pick_beside()
        table = found.operators
        title, search = st.columns([7, 3], vertical_alignment="bottom")
        with title.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.subheader(say("Operators"), anchor=False, width="content")
            more = choice(alone.operator_table(table, side.trace), "trace_columns")
        text = panels.search(search, say("Search"), "trace_search", say("name, type or shape"))
        here = _found(table, text)
        if here.empty:
            st.caption(say("No operator matches."))
            return
        drawn_in, below = st.container(), st.container()
        turn = place_of(here.index.to_numpy(), row) if row != before else None
        page = page_of(here, f"{TABLE}_page", below, turn)
        places = [int(place) for place in page.rows.index]
        state.table.mark_table(TABLE, places, row)
        with drawn_in:
            alone.operator_table(page.rows, side.trace).only(more).draw(
                TABLE,
                say("Operators, longest time first"),
                height=min(HEIGHT, ROW_HEIGHT * (len(table) + 1) + 4),
                on_select=lambda: state.table.table_clicked(TABLE, key),
            )
        table_rows.linked(TABLE, places.index(row) if row in places else None, len(places))


def _found(table: pd.DataFrame, text: str) -> pd.DataFrame:
    """The rows with this text in name, type or shapes; all without one."""
    text = text.strip().casefold()
    if not text:
        return table
    found = pd.Series(False, index=table.index)
    for column in ("name", "op_type", "inputs", "outputs"):
        found |= table[column].astype(str).str.casefold().str.contains(text, regex=False)
    return table[found]


def _op_types(side: Side) -> None:
    table = by_type(side.trace)
    if table.empty:
        return
    st.subheader(say("Op types"), anchor=False)
    alone.type_table(table, side.trace).draw(
        "trace_types", say("Op types, longest time first"), max_rows=MAX_TYPES
    )


def _memory(side: Side) -> None:
    from fusescope.analysis.charts.memory import memory

    trace = side.trace
    starts = trace.calls["start_ns"].dropna()
    if not trace.memory or starts.empty:
        return
    figure = memory(trace.memory, int(starts.min()), panels.mark_colours())
    st.subheader(
        memory_words.MEMORY_TITLE.text(), anchor=False, help=told(memory_words.MEMORY_HELP)
    )
    panels.chart(figure, "trace_memory", say("Memory over time"))
    for parts in memory_words.peak_parts(trace.memory):
        st.caption(panels.parts_text(parts, "gray"))


@st.fragment
@spoken
def _roofline(side: Side) -> None:
    from fusescope.analysis.charts.roofline import roofline

    with panels.guarded():
        picture = roofline_of(side)
        under = drawn(side).under
        products = largest_products(by_operator(side.trace), under, _MAX_PRODUCTS)
        if picture is None and not products:
            return
        st.subheader(say("Roofline"), anchor=False, help=wording.ROOFLINE_HELP.text())
        if picture is not None:
            names = (side.label, side.label)
            figure = roofline(picture, names, panels.mark_colours())
            panels.chart(figure, "trace_roofline", say("Operators under the machine's roofs"))
            notes = wording.roofline_notes((under.roofs,), picture)
        else:
            notes = tuple(filter(None, [wording.device_note(under.roofs)]))
        for note in (*wording.product_sentences(products), *notes):
            st.caption(panels.own(note))


def _runs(side: Side) -> None:
    from fusescope.analysis.charts.run_times import run_times_of
    from fusescope.analysis.distribution import distribution_of

    found = distribution_of(side)
    if found is None:
        return
    st.subheader(
        RUN_TIMES[run_word(side.trace)].text(), anchor=False, help=told(wording.RUN_TIMES_HELP)
    )
    figure = run_times_of(found, (side.label, side.label), panels.mark_colours())
    panels.chart(figure, "trace_runs", say("Every run"))
