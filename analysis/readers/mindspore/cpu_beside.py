"""What the files beside a CPU recording of MindSpore tell: totals, types, shapes, memory."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.readers.building.memory_use import memory_use
from fusescope.analysis.readers.building.trace_tables import shape_text
from fusescope.analysis.readers.input.csv_table import CsvTable, has_columns, read_csv
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.mindspore.beside import MindSporeBeside, contradiction, short_name
from fusescope.analysis.readers.mindspore.executions import ExecutionColumns
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, Diagnostic, noted

_FRAMEWORK = re.compile(rb"(?m)^[^;\r\n]*;[^;\r\n]*;\d+;(?:input_\d+:(?:\[|NoShape)|[ \t]*\r?$)")
_INPUT = re.compile(r"input_\d{1,6}:\s{0,8}(?:\[([^\]]{0,200})\]|NoShape)")
_MEMORY = ("Timestamp", "Total Allocated", "Total Reserved")
_DETAIL = ("op_side", "op_type", "op_occurrences", ("full_op_name", "op_full_name"), "subgraph")
_TYPES = ("op_type", "type_occurrences", "execution_frequency", "total_compute_time")
_TOTALS = ("op_total_time", "total_compute_time", "total_time")
_SIX_DIGITS = 2e-5  # relative: the files carry six significant digits


@dataclass(frozen=True)
class Totals:
    """A table of totals: of operators, or of op types."""

    name: list[str]
    op_type: list[str]
    count: list[int | None]
    total_ns: list[int | None]
    row: list[int]
    of_operators: bool
    file: str
    notes: list[Diagnostic]


@dataclass(frozen=True)
class Framework:
    """Short name ('Mul-op0') -> its type, and its input shapes execution by execution."""

    types: dict[str, str]
    shapes: dict[str, list[str]]


def is_detail(head: bytes) -> bool:
    """True for the head of `cpu_op_detail_info`."""
    return has_columns(head, *_DETAIL)


def is_types(head: bytes) -> bool:
    """True for the head of `cpu_op_type_info`."""
    return has_columns(head, *_TYPES)


def is_framework(head: bytes) -> bool:
    """True for the head of `cpu_framework`."""
    return _FRAMEWORK.search(utf8(head)) is not None


def _is_memory(head: bytes) -> bool:
    return has_columns(head, *_MEMORY)


def read_totals(source: Source) -> Totals:
    """Totals of each operator, or of each op type where the table names no operators."""
    table = read_csv(source)
    names = table.find("full_op_name", "op_full_name")
    types = table.find("op_type")
    if types is None or table.find(*_TOTALS) is None:
        raise FuseScopeError("operator_totals_missing", where=source.name)
    return Totals(
        name=(names or types).cells,
        op_type=types.cells,
        count=table.counts("op_occurrences", "type_occurrences"),
        total_ns=table.times(*_TOTALS, unit="ms"),  # milliseconds also where the head names no unit
        row=list(table.rows),
        of_operators=names is not None,
        file=source.name,
        notes=table.notes,
    )


def totals_beside(
    beside: MindSporeBeside,
    known: Callable[[bytes], bool],
    names: Sequence[object],
    counts: Sequence[int | None],
    times: Sequence[int | None],
) -> Totals | None:
    """The totals beside a recording that name what it names; a contradiction to it is noted."""
    if not beside.those(known):
        return None
    seen: dict[str, tuple[int, int]] = {}  # name -> (executions, ns) of rows with a valid time
    for name, count, time in zip(names, counts, times, strict=True):
        if time is not None and time >= 0:
            counted, summed = seen.get(str(name), (0, 0))
            seen[str(name)] = (counted + (count or 1), summed + time)
    totals = beside.first(
        known, read_totals, lambda found: any(name in seen for name in found.name)
    )
    if totals is not None:
        amounts = zip(totals.count, totals.total_ns, strict=True)
        told = dict(zip(totals.name, amounts, strict=True))
        beside.notes += contradiction(told, seen, totals.file, _SIX_DIGITS)
    return totals


def read_framework(source: Source) -> Framework:
    """Lines `type;short name;graph;input_1:[2, 3];…`, one an execution; empty in PyNative mode."""
    types: dict[str, str] = {}
    shapes: dict[str, list[str]] = {}
    for line in utf8(source.content).decode("utf-8", errors="replace").splitlines():
        parts = line.split(";", 3)
        if len(parts) < 4 or not parts[1]:
            continue
        types.setdefault(parts[1], parts[0])
        listed = [match[1] for match in _INPUT.finditer(parts[3]) if match[1] is not None]
        shapes.setdefault(parts[1], []).append(shape_text([], listed))
    return Framework(types, shapes)


def shapes_of(
    ran: ExecutionColumns, shapes: Mapping[str, list[str]], notes: list[Diagnostic]
) -> list[str]:
    """Input shapes of each execution: the n-th line of a name is its n-th execution."""
    inputs = [""] * len(ran.name)
    indices: dict[str, list[int]] = {}
    for index in ran.in_order():
        indices.setdefault(short_name(str(ran.name[index])), []).append(index)
    unmatched = [name for name in shapes if name not in indices]
    for name, listed in indices.items():
        told = shapes.get(name, [])
        if len(told) != len(listed):
            if len(set(told)) > 1:
                unmatched.append(name)
            told = [only_text(told)] * len(listed)
        for index, text in zip(listed, told, strict=True):
            inputs[index] = text
    notes += noted("info", "companion_unmatched", unmatched, chars=80)
    return inputs


def memory_beside(
    ran: ExecutionColumns, beside: MindSporeBeside
) -> tuple[dict[str, list[float | None]], tuple[MemoryUse, ...]]:
    """Memory at the start of each execution, from the record before it; heads are those there. And
    memory over time, of which the file says no device."""
    starts = ran.start_ns.numbers[ran.start_ns.known]

    def fits(table: CsvTable) -> bool:
        known = [at for at in table.ns("Timestamp", unit="ns") if at is not None]
        if not known or not len(starts):
            return False
        return bool(min(known) <= starts.max() and starts.min() <= max(known))

    table = beside.first(_is_memory, read_csv, fits)
    stamps = table.find("Timestamp") if table else None
    if table is None or stamps is None:
        return {}, ()
    order = sorted((at, row) for row, at in enumerate(stamps.ns("ns")) if at is not None)
    times = [at for at, _ in order]
    found = {}
    for column in table.columns:
        is_own = column.head in CALL_COLUMNS or column.head in OPERATOR_COLUMNS
        if column is not stamps and not is_own:
            values = column.numbers()
            found[column.head] = [
                values[order[at - 1][1]]
                if start is not None and (at := bisect_right(times, start))
                else None
                for start in ran.start_ns
            ]
    return found, _over_time(table, stamps.ns("ns"))


def _over_time(table: CsvTable, times: Sequence[int | None]) -> tuple[MemoryUse, ...]:
    allocated, reserved = table.integers("Total Allocated"), table.integers("Total Reserved")
    rows = [
        (at, size, held)
        for at, size, held in zip(times, allocated, reserved, strict=True)
        if at is not None and size is not None and size >= 0
    ]
    known = all(held is not None and held >= 0 for _, _, held in rows)
    use = memory_use(
        "CPU",
        [at for at, _, _ in rows],
        [size for _, size, _ in rows],
        [held or 0 for _, _, held in rows] if known else None,
    )
    return () if use is None else (use,)


def only_text(texts: Sequence[str]) -> str:
    """The one text that all are, else ''."""
    return texts[0] if len(set(texts)) == 1 else ""
