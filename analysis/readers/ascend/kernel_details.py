"""Ascend PyTorch and MindSpore profiler: kernel_details.csv with the tables beside it.

One row a device kernel; `Step Id` tells runs apart. The other files say what it does not: hit rates
(l2_cache.csv), how long a step took (step_trace_time.csv), settings and versions
(profiler_info_*.json), device memory (operator_memory.csv, else memory_record.csv), what the host
did (trace_view.json); op_statistic.csv is checked against it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from fusescope.analysis.messages import mark
from fusescope.analysis.readers.ascend.beside import StepTime, may_add, read_beside
from fusescope.analysis.readers.ascend.host.beside import host_beside
from fusescope.analysis.readers.ascend.rows import AscendRows, ascend_rows
from fusescope.analysis.readers.ascend.trace_view import TRACE_VIEW
from fusescope.analysis.readers.building.iterations import profiled_runs
from fusescope.analysis.readers.building.processes import devices_of, rows_of, taken_apart
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.beside import headed
from fusescope.analysis.readers.input.csv_table import CsvTable, has_columns, read_csv
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.trace import Trace, noted

_HEADS = ("Name", "Type", "Accelerator Core", "Duration")
_LEVEL1 = mark("Record with profiler_level=Level1.")


def _sniff(head: bytes) -> bool:
    """A table with kernel_details' own heads; op_summary calls them Op Name and Task Type."""
    return has_columns(head, *_HEADS)


def _read(source: Source) -> Trace:
    """The trace; every step is a run, and its time the file's own where it says one."""
    table = read_csv(source, *_HEADS)
    rows = ascend_rows(table)
    beside = read_beside(source, rows, _sniff)
    threads = host_beside(beside, TRACE_VIEW.sniff, rows.columns)
    runs, labels = _runs(rows, beside.steps)
    columns: dict[str, list[object]] = {**rows.columns, **beside.columns}
    if threads.messages:
        cells = zip(columns["inputs"], columns["source_row"], strict=True)
        columns["inputs"] = [own or threads.messages.get(int(str(row)), "") for own, row in cells]
    notes = [*rows.notes, *beside.notes]
    if labels is not None:
        columns["run"] = labels
        notes += noted("warning", "outside_runs", labels.count(None))
    is_mindspore = beside.settings.get("mindspore") is not None or _is_mindspore(table)
    version = beside.settings.get("mindspore" if is_mindspore else "torch_npu")
    meta = source.meta(
        KERNEL_DETAILS.name,
        "MindSpore Profiler" if is_mindspore else "Ascend PyTorch Profiler",
        version=str(version) if version is not None else None,
        files=beside.files,
        job=beside.job,
    )

    def build(at: Sequence[int]) -> Trace:
        trace = build_trace(
            meta, rows_of(columns, at), runs=runs, notes=notes, limits=source.limits
        )
        trace = replace(
            trace,
            memory=beside.memory,
            host=threads.host,
            host_waits=threads.waits,
            stacks=threads.stacks,
            collectives=beside.collectives,
        )
        return trace if runs is not None else _with_period(trace, beside.steps.get(None))

    return taken_apart(devices_of(columns["device"]), build)


KERNEL_DETAILS = Reader(
    name="ascend_kernel_details",
    title=mark("Ascend PyTorch and MindSpore profiler: kernel_details.csv and its folder"),
    fields={
        "start": ALWAYS,
        "communication": ALWAYS,
        "runs": mark("Record with a schedule, and call step() of the profiler after each step."),
        **dict.fromkeys(("types", "shapes", "dtypes", "stream", "flops", "sizes"), _LEVEL1),
        "memory": mark(
            "Record apart with profile_memory=True: FuseScope reads it from operator_memory.csv, "
            "else from memory_record.csv."
        ),
        "counters": mark("Record with profiler_level=Level1 and aic_metrics=PipeUtilization."),
    },
    recording=(
        "PyTorch: `torch_npu.profiler.profile(schedule=torch_npu.profiler.schedule(wait=1, "
        "warmup=1, active=5), record_shapes=True, on_trace_ready=torch_npu.profiler."
        "tensorboard_trace_handler('out'), experimental_config=torch_npu.profiler."
        "_ExperimentalConfig(profiler_level=torch_npu.profiler.ProfilerLevel.Level1, "
        "aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization, l2_cache=True))`, and "
        "`prof.step()` after each step. MindSpore: `mindspore.profiler.profile` with the same "
        "arguments, and `AicoreMetrics` in place of `AiCMetrics`. Then open the folder that ends "
        "in `_ascend_pt` or `_ascend_ms`."
    ),
    covers=(
        "ascend_op_summary",
        "ascend_db",
        "ascend_trace_view",
        "msprof_task_time",
        "msprof_timeline",
        "ascend_op_statistic",
        "mindspore_cpu",
        "mindspore_cpu_timeline",
        "mindspore_cpu_summary",
    ),
    sniff=_sniff,
    read=_read,
    takes=headed(_sniff, TRACE_VIEW.sniff, may_add),
)


def _is_mindspore(table: CsvTable) -> bool:
    """MindSpore heads the steps 'Step ID', torch_npu 'Step Id'."""
    return any(column.head == "Step ID" for column in table.columns)


def _runs(
    rows: AscendRows, times: Mapping[str | None, StepTime]
) -> tuple[pd.DataFrame | None, list[object] | None]:
    """Steps as runs, numbered as in the file where it numbers them, and each row's run.

    (None, None) where the file tells no steps apart.
    """
    order = list(dict.fromkeys(step for step in rows.steps if step is not None))
    if not order:
        return None, None
    numbers = _numbers(order)
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    total: dict[str, int] = dict.fromkeys(order, 0)
    untimed: set[str] = set()
    spans = zip(rows.steps, rows.columns["start_ns"], rows.columns["dur_ns"], strict=True)
    for step, start, dur in spans:
        if step is None or not isinstance(dur, int) or dur < 0:
            continue
        total[step] += dur
        if not isinstance(start, int):
            untimed.add(step)
            continue
        first[step] = min(first.get(step, start), start)
        last[step] = max(last.get(step, start), start + dur)
    timed = {step for step in first if step not in untimed}
    order.sort(key=lambda step: first.get(step, 0))  # stable: the file's order without starts
    frame = profiled_runs(
        "step",
        [first[s] if s in timed else None for s in order],
        [
            _duration(last[s] - first[s] if s in timed else None, total[s], times.get(s))
            for s in order
        ],
        [numbers[step] for step in order],
    )
    return frame, [None if step is None else numbers[step] for step in rows.steps]


def _numbers(order: list[str]) -> dict[str, int]:
    """The steps' own numbers, or 0, 1, 2, … where they are not all different numbers."""
    own = {
        step: int(step) for step in order if step.isascii() and step.isdigit() and len(step) <= 18
    }
    if len(set(own.values())) == len(order):
        return own
    return {step: index for index, step in enumerate(order)}


def _duration(span_ns: int | None, total_ns: int, time: StepTime | None) -> int:
    """How long a step took: Stage and Bubble of step_trace_time.csv, which reach from its first
    kernel to the next step's; never less than the kernels' own span, since Stage is rounded."""
    period = time.period_ns if time is not None else None
    if span_ns is None:
        return total_ns if period is None or period <= 0 else period
    return span_ns if period is None else max(period, span_ns)


def _with_period(trace: Trace, time: StepTime | None) -> Trace:
    """The trace of a file without steps, its one run as long as step_trace_time.csv says."""
    [dur], [start] = trace.runs["dur_ns"], trace.runs["start_ns"]
    length = _duration(None if pd.isna(start) else int(dur), int(dur), time)
    return dataclasses.replace(trace, runs=trace.runs.assign(dur_ns=length))
