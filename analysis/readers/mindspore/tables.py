"""Means and totals that the MindSpore profiler before 2.4 wrote: every table and its units."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from fusescope.analysis.readers.input.csv_numbers import unit_of
from fusescope.analysis.readers.input.csv_table import has_columns, read_csv
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import Unit, exact_ns
from fusescope.analysis.readers.mindspore.beside import type_of
from fusescope.analysis.trace import Diagnostic

_COMPUTE = re.compile(r"op_name\s+compute_time\((\w+)\)\s+stream_id\s*$")
_COMPUTE_DETAIL = re.compile(r"op_name\s+op_type\s+avg_execution_time\S*\s+subgraph\s+full_op_name")
_FULL_NAMES = ("full_op_name", "full_kernel_name")
_NAMES = ("op_name", "kernel_name", *_FULL_NAMES)
_MEANS = ("execution_time", "task_duration")
_DETAIL_NAMES = (*_FULL_NAMES, "full_op_time", "full_kernel_time")  # the heads of some files
_TYPES = ("op_type", "kernel_type")
_TYPE_TIMES = ("execution_time", "total_time", "task_time")


@dataclass(frozen=True)
class Table:
    """Means or totals of operators (or of op types) as columns of equal length, () for none."""

    name: Sequence[str]
    dur_ns: Sequence[int | None]
    row: Sequence[int]
    notes: Sequence[Diagnostic]
    n: Sequence[int | None] = ()
    op_type: Sequence[str | None] = ()
    provider: Sequence[str | None] | str | None = None
    stream: Sequence[str | None] = ()
    start_ns: Sequence[int | None] = ()
    launched_by: Sequence[str | None] = ()
    averaged: bool = False
    level: str = "device_kernel"
    counters: Mapping[str, Sequence[float | None]] = field(default_factory=dict)

    def at(self, index: int) -> dict[str, object]:
        """One row under the names of a trace's columns."""
        columns = {
            "name": self.name, "dur_ns": self.dur_ns, "source_row": self.row, "n": self.n,
            "op_type": self.op_type, "stream": self.stream, "start_ns": self.start_ns,
            "launched_by": self.launched_by,
        }  # fmt: skip
        found: dict[str, object] = {key: cells[index] for key, cells in columns.items() if cells}
        provider = self.provider
        told = provider if provider is None or isinstance(provider, str) else provider[index]
        return {**found, "n": found.get("n") or 1, "provider": told, "level": self.level}


@dataclass(frozen=True)
class Kind:
    """A kind of table: how its head is known, and what reads it."""

    known: Callable[[bytes], bool]
    read: Callable[[Source], Table]


def is_detail(head: bytes) -> bool:
    """True for the head of `aicore_intermediate_*_detail`."""
    return has_columns(head, _DETAIL_NAMES, _MEANS)


def _is_compute(head: bytes) -> bool:
    return any(_COMPUTE.match(line.strip()) for line in _head_lines(head))


def _is_compute_detail(head: bytes) -> bool:
    return any(_COMPUTE_DETAIL.match(line.strip()) for line in _head_lines(head, maximum=2000))


def _is_gpu_detail(head: bytes) -> bool:
    return has_columns(head, "op_side", "op_full_name", "op_total_time", "cuda_activity_cost_time")


def _is_gpu_activity(head: bytes) -> bool:
    return has_columns(head, "name", "op_full_name", "occurrences", "total_duration", "grid_dim")


def is_ai_cpu(head: bytes) -> bool:
    """True for the head of `aicpu_intermediate`."""
    return has_columns(head, "serial_number", (*_TYPES, *_NAMES), "total_time", "dispatch_time")


def _is_types(head: bytes) -> bool:
    return has_columns(head, _TYPES, _TYPE_TIMES, "execution_frequency", "percent")


def _is_gpu_types(head: bytes) -> bool:
    return has_columns(head, "op_type", "type_occurrences", "total_time", "total_proportion")


def _head_lines(head: bytes, maximum: int = 20) -> list[str]:
    text = utf8(head)
    if b"op_name" not in text:
        return []
    return text.decode("utf-8", errors="replace").splitlines()[:maximum]


def read_detail(source: Source) -> Table:
    """Mean of each operator, with the number of executions in newer files only."""
    table = read_csv(source)
    means = table.required(*_MEANS)
    unit = unit_of(means.unit, means.head, source.name, "ms")
    counts = table.counts("execution_frequency")
    return Table(
        table.required(*_DETAIL_NAMES).cells,
        [_times(cell, n or 1, unit) for cell, n in zip(means.cells, counts, strict=True)],
        table.rows,
        table.notes,
        n=counts,
        provider=[text or "AI_CORE" for text in table.texts("task_type")],
        averaged=table.find("execution_frequency") is None,
    )


def _read_types(source: Source) -> Table:
    """Times of op types: a mean step in the oldest files ('execution_time'), else totals."""
    table = read_csv(source)
    times = table.required(*_TYPE_TIMES)
    names = table.required(*_TYPES).cells
    return Table(
        names,
        table.times(*_TYPE_TIMES, unit="ms"),
        table.rows,
        table.notes,
        n=table.counts("execution_frequency"),
        op_type=[name or None for name in names],
        provider="AI_CORE",
        averaged=times.name == "execution_time",
    )


def _read_gpu_detail(source: Source) -> Table:
    table = read_csv(source)
    counters = {
        column.head: column.numbers()
        for column in table.columns
        if column.name.startswith("cuda_activity")
    }
    return Table(
        table.required("op_full_name").cells,
        table.times("op_total_time"),
        table.rows,
        table.notes,
        n=table.counts("op_occurrences"),
        op_type=table.texts("op_type"),
        provider="GPU",
        level="framework_op",
        counters=counters,
    )


def _read_gpu_types(source: Source) -> Table:
    table = read_csv(source)
    names = table.required("op_type").cells
    return Table(
        names,
        table.times("total_time"),
        table.rows,
        table.notes,
        n=table.counts("type_occurrences"),
        op_type=[name or None for name in names],
        provider="GPU",
        level="framework_op",
    )


def _read_gpu_activity(source: Source) -> Table:
    table = read_csv(source)
    return Table(
        table.required("name").cells,
        table.times("total_duration"),
        table.rows,
        table.notes,
        n=table.counts("occurrences"),
        op_type=[type_of(name) if name else None for name in table.texts("op_full_name")],
        provider="GPU",
        stream=[f"stream {text}"[:40] if text else None for text in table.texts("stream_id")],
        launched_by=table.texts("op_full_name"),
    )


def read_ai_cpu(source: Source) -> Table:
    """AI CPU operators: total_time in ms from dispatch to end; run_start and run_end in µs."""
    table = read_csv(source)
    names = table.required(*_TYPES, *_NAMES).cells
    total = table.times("total_time", unit="ms")
    end_ns = table.times("run_end", "RunV2_end")
    counters = {}
    for name in ("dispatch_time", "execution_time"):
        if column := table.find(name):
            counters[column.head] = column.numbers()
    return Table(
        names,
        total,
        table.rows,
        table.notes,
        op_type=[name.split("-")[0] or None for name in names],
        provider="AI_CPU",
        stream=["AI CPU"] * len(names),
        start_ns=[
            end - dur if end is not None and dur is not None and end >= dur >= 0 else None
            for end, dur in zip(end_ns, total, strict=True)
        ],
        counters=counters,
    )


def _read_compute(source: Source) -> Table:
    """Means of each operator in columns of blanks: name, time, stream; the last row is the sum."""
    names: list[str] = []
    times: list[int | None] = []
    streams: list[str | None] = []
    rows: list[int] = []
    unit: Unit | None = None
    for number, line in enumerate(_lines(source), start=1):
        if head := _COMPUTE.match(line.strip()):
            unit = unit_of(head[1], f"compute_time({head[1]})", source.name, "ms")
            continue
        parts = line.rsplit(None, 2)
        if unit is None or len(parts) < 3 or parts[0].strip("- ") == "" or parts[0] == "total op":
            continue
        names.append(parts[0].strip())
        times.append(exact_ns(parts[1], unit))
        streams.append(f"stream {parts[2]}"[:40])
        rows.append(number)
    return Table(names, times, rows, [], provider="AI_CORE", stream=streams, averaged=True)


def _read_compute_detail(source: Source) -> Table:
    """Means of each operator, in the second part of the file (short name, type, ms, …, name)."""
    names: list[str] = []
    times: list[int | None] = []
    types: list[str | None] = []
    rows: list[int] = []
    reading = False
    for number, line in enumerate(_lines(source), start=1):
        parts = line.split()
        if _COMPUTE_DETAIL.match(line.strip()):
            reading = True
        elif reading and len(parts) >= 5:
            names.append(parts[4])
            types.append(parts[1])
            times.append(exact_ns(parts[2], "ms"))
            rows.append(number)
    return Table(names, times, rows, [], op_type=types, provider="AI_CORE", averaged=True)


def _times(cell: str, count: int, unit: Unit) -> int | None:
    """A mean times its count as ns, rounded once."""
    if count == 1:
        return exact_ns(cell, unit)
    try:
        return exact_ns(str(Decimal(cell) * count), unit) if len(cell) < 40 else None
    except InvalidOperation:
        return None


def _lines(source: Source) -> list[str]:
    return utf8(source.content).decode("utf-8", errors="replace").splitlines()


KINDS = (
    Kind(is_detail, read_detail),
    Kind(_is_compute, _read_compute),
    Kind(_is_compute_detail, _read_compute_detail),
    Kind(_is_gpu_activity, _read_gpu_activity),
    Kind(_is_gpu_detail, _read_gpu_detail),
    Kind(is_ai_cpu, read_ai_cpu),
    Kind(_is_types, _read_types),
    Kind(_is_gpu_types, _read_gpu_types),
)
