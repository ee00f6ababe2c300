"""Steps of training in `step_trace_raw` of the MindSpore profiler before 2.4, in ticks of 10 ns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fusescope.analysis.readers.input.csv_table import Column, has_columns, read_csv
from fusescope.analysis.readers.input.source import Source

_TICK_NS = 10
_STREAM = re.compile(r"stream_(\d+)_")


@dataclass(frozen=True)
class Step:
    """One training step, and what it communicated: (name, stream, start, end), all in ns."""

    start_ns: int
    end_ns: int
    communication: tuple[tuple[str, str, int, int], ...]


def is_step_trace(head: bytes) -> bool:
    """True for the head of `step_trace_raw`."""
    return has_columns(head, "step_num", "start_point", "end_point")


def read_steps(source: Source) -> list[Step]:
    """Steps of `step_trace_raw`, by start; the row of averages (step '-' or 0) is none."""
    table = read_csv(source)
    starts = _ticks(table.required("start_point"))
    ends = _ticks(table.required("end_point"))
    names = table.required("step_num").cells
    collectives = []
    for column in table.columns:
        name = column.head.removesuffix("_start_point")
        end = table.find(f"{name}_end_point") if name != column.head else None
        if end is not None:
            stream = _STREAM.match(name)
            collectives.append((name, stream[1] if stream else "", _ticks(column), _ticks(end)))
    steps = []
    for row, (name, start, end_ns) in enumerate(zip(names, starts, ends, strict=True)):
        if not name.isdigit() or int(name[:9]) == 0 or start is None or end_ns is None:
            continue
        if end_ns >= start:
            spans = ((label, lane, a[row], b[row]) for label, lane, a, b in collectives)
            steps.append(Step(start, end_ns, tuple(_whole_spans(spans))))
    return sorted(set(steps), key=lambda step: step.start_ns)


def _whole_spans(
    spans: Iterator[tuple[str, str, int | None, int | None]],
) -> Iterator[tuple[str, str, int, int]]:
    for name, lane, start, end in spans:
        if start and end and end >= start:
            yield name, lane, start, end


def _ticks(column: Column) -> list[int | None]:
    """Ticks of 10 ns as ns."""
    return [n * _TICK_NS if n is not None and n < 2**58 else None for n in column.integers()]
