"""The tables of one trace by itself: op types and operators, columns as profilers have them."""

from __future__ import annotations

import pandas as pd

from fusescope.analysis.messages import Message
from fusescope.analysis.metrics import places
from fusescope.analysis.operators.classes import LABELS
from fusescope.analysis.report.text import with_shown_shares
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.counted import Runs
from fusescope.analysis.work_units import run_word
from fusescope.app.parts import tables
from fusescope.app.parts.heads import NO_HEAD, Head
from fusescope.app.parts.table import (
    DURATION,
    NAME_CHARS,
    NAME_WIDTH,
    TYPE_CHARS,
    TYPE_WIDTH,
    Figure,
    Table,
    text_of,
)

# Beside the box by which an operator is picked, the head of its duration takes more room than one
# below two sides.
_PICKED_WIDTH, _PICKED_CHARS = 200, 27


def type_table(rows: pd.DataFrame, trace: Trace) -> Table:
    """The table of op types, from rows of `by_type`."""
    table, rows = Table(runs=_runs(trace)), with_shown_shares(rows)
    named = Message("Op type as the engine names it.")
    table.text(Head(Message("OP type")), rows["op_type"], named, NAME_WIDTH, NAME_CHARS)
    cores = tables.core_types(rows["provider"])
    table.text(Head(tables.CORE_TYPE), cores, tables.RAN, TYPE_WIDTH, TYPE_CHARS, behind=True)
    for figure in (DURATION, *tables.TYPE_FIGURES):
        _add(table, figure, rows)
    return table


def operator_table(rows: pd.DataFrame, trace: Trace) -> Table:
    """The table of operators, from rows of `by_operator` under their roofs: as many columns as a
    page is wide, the others by choice."""
    table = Table(runs=_runs(trace))
    name = Message("Name of the operator in the graph.")
    table.text(Head(Message("Name")), rows["name"], name, _PICKED_WIDTH, _PICKED_CHARS)
    kind, types = Message("Op type."), rows["op_type"]
    table.text(Head(Message("Type")), types, kind, TYPE_WIDTH, TYPE_CHARS, behind=True)
    beside = {figure.source: figure for figure in tables.OPERATOR_FIGURES}
    first = [beside.pop(source) for source in ("median_ns", "wait_ns", "share")]
    for figure in (DURATION, *tables.TYPE_FIGURES[:1], *first):
        _add(table, figure, rows)
    classes = rows["op_class"].map(lambda code: LABELS[code].text(), na_action="ignore")
    table.text(Head(tables.CLASS), classes, tables.CLASS_HELP, tables.CLASS_WIDTH)
    reads = Message("Data types and shapes that it reads.")
    table.text(Head(Message("Inputs")), rows["inputs"], reads, "medium")
    table.first = len(table.columns)
    for figure in beside.values():
        _add(table, figure, rows)
    writes = Message("Data types and shapes that it writes.")
    table.text(Head(Message("Outputs")), rows["outputs"], writes, "medium")
    tables.add_places(table, *places.of_operators(trace, rows["provider"]))
    return table


def _runs(trace: Trace) -> Runs:
    """Return what times and counts of the trace are of."""
    return Runs(trace.has_runs, trace.has_runs, run_word(trace))


def _add(table: Table, figure: Figure, rows: pd.DataFrame) -> None:
    """A column of a figure where a row has it."""
    if figure.source not in rows or rows[figure.source].isna().all():
        return
    values = rows[figure.source].astype("Float64").to_numpy("float64", na_value=float("nan"))
    shown = pd.Series(values, index=rows.index) / figure.unit
    table.number(NO_HEAD, figure.head, shown, figure.help, figure.format, text_of(figure))
