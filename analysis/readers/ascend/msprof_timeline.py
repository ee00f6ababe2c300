"""msprof timelines: msprof_*.json, and the files per iteration of the MindSpore 2.x era.

The older profiler wrote msprof_, task_time_, hccl_ and step_trace_<device>_<model>_<iteration>
files that repeat each other; all of one device and model are one recording, in which a task that
stands in two files counts once. Long timelines are cut into slices, which are one recording, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.host_waits import HostWaits
from fusescope.analysis.limits import Limits
from fusescope.analysis.messages import mark
from fusescope.analysis.readers.ascend.timeline import Timeline, host_of, read_timeline, rows_of
from fusescope.analysis.readers.building.coded import (
    Coded,
    Whole,
    coded,
    distinct_rows,
    joined,
    taken,
)
from fusescope.analysis.readers.building.host.wait_calls import host_waits
from fusescope.analysis.readers.building.iterations import Span, iteration_runs, run_of
from fusescope.analysis.readers.building.processes import devices_of, taken_apart
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.beside import Beside, headed
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.trace import Diagnostic, Meta, Trace, merged, noted

_DEVICE = re.compile(
    rb'"(?:Physic )?Stream Id"\s*:|"Ascend Hardware"|"Task Type"\s*:|"(?:AscendCL|ACL)@'
    rb'|"name"\s*:\s*"(?:CANN|HCCL|Communication)"|"notify_id"\s*:|"Step Trace|"Iteration Time"'
    rb'|"cat"\s*:\s*"(?:async_npu|enqueue|dequeue)"|"Dequeue@|"npu::|"(?:torch|mindspore)_to_npu"'
)
_FRAMEWORK = re.compile(
    rb'"cat"\s*:\s*"(?:cpu_op|python_function|enqueue|dequeue|async_npu|async_task_queue|fwdbwd'
    rb'|async_mindspore|user_annotation)"|"name"\s*:\s*"(?:[Pp]ython|MindSpore)"|"mindspore_op"'
)
_ITERATION_FILE = re.compile(r"(?:msprof|task_time|hccl|step_trace)_(\d+)_(\d+)_(\d{1,9})\.json")
_SLICE_FILE = re.compile(r"(msprof)_slice_\d+_(\d+)\.json")


def is_device_timeline(text: bytes) -> bool:
    """True when the first events tell of an Ascend device."""
    return _DEVICE.search(text) is not None


def is_framework_timeline(text: bytes) -> bool:
    """True when the first events tell of a framework on the host, too."""
    return _FRAMEWORK.search(text) is not None


def _sniff(head: bytes) -> bool:
    """Chrome events of an Ascend device without those of a framework."""
    text = utf8(head).lstrip()
    starts = text.startswith((b"[", b"{"))
    return starts and is_device_timeline(text) and not is_framework_timeline(text)


def _read(source: Source) -> Trace:
    """Kernels and collectives of every part; iterations are runs. Each device is a trace of its
    own."""
    notes: list[Diagnostic] = []
    parts = [(source, read_timeline(source))]
    beside = Beside(source, notes)
    for other in _parts(beside):
        timeline = beside.load(other, read_timeline)
        parts += [] if timeline is None else [(other, timeline)]
    parts.sort(key=lambda part: int(_iteration(part[0]) or 0))
    columns, pids, labels = _merged(parts)
    count, limits = len(columns["name"]), source.limits
    if not count:
        raise FuseScopeError("msprof_timeline_empty", where=source.name)
    if count > limits.events:
        raise FuseScopeError(
            "too_many_operators",
            where=source.name,
            n=count,
            limit=limits.events,
            raised=limits.raised("events", count),
        )
    waits = _waits(parts, limits)
    host, _, left = host_of(parts[0][1], limits) if len(parts) == 1 else (None, None, [])
    notes += left
    meta = source.meta(
        MSPROF_TIMELINE.name,
        "msprof",
        files=(other.path for other, _ in parts if other is not source),
    )
    found = [*merged(note for _, part in parts for note in part.notes), *notes]
    units = devices_of(columns["device"])

    def build(at: Sequence[int]) -> Trace:
        rows, own, of = columns, pids, labels
        if not units.is_one:
            places = np.asarray(at, dtype="int64")
            rows = {name: taken(cells, places) for name, cells in columns.items()}
            own, of = pids.take(places), labels.take(places)
        trace = _trace(source, meta, rows, own, of, _iterations(source, parts, rows), found)
        return replace(trace, host=host, host_waits=waits)

    return taken_apart(units, build)


def _trace(
    source: Source,
    meta: Meta,
    columns: dict[str, Any],
    pids: Coded,
    labels: Coded,
    spans: Sequence[Span],
    notes: Sequence[Diagnostic],
) -> Trace:
    """The trace of one device, in whose iterations its tasks began."""
    rows = rows_of(columns)
    if not spans:
        rows["run"] = labels
        return build_trace(meta, rows, run_kind="iteration", notes=notes, limits=source.limits)
    own = pids if {span.pid for span in spans} <= set(pids.present().values) else None
    of_task = run_of(columns["start_ns"], spans, own)
    outside = noted("warning", "outside_runs", int((~of_task.known).sum()))
    rows["run"] = of_task
    return build_trace(
        meta, rows, runs=iteration_runs(spans), notes=[*notes, *outside], limits=source.limits
    )


def _parts(beside: Beside) -> list[Source]:
    """Other files of the same device and model, slices of the same timeline, and iterations."""
    family, folder = _family(beside.source), beside.source.path.rpartition("/")[0]
    return [
        other
        for other in beside.those(_sniff)
        if (family is not None and _family(other) == family)
        or (_holds_steps(other.head) and other.path.rpartition("/")[0] == folder)
    ]


MSPROF_TIMELINE = Reader(
    name="msprof_timeline",
    title=mark("msprof timeline, msprof_*.json"),
    fields={
        **dict.fromkeys(("start", "stream", "communication"), ALWAYS),
        "runs": mark("Record in graph mode, and give the step_trace_*.json as well."),
        **dict.fromkeys(("types", "members"), mark("Record MindSpore in graph mode.")),
        "counters": mark("Give the op_summary_*.csv instead."),
    },
    recording=(
        "`msprof --output=DIR --aic-metrics=PipeUtilization --task-time=l1 ./application`. Better: "
        "give the whole `mindstudio_profiler_output` folder; its op_summary_*.csv says more."
    ),
    covers=("msprof_task_time", "ascend_op_statistic"),
    sniff=_sniff,
    read=_read,
    takes=headed(_sniff),
)


def _holds_steps(head: bytes) -> bool:
    """True for a timeline of iterations alone, step_trace_*.json."""
    return b'"Step Trace"' in head and b'"Ascend Hardware"' not in head


def _family(source: Source) -> tuple[str, ...] | None:
    """What parts of one recording share: their folder, and device and model in the name."""
    folder, _, name = source.path.rpartition("/")
    name = name.removesuffix(".gz")
    if match := _ITERATION_FILE.fullmatch(name):
        return (folder, "iterations", match[1], match[2])
    if match := _SLICE_FILE.fullmatch(name):
        return (folder, "slices", match[1], match[2])
    return None


def _iteration(source: Source) -> str | None:
    match = _ITERATION_FILE.fullmatch(source.path.rpartition("/")[2].removesuffix(".gz"))
    return match[3] if match else None


_IDENTITY = ("name", "provider", "device", "stream", "start_ns", "dur_ns")


def _merged(
    parts: Sequence[tuple[Source, Timeline]],
) -> tuple[dict[str, Any], Coded, Coded]:
    """Columns of all parts, each task once; its process and the iteration of its file's name."""
    timelines = [timeline for _, timeline in parts]
    counts = [len(timeline.pids) for timeline in timelines]
    if len(parts) == 1:
        return timelines[0].columns, timelines[0].pids, Coded.same(None, counts[0])
    columns = {
        name: joined([timeline.columns[name] for timeline in timelines])
        for name in timelines[0].columns
    }
    pids = Coded.joined([timeline.pids for timeline in timelines])
    part_of = np.repeat(np.arange(len(parts)), counts)
    labels = coded(part_of, [_iteration(source) for source, _ in parts])
    told = [Coded.of(columns[name]) for name in _IDENTITY]
    numbers, first = distinct_rows(
        [column.codes for column in told], [len(column.values) for column in told], len(part_of)
    )
    # Only another file repeats a task; in one file two equal rows are two tasks.
    kept = np.flatnonzero(part_of == part_of[first][numbers])
    return (
        {name: taken(cells, kept) for name, cells in columns.items()},
        pids.take(kept),
        labels.take(kept),
    )


def _iterations(
    source: Source, parts: Sequence[tuple[Source, Timeline]], columns: Mapping[str, Any]
) -> list[Span]:
    """Iterations of the files in time order, without those of other devices; of files beside only
    where tasks are known."""
    starts: Whole = columns["start_ns"]
    devices = {None, *Coded.of(columns["device"]).present().values}
    known = starts.numbers[starts.known]
    first, last = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    found: dict[tuple[str, int], Span] = {}
    for other, timeline in parts:
        for span in timeline.iterations:
            inside = span.start_ns <= last and span.start_ns + span.dur_ns >= first
            is_own = timeline.devices.get(span.pid) in devices
            if is_own and (other is source or inside):
                found.setdefault((span.label, span.start_ns), span)
    return sorted(found.values(), key=lambda span: span.start_ns)


def _waits(parts: Sequence[tuple[Source, Timeline]], limits: Limits) -> HostWaits | None:
    """Those of all parts, each once; None where no part holds calls of the host."""
    known = [timeline.waits for _, timeline in parts if timeline.waits is not None]
    calls = dict.fromkeys(wait for waits in known for wait in waits)
    return host_waits(calls, limits) if known else None
