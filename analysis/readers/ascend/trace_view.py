"""trace_view.json of the Ascend PyTorch and the MindSpore profiler on an NPU.

Device tasks as in `ascend_timeline`, and what only this file knows: which operator of the
framework launched a kernel, with its input shapes. A kernel belongs to the step that launched it,
where a flow tells so, else to the step whose kernels ran when it began; the time of a step is the
span of its kernels.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import replace

from analysis.errors import FuseScopeError
from analysis.messages import mark
from analysis.operators.classes import OTHER, kernel_class, op_class
from analysis.readers.ascend.beside import may_add, read_beside
from analysis.readers.ascend.columns import launched_by
from analysis.readers.ascend.launches import input_text
from analysis.readers.ascend.msprof_timeline import is_device_timeline, is_framework_timeline
from analysis.readers.ascend.rows import AscendRows
from analysis.readers.ascend.timeline import Timeline, read_timeline
from analysis.readers.building.iterations import Span, span_at
from analysis.readers.building.trace_tables import build_trace
from analysis.readers.building.wait_calls import host_waits
from analysis.readers.input.beside import headed
from analysis.readers.input.encoding import utf8
from analysis.readers.input.source import Source
from analysis.readers.reader import ALWAYS, Reader
from analysis.trace import Diagnostic, Trace

_EPOCH_TEXT = re.compile(rb'"ts"\s*:\s*"\d{13,17}\.\d+\s*"')
_OF_CPU = re.compile(rb'"HostCpuOps"|"CPU OP"')


def _sniff(head: bytes) -> bool:
    """Chrome events of a host framework and an NPU, or with times as the profiler writes."""
    text = utf8(head).lstrip()
    if not text.startswith((b"[", b"{")):
        return False
    if is_device_timeline(text):
        return is_framework_timeline(text)
    return _EPOCH_TEXT.search(text) is not None and _OF_CPU.search(text) is None


def _read(source: Source) -> Trace:
    """Kernels and collectives; steps from ProfilerStep annotations."""
    timeline = read_timeline(source, source.limits)
    columns = timeline.columns
    if not columns["name"]:
        raise FuseScopeError("trace_view_empty", where=source.name)
    _add_launchers(timeline)
    steps = _steps(timeline)
    rows = AscendRows(columns, timeline.tasks, list(steps), timeline.notes)
    beside = read_beside(source, rows, _sniff)
    of_mindspore = any(name.lower().startswith("mindspore") for name in timeline.processes)
    version = beside.settings.get("mindspore" if of_mindspore else "torch_npu")
    meta = source.meta(
        TRACE_VIEW.name,
        "MindSpore Profiler" if of_mindspore else "Ascend PyTorch Profiler",
        version=str(version) if version is not None else None,
        files=beside.files,
    )
    notes = [*timeline.notes, *beside.notes]
    if None in steps and any(steps):
        notes.append(Diagnostic("warning", "outside_runs", steps.count(None)))
    every: dict[str, list[object]] = {**columns, **beside.columns, "run": list(steps)}
    trace = build_trace(meta, every, notes=notes, limits=source.limits)
    waits = host_waits(timeline.waits, source.limits) if timeline.waits is not None else None
    return replace(trace, memory=beside.memory, host_waits=waits)


TRACE_VIEW = Reader(
    name="ascend_trace_view",
    title=mark("Ascend PyTorch or MindSpore profiler, trace_view.json"),
    fields={
        **dict.fromkeys(("start", "stream", "communication"), ALWAYS),
        "runs": mark("Record with a schedule and call prof.step() after each step."),
        **dict.fromkeys(("shapes", "dtypes"), mark("Record with record_shapes=True.")),
        "memory": mark(
            "Record with record_shapes=True for sizes of tensors; for memory over time record "
            "apart with profile_memory=True: FuseScope reads it from operator_memory.csv, else "
            "from memory_record.csv."
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


def _add_launchers(timeline: Timeline) -> None:
    """Columns of the launching operator; its shapes where it launched one kernel alone."""
    columns = timeline.columns
    hosts = [timeline.launchers.get(point) if point else None for point in timeline.launches]
    launched = Counter(host for host in hosts if host is not None)
    known: dict[tuple[bytes, bytes], str] = {}
    inputs: list[object] = []
    classes: list[object] = []
    for index, host in enumerate(hosts):
        name, told = str(columns["name"][index]), columns["launched_by"][index]
        columns["launched_by"][index] = told or (host.name if host else launched_by(name))
        text, name_class = "", columns["op_class"][index]
        if host is not None and launched[host] == 1:
            key = (host.dims, host.dtypes)
            if key not in known:
                known[key] = input_text(*key)
            text = known[key]
            if columns["op_type"][index] is None and kernel_class(name) == "unknown":
                of_host = op_class(host.name)
                name_class = of_host if of_host not in OTHER else None
        inputs.append(text)
        classes.append(name_class)
    if any(inputs):
        columns["inputs"] = inputs
    columns["op_class"] = classes


def _steps(timeline: Timeline) -> list[str | None]:
    """The label of each task's step; None outside every step."""
    starts = [start if isinstance(start, int) else None for start in timeline.columns["start_ns"]]
    first: dict[str, Span] = {}  # hosts and devices may each have a copy of a step
    for span in timeline.steps:
        first.setdefault(span.label, span)
    steps = sorted(first.values(), key=lambda span: span.start_ns)
    if not steps:
        return [None] * len(starts)
    begins = [span.start_ns for span in steps]
    ends = [span.start_ns + span.dur_ns for span in steps]

    def launching(ns: int | None) -> int | None:
        return span_at(begins, ends, ns)

    of_task = [launching(point[2]) if point else None for point in timeline.launches]
    began: dict[int, int] = {}  # step -> when its first kernel did
    for step, start in zip(of_task, starts, strict=True):
        if step is not None and start is not None:
            began[step] = min(start, began.get(step, start))
    order = sorted(began.items(), key=lambda item: item[1])
    ordered = [start for _, start in order]
    labels: list[str | None] = []
    for step, start, point in zip(of_task, starts, timeline.launches, strict=True):
        if step is None and start is not None and point is None:
            index = bisect_right(ordered, start) - 1
            step = order[index][0] if index >= 0 else launching(start)
        labels.append(steps[step].label if step is not None else None)
    return labels
