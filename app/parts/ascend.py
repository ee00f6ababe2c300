"""The Ascend view of operators: columns as kernel_details names them, counters in total."""

from __future__ import annotations

import re

import pandas as pd
import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, say
from fusescope.app.parts import panels
from fusescope.app.parts.heads import SIDE_HEADS, Counted, Head, Words
from fusescope.app.parts.table import Figure, Table
from fusescope.app.parts.tables import EXECUTIONS, MEAN, OF_SIDE

TOTALS = "ascend_totals"
# What the columns have room for: those of the times and counters stand beside them.
_NAME_CHARS = 34
_TYPE_CHARS = 20
_MAX_TOTALS = 12  # rows that are shown without scrolling
# Definitions are sentences of up to three lines in cells this high and wide, in pixels.
_LINES_HEIGHT, _LINES_WIDTH = 76, 520
_TENSOR = re.compile(r"([^\s\[;]*)\[([^\]]*)\](?::([^;]*))?")
# Heads of kernel_details are names: they are the same in every language.
_COUNT = Figure("count", Head("Count"), EXECUTIONS, 1.0, "%.0f")
_DURATION = Figure(
    "per_run_ns",
    Head("Duration", "(us)"),
    Counted(
        Message("Time of all its executions, {mean}."),
        Message("Time of all its executions in the file."),
    ),
    1e3,
    "%.3f",
)
_AVERAGE = Figure("mean_ns", Head("Avg Time", "(us)"), MEAN, 1e3, "%.3f")
_WAIT = Figure(
    "wait_ns",
    Head("Wait Time", "(us)"),
    Message("Mean time from the end of the previous task on its stream."),
    1e3,
    "%.3f",
)
_START = Figure(
    "start",
    Head("Start Time", "(us)"),
    Message("First start in the run that the timeline shows, measured from the run's start."),
    1e3,
    "%.3f",
)
_TENSOR_HELPS = {
    "Input Shapes": Message("Shapes of its inputs."),
    "Input Data Types": Message("Data types of its inputs."),
    "Input Formats": Message("Formats of its inputs."),
    "Output Shapes": Message("Shapes of its outputs."),
    "Output Data Types": Message("Data types of its outputs."),
    "Output Formats": Message("Formats of its outputs."),
}


_COUNTERS = Counted(
    Message("Counters {per}, without communication."),
    Message("Counters of the file, without communication."),
)
_CHANGE = Message("No change is shown where the sides ran on different cores.")
_COVERS = Head(Message("Covers, baseline")), Head(Message("Covers, candidate"))
_MADE_OF = Message("How it is computed.")


def kernel_table(rows: pd.DataFrame) -> Table:
    """Operators in the columns of kernel_details, before and after, with their counters."""
    table = Table()
    name = Message("Name of the kernel or operator.")
    table.text(Head("Name"), rows["name"], name, 240, _NAME_CHARS)
    type_ = Message("The candidate's type where both ran it.")
    table.text(Head("Type"), rows["op_type"], type_, 150, _TYPE_CHARS)
    table.figure(_DURATION, rows)
    table.change(rows, _DURATION.head)
    table.first = len(table.columns)
    core = Message("Core that ran it.")
    table.text(Head("Accelerator Core"), rows["provider"], core, 130)
    table.figure(_COUNT, rows)
    table.counters(rows)
    for figure in (_AVERAGE, _WAIT, _START):
        table.figure(figure, rows)
    for side, head in (("inputs", "Input"), ("outputs", "Output")):
        cells = [_tensor_cells(text) for text in rows[side]]
        for index, what in enumerate(("Shapes", "Data Types", "Formats")):
            column = pd.Series([cell[index] for cell in cells], index=rows.index, dtype="object")
            if column.notna().any():
                label = f"{head} {what}"  # as kernel_details has it
                table.text(Head(label), column, _TENSOR_HELPS[label], "small")
    return table


def totals(comparison: Comparison) -> None:
    """The counters over a run, before and after; nothing where neither side has any."""
    from fusescope.analysis.report.counters import counter_rows

    found = counter_rows(comparison)
    if not found:
        st.caption(panels.own(say("Neither file has counters, so only times are shown.")))
        return
    table = Table()
    columns: tuple[tuple[Head, list[str], Words, str | int], ...] = (
        (Head(Message("Counter")), [row.label for row in found], _COUNTERS, 170),
        (SIDE_HEADS["baseline"], [row.sides[0] for row in found], OF_SIDE["baseline"], "small"),
        (SIDE_HEADS["candidate"], [row.sides[1] for row in found], OF_SIDE["candidate"], "small"),
        (Head(Message("change")), [row.change for row in found], _CHANGE, "small"),
        (_COVERS[0], [row.covered[0] for row in found], wording.COUNTERS_HELP, "small"),
        (_COVERS[1], [row.covered[1] for row in found], wording.COUNTERS_HELP, "small"),
        (Head(Message("Definition")), [row.definition for row in found], _MADE_OF, _LINES_WIDTH),
    )
    for head, cells, help_, width in columns:
        table.text(head, pd.Series(cells, dtype="object"), help_, width)
    table = table.of(comparison)
    table.draw(
        TOTALS,
        say("Counters in total, of both sides"),
        max_rows=_MAX_TOTALS,
        row_height=_LINES_HEIGHT,
    )


def _tensor_cells(text: object) -> tuple[str | None, str | None, str | None]:
    """Shapes, data types and formats as kernel_details writes them: '32,3;64', 'float16;float32'.

    Formats only where one is known; plain ones read ND.
    """
    if not isinstance(text, str) or not text:
        return None, None, None
    tensors = _TENSOR.findall(text)
    formats = [layout or "ND" for _, _, layout in tensors]
    return (
        ";".join(shape for _, shape, _ in tensors),
        ";".join(dtype for dtype, _, _ in tensors),
        ";".join(formats) if any(layout for _, _, layout in tensors) else None,
    )
