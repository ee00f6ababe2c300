"""trace_view.json of the Ascend PyTorch and the MindSpore profiler on an NPU.

Device tasks as in `ascend_timeline`, and what only this file knows: which operator of the
framework launched a kernel, with its input shapes. A kernel belongs to the step that launched it,
where a flow tells so, else to the step whose kernels ran when it began; the time of a step is the
span of its kernels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.operators.classes import OTHER, kernel_class, op_class
from fusescope.analysis.readers.ascend.beside import may_add, read_beside
from fusescope.analysis.readers.ascend.columns import launched_by
from fusescope.analysis.readers.ascend.launches import input_text
from fusescope.analysis.readers.ascend.msprof_timeline import (
    is_device_timeline,
    is_framework_timeline,
)
from fusescope.analysis.readers.ascend.rows import AscendRows
from fusescope.analysis.readers.ascend.timeline import (
    Launches,
    Timeline,
    host_of,
    read_timeline,
    rows_of,
)
from fusescope.analysis.readers.building.checks.clocks import clock_skew
from fusescope.analysis.readers.building.coded import Coded, Combined, Whole, coded, taken
from fusescope.analysis.readers.building.host.wait_calls import host_waits
from fusescope.analysis.readers.building.iterations import Span, spans_at
from fusescope.analysis.readers.building.processes import Units, devices_of, taken_apart
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.beside import headed
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.trace import Diagnostic, Meta, Trace, noted

_EPOCH_TEXT = re.compile(rb'"ts"\s*:\s*"\d{13,17}\.\d+\s*"')
_OF_CPU = re.compile(rb'"HostCpuOps"|"CPU OP"')
# Other tools keep times of 64 bits as text, too: what only PyTorch's own profiler writes.
_OF_KINETO = re.compile(
    rb'"schemaVersion"\s*:|"cat"\s*:\s*"(?:kernel|(?:cuda|hip|xpu|mtia)_(?:runtime|driver)'
    rb'|gpu_memcpy|gpu_memset|gpu_user_annotation)"'
)


def _sniff(head: bytes) -> bool:
    """Chrome events of a host framework and an NPU, or with times as the profiler writes."""
    text = utf8(head).lstrip()
    if not text.startswith((b"[", b"{")):
        return False
    if is_device_timeline(text):
        return is_framework_timeline(text)
    is_foreign = _OF_CPU.search(text) or _OF_KINETO.search(text)
    return _EPOCH_TEXT.search(text) is not None and not is_foreign


def _read(source: Source) -> Trace:
    """Kernels and collectives; steps from ProfilerStep annotations. Each device is a trace of its
    own."""
    timeline = read_timeline(source, launched=True)
    columns = timeline.columns
    if not len(columns["name"]):
        raise FuseScopeError("trace_view_empty", where=source.name)
    if timeline.launches is not None:
        columns |= _launched(columns, timeline.launches)
    units = devices_of(columns["device"])
    steps = _steps_of(timeline, units)
    rows = AscendRows(columns, timeline.tasks, steps, timeline.notes)
    beside = read_beside(source, rows, _sniff)
    of_mindspore = any(name.lower().startswith("mindspore") for name in timeline.processes)
    version = beside.settings.get("mindspore" if of_mindspore else "torch_npu")
    meta = source.meta(
        TRACE_VIEW.name,
        "MindSpore Profiler" if of_mindspore else "Ascend PyTorch Profiler",
        version=str(version) if version is not None else None,
        files=beside.files,
        job=beside.job,
    )
    notes = [*timeline.notes, *beside.notes]
    every = {**columns, **beside.columns, "run": steps}
    waits = host_waits(timeline.waits, source.limits) if timeline.waits is not None else None
    host, stacks, left = host_of(timeline, source.limits)
    notes += left

    def build(at: Sequence[int]) -> Trace:
        own, told = every, timeline
        if not units.is_one:
            places = np.asarray(at, dtype="int64")
            own = {name: taken(cells, places) for name, cells in every.items()}
            told = timeline.of(places)
        trace = _trace(source, meta, dict(own), told, notes)
        return replace(
            trace,
            memory=beside.memory,
            host=host,
            stacks=stacks,
            host_waits=waits,
            collectives=beside.collectives,
        )

    return taken_apart(units, build)


def _trace(
    source: Source,
    meta: Meta,
    columns: dict[str, Any],
    timeline: Timeline,
    notes: Sequence[Diagnostic],
) -> Trace:
    """The trace of one device."""
    found = list(notes)
    outside = int((columns["run"].codes < 0).sum())
    if outside < len(columns["run"]):
        found += noted("warning", "outside_runs", outside)
    if timeline.launches is not None:  # once files beside were joined by the times of this one
        columns["start_ns"], skewed = _on_the_hosts_clock(timeline, timeline.launches)
        found += skewed
    return build_trace(meta, rows_of(columns), notes=found, limits=source.limits)


TRACE_VIEW = Reader(
    name="ascend_trace_view",
    title=mark("Ascend PyTorch or MindSpore profiler, trace_view.json"),
    fields={
        **dict.fromkeys(("start", "stream", "communication"), ALWAYS),
        "runs": mark("Record with a schedule and call prof.step() after each step."),
        **dict.fromkeys(("shapes", "dtypes", "sizes"), mark("Record with record_shapes=True.")),
        "memory": mark(
            "Record apart with profile_memory=True: FuseScope reads it from operator_memory.csv, "
            "else from memory_record.csv."
        ),
        "types": mark("Give the kernel_details.csv of the same folder."),
        "counters": mark("Give the kernel_details.csv of the same folder."),
        "members": mark("Record MindSpore in graph mode."),
    },
    recording=(
        "`torch_npu.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.NPU], "
        "schedule=torch_npu.profiler.schedule(wait=1, warmup=1, active=10, repeat=1), "
        "record_shapes=True, on_trace_ready=torch_npu.profiler.tensorboard_trace_handler(DIR), "
        "experimental_config=torch_npu.profiler._ExperimentalConfig("
        "profiler_level=torch_npu.profiler.ProfilerLevel.Level1))`. Better: give the whole "
        "`*_ascend_pt` or `*_ascend_ms` folder; its kernel_details.csv says more."
    ),
    covers=("msprof_timeline", "msprof_task_time", "ascend_op_statistic"),
    sniff=_sniff,
    read=_read,
    takes=headed(_sniff, may_add),
)


def _on_the_hosts_clock(timeline: Timeline, launches: Launches) -> tuple[Whole, list[Diagnostic]]:
    """The starts of tasks, moved as far as makes none begin before its launch, and notes."""
    starts, launched = timeline.columns["start_ns"], launches.starts_ns
    moves, notes = clock_skew(
        starts.numbers, launched.numbers, starts.known & launched.known, timeline.pids.codes
    )
    return Whole(starts.numbers + moves, starts.known), notes


def _launched(columns: Mapping[str, Any], launches: Launches) -> dict[str, Coded]:
    """Columns of the launching operator; its shapes where it launched one kernel alone."""
    calls = launches.calls
    counts = np.append(np.bincount(calls[calls >= 0]), 0)
    is_alone = counts[calls] == 1
    names = columns["name"]
    found = {
        "launched_by": Combined(columns["launched_by"], launches.names, names).made(_launcher),
        "op_class": Combined(
            Coded(np.where(is_alone, launches.names.codes, -1), launches.names.values),
            columns["op_type"],
            names,
            columns["op_class"],
        ).made(_class),
    }
    alone = Coded(np.where(is_alone, launches.inputs.codes, -1), launches.inputs.values).present()
    texts = [*(input_text(*told) for told in alone.values), ""]  # type: ignore[misc]
    if any(texts):
        by_launch = coded(np.where(alone.codes >= 0, alone.codes, len(texts) - 1), texts)
        found["inputs"] = Combined(columns["inputs"], by_launch).made(lambda own, by: own or by)
    return found


def _launcher(told: str | None, host: str | None, name: str) -> str | None:
    return told or (host if host is not None else launched_by(name))


def _class(host: str | None, op_type: str | None, name: str, known: str | None) -> str | None:
    """The class of a kernel: as its launching operator says where its own name says nothing."""
    if host is None or op_type is not None or kernel_class(name) != "unknown":
        return known
    of_host = op_class(host)
    return of_host if of_host not in OTHER else None


def _steps_of(timeline: Timeline, units: Units) -> Coded:
    """The label of each task's step; None outside every step. Those of each device by itself."""
    if units.is_one:
        return _steps(timeline)
    labels: list[object] = [None] * len(timeline.pids)
    for _, rows in units.parts:
        for row, label in zip(rows, _steps(timeline.of(np.asarray(rows))), strict=True):
            labels[row] = label
    return Coded.of(labels)


def _first_told(timeline: Timeline) -> list[Span]:
    """Each step once, in order of time: hosts and devices may each have a copy. Of several
    processes of the host the copy of the one whose steps launched the most."""
    times = timeline.launches.starts_ns if timeline.launches is not None else None
    by_process: dict[object, list[Span]] = {}
    for span in timeline.steps:
        by_process.setdefault(span.pid, []).append(span)

    def launched(spans: list[Span]) -> int:
        ordered = sorted(spans, key=lambda span: span.start_ns)
        return 0 if times is None else int((spans_at(ordered, times) >= 0).sum())

    first: dict[str, Span] = {}
    for spans in sorted(by_process.values(), key=launched, reverse=True):
        for span in spans:
            first.setdefault(span.label, span)
    return sorted(first.values(), key=lambda span: span.start_ns)


def _steps(timeline: Timeline) -> Coded:
    """The label of each task's step; None outside every step."""
    starts: Whole = timeline.columns["start_ns"]
    steps = _first_told(timeline)
    if not steps or timeline.launches is None:
        return Coded.same(None, len(starts))
    launched = timeline.launches.starts_ns
    of_task = spans_at(steps, launched)
    ran = np.flatnonzero((of_task >= 0) & starts.known)
    # Steps by when their first kernel began, of equal ones the one told first.
    numbers, known = pd.factorize(of_task[ran])
    began = np.full(len(known), np.iinfo("int64").max)
    np.minimum.at(began, numbers, starts.numbers[ran])
    order = np.argsort(began, kind="stable")
    left = np.flatnonzero((of_task < 0) & starts.known & ~launched.known)
    at = np.searchsorted(began[order], starts.numbers[left], side="right") - 1
    by_time = spans_at(steps, starts.take(left))
    of_task[left] = np.where(at >= 0, np.append(known[order], -1)[at], by_time)
    return Coded(of_task, [span.label for span in steps])
