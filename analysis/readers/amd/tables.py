"""Tables of rocprof, v1 to rocprofv3: dispatches, counters, copies of memory, agents.

Counters stand in columns of their own (v1, v2), or one a row (rocprofv3's counter_collection).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fusescope.analysis.readers.amd.rows import (
    MAX_COUNTERS,
    RocprofRows,
    agent_name,
    copy_name,
    durations,
    kernel_name,
)
from fusescope.analysis.readers.building.kernels import kernel_columns
from fusescope.analysis.readers.input.csv_table import CsvTable, column_key, has_columns, read_csv
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS

_NAME = ("Kernel_Name", "KernelName")
_START = ("Start_Timestamp", "BeginNs", "Start")
_END = ("End_Timestamp", "EndNs", "End")
_AGENT = ("Agent_Id", "gpu-id", "GPU_ID")
_QUEUE = ("Queue_Id", "queue-id")
_PROCESS = ("Process_Id", "pid")
_CORRELATION = "Correlation_Id"  # of a call and what it launched
# What is not a counter among the columns of the older tables.
_NO_COUNTERS = frozenset(
    column_key(name)
    for name in (
        *_NAME, *_START, *_END, *_AGENT, *_QUEUE, *OPERATOR_COLUMNS, *CALL_COLUMNS, "Direction",
        "Kind", "Guid", "Index", "queue-index", "pid", "tid", "sig", "obj", "DispatchNs",
        "CompleteNs", "DurationNs", "wave_size",
        "Counter_Name", "Counter_Value", "Dispatch_Index",
    )
)  # fmt: skip
_PLACE = re.compile(r"(workgroup|grid|block)size[xyz]?|grd|wgr|.*id")


def is_dispatches(head: bytes) -> bool:
    """True for a table of dispatches with times."""
    return has_columns(head, _NAME, _START, _END, (*_AGENT, "Dispatch_Id", "Kind"))


def is_copies(head: bytes) -> bool:
    """True for memory_copy_trace.csv."""
    return has_columns(head, "Direction", _START, _END)


def is_agents(head: bytes) -> bool:
    """True for agent_info.csv."""
    return has_columns(head, "Node_Id", "Agent_Type", "Product_Name")


def add_dispatches(rows: RocprofRows, source: Source) -> None:
    """A table of dispatches, v1 to v3; rows of one dispatch with a counter each are one."""
    table = read_csv(source, _NAME, _START, _END)
    rows.notes += table.notes
    if table.find("BeginNs") is not None:
        rows.tool = "rocprof"
    names = [kernel_name(name) for name in table.texts(*_NAME)]
    starts, ends = _ns(table, _START), _ns(table, _END)
    columns: dict[str, Sequence[object]] = {
        **kernel_columns(names),
        "device": _devices(table),
        "stream": table.texts(*_QUEUE),
        "process": table.texts(*_PROCESS),
        "correlation": table.texts(_CORRELATION),
        "start_ns": starts,
        "dur_ns": durations(starts, ends),
        "source_row": list(table.rows),
    }
    if table.find("Counter_Name") is None:
        counters: dict[str, Sequence[float | None]] = {}
        beyond: list[str] = []
        for column in table.columns:
            key = column_key(column.name)
            if key in _NO_COUNTERS or _PLACE.fullmatch(key) or column.head in columns:
                continue
            numbers = column.numbers()
            told = sum(number is not None for number in numbers)
            if len(counters) < MAX_COUNTERS:
                counters.update({column.head: numbers} if told else {})
            else:
                beyond += [column.head] * told
        columns.update(counters)
        rows.note_beyond(beyond)
        rows.columns.extend(columns)
    else:
        rows.columns.extend(_one_row_each(table, columns, rows))


def add_copies(rows: RocprofRows, source: Source) -> bool:
    """memory_copy_trace.csv, where it is of the same run; False where it is not."""
    table = read_csv(source)
    ways = table.texts("Direction")
    starts, ends = _ns(table, _START), _ns(table, _END)
    if rows.has_copies() or not rows.meets(starts):
        return False
    names = [copy_name(way) for way in ways]
    bytes_column = table.find("Bytes", "Size")
    columns: dict[str, Sequence[object]] = {
        **kernel_columns(names),
        "device": [agent_name(text) for text in table.texts("Destination_Agent_Id")],
        "stream": table.texts("Stream_Id"),
        "correlation": table.texts(_CORRELATION),
        "start_ns": starts,
        "dur_ns": durations(starts, ends),
        "source_row": list(table.rows),
    }
    if bytes_column is not None:
        columns["bytes"] = bytes_column.numbers()
    rows.notes += table.notes
    rows.columns.extend(columns)
    return True


def is_calls(head: bytes) -> bool:
    """True for hip_api_trace.csv."""
    return has_columns(head, "Domain", "Function", _START, _END)


def add_calls(rows: RocprofRows, source: Source) -> bool:
    """hip_api_trace.csv, where it is of the same run; False where it is not."""
    table = read_csv(source)
    starts, ends = _ns(table, _START), _ns(table, _END)
    if rows.has_calls() or not rows.meets(starts):
        return False
    threads = (table.texts("Process_Id"), table.texts("Thread_Id"))
    numbers = table.texts(_CORRELATION)
    calls = zip(table.texts("Function"), *threads, starts, ends, numbers, strict=True)
    for call in calls:
        rows.add_call(*call)
    rows.notes += table.notes
    return True


def add_agents(rows: RocprofRows, source: Source) -> None:
    """agent_info.csv: which product each agent is."""
    table = read_csv(source)
    agents = zip(
        table.texts("Node_Id"), table.texts("Agent_Type"), table.texts("Product_Name"),
        strict=True,
    )  # fmt: skip
    for number, kind, product in agents:
        if (kind or "").upper() == "GPU" and product:
            rows.products.setdefault(agent_name(number) or "", product)


def _devices(table: CsvTable) -> list[str | None]:
    texts = table.texts(*_AGENT)
    return [agent_name(text) for text in texts] if table.find("Agent_Id") else texts


def _ns(table: CsvTable, names: Sequence[str]) -> list[int | None]:
    return table.times(*names, unit="ns")


def _one_row_each(
    table: CsvTable, columns: Mapping[str, Sequence[object]], known: RocprofRows
) -> dict[str, list[object]]:
    """counter_collection.csv: rows of one dispatch become one, each counter a column."""
    dispatches = table.texts("Dispatch_Id", "Correlation_Id")
    numbers = table.numbers("Counter_Value")
    first: dict[tuple[object, ...], int] = {}
    kept: list[int] = []
    counters: dict[str, dict[int, float | None]] = {}
    beyond: list[str] = []
    keys = zip(dispatches, columns["name"], columns["start_ns"], columns["device"], strict=True)
    for row, (key, counter) in enumerate(zip(keys, table.texts("Counter_Name"), strict=True)):
        if key not in first:
            first[key] = len(kept)
            kept.append(row)
        if not counter or column_key(counter) in _NO_COUNTERS or counter in columns:
            continue
        if counter in counters or len(counters) < MAX_COUNTERS:
            counters.setdefault(counter, {})[first[key]] = numbers[row]
        else:
            beyond.append(counter)
    known.note_beyond(beyond)
    return {
        **{name: [cells[row] for row in kept] for name, cells in columns.items()},
        **{
            name: [found.get(index) for index in range(len(kept))]
            for name, found in counters.items()
        },
    }
