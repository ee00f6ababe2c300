"""How many runs a file holds that does not mark them: asked where it matters, kept by file."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.runs.entered import MAX_RUNS, offered_runs
from fusescope.analysis.messages import Message, say
from fusescope.app import state
from fusescope.app.sources.comparisons import Shown

_RUNS_IN = {
    "baseline": Message("Runs in the baseline"),
    "candidate": Message("Runs in the candidate"),
}


def ask(shown: Shown, baseline: str, candidate: str) -> None:
    """Ask for the runs of the side that does not mark its own; nothing where both do."""
    comparison = shown.comparison
    offered = offered_runs(comparison)
    entered = state.pair.entered_runs(baseline, candidate)
    for side, id_, runs in zip(state.pair.SIDES, (baseline, candidate), entered, strict=True):
        if side in offered:
            with st.container(border=True):
                st.text(wording.offer_sentence(side, offered[side]))
                _field(side, id_, offered[side])
        elif runs is not None:
            with st.popover(wording.entered_text(side, runs), icon=":material/edit:"):
                _field(side, id_, runs, forget=True)


def _field(side: str, id_: str, value: int | None, *, forget: bool = False) -> None:
    with st.form(f"{side}_runs_form", border=False):
        field, button = st.columns([2, 1], vertical_alignment="bottom", gap="xsmall")
        runs = field.number_input(
            _RUNS_IN[side].text(),
            min_value=1,
            max_value=MAX_RUNS,
            value=value,
            step=1,
            key=f"{side}_runs",
        )
        clicked = button.form_submit_button(
            say("Compare by run"), key=f"{side}_runs_enter", width="stretch"
        )
    if forget and st.button(say("Forget it"), key=f"{side}_runs_forget", type="tertiary"):
        state.pair.enter_runs(id_, None)
        st.rerun()
    if clicked and runs is not None:
        state.pair.enter_runs(id_, int(runs))
        st.rerun()
