"""Why fusion did not buy more: patterns that were not fused, and what each optimizer is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import pandas as pd
import streamlit as st

from analysis.compare.comparison import Comparison
from analysis.experiment import ModelFacts
from app.parts import panels
from app.parts.table import Table, micro
from app.recording import progress
from app.sources.comparisons import Shown

if TYPE_CHECKING:
    from analysis.advice import MissedFusion

_ROW_HEIGHT = 66  # three lines of text
_MAX_ROWS, _MAX_OPTIMIZERS = 6, 12  # that are shown without scrolling
_NO_GRAPH = (
    "It needs the model's graph, which only an experiment has: record the model on the *Record* "
    "page or with `fusescope collect MODEL`."
)
_OTHER_ENGINE = (
    "The conditions under which this engine fuses are not known, so nothing is said about what it "
    "did not fuse."
)
OWN_PASS = "rules:O3"
OWN_PASS_VARIANTS = ("unfused", "fused", OWN_PASS)
_NOT_TRIED = (
    "Whether FuseScope's own pass would fuse these is not in this recording; this command says it:"
)
_NOT_ABLATED = (
    "Not recorded. `fusescope collect MODEL --ablate` also records the model without each "
    "optimizer, and with it alone."
)


def missed_fusions(shown: Shown, record_page: st.Page) -> None:
    """The table of patterns that were not fused: what blocked them and what to change, and what
    our own pass would fuse, which the `record_page` records."""
    from analysis.wording.advice import NEAR_MISSES_HELP, attention_sentence

    with panels.guarded():
        st.subheader("Why not fused", anchor=False, help=NEAR_MISSES_HELP.text())
        misses = shown.missed_fusions
        if misses:
            table = _missed(misses)
            alt = "Patterns that were not fused, and why"
            table.draw("near_misses", alt, max_rows=_MAX_ROWS, row_height=_ROW_HEIGHT)
            _own_pass(shown, misses, record_page)
        else:
            st.caption(_none_missed(shown.comparison))
        if shown.attention is not None:
            st.caption(panels.own(attention_sentence(shown.attention)))


def _own_pass(shown: Shown, misses: Sequence[MissedFusion], record_page: st.Page) -> None:
    """What our own pass would fuse of this, and how it is recorded."""
    from analysis.wording.advice import own_pass_sentence

    experiment = shown.comparison.candidate.experiment
    if experiment is None or shown.comparison.candidate.label == OWN_PASS:
        return
    is_built_in = _is_built_in(experiment.record.model)
    name = experiment.record.model.name if is_built_in else "MODEL.onnx"
    if experiment.own_fusions is None:
        st.caption(_NOT_TRIED)
        st.code(f"fusescope fuse {name} --explain", language=None)
        return
    sentence = own_pass_sentence(misses)
    if not sentence:
        return
    st.text(sentence)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        can_record = is_built_in and progress.refusal() is None
        if can_record and st.button(f"Record with {OWN_PASS}", key="record_own_pass"):
            variants = ",".join(OWN_PASS_VARIANTS)
            st.switch_page(record_page, query_params={"model": name, "variants": variants})
        st.code(f"fusescope collect {name} --variants {','.join(OWN_PASS_VARIANTS)}", language=None)


def _is_built_in(model: ModelFacts) -> bool:
    """Whether this installation can make the model anew."""
    if model.source != "zoo" or progress.missing():
        return False
    from collectors.record import zoo_models

    return model.name in zoo_models()


def _none_missed(comparison: Comparison) -> str:
    """Why the table is empty: nothing is known, or nothing was missed."""
    from analysis.advice.settings import conditions_of

    side = comparison.candidate
    if side.experiment is None or comparison.fusion.source != "graphs":
        return _NO_GRAPH
    if conditions_of(side) is None:
        return _OTHER_ENGINE
    return "Every pattern that FuseScope knows and finds in this model was fused."


def _missed(misses: Sequence[MissedFusion]) -> Table:
    from analysis.wording.advice import (
        OWN_PASS_HELP,
        near_miss_remedy,
        near_miss_sentence,
        own_pass_text,
        pattern_text,
    )

    made = Table()
    for label, cells, help_, width in (
        ("Pattern", map(pattern_text, misses), "What could run as one operator.", 150),
        ("What blocked it", map(near_miss_sentence, misses), "The condition that fails.", 330),
        ("What to change", map(near_miss_remedy, misses), "In the model or the recording.", 330),
    ):
        made.text(label, pd.Series(list(cells), dtype="object"), help_, width)
    facts = pd.DataFrame(
        {
            "places": [miss.count or None for miss in misses],
            "stake": [miss.stake_ns for miss in misses],
            "spent": [miss.spent_ns for miss in misses],
            "bytes": [miss.bytes_saved for miss in misses],
        },
        dtype="float64",
    )
    if facts["places"].notna().any():
        made.number("", "Places", facts["places"], "Places that miss alike.", "%.0f")
    if facts["spent"].notna().any():
        spent = "Measured, profiled: what the candidate runs for these places, per run."
        made.number("", "Time spent, µs", facts["spent"] / 1e3, spent, "%.1f", micro)
    if facts["stake"].notna().any():
        stake = "Measured, profiled: what fusion would absorb takes per run; at most that is won."
        label = "Time to win, at most, µs"
        made.number("", label, facts["stake"] / 1e3, stake, "%.1f", micro)
    own = pd.Series([own_pass_text(miss) for miss in misses], dtype="object")
    if (own != "").any():
        made.text("Own pass fuses", own, OWN_PASS_HELP.text(), "small")
    if facts["bytes"].notna().any():
        saved = "Modelled: bytes of tensors that would no longer be written and read back."
        made.number("", "Bytes, kB", facts["bytes"] / 1e3, saved, "%.0f")
    names = [", ".join(miss.nodes) for miss in misses]
    if any(names):
        first = "Operators of the model, at the place with most time."
        made.text("Operators", pd.Series(names, dtype="object"), first, "large")
    return made


def ablation(comparison: Comparison) -> None:
    """The table of what each optimizer of the engine is worth in this model, measured."""
    from analysis.compare.ablation import ablation as measured
    from analysis.wording.ablation import ABLATION_HELP, ablation_notes, ablation_ratio

    with panels.guarded():
        st.subheader("What each optimizer is worth", anchor=False, help=ABLATION_HELP.text())
        experiment = comparison.candidate.experiment
        rows = None if experiment is None else measured(experiment)
        if rows is None:
            st.caption(_NOT_ABLATED)
            return
        table = Table()
        table.text("Optimizer", rows["optimizer"], "As the engine names it.", "medium")
        kinds: tuple[tuple[Literal["removed", "added"], str, str], ...] = (
            ("removed", "Lost without it", "Time without it / time of fused, un-profiled."),
            ("added", "Brought alone", "Time of unfused / time with it alone, un-profiled."),
        )
        for kind, label, help_ in kinds:
            cells = [ablation_ratio(row, kind) for _, row in rows.iterrows()]
            table.text(label, pd.Series(cells, dtype="object"), help_, "medium")
        for name, label, help_ in (
            ("nodes_all", "fused", "All optimizers on."),
            ("nodes_without", "without it", "All on but this one."),
            ("nodes_only", "only it", "This one alone."),
            ("nodes_none", "unfused", "All off."),
        ):
            table.number("Operators in the graph", label, rows[name], help_, "%.0f")
        table.draw("ablation", "What each optimizer is worth, measured", max_rows=_MAX_OPTIMIZERS)
        for note in ablation_notes(rows):
            st.text(note)  # may list names from the file
