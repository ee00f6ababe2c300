"""MindSpore's profiler on CPU: the text files in `FRAMEWORK/`, and `trace_view.json`.

`cpu_op_execute_timestamp` knows every execution: start in ns, duration in ms, in one line. Types,
shapes, memory and the originals of fused kernels stand in the files beside it. Without it, the
timeline is read (µs, as text), else the totals of each operator (ms, also where no unit is named).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from fusescope.analysis.messages import mark
from fusescope.analysis.readers.building.coded import Coded, Whole, coded
from fusescope.analysis.readers.building.numbering import Distinct
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.event_windows import collect_events
from fusescope.analysis.readers.input.json_events import EventFile
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_column
from fusescope.analysis.readers.mindspore.beside import (
    MindSporeBeside,
    fused_columns,
    short_name,
    type_of,
)
from fusescope.analysis.readers.mindspore.cpu_beside import (
    is_detail,
    is_framework,
    is_types,
    memory_beside,
    only_text,
    read_framework,
    read_totals,
    shapes_of,
    totals_beside,
)
from fusescope.analysis.readers.mindspore.executions import ExecutionColumns, read_timestamps
from fusescope.analysis.readers.reader import ALWAYS, Reader, anything
from fusescope.analysis.trace import Diagnostic, Meta, Trace, noted

_TIMESTAMPS = re.compile(rb"(?m)^[^;\r\n]*;HostCpuOps;[ \t]*\d+,[-+.\deE]")
_TIMELINE = re.compile(rb'"type"\s*:\s*"HostCpuOps"')
_NPU_LAYERS = (b'"Ascend Hardware"', b'"CANN"', b'"HCCL"', b'"Overlap Analysis"')

_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(("types", "shapes"), ALWAYS),
    # Only AKG tells data types, and with them sizes, of the kernels that it fused.
    **dict.fromkeys(
        ("members", "dtypes", "sizes"),
        mark("Record with graph-kernel fusion on, and keep akg_kernel_meta in the same folder."),
    ),
}
_EACH: Mapping[str, str] = {
    **dict.fromkeys(("start", "stream"), ALWAYS),
    "memory": mark("Record with profile_memory=True."),
}
_RECORDING = (
    "`with mindspore.profiler.profile(activities=[ProfilerActivity.CPU], profile_memory=True, "
    "on_trace_ready=tensorboard_trace_handler(folder)):`, then give the folder `*_ascend_ms`. "
    "For what a fused kernel was made of, put `akg_kernel_meta` into it."
)


def _sniff(head: bytes) -> bool:
    """Lines of `name;HostCpuOps;start,duration,thread …`."""
    return _TIMESTAMPS.search(utf8(head)) is not None


def _read(source: Source) -> Trace:
    """Every execution. CPU recordings mark no steps: the file is one run."""
    ran, notes = read_timestamps(source, "HostCpuOps", "ms")
    return _trace(MINDSPORE_CPU.name, source, ran.columns(), notes)


# `cpu_op_execute_timestamp_*.txt` with the files beside it.
MINDSPORE_CPU = Reader(
    name="mindspore_cpu",
    title=mark("MindSpore profiler on CPU, FRAMEWORK/cpu_*"),
    fields={**_FIELDS, **_EACH},
    recording=_RECORDING,
    covers=("mindspore_cpu_timeline", "mindspore_cpu_summary"),
    sniff=_sniff,
    read=_read,
    takes=anything,
)


def _sniff_timeline(head: bytes) -> bool:
    """A JSON array with operators of the host, and no layer that only an NPU has."""
    text = utf8(head).lstrip()
    return (
        text.startswith(b"[")
        and _TIMELINE.search(text) is not None
        and not any(layer in text for layer in _NPU_LAYERS)
    )


def _read_timeline(source: Source) -> Trace:
    """Every execution; times are text in µs."""
    found, _, notes = collect_events(source, _Event, EventFile, _Collected)
    notes += noted("info", "other_events", found.others)
    return _trace(MINDSPORE_CPU_TIMELINE.name, source, found.executions(), notes)


MINDSPORE_CPU_TIMELINE = Reader(
    name="mindspore_cpu_timeline",
    title=mark("MindSpore profiler on CPU, trace_view.json"),
    fields={
        **_FIELDS,
        **_EACH,
        "shapes": mark("Give the whole folder, with FRAMEWORK/cpu_framework_*.txt."),
    },
    recording=_RECORDING,
    covers=("mindspore_cpu_summary",),
    sniff=_sniff_timeline,
    read=_read_timeline,
    takes=anything,
)


def _sniff_summary(head: bytes) -> bool:
    """The heads of one of the two tables."""
    return is_detail(head) or is_types(head)


def _read_summary(source: Source) -> Trace:
    """One call an operator (or op type), which stands for all its executions."""
    totals = read_totals(source)
    beside = MindSporeBeside(source)
    shapes: dict[str, list[str]] = {}
    if totals.of_operators:
        framework = beside.first(is_framework, read_framework)
        shapes = framework.shapes if framework else {}
        totals_beside(beside, is_types, totals.op_type, totals.count, totals.total_ns)
    inputs = [only_text(shapes.get(short_name(name), ())) for name in totals.name]
    rows: dict[str, Sequence[object]] = {
        "name": totals.name,
        "dur_ns": totals.total_ns,
        "n": totals.count,
        "source_row": totals.row,
        **_operator_columns(totals.op_type, inputs, beside),
    }
    meta = _meta(MINDSPORE_CPU_SUMMARY.name, source, beside)
    notes = [*totals.notes, *beside.notes]
    return build_trace(meta, rows, notes=notes, limits=source.limits)


# `cpu_op_detail_info_*.csv`, else `cpu_op_type_info_*.csv`: totals, nothing else is known.
MINDSPORE_CPU_SUMMARY = Reader(
    name="mindspore_cpu_summary",
    title=mark("MindSpore profiler on CPU, totals of each operator"),
    fields=_FIELDS,
    recording=_RECORDING,
    sniff=_sniff_summary,
    read=_read_summary,
    takes=anything,
)


_Cell = str | int | float | bool | None


class _Args(msgspec.Struct, gc=False):
    type: _Cell = None


class _Event(msgspec.Struct, gc=False):
    ph: _Cell = ""
    name: _Cell = ""
    tid: _Cell = None
    ts: msgspec.Raw = msgspec.Raw(b"null")
    dur: msgspec.Raw = msgspec.Raw(b"null")
    args: _Args | _Cell = None


class _Collected:
    """Executions of operators, part by part of the file."""

    plain = None

    def __init__(self) -> None:
        self.count = 0
        self.others = 0
        self._names, self._threads = Distinct(), Distinct()
        self._parts: list[tuple[np.ndarray, ...]] = []

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[_Event], *, escaped: bool = False) -> None:
        """The next events of the file."""
        rows = [
            row
            for row, event in enumerate(events)
            if event.ph == "X" and isinstance(event.args, _Args) and event.args.type == "HostCpuOps"
        ]
        labels = sum(event.ph == "M" for event in events) if len(rows) < len(events) else 0
        self.others += len(events) - len(rows) - labels
        ran = [events[row] for row in rows]
        starts, has_start = exact_column([event.ts for event in ran])
        lengths, has_length = exact_column([event.dur for event in ran])
        self._parts.append(
            (
                self._names.number([event.name for event in ran]),
                starts,
                has_start,
                lengths,
                has_start & has_length,
                self._threads.number([event.tid for event in ran]),
                self.count + np.array(rows, dtype="int64"),
            )
        )
        self.count += len(events)

    def executions(self) -> ExecutionColumns:
        """All of them."""
        names, starts, has_start, lengths, has_length, threads, rows = (
            np.concatenate([part[at] for part in self._parts]) for at in range(7)
        )
        return ExecutionColumns(
            coded(names, map(_text, self._names.cells())),
            Whole(starts, has_start),
            Whole(lengths, has_length),
            coded(threads, [f"thread {_text(cell)}"[:40] for cell in self._threads.cells()]),
            rows,
        )


def _trace(name: str, source: Source, ran: ExecutionColumns, notes: list[Diagnostic]) -> Trace:
    """The Trace of executions, with what the files beside them add."""
    beside = MindSporeBeside(source)
    once = Whole(np.ones(len(ran.name), dtype="int64"))
    detail = totals_beside(beside, is_detail, ran.name, once, ran.dur_ns)
    types: dict[str, str] = {}
    if detail is not None:
        types = {n: kind for n, kind in zip(detail.name, detail.op_type, strict=True) if kind}
    seen = set(map(str, ran.timed().present().values))
    shorts = {short_name(operator) for operator in seen}
    framework = beside.first(
        is_framework, read_framework, lambda found: not shorts.isdisjoint(found.types)
    )
    inputs: Sequence[object] = Coded.same("", len(ran.name))
    if framework is not None:
        for operator in seen:
            types.setdefault(operator, framework.types.get(short_name(operator), ""))
        inputs = shapes_of(ran, framework.shapes, beside.notes)
    op_types = ran.name.mapped(lambda operator: types.get(operator) or type_of(operator))
    totals_beside(beside, is_types, op_types, once, ran.dur_ns)  # for what contradicts it
    at_starts, memory = memory_beside(ran, beside)
    rows: dict[str, Sequence[object]] = {
        "name": ran.name,
        "start_ns": ran.start_ns,
        "dur_ns": ran.dur_ns,
        "stream": ran.stream,
        "source_row": Whole(ran.row),
        **at_starts,
        **_operator_columns(op_types, inputs, beside),
    }
    meta = _meta(name, source, beside)
    trace = build_trace(meta, rows, notes=[*notes, *beside.notes], limits=source.limits)
    return replace(trace, memory=memory)


def _operator_columns(
    op_types: Sequence[object], inputs: Sequence[object], beside: MindSporeBeside
) -> dict[str, Sequence[object]]:
    """What every operator of a CPU recording has; members and dtypes from AKG's files beside."""
    count = len(op_types)
    columns: dict[str, Sequence[object]] = {
        "op_type": op_types,
        "inputs": inputs,
        "provider": Coded.same("CPU", count),
        "device": Coded.same("CPU", count),
        "level": Coded.same("framework_op", count),
    }
    return {**columns, **fused_columns(op_types, inputs, beside)}


def _meta(name: str, source: Source, beside: MindSporeBeside) -> Meta:
    return source.meta(name, "MindSpore profiler", device="CPU", files=beside.files)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
