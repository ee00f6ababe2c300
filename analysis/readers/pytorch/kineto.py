"""PyTorch's profiler: Kineto traces from 2021 on, of a device or of the host alone.

With a device the operators are what ran there, kernels, copies and fills of memory, each with the
operator of the host that launched it. A trace without such rows tells of the host: operators with
their own time, without that of operators inside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import msgspec
import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.host_waits import HostWaits
from fusescope.analysis.job import Job
from fusescope.analysis.limits import Limits
from fusescope.analysis.messages import mark
from fusescope.analysis.program import Captured
from fusescope.analysis.readers.building.call_stacks import Moments, stacks_of
from fusescope.analysis.readers.building.checks.graph_launches import graph_notes, is_graph_launch
from fusescope.analysis.readers.building.coded import Coded, Whole
from fusescope.analysis.readers.building.host.launch_calls import (
    LaunchCalls,
    is_launch,
    with_launches,
)
from fusescope.analysis.readers.building.host.wait_calls import host_waits, is_wait
from fusescope.analysis.readers.building.iterations import before_file_notes, profiled_runs
from fusescope.analysis.readers.building.processes import several_processes, taken_apart
from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.event_windows import collect_events
from fusescope.analysis.readers.input.json_events import EventFile
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.pytorch.backward import forward_of
from fusescope.analysis.readers.pytorch.clocks import on_the_hosts_clock
from fusescope.analysis.readers.pytorch.compiler.compiled import (
    Calls,
    calls_on_device,
    calls_on_host,
    with_members,
)
from fusescope.analysis.readers.pytorch.compiler.compiled_graph import is_of_compiler
from fusescope.analysis.readers.pytorch.counters import counters_of_host, counters_of_kernels
from fusescope.analysis.readers.pytorch.dispatch import host_ops
from fusescope.analysis.readers.pytorch.event import Event, plain
from fusescope.analysis.readers.pytorch.events import EventColumns, Sorted
from fusescope.analysis.readers.pytorch.graphs.captured import captured_of
from fusescope.analysis.readers.pytorch.host import op_rows
from fusescope.analysis.readers.pytorch.host_events import host_of
from fusescope.analysis.readers.pytorch.kernels import kernel_rows
from fusescope.analysis.readers.pytorch.launches import Launched, Launches, launching_names
from fusescope.analysis.readers.pytorch.memory import memory_of
from fusescope.analysis.readers.pytorch.program import program_of
from fusescope.analysis.readers.pytorch.spans import KINDS, NONE, Spans
from fusescope.analysis.readers.pytorch.steps import Steps, before_file
from fusescope.analysis.readers.pytorch.units.collectives import collectives_of, job_of_header
from fusescope.analysis.readers.pytorch.units.parts import Parts
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Trace, noted

_CATEGORY = re.compile(
    rb'"cat"\s*:\s*"(?:cpu_op|Operator|kernel|Kernel|cuda_runtime|cuda_driver|Runtime|gpu_memcpy'
    rb"|gpu_memset|Memcpy|Memset|python_function|user_annotation|gpu_user_annotation|hip_runtime"
    rb'|mtia_runtime|mtia_ccp_events|xpu_runtime|xpu_driver|privateuse1_runtime)"'
)
# Operators and calls that only PyTorch's profiler tells of, in traces that were cut down by hand.
_NAME = re.compile(
    rb'"name"\s*:\s*"(?:aten::|autograd::|ProfilerStep\s*#|(?:cuda|hip)LaunchKernel|Memcpy [HD]to)'
)
# What Kineto's events say and those of other profilers with such categories do not.
_ARGUMENT = re.compile(
    rb'"(?:[Ee]xternal id|correlation|Ev Idx|Python id|Record function id|Trace iteration'
    rb'|Profiler Event Index|est\. achieved occupancy %)"\s*:'
)
_SCHEMA = re.compile(rb'"schemaVersion"\s*:')
_HEADER = re.compile(
    rb'"(?:deviceProperties|computeProperties|baseTimeNanoseconds|cupti_version|roctracer_version'
    rb"|record_shapes"
    rb'|with_stack|distributedInfo|trace_id)"\s*:'
)
# Ascend's and MindSpore's timelines copy PyTorch's categories.
_FOREIGN = re.compile(
    rb'"(?:Ascend Hardware|HostToDevice|CANN|HostCpuOps|async_npu|CPU OP)"'
    rb'|"Input Dims"\s*:\s*"|"Fwd thread id"\s*:\s*0\s*,\s*"(?:Input|Call stack)'
)
_CAPPED = re.compile(r"exceeded max|dropped [1-9]|buffer limit", re.IGNORECASE)
_MAX_DEVICES = 4
_MAX_MESSAGES = 1000
_MAX_HEADER_BYTES = 4 * 1024 * 1024  # of one entry; decoding takes some forty times as much


class _File(EventFile):
    device_properties: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="deviceProperties")
    compute_properties: msgspec.Raw = msgspec.field(  # until 2021
        default=msgspec.Raw(), name="computeProperties"
    )
    base_time: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="baseTimeNanoseconds")
    trace_name: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="traceName")
    host_name: msgspec.Raw = msgspec.Raw()
    distributed: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="distributedInfo")
    trace_id: msgspec.Raw = msgspec.Raw()
    messages: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="INFO")
    warnings: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="WARNING")
    errors: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="ERROR")


def _sniff(head: bytes) -> bool:
    """Kineto's header, or events of its categories with its arguments."""
    text = utf8(head).lstrip()
    is_object = text[:1] == b"{"
    if is_object and _SCHEMA.search(text) and _HEADER.search(text):
        return True
    if not (is_object or text[:1] == b"[") or _FOREIGN.search(text):
        return False
    if _CATEGORY.search(text) is None:
        return False
    signs = (_ARGUMENT, _HEADER, _NAME, _SCHEMA) if is_object else (_ARGUMENT,)
    return any(sign.search(text) for sign in signs)


def _read(source: Source) -> Trace:
    """The trace; each `ProfilerStep#N` is a run, without them the file is one. Of several processes
    or devices each is a trace of its own."""
    columns, file, notes = collect_events(source, Event, _File, EventColumns)
    events = columns.sorted()
    del columns
    notes += events.notes
    notes += _capped(file)
    if not events.kernels and not events.ops:
        raise _nothing(source.name, {note.code for note in notes})
    parts = Parts(events)
    notes += parts.notes
    return taken_apart(
        parts.units, lambda rows: _trace(source, file, parts.events_of(rows), list(notes))
    )


def _trace(source: Source, file: _File, found: Sorted, notes: list[Diagnostic]) -> Trace:
    """The trace of these events; `notes` are of the file."""
    notes += several_processes(found.ops.processes())
    steps = Steps(found)
    devices = _devices(file)
    launches = program = None
    calls: Callable[[], Calls]
    if found.kernels:
        launches = Launches(found)
        launched = launches.all(found.kernels)
        found, moved = on_the_hosts_clock(found, launched)
        if moved:
            notes += moved
            launches = Launches(found)
            launched = launches.all(found.kernels)
            steps = Steps(found)
        calls_of_graphs = _named(found.launches, is_graph_launch)
        notes += graph_notes(
            calls_of_graphs.correlation, found.kernels.correlation, found.kernels.lengths
        )
        rows = kernel_rows(found, steps, devices, launches, launched)
        counters, told = counters_of_kernels(found, launched)
        calls = partial(calls_on_device, found, launches, launched)
        moments = _launched(found, launched)
        if len(_launch_calls(found, steps).starts):
            is_kernel = found.kernels.kinds == KINDS.index("kernel")
            if steps.spans:
                is_kernel &= ~before_file(found.kernels, launched)
            without = int((is_kernel & (launched.lanes == NONE)).sum())
            notes += noted("info", "kernels_without_call", without)
        program = program_of(found, launches, launched, steps, source.limits)
    else:
        executed = host_ops(found)
        if not executed.ops:
            raise _nothing(source.name, {note.code for note in notes})
        rows = op_rows(executed, steps)
        counters, told = counters_of_host(found, executed.ops)
        calls = partial(calls_on_host, found, executed)
        moments = Moments(executed.ops.lanes, executed.ops.starts, executed.ops.rows, before=True)
        notes += noted("warning", "no_device_rows", len(found.launches))
        notes += executed.notes
    rows = counters | rows  # a counter takes no other column's place
    notes += told
    originals, beside = with_members(rows, calls if found.calls else None, steps, source)
    notes += beside.notes
    if steps.spans:
        outside = np.array([run is None for run in rows["run"]], dtype=bool)
        earlier = np.zeros_like(outside)
        if found.kernels:
            earlier = before_file(found.kernels, launched)
            notes += before_file_notes(earlier, found.kernels.lengths)
        notes += noted("warning", "outside_runs", int((outside & ~earlier).sum()))
    ran = distinct(rows["run"].numbers[rows["run"].known])
    notes += noted("info", "runs_untold", len(steps.spans) - len(ran) if len(ran) else 0)
    job = _job(file)
    used = list(map(str, Coded.of(rows["provider"]).present().values))
    meta = source.meta(
        KINETO.name,
        "PyTorch profiler",
        device=", ".join(used[:_MAX_DEVICES]) if used != ["device"] else None,
        files=beside.files,
        private=_private(file),
        started_ns=_started_ns(
            file, found.kernels.starts if found.kernels else executed.ops.starts
        ),
        job=job,
    )
    starts, lengths = [s for s, _ in steps.spans], [end - start for start, end in steps.spans]
    runs = profiled_runs("step", starts, lengths) if steps.spans else None
    memory, beyond = memory_of(found, source.limits)
    notes += beyond
    host, left = host_of(found, moments, source.limits)
    notes += left
    captured, moments = _captured(found, launches, moments, source.limits)
    trace = build_trace(meta, rows, runs=runs, notes=notes, limits=source.limits)
    trace = replace(
        trace,
        stacks=stacks_of(found.frames, moments, source.limits, forward_of(found, moments)),
        memory=memory,
        host=host,
        originals=originals,
        program=program,
        captured=captured,
        collectives=collectives_of(found.kernels or executed.ops, job),
        host_waits=_waits(found, launches, source.limits) if found.launches and launches else None,
    )
    return with_launches(trace, _launch_calls(found, steps)) if found.kernels else trace


KINETO = Reader(
    name="kineto",
    title=mark("PyTorch profiler trace"),
    fields={
        **dict.fromkeys(("start", "types", "stream"), ALWAYS),
        "runs": mark("Record with schedule=torch.profiler.schedule(…) and call prof.step()."),
        "shapes": mark("Record with record_shapes=True."),
        "dtypes": mark("Record with record_shapes=True."),
        "sizes": mark("Record with record_shapes=True."),
        "flops": mark("Record with record_shapes=True and with_flops=True."),
        "memory": mark("Record with profile_memory=True."),
        "members": mark(
            "Record a model under torch.compile with TORCH_TRACE=FOLDER and INDUCTOR_PROVENANCE=1 "
            "set, and give the log in that folder with the trace; on a CPU with "
            "torch._inductor.config.cpp.enable_kernel_profile = True."
        ),
        "communication": mark("Record a distributed run."),
        "counters": mark(
            "Record with experimental_config=torch.profiler._ExperimentalConfig("
            "profiler_metrics=[…], profiler_measure_per_kernel=True) on an NVIDIA GPU; "
            "counters of an AMD GPU with `rocprofv3 --pmc SQ_WAVES FETCH_SIZE`, those of an Ascend "
            "NPU with torch_npu and aic_metrics=PipeUtilization."
        ),
    },
    recording=(
        "`with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], "
        "schedule=torch.profiler.schedule(wait=1, warmup=5, active=10), record_shapes=True, "
        "with_flops=True, on_trace_ready=torch.profiler.tensorboard_trace_handler('traces')) as "
        "prof:`, and `prof.step()` after each run of the model. `with_stack=True` and "
        "`profile_memory=True` add the code that launched each kernel, and memory over time; they "
        "slow down what is measured, so record them apart. Kernels of `torch.compile` on a CPU "
        "show with `torch._inductor.config.cpp.enable_kernel_profile = True`. Which operators are "
        "in each kernel stands in the log that `TORCH_TRACE=trace INDUCTOR_PROVENANCE=1` in the "
        "environment has written: give it with the trace (or the folder `torch_compile_debug` that "
        "`TORCH_COMPILE_DEBUG=1` writes)."
    ),
    sniff=_sniff,
    read=_read,
    takes=is_of_compiler,
)


def _launched(found: Sorted, launched: Launched) -> Moments:
    """When and where on the host each kernel was launched, as far as that is known."""
    told = np.flatnonzero(launched.lanes != NONE)
    return Moments(launched.lanes[told], launched.times[told], found.kernels.rows[told])


def _captured(
    found: Sorted, launches: Launches | None, moments: Moments, limits: Limits
) -> tuple[Captured | None, Moments]:
    """Return what was captured into graphs, and the moments with those of its calls, which
    have a stack as calls of the trace have."""
    captured = captured_of(found, launches or Launches(found), limits)
    if captured is None or moments.before:
        return captured, moments
    calls = found.launches
    at = np.flatnonzero(np.isin(calls.rows, captured.table["source_row"].to_numpy()))
    return captured, Moments(
        np.concatenate((moments.lanes, calls.lanes[at])),
        np.concatenate((moments.times_ns, calls.starts[at])),
        np.concatenate((moments.rows, calls.rows[at])),
    )


def _waits(found: Sorted, launches: Launches, limits: Limits) -> HostWaits:
    """Calls that wait for the device, by the operator around each where there is one."""
    waits = _named(found.launches, is_wait)
    around = launching_names(found.ops, launches.around(waits))
    names = (by or name for by, name in zip(around, waits.coded_names(), strict=True))
    return host_waits(
        zip(map(str, names), waits.starts.tolist(), waits.ends.tolist(), strict=True), limits
    )


def _launch_calls(found: Sorted, steps: Steps) -> LaunchCalls:
    calls = _named(found.launches, is_launch)
    runs = steps.all_at(calls.starts)
    return LaunchCalls(
        calls.lanes,
        calls.starts,
        calls.lengths,
        runs if steps.spans else Whole(np.zeros(len(calls), dtype="int64")),
    )


def _named(spans: Spans, is_one: Callable[[str], bool]) -> Spans:
    """The events whose name says that they are one of these."""
    chosen = [at for at in distinct(spans.names).tolist() if is_one(spans.tables.names[at])]
    return spans.take(np.flatnonzero(np.isin(spans.names, chosen)))


def _devices(file: _File) -> dict[str, str]:
    """Device id -> name, from the header; '' stands for ids that it does not list."""
    raw = file.device_properties or file.compute_properties
    if len(memoryview(raw)) > _MAX_HEADER_BYTES:
        return {}
    listed = decode(raw, list[dict[str, object]], ())
    names = ((each.get("id"), each.get("name")) for each in listed)
    found = {str(id_): clean_text(name, 80) for id_, name in names if isinstance(name, str)}
    # AMD's ids may count devices that the header leaves out; where all are of one kind it is that.
    return {**found, "": next(iter(found.values()))} if len(set(found.values())) == 1 else found


def _job(file: _File) -> Job | None:
    """Return the rank of the file and its job, as its header says them."""
    is_small = len(memoryview(file.distributed)) <= _MAX_HEADER_BYTES
    return job_of_header(file.distributed, file.trace_id) if is_small else None


def _started_ns(file: _File, starts: Ints) -> int | None:
    """When the first of these began, in ns since 1970: times count from a base in the header."""
    base = decode(file.base_time, int, 0)
    return base + int(starts.min()) if base > 0 else None


def _private(file: _File) -> dict[str, str]:
    """What may name a machine or a person."""
    given = {"host_name": file.host_name, "trace_name": file.trace_name}
    texts = {name: plain(raw).decode("utf-8", "replace") for name, raw in given.items()}
    return {name: clean_text(text) for name, text in texts.items() if text}


def _capped(file: _File) -> list[Diagnostic]:
    """A note when the file says that the profiler stopped early."""
    for raw in (file.errors, file.warnings, file.messages):
        if len(memoryview(raw)) > _MAX_HEADER_BYTES:
            continue
        for message in decode(raw, list[str], [])[:_MAX_MESSAGES]:
            if _CAPPED.search(message[:2000]):
                return [Diagnostic("warning", "event_cap", 1, clean_text(message, 160))]
    return []


def _nothing(where: str, codes: set[str]) -> FuseScopeError:
    if "cut_short" in codes:
        return FuseScopeError("cut_before_operators", where=where)
    if "bad_time" in codes:
        return FuseScopeError("no_valid_times", where=where)
    return FuseScopeError("pytorch_trace_empty", where=where)
