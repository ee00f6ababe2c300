"""From what a recording of AMD's profilers holds to the trace of each process and device in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fusescope.analysis.host_activity import HostActivity
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.amd.rows import HipCall, RocprofRows
from fusescope.analysis.readers.building.checks.clocks import clock_skew
from fusescope.analysis.readers.building.coded import Whole
from fusescope.analysis.readers.building.host.calls import Host, HostCall, Key
from fusescope.analysis.readers.building.host.launch_calls import (
    LaunchCall,
    is_launch,
    launch_calls,
    with_launches,
)
from fusescope.analysis.readers.building.host.wait_calls import host_waits, is_wait
from fusescope.analysis.readers.building.processes import rows_of, taken_apart, units_of
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic, Trace, noted


def trace_of(rows: RocprofRows, name: str, source: Source) -> Trace:
    """The trace of the process or device that is shown, with the others. Raises FuseScopeError
    where no row has a valid time.

    Calls of HIP are those of the process; of several devices of one process those launches are
    known that have the number of something that ran there.
    """
    columns: dict[str, list[object]] = dict(rows.columns)
    processes = columns.pop("process", [None] * rows.columns.count)
    numbers = columns.pop("correlation", [None] * rows.columns.count)
    columns["source_row"] = _numbered_on(columns["source_row"])
    launched_by = _launches(rows.calls, processes, numbers)
    kernels = [not str(kind).startswith("Memcpy") for kind in columns["op_type"]]
    units = units_of(processes, columns["device"], kernels)
    if units.is_one:
        whole = _Calls(rows.calls, rows.calls, launched_by)
        return taken_apart(units, lambda _: _trace(rows, columns, whole, name, source))

    def build(at: Sequence[int]) -> Trace:
        own = {processes[row] for row in at} - {None}
        every = [call for call in rows.calls if not own or call.process in own]
        found = [launched_by[row] for row in at]
        launching = {id(call) for call in found if call is not None}
        calls = [
            call
            for call in every
            if not (by_device and is_launch(call.name)) or id(call) in launching
        ]
        return _trace(rows, rows_of(columns, at), _Calls(every, calls, found), name, source)

    by_device = any("device:" in unit for unit, _ in units.parts)
    return taken_apart(units, build)


@dataclass(frozen=True)
class _Calls:
    """Calls of HIP: `every` one of the process, the `own` ones of what is shown of it, and which of
    them launched each row, None where it is not known."""

    every: Sequence[HipCall]
    own: Sequence[HipCall]
    launched_by: Sequence[HipCall | None]


def _launches(
    calls: Sequence[HipCall], processes: Sequence[object], numbers: Sequence[object]
) -> list[HipCall | None]:
    """Return the call that launched each row: the only one with its number, in its process where
    that is known."""
    found: dict[object, list[HipCall]] = {}
    for call in calls:
        if call.correlation is not None:
            found.setdefault(call.correlation, []).append(call)
    launched_by: list[HipCall | None] = []
    for process, number in zip(processes, numbers, strict=True):
        own = [
            call
            for call in found.get(number, ())
            if process is None or call.process is None or call.process == process
        ]
        launched_by.append(own[0] if len(own) == 1 else None)
    return launched_by


def _numbered_on(rows: Sequence[object]) -> list[object]:
    """Return rows of the file as they are; those of a second table, whose numbers are taken, are
    counted on from the last one."""
    known: set[object] = set()
    following = max((row for row in rows if isinstance(row, int)), default=0)
    numbered: list[object] = []
    for row in rows:
        if row is not None and row in known:
            following += 1
            numbered.append(following)
        else:
            numbered.append(row)
            known.add(row)
    return numbered


def _trace(
    rows: RocprofRows,
    columns: Mapping[str, Sequence[object]],
    of_host: _Calls,
    name: str,
    source: Source,
) -> Trace:
    """Return the trace of one process or device; all of it is one run, for rocprof marks none."""
    calls = of_host.own
    meta = source.meta(
        name,
        rows.tool,
        device=rows.device_names(columns["device"]),
        files=rows.files,
        private=rows.private,
    )
    own, clocks = _on_the_hosts_clock(columns, calls)
    host, left = _host(of_host, own, source.limits)
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


def _host(
    of_host: _Calls, columns: Mapping[str, Sequence[object]], limits: Limits
) -> tuple[HostActivity | None, list[Diagnostic]]:
    """Return what the host did, and which of its calls launched what, where the file has their
    numbers."""
    known: dict[Key, HostCall] = {
        (call.process, id(call)): HostCall(call.start_ns, call.thread, call.name, call.end_ns)
        for call in of_host.every
    }
    rows = zip(of_host.launched_by, columns["start_ns"], columns["source_row"], strict=True)
    joined = [
        (call, row)
        for call, start, row in rows
        if call is not None and isinstance(start, int) and call.start_ns <= start
    ]
    launches: dict[str, list[object]] = {
        "process": [call.process for call, _ in joined],
        "correlation": [id(call) for call, _ in joined],
        "source_row": [row for _, row in joined],
    }
    host, notes = Host(known, ()).activity(launches, limits)
    if joined:
        notes = [*notes, *noted("info", "launches_unknown", len(of_host.launched_by) - len(joined))]
    return host, notes


def _on_the_hosts_clock(
    columns: Mapping[str, Sequence[object]], calls: Sequence[HipCall]
) -> tuple[Mapping[str, Sequence[object]], list[Diagnostic]]:
    """The columns with starts moved as far as makes no kernel begin before its launch, and notes.

    Which call launched which kernel not all files say; but where there are as many calls as
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
