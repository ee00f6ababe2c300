"""The Releases page: what each release of an engine makes of a model, and what a change is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis import units
from fusescope.analysis.compare.ledger.operator_texts import sequence_text
from fusescope.analysis.messages import Message, say
from fusescope.analysis.releases.changes import Change, GroupChange, main_change
from fusescope.analysis.report.releases.html import drawn_groups
from fusescope.analysis.wording.releases import (
    change_lines,
    change_sentence,
    history_sentence,
    model_text,
    skipped_text,
    what_changed,
)
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.table import ROW_HEIGHT, whole_height
from fusescope.app.parts.upload import files
from fusescope.app.sources import histories, places
from fusescope.app.sources.histories import Compared
from fusescope.app.state.opened import History

TABLE = "releases_table"
GROUP = "releases_group"
MAX_ROWS = 24  # that are shown without scrolling
_COMMANDS = (
    "fusescope bisect model.onnx --engine onnxruntime==1.20.1..1.32.0 --out releases.zip\n"
    "fusescope serve releases.zip"
)
_SAMPLE = "sample:"  # in front of its name in the address
_HINT = Message("A click on a release that changes something shows what it is.")
_ALT = Message(
    "{n:count} operator and the tensors around it",
    "{n:count} operators and the tensors between them",
)
_CHARS = 90
_LOST, _OTHER = "▼", "▲"


def show(shown_on: Mapping[Shows, StreamlitPage] | None = None) -> None:
    """Draw the page: a table, and the change that was clicked. What is dropped here leads to the
    page of `shown_on` that shows it."""
    with panels.page():
        opening.greet()
        others: dict[Shows, StreamlitPage] = dict(shown_on or {})
        others.pop("releases", None)
        destination = opening.follow(others, is_compared_here=False)
        if destination is not None and destination.page == "releases":
            state.pages.keep_history(str(destination.query["releases"]))
        st.header(say("Releases"), anchor=False)
        dropped = state.files.histories()
        own: dict[str, Path | History] = {**dropped, **places.histories()}
        samples = places.release_samples().items()
        found = own or {f"{_SAMPLE}{name}": path for name, path in samples}
        with st.expander(say("Open a file of fusescope bisect"), expanded=not found):
            st.markdown(say("Have several releases optimise a model, and open what they made:"))
            panels.code(_COMMANDS)
            files.here()
        if not found:
            return
        if not own:
            panels.sample_note()
        with panels.guarded(say("This file of releases cannot be shown.")):
            chosen = _chosen(found)
            _history(
                histories.load(chosen)
                if isinstance(chosen, Path)
                else histories.parse(chosen.data, chosen.name)
            )


def _chosen(found: Mapping[str, Path | History]) -> Path | History:
    """Return the file that is shown, one that was dropped or lies here."""
    asked = state.pages.history()
    shown = asked if asked is not None and asked in found else next(iter(found))
    state.pages.keep_history(shown)
    if len(found) > 1:
        st.selectbox(
            say("Model"),
            list(found),
            key=state.pages.HISTORY_KEY,
            on_change=state.pages.pick_history,
        )
    return found[shown]


def _history(compared: Compared) -> None:
    history, changes = compared.history, compared.changes
    st.markdown(f"**{panels.own(history_sentence(history, changes))}**")
    st.caption(panels.code_span(model_text(history)))
    if changes:
        st.caption(_HINT.text())
    clicked = _table(compared)
    change = clicked or main_change(changes)
    if change is not None:
        _change(compared, change)


def _table(compared: Compared) -> Change | None:
    """A row for each release; the change of the row that was clicked."""
    history = compared.history
    by_version = {change.newer: change for change in compared.changes}
    rows = []
    for release in history.releases:
        change = by_version.get(release.version)
        skipped = skipped_text(release)
        nodes = history.nodes(release)
        rows.append(
            {
                say("Release"): release.version,
                say("Operators"): units.MISSING if nodes is None else str(nodes),
                say("Change"): say("left out: {reason}", reason=skipped)
                if skipped
                else f"{_LOST if change.is_worse else _OTHER} {what_changed(change)}"
                if change
                else "",
            }
        )
    key = f"{TABLE}_{compared.number}"
    st.dataframe(
        pd.DataFrame(rows),
        key=key,
        hide_index=True,
        height=whole_height(min(len(rows), MAX_ROWS)),
        row_height=ROW_HEIGHT,
        column_config={
            say("Release"): st.column_config.TextColumn(width="small"),
            say("Operators"): st.column_config.TextColumn(width="small"),
            say("Change"): st.column_config.TextColumn(width="large"),
        },
        on_select="rerun",
        selection_mode="single-row",
        alt=say("Releases"),
    )
    picked = [line for line in state.table.picked_lines(key) if line < len(rows)]
    return by_version.get(history.releases[picked[0]].version) if picked else None


def _change(compared: Compared, change: Change) -> None:
    newest = compared.history.compared[-1].version
    st.subheader(f"{panels.own(change.older)} → {panels.own(change.newer)}", anchor=False)
    # op types and modules are a file's: they are shown where nothing is interpreted
    st.text(change_sentence(change, newest))
    st.text("\n".join(f"• {line}" for line in change_lines(change)))
    groups = drawn_groups(change)
    if not groups:
        return
    number = 0
    if len(groups) > 1:
        number = st.selectbox(
            say("Group"),
            range(len(groups)),
            format_func=lambda at: _told(groups[at]),
            key=f"{GROUP}_{compared.number}_{change.newer}",
        )
    _group(compared, change, groups[number])


def _told(group: GroupChange) -> str:
    sides = (group.group.baseline, group.group.candidate)
    before, after = (sequence_text(side) or say("nothing") for side in sides)
    return units.middle_cut(f"{before} → {after}", _CHARS)


def _group(compared: Compared, change: Change, group: GroupChange) -> None:
    """The operators of the group in both releases, as pictures."""
    from fusescope.analysis.report.pictures.group_svg import group_svg

    history = compared.history
    columns = st.columns(2, gap="medium")
    for column, version, names in zip(
        columns, (change.older, change.newer), group.ran, strict=True
    ):
        graph = history.made_by(history.find(version)).graph
        with column:
            st.markdown(f"**{panels.own(version)}**")
            st.image(
                group_svg(graph, names, group.group.inputs, group.group.outputs),
                alt=_ALT.text(n=len(names)),
            )
