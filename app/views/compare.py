"""The Compare page: what is compared, the verdict, the figures behind it, and the doubts."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import wording
from analysis.compare.assumptions import Assumptions
from analysis.compare.comparison import Comparison
from app import choices, exports, loading, operators, panels, places, state, tables
from app.choices import Pair

FIRST_FIGURES = (
    "latency",
    "throughput",
    "small_op_time",
    "compute_utilisation",
    "cache_missed_bytes",
    "cache_utilisation",
    "memory",
    "output_difference",
)
KINDS = {"Op types": tables.type_table, "Classes": tables.class_table}
MOST_TYPES = 14  # rows that are shown without scrolling


def show() -> None:
    """Draw the page."""
    with panels.page():
        if not state.greeted():
            _open_given()
        pair, gone = _asked()
        main, side = st.columns([2.6, 1], gap="medium")
        with main:
            _choose(pair)
        with side:
            _files(gone)
        baseline, candidate = pair
        if gone is not None or baseline is None or candidate is None:
            with main:
                _nothing(pair, gone)
        else:
            _results(baseline, candidate, main, side)


# What is compared.


def _asked() -> tuple[Pair, str | None]:
    """Ids to compare, all of which can be chosen, and an upload that a link names in vain."""
    asked = state.compared()
    for id_ in filter(None, asked):
        read, told = loading.open_link(id_, state.opened())
        told += loading.closed(state.remember(read))
        if told:
            state.tell(told)
    known = {choice.id for choice in choices.choices(state.opened())}
    missing = [id_ for id_ in asked if id_ and id_ not in known]
    first, second = (id_ if id_ in known else None for id_ in asked)
    pair: Pair = (first, second)
    gone = next(filter(loading.is_upload, missing), None)
    if gone is not None:
        return pair, gone
    if missing and not state.fates():
        state.tell([loading.NOT_HERE])
    if pair == (None, None):
        pair = choices.first_pair()
    state.compare(*pair)
    return pair, None


def _choose(pair: Pair) -> None:
    """The two selectors and the button that swaps them."""
    labels = {choice.id: choice.label for choice in choices.choices(state.opened())}
    state.set_selectors(*pair)
    left, middle, right = st.columns([5, 1, 5], vertical_alignment="bottom", gap="xsmall")
    for column, side in ((left, "baseline"), (right, "candidate")):
        column.selectbox(
            side.capitalize(),
            list(labels),
            index=None if None in pair else 0,  # None could be cleared again
            format_func=lambda id_: labels.get(id_, ""),
            key=state.selector_key(side),
            on_change=state.picked,
            placeholder="Choose one, or open a file",
        )
    middle.button(
        "Swap",
        key="swap",
        help="Swap baseline and candidate",
        on_click=state.swap,
        disabled=None in pair,
        width="stretch",
    )


def _files(gone: str | None) -> None:
    """Where files are opened, and what became of those opened last."""
    uploads = st.file_uploader(
        "Drop traces here · nothing leaves this machine",
        accept_multiple_files=True,
        key=state.upload_key(),
        help=(
            "ONNX Runtime profiles (.json) and experiments (.zip), several at once. Of two "
            "profiles one becomes the baseline. For a file over 256 MB start the dashboard "
            "with `--folder DIR` and give its path."
        ),
    )
    if uploads:
        _open(uploads, gone)
    if places.folders():
        _path_input(gone)
    else:
        st.caption("Larger files: start with `--folder DIR` and give the path here.")
    told = state.fates()
    if told:
        with st.container(border=True):
            panels.fates(told)
            st.button("Hide", key="hide_fates", type="tertiary", on_click=state.tell, args=([],))


def _open_given() -> None:
    """The files of the command line."""
    read, told = loading.open_given()
    if told:
        state.tell(told + loading.closed(state.remember(read)))
        if read and state.compared() == (None, None):
            state.compare(*choices.suggested(read))


def _open(uploads: list, gone: str | None) -> None:
    """Read what was uploaded, follow it, and start again with an empty uploader."""
    with st.spinner("Reading …"):
        read, told = loading.open_uploads(uploads)
    _follow(read, told, gone)
    state.empty_uploader()
    st.rerun()


def _path_input(gone: str | None) -> None:
    with st.form("path_form", clear_on_submit=True, border=False):
        field, button = st.columns([3, 1], vertical_alignment="bottom", gap="xsmall")
        text = field.text_input(
            "Or, of any size, by its path",
            key="path",
            max_chars=1000,
            placeholder="below a configured folder",
            help="A file below a folder that the dashboard was started with (`--folder DIR`).",
        )
        clicked = button.form_submit_button("Open", key="open_path", width="stretch")
    if clicked and text:
        _follow(*loading.open_paths([text]), gone)
        st.rerun()


def _follow(read: list, told: list, gone: str | None) -> None:
    """Compare what was just opened, unless it is what a link has been waiting for."""
    state.tell(told + loading.closed(state.remember(read)))
    if not read or (gone is not None and any(gone.startswith(file.id) for file in read)):
        return
    pair = choices.suggested(read)
    if None in pair:
        pair = choices.suggested(state.opened().values())
    state.compare(*pair)


def _nothing(pair: Pair, gone: str | None) -> None:
    """What to do where there is nothing to show."""
    if gone is not None:
        st.subheader("This link leads to a file of another session", anchor=False)
        st.markdown(
            "Uploaded files stay with the browser tab that opened them. Open the same file again "
            "and the comparison appears here, or choose something else."
        )
    elif pair == (None, None):
        st.subheader("Nothing to compare yet", anchor=False)
        st.markdown("Open two profiles or an experiment, or record a model on the *Record* page.")
    else:
        missing = "baseline" if pair[0] is None else "candidate"
        st.subheader(f"Choose a {missing} to compare with", anchor=False)
        st.markdown("Open the other profile of the same model, or choose one in the list.")


# What came out.


def _results(baseline: str, candidate: str, main: DeltaGenerator, side: DeltaGenerator) -> None:
    """Verdict, figures and doubts, then where the time went, then the runs themselves."""
    with side:
        tools = st.container(horizontal=True, horizontal_alignment="right", gap="xsmall")
    with tools:
        assumptions = _assumptions()
    private = any(loading.is_upload(id_) for id_ in (baseline, candidate))
    with main, st.spinner("Reading and comparing …"):
        shown = loading.compare(
            loading.side(baseline, state.opened()),
            loading.side(candidate, state.opened()),
            assumptions,
            private=private,
        )
    comparison = shown.comparison
    with main:
        panels.verdict(comparison)
        _cards(comparison)
    with tools:
        exports.downloads(shown)
    with side, st.container(border=True):
        panels.doubts(comparison.diagnostics)
    operators.show(shown)
    _op_types(comparison)
    _runs(comparison)


def _cards(comparison: Comparison) -> None:
    grid = st.grid(4, min_column_width=170, border=True, key="figures")
    open_question = comparison.verdict.outcome == "cannot_tell"
    for code in FIRST_FIGURES:
        with grid.cell():
            neutral = open_question and code in ("latency", "throughput")
            detail = wording.light_work(comparison) if code == "small_op_time" else ""
            panels.card(comparison.figure(code), detail, neutral=neutral)
    with st.expander("More figures", key="all_figures"):
        more = st.grid(4, min_column_width=200, border=True, key="more_figures")
        for figure in comparison.figures:
            if figure.code not in FIRST_FIGURES:
                with more.cell():
                    panels.card(figure)
        st.caption(panels.own(wording.assumptions_sentence(comparison)))


def _assumptions() -> Assumptions:
    """What the reader of the page may set; empty fields take the recording's own value."""
    with st.popover("Settings", help="What the modelled figures assume"):
        st.markdown("**What the modelled figures assume**")
        tau = st.number_input(
            "τ, bound of a short operator (µs)",
            min_value=0.001,
            max_value=1e6,
            value=None,
            key="tau_us",
            placeholder="10 × dispatch, else 10",
            bind="query-params",
        )
        cache = st.number_input(
            "Size of the modelled cache (KiB)",
            min_value=1.0,  # an integer field would trip over `inf` in the address
            max_value=1e9,
            value=None,
            format="%.0f",
            key="cache_kib",
            placeholder="the last level, else 32768",
            bind="query-params",
        )
        peak = st.number_input(
            "Arithmetic peak (GFLOP/s)",
            min_value=0.001,
            max_value=1e9,
            value=None,
            key="peak_gflops",
            placeholder="measured, else none",
            bind="query-params",
        )
        st.caption("Measured figures do not change with these.")
    return Assumptions(
        tau_ns=None if tau is None else tau * 1e3,
        peak_flops_per_s=None if peak is None else peak * 1e9,
        cache_bytes=None if cache is None else int(cache) * 1024,
    )


@st.fragment
def _op_types(comparison: Comparison) -> None:
    with panels.guarded():
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            title = "Op types and classes"
            st.subheader(title, anchor=False, help=wording.OP_TYPES_HELP, width="content")
            kind = st.segmented_control(
                "Kind",
                list(KINDS),
                default=next(iter(KINDS)),
                key="kind",
                required=True,
                label_visibility="collapsed",
            )
        _kinds(kind, KINDS[kind](comparison))


def _kinds(kind: str, table: tables.Table) -> None:
    st.dataframe(
        table.frame,
        key=f"{kind}_table",
        height="content" if len(table.frame) <= MOST_TYPES else tables.HEIGHT,
        row_height=tables.ROW_HEIGHT,
        hide_index=True,
        column_config=table.settings,
        placeholder="",
        alt=f"{kind} of both sides, largest change first",
    )


def _runs(comparison: Comparison) -> None:
    from analysis.charts import run_times

    st.subheader("Run times", anchor=False, help=wording.RUN_TIMES_HELP)
    figure = run_times(comparison)
    if figure is None:
        st.caption("Neither file marks its runs, so there is no distribution to show.")
        return
    st.plotly_chart(
        figure,
        key="run_times",
        config={"displayModeBar": False, "scrollZoom": False},
        alt="Every run of both sides, by block",
    )
