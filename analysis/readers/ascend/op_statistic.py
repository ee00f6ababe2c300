"""op_statistic.csv of the Ascend PyTorch and MindSpore profiler and of msprof: totals of op types.

One row an op type and core type: how often it ran and how long in all. Communication is not in it.
"""

from __future__ import annotations

from fusescope.analysis.messages import mark
from fusescope.analysis.readers.ascend.beside import is_statistic, statistic_rows
from fusescope.analysis.readers.ascend.columns import DEVICE, device_classes, task_kind
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.csv_table import CsvTable, read_csv
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.trace import Diagnostic, Trace, noted

_INSTEAD = mark("Open the whole folder, with kernel_details.csv or op_summary_*.csv.")
_TOLERANCE = 1.001  # printed means are rounded


def _read(source: Source) -> Trace:
    """The trace: a row's total is the time of one entry with `n` calls."""
    table = read_csv(source, "OP Type", "Count", "Total Time")
    table.times("Total Time", named=True)  # refuses what is not a unit of time
    lines = statistic_rows(table)
    types = [op_type or core or "unnamed" for op_type, core, _, _ in lines]
    columns: dict[str, list[object]] = {
        "name": list(types),
        "op_type": [op_type for op_type, _, _, _ in lines],
        "provider": [core for _, core, _, _ in lines],
        "level": ["device_kernel"] * len(lines),
        "is_communication": [
            task_kind(core, op_type, op_type) == "communication" for op_type, core, _, _ in lines
        ],
        "device": list(table.texts(*DEVICE)),
        "n": [count if count is not None and count > 0 else None for _, _, count, _ in lines],
        "dur_ns": [total for _, _, _, total in lines],
        "source_row": list(table.rows),
    }
    columns["op_class"] = device_classes(columns)
    meta = source.meta(OP_STATISTIC.name, "Ascend profiler")
    notes = [*table.notes, *_contradictions(table)]
    return build_trace(meta, columns, notes=notes, limits=source.limits)


OP_STATISTIC = Reader(
    name="ascend_op_statistic",
    title=mark("Ascend profiler and msprof: op_statistic.csv alone"),
    fields={
        "types": ALWAYS,
        **dict.fromkeys(
            ("start", "runs", "shapes", "dtypes", "counters", "stream", "communication"),
            _INSTEAD,
        ),
    },
    recording=(
        "It is written beside `kernel_details.csv` from profiler_level=Level1 on, and by `msprof "
        "--application=…`. Alone it has totals of op types only, so open the whole folder."
    ),
    sniff=is_statistic,
    read=_read,
)


def _contradictions(table: CsvTable) -> list[Diagnostic]:
    """A note on rows whose total is not count times mean, or whose mean is outside min and max."""
    times = (table.ns(f"{what} Time") for what in ("Total", "Min", "Avg", "Max"))
    rows = zip(table.texts("OP Type"), table.integers("Count"), *times, strict=True)
    wrong = [
        op_type or ""
        for op_type, *figures in rows
        if not _agree(*(figure for figure in figures if figure is not None))
    ]
    return noted("warning", "contradiction", wrong)


def _agree(*figures: int) -> bool:
    """Whether count, total, min, mean and max fit; nothing is said where one lacks."""
    if len(figures) < 5:
        return True
    count, total, minimum, mean, maximum = figures
    in_order = minimum <= mean * _TOLERANCE + 1 and mean <= maximum * _TOLERANCE + 1
    return in_order and abs(count * mean - total) <= total * (_TOLERANCE - 1) + count
