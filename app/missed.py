"""Why fusion did not buy more: patterns that were not fused, and what each optimizer is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.compare.comparison import Comparison
from app import panels, tables
from app.loading import Shown

if TYPE_CHECKING:
    from analysis.advice import NearMiss

_ROW_HEIGHT = 66  # three lines of text
_MOST_ROWS = 6  # that are shown without scrolling
_NO_GRAPH = (
    "It needs the model's graph, which only an experiment has: record the model on the *Record* "
    "page or with `fusescope collect MODEL`."
)
_OTHER_ENGINE = (
    "The conditions under which this engine fuses are not known, so nothing is said about what it "
    "did not fuse."
)
_NOT_ABLATED = (
    "Not recorded. `fusescope collect MODEL --ablate` also records the model without each "
    "optimizer, and with it alone."
)


def near_misses(shown: Shown) -> None:
    """The table of patterns that were not fused: what blocked them and what to change."""
    from analysis.wording.advice import NEAR_MISSES_HELP

    with panels.guarded():
        st.subheader("Why not fused", anchor=False, help=NEAR_MISSES_HELP)
        misses = shown.near_misses
        if misses:
            table = _missed(misses)
            _draw(table, "near_misses", _ROW_HEIGHT, "Patterns that were not fused, and why")
        else:
            st.caption(_none_missed(shown.comparison))


def _none_missed(comparison: Comparison) -> str:
    """Why the table is empty: nothing is known, or nothing was missed."""
    from analysis.advice.settings import conditions_of

    side = comparison.candidate
    if side.experiment is None or comparison.fusion.source != "graphs":
        return _NO_GRAPH
    if conditions_of(side) is None:
        return _OTHER_ENGINE
    return "Every pattern that FuseScope knows and finds in this model was fused."


def _missed(misses: Sequence[NearMiss]) -> tables.Table:
    from analysis.wording.advice import near_miss_remedy, near_miss_sentence

    made = tables.Table()
    for label, cells, help_, width in (
        ("Pattern", [miss.pattern for miss in misses], "What could run as one operator.", 150),
        ("What blocked it", map(near_miss_sentence, misses), "The condition that fails.", 330),
        ("What to change", map(near_miss_remedy, misses), "In the model or the recording.", 330),
    ):
        made.text(label, pd.Series(list(cells), dtype="object"), help_, width)
    facts = pd.DataFrame(
        {
            "places": [miss.count or None for miss in misses],
            "stake": [miss.stake_ns for miss in misses],
            "bytes": [miss.bytes_saved for miss in misses],
        },
        dtype="float64",
    )
    if facts["places"].notna().any():
        made.number("", "Places", facts["places"], "Places that miss alike.", "%.0f")
    if facts["stake"].notna().any():
        stake = "Measured, profiled: what fusion would absorb takes per run; at most that is saved."
        made.number("", "Time, µs", facts["stake"] / 1e3, stake, "%.1f")
    if facts["bytes"].notna().any():
        saved = "Modelled: bytes of tensors that would no longer be written and read back."
        made.number("", "Bytes, kB", facts["bytes"] / 1e3, saved, "%.0f")
    names = [", ".join(miss.nodes) for miss in misses]
    first = "Operators of the model, at the place with most time."
    made.text("Operators", pd.Series(names, dtype="object"), first, "large")
    return made


def ablation(comparison: Comparison) -> None:
    """The table of what each optimizer of the engine is worth in this model, measured."""
    from analysis.compare.ablation import ablation as measured
    from analysis.wording.ablation import ABLATION_HELP, ablation_notes, ablation_ratio

    with panels.guarded():
        st.subheader("What each optimizer is worth", anchor=False, help=ABLATION_HELP)
        experiment = comparison.candidate.experiment
        rows = None if experiment is None else measured(experiment)
        if rows is None:
            st.caption(_NOT_ABLATED)
            return
        table = tables.Table()
        table.text("Optimizer", rows["optimizer"], "As the engine names it.", "medium")
        for kind, label, help_ in (
            ("removed", "Lost without it", "Time without it / time of fused, un-profiled."),
            ("added", "Brought alone", "Time of unfused / time with it alone, un-profiled."),
        ):
            cells = [ablation_ratio(row, kind) for _, row in rows.iterrows()]
            table.text(label, pd.Series(cells, dtype="object"), help_, "medium")
        for name, label, help_ in (
            ("nodes_all", "fused", "All optimizers on."),
            ("nodes_without", "without it", "All on but this one."),
            ("nodes_only", "only it", "This one alone."),
            ("nodes_none", "unfused", "All off."),
        ):
            table.number("Operators in the graph", label, rows[name], help_, "%.0f")
        _draw(table, "ablation", tables.ROW_HEIGHT, "What each optimizer is worth, measured")
        for note in ablation_notes(rows):
            st.text(note)  # may list names from the file


def _draw(table: tables.Table, key: str, row_height: int, alt: str) -> None:
    frame = table.frame
    few = len(frame) * row_height <= _MOST_ROWS * _ROW_HEIGHT
    st.dataframe(
        frame,
        key=key,
        height="content" if few else tables.HEIGHT,
        row_height=row_height,
        hide_index=True,
        column_config=table.settings,
        placeholder="",
        alt=alt,
    )
