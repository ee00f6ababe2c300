"""Counters of tasks in Ascend databases: TASK_PMU_INFO, one value a row.

Names and units become those of kernel_details.csv, so that both exports of one recording agree.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fusescope.analysis.readers.input.sqlite import Database, Table
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, Diagnostic, noted

_MAX_COUNTERS = 300  # of one recording; one setting of aic_metrics has about 30
_TAKEN = frozenset((*OPERATOR_COLUMNS, *CALL_COLUMNS))
# Vector cores have no cube and no L1; the file lists their counters as zeros all the same.
_EMPTY = re.compile(r"aiv_(mac|mte1|fixpipe)_(time\(us\)|ratio)")


class Task(NamedTuple):
    """A row of TASK that is an operator: its globalTaskId, start and end in ns."""

    number: object
    start: int | None
    end: int | None


def counters(
    database: Database,
    texts: Callable[[Table, str], list[str | None]],
    tasks: Sequence[Task],
    notes: list[Diagnostic],
) -> dict[str, list[object]]:
    """Counters under the heads of kernel_details.csv, one entry a task.

    A task that ran several times shares its number; newer files give each counter a time,
    which tells the runs apart.
    """
    table = database.read("TASK_PMU_INFO", "globalTaskId", "name", "value", "timestampNs")
    indices: dict[object, list[int]] = defaultdict(list)
    for index in sorted(range(len(tasks)), key=lambda p: tasks[p].start or 0):
        indices[tasks[index].number].append(index)
    heads: dict[str, tuple[str, float]] = {}
    columns: dict[str, list[object]] = {}
    lost = ambiguous = 0
    beyond: list[str] = []
    counters = zip(
        table.cells("globalTaskId"),
        texts(table, "name"),
        table.numbers("value"),
        table.integers("timestampNs"),
        strict=True,
    )
    for number, name, value, time in counters:
        if name is None or value is None:
            continue
        found = indices.get(number, [])
        if len(found) > 1 and time is None:
            ambiguous += 1
            continue
        at = _place(tasks, found, time)
        if at is None:
            lost += 1
            continue
        if name not in heads:
            heads[name] = _head(name)
        head, scale = heads[name]
        if head not in columns and len(columns) >= _MAX_COUNTERS:
            beyond.append(name)
            continue
        columns.setdefault(head, [None] * len(tasks))[at] = value * scale
    notes += noted("warning", "companion_unmatched", lost, "TASK_PMU_INFO")
    notes += noted("warning", "counters_beyond", beyond, chars=80)
    notes += noted("warning", "counters_ambiguous", ambiguous)
    return {
        head: column
        for head, column in columns.items()
        if head not in _TAKEN and (any(column) or not _EMPTY.fullmatch(head))
    }


def _head(name: str) -> tuple[str, float]:
    """The head in kernel_details.csv of a counter, and what its value is multiplied by.

    'aic_mac_time' in ns -> 'aic_mac_time(us)'; names and units as msprof itself converts them.
    """
    name = name.strip().removesuffix("_extra")
    if name.endswith("(%)"):
        return name.removesuffix("(%)").strip(), 0.01
    if "(" in name:
        return name, 1.0
    if name in ("total_time", "aic_total_time", "aicore_time"):
        return "aicore_time(us)", 1e-3
    if name == "aiv_total_time":
        return "aiv_time(us)", 1e-3
    if name.endswith("_time"):
        return f"{name}(us)", 1e-3
    if re.search(r"_bw(_|$)", name):
        return f"{name}(GB/s)", 1.0
    if name.endswith("_datas"):
        return f"{name}(KB)", 1.0
    return name, 1.0


def _place(tasks: Sequence[Task], found: Sequence[int], time: int | None) -> int | None:
    """Which of the tasks of one number, in order of start, ran at that time."""
    if len(found) < 2:
        return found[0] if found else None
    at = bisect_right(found, time or 0, key=lambda index: tasks[index].start or 0) - 1
    end = tasks[found[at]].end if at >= 0 else None
    return found[at] if end is not None and (time or 0) <= end else None
