"""From what a recording of AMD's profilers holds to the trace of each process and device in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from analysis.host_activity import HostActivity
from analysis.limits import Limits
from analysis.readers.amd.rows import HipCall, RocprofRows
from analysis.readers.building.checks.clocks import clock_skew
from analysis.readers.building.coded import Whole
from analysis.readers.building.host.calls import Host, HostCall, Key
from analysis.readers.building.host.launch_calls import (
    LaunchCall,
    is_launch,
    launch_calls,
    with_launches,
)
from analysis.readers.building.host.wait_calls import host_waits, is_wait
from analysis.readers.building.processes import rows_of, taken_apart, units_of
from analysis.readers.building.trace_tables import build_trace
from analysis.readers.input.source import Source
from analysis.trace import Diagnostic, Trace


def trace_of(rows: RocprofRows, name: str, source: Source) -> Trace:
    """The trace of the process or device that is shown, with the others. Raises FuseScopeError
    where no row has a valid time.

    Calls of HIP are those of the process; they do not say on which device a kernel ran, so of
    several devices of one process no launches are known.
    """
    columns: dict[str, list[object]] = dict(rows.columns)
    processes = columns.pop("process", [None] * len(columns["name"]))
    kernels = [not str(kind).startswith("Memcpy") for kind in columns["op_type"]]
    units = units_of(processes, columns["device"], kernels)
    if units.is_one:
        every = rows.calls
        return taken_apart(units, lambda _: _trace(rows, columns, every, every, name, source))

    def build(at: Sequence[int]) -> Trace:
        own = {processes[row] for row in at} - {None}
        every = [call for call in rows.calls if not own or call.process in own]
        calls = [call for call in every if not (by_device and is_launch(call.name))]
        return _trace(rows, rows_of(columns, at), calls, every, name, source)

    by_device = any("device:" in unit for unit, _ in units.parts)
    return taken_apart(units, build)


def _trace(
    rows: RocprofRows,
    columns: Mapping[str, Sequence[object]],
    calls: Sequence[HipCall],
    every: Sequence[HipCall],
    name: str,
    source: Source,
) -> Trace:
    """The trace of one process or device, whose own are `calls` of `every` call of its host; all of
    it is one run, for rocprof marks none."""
    meta = source.meta(
        name,
        rows.tool,
        device=rows.device_names(columns["device"]),
        files=rows.files,
        private=rows.private,
    )
    own, clocks = _on_the_hosts_clock(columns, calls)
    host, left = _host(every, source.limits)
    notes = [*rows.notes, *clocks, *left]
    trace = replace(build_trace(meta, own, notes=notes, limits=source.limits), host=host)
    if calls:
        waits = [
            (call.name, call.start_ns, call.end_ns)
            for call in calls
            if call.end_ns is not None and is_wait(call.name)
        ]
        trace = replace(trace, host_waits=host_waits(waits, source.limits))
    launches = [
        LaunchCall(
            (call.process, call.thread),
            call.start_ns,
            None if call.end_ns is None else call.end_ns - call.start_ns,
        )
        for call in calls
        if is_launch(call.name)
    ]
    return with_launches(trace, launch_calls(launches))


def _host(calls: Sequence[HipCall], limits: Limits) -> tuple[HostActivity | None, list[Diagnostic]]:
    """What the host did; which of its calls launched which kernel is not known here."""
    known: dict[Key, HostCall] = {
        (call.process, at): HostCall(call.start_ns, call.thread, call.name, call.end_ns)
        for at, call in enumerate(calls)
    }
    none: dict[str, list[object]] = {"process": [], "correlation": [], "source_row": []}
    return Host(known, ()).activity(none, limits)


def _on_the_hosts_clock(
    columns: Mapping[str, Sequence[object]], calls: Sequence[HipCall]
) -> tuple[Mapping[str, Sequence[object]], list[Diagnostic]]:
    """The columns with starts moved as far as makes no kernel begin before its launch, and notes.

    Which call launched which kernel is not known here; but where there are as many calls as
    kernels, n kernels cannot have begun before n were launched.
    """
    launched = sorted(call.start_ns for call in calls if is_launch(call.name))
    starts = Whole.of(columns["start_ns"])
    is_copy = np.array([str(kind).startswith("Memcpy") for kind in columns["op_type"]], dtype=bool)
    kernels = np.flatnonzero(~is_copy)
    is_known = starts is not None and starts.known.all()
    if starts is None or not is_known or not launched or len(launched) != len(kernels):
        return columns, []
    order = kernels[np.argsort(starts.numbers[kernels], kind="stable")]
    known, one_clock = np.ones(len(order), dtype=bool), np.zeros(len(order), dtype="int64")
    moves, notes = clock_skew(
        starts.numbers[order], np.array(launched, dtype="int64"), known, one_clock
    )
    moved = starts.numbers + (moves.max() if len(moves) else 0)
    return {**columns, "start_ns": moved.tolist()}, notes
