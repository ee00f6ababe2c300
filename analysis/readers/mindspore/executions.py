"""Every execution that a MindSpore profiler wrote down, out of its files of text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fusescope.analysis.messages.places import in_line
from fusescope.analysis.readers.building.coded import Coded, Whole
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.input.csv_table import has_columns, read_csv
from fusescope.analysis.readers.input.encoding import decoded, utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import Unit, exact_ns
from fusescope.analysis.trace import Diagnostic, Example, noted

_NAMES = ("op_name", "kernel_name", "full_op_name", "full_kernel_name")


@dataclass
class Executions:
    """Executions of operators as columns of equal length; times in ns, None where invalid."""

    name: list[str] = field(default_factory=list)
    start_ns: list[int | None] = field(default_factory=list)
    dur_ns: list[int | None] = field(default_factory=list)
    stream: list[str | None] = field(default_factory=list)
    row: list[int] = field(default_factory=list)

    def add(
        self, name: str, start: int | None, dur: int | None, stream: str | None, row: int
    ) -> None:
        self.name.append(name)
        self.start_ns.append(start)
        self.dur_ns.append(dur if start is not None else None)
        self.stream.append(stream)
        self.row.append(row)

    def in_order(self) -> list[int]:
        """Positions of valid executions by start."""
        return self.columns().in_order()

    def columns(self) -> ExecutionColumns:
        """The same as columns."""
        starts, lengths = Whole.of(self.start_ns), Whole.of(self.dur_ns)
        none = np.zeros(len(self.name), dtype="int64")
        return ExecutionColumns(
            Coded.of(self.name),
            starts or Whole(none, none > 0),
            lengths or Whole(none, none > 0),
            Coded.of(self.stream),
            np.array(self.row, dtype="int64"),
        )


@dataclass(frozen=True)
class ExecutionColumns:
    """Executions as columns, of which millions stay small."""

    name: Coded
    start_ns: Whole
    dur_ns: Whole
    stream: Coded
    row: Ints

    def in_order(self) -> list[int]:
        """Positions of valid executions by start."""
        valid = np.flatnonzero(self.dur_ns.known)
        order = np.argsort(self.start_ns.numbers[valid], kind="stable")
        positions: list[int] = valid[order].tolist()
        return positions

    def timed(self) -> Coded:
        """Names of those with a duration."""
        return self.name.take(np.flatnonzero(self.dur_ns.known & (self.dur_ns.numbers >= 0)))


def is_timeline(head: bytes) -> bool:
    """True for the head of `output_timeline_data`."""
    return has_columns(head, _NAMES, "stream_id", "start_time", "duration")


def read_timeline(source: Source) -> tuple[Executions, list[Diagnostic]]:
    """Executions of `output_timeline_data`: start and duration in the units of their heads."""
    table = read_csv(source)
    ran = Executions()
    columns = (
        table.required(*_NAMES).cells,
        table.times("start_time", unit="ms"),
        table.times("duration", unit="ms"),
        table.required("stream_id").cells,
        table.rows,
    )
    for name, start, dur, stream, row in zip(*columns, strict=True):
        ran.add(name, start, dur, f"stream {stream}"[:40] if stream else None, row)
    return ran, table.notes


def read_timestamps(source: Source, kind: str, unit: Unit) -> tuple[Executions, list[Diagnostic]]:
    """Executions out of lines `name;kind;start,duration[,thread] …`: start in ns, duration in unit.

    Raises FuseScopeError for more executions than the limit.
    """
    notes: list[Diagnostic] = []
    text = decoded(utf8(source.content), notes)
    ran = Executions()
    example: Example = ""
    foreign, width = 0, 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        name, mark, times = line.rpartition(f";{kind};")
        if not mark:
            foreign, example = foreign + 1, example or in_line(number)
            continue
        for execution in times.split():
            parts = execution.split(",")
            width = width or len(parts)  # the last one of a file cut short may lack some
            whole = len(parts) >= 2 and len(parts) == width
            thread = f"thread {parts[2]}"[:40] if whole and len(parts) > 2 else None
            start = exact_ns(parts[0], "ns") if whole else None
            ran.add(name, start, exact_ns(parts[1], unit) if whole else None, thread, number)
        source.limits.check_events(len(ran.name), "more_events_than_limit", source.name)
    notes += noted("warning", "bad_event", foreign, example)
    return ran, notes
