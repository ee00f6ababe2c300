"""The Ascend view of operators: columns as kernel_details names them, counters in total."""

from __future__ import annotations

import re

import pandas as pd
import streamlit as st

from analysis import wording
from analysis.compare.comparison import Comparison
from app.parts import panels
from app.parts.table import Figure, Table

TOTALS = "ascend_totals"
# What the columns have room for: those of the times and counters stand beside them.
_NAME_CHARS = 34
_TYPE_CHARS = 20
_MAX_TOTALS = 12  # rows that are shown without scrolling
_TENSOR = re.compile(r"([^\s\[;]*)\[([^\]]*)\](?::([^;]*))?")
_COUNT = Figure("count", "Count", "Executions per run.", 1.0, "%.0f")
_DURATION = Figure(
    "per_run_ns",
    "Duration(us)",
    "Time of all its executions, mean per run.",
    1e3,
    "%.3f",
)
_AVERAGE = Figure("mean_ns", "Avg Time(us)", "Mean of the executions.", 1e3, "%.3f")
_WAIT = Figure(
    "wait_ns", "Wait Time(us)", "From the end of the task before it on its stream, mean.",
    1e3, "%.3f",
)  # fmt: skip
_START = Figure(
    "start", "Start Time(us)", "First start in the run that the timeline shows, from its start.",
    1e3, "%.3f",
)  # fmt: skip


def kernel_table(rows: pd.DataFrame) -> Table:
    """Operators in the columns of kernel_details, before and after, with their counters."""
    table = Table()
    name = "Name of the kernel or operator."
    table.text("Name", rows["name"], name, 240, _NAME_CHARS)
    table.text("Type", rows["op_type"], "The candidate's where both ran it.", 150, _TYPE_CHARS)
    table.figure(_DURATION, rows)
    table.change(rows, _DURATION.label)
    table.first = len(table.columns)
    table.text("Accelerator Core", rows["provider"], "Core that ran it.", 130)
    table.figure(_COUNT, rows)
    table.counters(rows)
    for figure in (_AVERAGE, _WAIT, _START):
        table.figure(figure, rows)
    for side, head in (("inputs", "Input"), ("outputs", "Output")):
        cells = [_tensor_cells(text) for text in rows[side]]
        for index, what in enumerate(("Shapes", "Data Types", "Formats")):
            column = pd.Series([cell[index] for cell in cells], index=rows.index, dtype="object")
            if column.notna().any():
                table.text(f"{head} {what}", column, f"{what} of its {side}.", "small")
    return table


def totals(comparison: Comparison) -> None:
    """The counters over a run, before and after; nothing where neither side has any."""
    from analysis.report.counters import counter_rows

    found = counter_rows(comparison)
    if not found:
        note = "Neither file has counters, so only times are shown."
        st.caption(panels.own(note))
        return
    table = Table()
    covers = wording.counted(wording.COUNTERS_HELP, comparison)
    columns = (
        ("Counter", [row.label for row in found], "Counters per run, without communication."),
        ("baseline", [row.sides[0] for row in found], "Of the baseline."),
        ("candidate", [row.sides[1] for row in found], "Of the candidate."),
        ("change", [_hyphen(row.change) for row in found], "None where the cores are not alike."),
        ("Covers, baseline", [row.covered[0] for row in found], covers),
        ("Covers, candidate", [row.covered[1] for row in found], covers),
        ("Definition", [row.definition for row in found], "What it is made of."),
    )
    widths: dict[str, str | int] = {"Counter": 170, "Definition": "large"}
    for label, cells, help_ in columns:
        table.text(label, pd.Series(cells, dtype="object"), help_, widths.get(label, "small"))
    table = table.of(comparison)
    table.draw(TOTALS, "Counters in total, before and after", max_rows=_MAX_TOTALS)


def _hyphen(change: str) -> str:
    """A change as the dashboard writes it; the report, whose text it is, has a minus sign."""
    return change.replace("\u2212", "-")


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
