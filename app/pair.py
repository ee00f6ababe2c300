"""The pair that is compared: selectors, files, links, and what to do while a side is missing.

Compare and Fusion show the same pair; the address of either holds it.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.compare.assumptions import Assumptions
from app import choices, loading, panels, places, state
from app.choices import Pair
from app.loading import Shown


@dataclass(frozen=True)
class Chosen:
    """Ids of both sides, and where the page goes on: the wide column and the one beside it."""

    baseline: str
    candidate: str
    main: DeltaGenerator
    side: DeltaGenerator

    def compare(self, assumptions: Assumptions) -> Shown:
        """The comparison of both sides, with a spinner in the wide column while it is made."""
        private = any(loading.is_upload(id_) for id_ in (self.baseline, self.candidate))
        with self.main, st.spinner("Reading and comparing …"):
            return loading.compare(
                loading.side(self.baseline, state.opened()),
                loading.side(self.candidate, state.opened()),
                assumptions,
                private=private,
            )


def choose() -> Chosen | None:
    """Draw the selectors and the uploader; None when there is nothing to compare, which it says."""
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
        return None
    return Chosen(baseline, candidate, main, side)


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
