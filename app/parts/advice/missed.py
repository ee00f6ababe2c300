"""Why fusion did not buy more: patterns that were not fused, and what each optimizer is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import pandas as pd
import streamlit as st

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, say
from fusescope.app.parts import panels
from fusescope.app.parts.heads import NO_HEAD, Head, told
from fusescope.app.parts.table import Table
from fusescope.app.recording import progress
from fusescope.app.sources.comparisons import Shown

if TYPE_CHECKING:
    from fusescope.analysis.advice import MissedFusion
    from fusescope.analysis.wording.fusion.apart import Apart

_ROW_HEIGHT = 66  # three lines of text
_MAX_ROWS, _MAX_OPTIMIZERS, _MAX_PAIRS = 6, 12, 12  # that are shown without scrolling
_NO_GRAPH = Message(
    "This needs the model's graph, which only an experiment contains. Record the model on the "
    "{page} page or with {command:name}."
)
_OTHER_ENGINE = Message(
    "The conditions under which this engine fuses are not known, so missed fusions cannot be "
    "listed."
)
OWN_PASS = "rules:O3"
OWN_PASS_VARIANTS = ("unfused", "fused", OWN_PASS)
_NOT_TRIED = Message(
    "This recording does not show whether FuseScope's own pass would fuse these. This command does:"
)
_NOT_ABLATED = Message(
    "Not recorded. {command:name} also records the model without each optimizer, and with each "
    "optimizer alone."
)
_NOT_LEFT_OUT = Message(
    "Not recorded. {command:name} also records the model without each of its largest fusions."
)
_NOT_ONE_BY_ONE = ("jax", "mindspore", "openvino")  # no fusion can be left out by itself


def missed_fusions(shown: Shown, record_page: st.Page) -> None:
    """The table of patterns that were not fused: what blocked them and what to change, and what
    our own pass would fuse, which the `record_page` records."""
    from fusescope.analysis.wording.advice import NEAR_MISSES_HELP, attention_sentence
    from fusescope.analysis.wording.fusion.apart import APART_HELP, apart

    rows = apart(shown.comparison)
    with panels.guarded():
        st.subheader(
            say("Why not fused"), anchor=False, help=told(APART_HELP if rows else NEAR_MISSES_HELP)
        )
        if rows:
            _apart(rows).draw("apart", say("Kernels left apart, and why"), max_rows=_MAX_PAIRS)
            return
        misses = shown.missed_fusions
        if misses:
            table = _missed(misses)
            alt = say("Patterns that were not fused, and why")
            table.draw("near_misses", alt, max_rows=_MAX_ROWS, row_height=_ROW_HEIGHT)
            _own_pass(shown, misses, record_page)
        else:
            st.caption(_none_missed(shown.comparison))
        if shown.attention is not None:
            st.caption(panels.own(attention_sentence(shown.attention)))


def _apart(rows: Sequence[Apart]) -> Table:
    made = Table()
    for head, cells, help_, width in (
        (
            Head(Message("Kernel")),
            [row.first for row in rows],
            Message("It writes what the next one reads."),
            250,
        ),
        (Head(Message("Read by")), [row.second for row in rows], Message("The next one."), 250),
        (Head(Message("Why apart")), [row.why for row in rows], Message("The reason."), 420),
        (
            Head(Message("Said by")),
            [row.said_by for row in rows],
            Message("The compiler when it was asked, or derived from the two kernels."),
            110,
        ),
    ):
        made.text(head, pd.Series(cells, dtype="object"), help_, width)
    return made


def _own_pass(shown: Shown, misses: Sequence[MissedFusion], record_page: st.Page) -> None:
    """What our own pass would fuse of this, and how it is recorded."""
    from fusescope.analysis.wording.advice import own_pass_sentence

    experiment = shown.comparison.candidate.experiment
    if experiment is None or shown.comparison.candidate.label == OWN_PASS:
        return
    is_built_in = progress.is_built_in(experiment.record.model)
    name = experiment.record.model.name if is_built_in else "MODEL.onnx"
    if experiment.own_fusions is None:
        st.caption(panels.own(_NOT_TRIED.text()))
        panels.code(f"fusescope fuse {name} --explain")
        return
    sentence = own_pass_sentence(misses)
    if not sentence:
        return
    st.text(sentence)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        can_record = is_built_in and progress.refusal() is None
        if can_record and st.button(
            say("Record with {variant:name}", variant=OWN_PASS), key="record_own_pass"
        ):
            variants = ",".join(OWN_PASS_VARIANTS)
            st.switch_page(record_page, query_params={"model": name, "variants": variants})
        panels.code(f"fusescope collect {name} --variants {','.join(OWN_PASS_VARIANTS)}")


def _none_missed(comparison: Comparison) -> str:
    """Why the table is empty: nothing is known, or nothing was missed."""
    from fusescope.analysis.advice.settings import conditions_of

    side = comparison.candidate
    if side.experiment is None or comparison.fusion.source != "graphs":
        return panels.parts_text(
            _NO_GRAPH.parts(page=say("Record"), command="fusescope collect MODEL"), "gray"
        )
    if conditions_of(side) is None:
        return panels.own(_OTHER_ENGINE.text())
    return say("Every pattern that FuseScope knows and finds in this model was fused.")


def _missed(misses: Sequence[MissedFusion]) -> Table:
    from fusescope.analysis.wording.advice import (
        OWN_PASS_HELP,
        near_miss_remedy,
        near_miss_sentence,
        own_pass_text,
    )

    made = Table()
    for head, cells, help_, width in (
        (
            Head(Message("Pattern")),
            [miss.pattern for miss in misses],
            Message("What could run as one operator."),
            150,
        ),
        (
            Head(Message("What blocked it")),
            [near_miss_sentence(miss) for miss in misses],
            Message("The condition that fails."),
            330,
        ),
        (
            Head(Message("What to change")),
            [near_miss_remedy(miss) for miss in misses],
            Message("In the model or in the recording."),
            330,
        ),
    ):
        made.text(head, pd.Series(cells, dtype="object"), help_, width)
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
        alike = Message("Places where the same condition fails.")
        made.number(NO_HEAD, Head(Message("Places")), facts["places"], alike, "%.0f")
    if facts["spent"].notna().any():
        spent = Message(
            "Measured: mean time per run that the candidate spends there, without slow executions, "
            "as in the ledger."
        )
        head = Head(Message("Time spent"), "µs")
        made.number(NO_HEAD, head, facts["spent"] / 1e3, spent, "%.1f")
    if facts["stake"].notna().any():
        stake = Message(
            "Measured: mean time per run of the operators that could become one or part of "
            "another, without slow executions, as in the ledger. Only some of it can be saved."
        )
        head = Head(Message("Time to fuse"), "µs")
        made.number(NO_HEAD, head, facts["stake"] / 1e3, stake, "%.1f")
    own = pd.Series([own_pass_text(miss) for miss in misses], dtype="object")
    if (own != "").any():
        made.text(Head(Message("Own pass fuses")), own, OWN_PASS_HELP, "small")
    if facts["bytes"].notna().any():
        saved = Message("Modelled: bytes of tensors that would no longer be written and read back.")
        made.number(NO_HEAD, Head(Message("Bytes"), "kB"), facts["bytes"] / 1e3, saved, "%.0f")
    names = [", ".join(miss.nodes) for miss in misses]
    if any(names):
        first = Message("Operators of the model, at the place that takes most time.")
        made.text(Head(Message("Operators")), pd.Series(names, dtype="object"), first, "large")
    return made


_ABLATED: tuple[tuple[Literal["removed", "added"], Head, Message], ...] = (
    (
        "removed",
        Head(Message("Slower without it")),
        Message("Time without it / time of fused, un-profiled."),
    ),
    (
        "added",
        Head(Message("Faster with it alone")),
        Message("Time of unfused / time with it alone, un-profiled."),
    ),
)
_IN_GRAPH = Head(Message("Operators in the graph"))
_NODES = (
    ("nodes_all", Head("fused"), Message("All optimizers on.")),  # names of variants
    ("nodes_without", Head(Message("without it")), Message("All optimizers on except this one.")),
    ("nodes_only", Head(Message("only it")), Message("Only this optimizer on.")),
    ("nodes_none", Head("unfused"), Message("All optimizers off.")),
)
_KERNELS = (
    ("nodes_all", Head("fused"), Message("Kernels and library calls of fused.")),
    (
        "nodes_without",
        Head(Message("without it")),
        Message("The same with the operators of this kernel each in one of its own."),
    ),
    ("nodes_none", Head("unfused"), Message("A kernel for each operator.")),
)


def ablation(comparison: Comparison) -> None:
    """The table of what each optimizer of the engine is worth in this model, measured."""
    from fusescope.analysis.compare.ablation import ablation as measured
    from fusescope.analysis.wording.ablation import (
        ablation_help,
        ablation_notes,
        ablation_ratio,
        ablation_title,
        of_fusions,
    )

    with panels.guarded():
        experiment = comparison.candidate.experiment
        rows = None if experiment is None else measured(experiment)
        engine = comparison.candidate.engine.name if comparison.candidate.engine else ""
        if rows is None and engine in _NOT_ONE_BY_ONE:
            return
        compiles = engine == "torch"
        about = told(ablation_help(rows, compiles=compiles))
        st.subheader(ablation_title(rows, compiles=compiles), anchor=False, help=about)
        if rows is None:
            command = "fusescope collect MODEL --ablate"
            message = _NOT_ABLATED
            if compiles:
                command = "fusescope collect MODEL --runtime torch --ablate"
                message = _NOT_LEFT_OUT
            st.caption(panels.parts_text(message.parts(command=command), "gray"))
            return
        table = Table()
        named = Message("As the engine names it.")
        fusions = of_fusions(rows)
        head = Head(Message("Fused kernel")) if fusions else Head(Message("Optimizer"))
        table.text(head, rows["optimizer"], named, "large" if fusions else "medium")
        for kind, head, help_ in _ABLATED[:1] if fusions else _ABLATED:
            cells = [ablation_ratio(row, kind) for _, row in rows.iterrows()]
            table.text(head, pd.Series(cells, dtype="object"), help_, "medium")
        for name, head, help_ in _KERNELS if fusions else _NODES:
            table.number(_IN_GRAPH, head, rows[name], help_, "%.0f")
        alt = ablation_title(rows)
        table.draw("ablation", alt, max_rows=_MAX_OPTIMIZERS)
        for note in ablation_notes(rows):
            st.text(note)  # may list names from the file
