"""XLA profiles: `*.xplane.pb`, as JAX, TensorFlow and PyTorch/XLA write them.

Planes are devices and hosts, lines are streams, events point to names in the plane's own tables.
Times are ps after the line's start in ns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.operators.classes import heaviest, op_class
from fusescope.analysis.operators.kernel_names import memory_type
from fusescope.analysis.operators.members import members_text
from fusescope.analysis.readers.building.processes import MAX_UNITS, shown_of, units_beyond
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.readers.xla.host_steps import HostSteps, host_steps
from fusescope.analysis.readers.xla.host_threads import HostThreads, host_threads
from fusescope.analysis.readers.xla.lines import STREAM, operator_lines
from fusescope.analysis.readers.xla.nested import own_times
from fusescope.analysis.readers.xla.protobuf import DamagedMessage
from fusescope.analysis.readers.xla.replayed import Told, replayed
from fusescope.analysis.readers.xla.rows import Rows, mark_by_host, on_the_hosts_clock
from fusescope.analysis.readers.xla.steps import Executed, Step, host_runs, labels_at, step_runs
from fusescope.analysis.readers.xla.xspace import (
    COUNTERS,
    Event,
    Line,
    Plane,
    Programs,
    device_name,
    fact_of,
    is_mangled,
    read_event,
    read_line,
    read_space,
    stats_of,
    text_of,
)
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Trace, noted

_SIGN = re.compile(
    rb"\n[^\n]?[\x00-\xff]{0,40}?\x12[\x01-\x7f](?:/device:|/host:|#Chip|Task Environment)"
)
_SIGN_BYTES = 80
_DEVICE = re.compile(r"/device:(?P<kind>\w{1,40}):(?P<number>\d{1,9})\b")
_OCCUPANCY = re.compile(r"\bocc_pct:(\d+(?:\.\d+)?)")
# Of XLA's opcodes those that mean something else elsewhere.
_CLASSES = dict.fromkeys(("exponential", "sine", "cosine"), "elementwise")
_PLACEHOLDER = "XlaModule:"
_FLOPS_SOURCE = "XLA's cost analysis"
_COMMUNICATION = re.compile(
    r"^(?:all-reduce|all-gather|all-to-all|ragged-all-to-all|reduce-scatter|collective|"
    r"send|recv)(?:$|[-.\d ])"
)


def _sniff(head: bytes) -> bool:
    """A protocol buffer whose first message is a plane of a device or host."""
    return _SIGN.match(head[:_SIGN_BYTES]) is not None


def _read(source: Source) -> Trace:
    """Kernels and operators of the devices; of the host where there is no device."""
    try:
        return _trace(XPLANE.name, source)
    except DamagedMessage as error:
        raise _damaged(source) from error


XPLANE = Reader(
    name="xplane",
    title=mark("XLA profile (JAX, TensorFlow), xplane.pb"),
    fields={
        **dict.fromkeys(("start", "types", "stream", "communication"), ALWAYS),
        **dict.fromkeys(
            ("shapes", "dtypes", "members", "sizes"),
            mark("Record with a JAX or TensorFlow that stores its HLO (the default)."),
        ),
        "runs": mark("Record with jax.profiler.StepTraceAnnotation around each step."),
        "flops": mark("Record on TPU."),
        "counters": mark("Record on TPU, or on an NVIDIA GPU."),
    },
    recording=(
        "`with jax.profiler.trace(folder):` around a few steps that were compiled before, each in "
        '`with jax.profiler.StepTraceAnnotation("train", step_num=n):`; the file is '
        "`folder/plugins/profile/<time>/<host>.xplane.pb`."
    ),
    covers=("chrome_trace",),
    sniff=_sniff,
    read=_read,
)


def _trace(name: str, source: Source) -> Trace:
    """The trace of each device, or of the host."""
    profile = _profile(source)
    devices = profile.by_device()
    if len(devices) > MAX_UNITS:
        profile.notes.extend(units_beyond(len(devices)))
        devices = {"": list(profile.devices)}
    found = {device: _rows(profile, planes, source) for device, planes in devices.items()}
    told = {device: one for device, one in found.items() if one[0].columns.count}
    if not told:
        told = {"": _host_rows(profile, source)}
    return shown_of(
        {
            device: _trace_of(name, profile, devices.get(device, ()), *one, source)
            for device, one in told.items()
        }
    )


def _trace_of(
    name: str,
    profile: _Profile,
    devices: Sequence[Plane],
    rows: Rows,
    steps: dict[str, tuple[int, int]],
    source: Source,
) -> Trace:
    notes = [*profile.notes, *rows.notes]
    notes += noted("info", "other_events", rows.other)
    notes += noted("info", "nested_operators", rows.nested)
    runs = step_runs(steps, rows.columns.pop("step"), rows.columns, notes)
    hosts = profile.hosts
    meta = source.meta(
        name,
        "XLA profiler",
        device=device_name(devices or profile.devices),
        private={"host": ", ".join(hosts)} if hosts else {},
    )
    threads = profile.threads if devices else None
    calls = np.arange(len(rows.launches))  # their rows of the file, too
    host, left = (
        threads.activity(rows.launches, rows.instructions, source.limits, calls)
        if threads
        else (None, [])
    )
    notes += left
    trace = build_trace(meta, rows.columns, runs=runs, notes=notes, limits=source.limits)
    return replace(trace, host=host)


@dataclass(frozen=True)
class _Profile:
    """What a file holds: its planes, those of devices among them, and the programs that ran."""

    source: Source
    planes: Sequence[Plane]
    devices: Sequence[Plane]
    programs: Programs
    hosts: list[str]
    notes: list[Diagnostic]

    @cached_property
    def host(self) -> HostSteps:
        """The host's steps and launches."""
        return host_steps(self.planes, self.source.limits, self.source.name)

    @cached_property
    def threads(self) -> HostThreads | None:
        """What the threads of the host did."""
        return host_threads(self.planes, self.source.limits, self.source.name)

    def by_device(self) -> dict[str, list[Plane]]:
        """The planes of each device, in order of its number: a device may have several."""
        found: dict[tuple[str, int], list[Plane]] = {}
        for plane in self.devices:
            match = _DEVICE.match(plane.name)
            key = (match["kind"], int(match["number"])) if match else (plane.name, 0)
            found.setdefault(key, []).append(plane)
        several = len({kind for kind, _ in found}) > 1
        return {
            clean_text(f"device:{kind}:{number}" if several else f"device:{number}", 80): planes
            for (kind, number), planes in sorted(found.items())
        }


def _profile(source: Source) -> _Profile:
    """Raises DamagedMessage."""
    planes, hosts, notes = read_space(source)
    devices = [plane for plane in planes if plane.name.startswith("/device:")]
    devices = [plane for plane in devices if not plane.name.startswith("/device:CUSTOM")]
    return _Profile(source, planes, devices, Programs(planes), hosts, notes)


def rows_of(
    source: Source, *, with_executions: bool = False
) -> tuple[Rows, dict[str, tuple[int, int]], str | None, list[str], list[Diagnostic]]:
    """Calls of all devices as columns, the spans of the runs by their `step`, device, hosts, and
    notes. Raises DamagedMessage, and FuseScopeError for a profile without operators."""
    profile = _profile(source)
    rows, steps = _rows(profile, profile.devices, source, with_executions=with_executions)
    if not rows.columns.count:
        rows, steps = _host_rows(profile, source, with_executions=with_executions)
    notes = [*profile.notes, *rows.notes]
    return rows, steps, device_name(profile.devices), profile.hosts, notes


def _rows(
    profile: _Profile, devices: Sequence[Plane], source: Source, *, with_executions: bool = False
) -> tuple[Rows, dict[str, tuple[int, int]]]:
    """Calls of these devices, and the spans of the runs by their `step`."""
    rows = Rows(with_executions=with_executions)
    steps: dict[str, tuple[int, int]] = {}
    for plane in devices:
        _add_device(plane, profile.programs, rows, steps, source)
    if any(launch is not None for launch in rows.launches):
        steps = on_the_hosts_clock(rows, steps, profile.host)
    if rows.columns.count and not steps:
        mark_by_host(profile.host, rows, steps)
    return rows, steps


def _host_rows(
    profile: _Profile, source: Source, *, with_executions: bool = False
) -> tuple[Rows, dict[str, tuple[int, int]]]:
    """The same of the host, where no device ran anything."""
    rows = Rows(with_executions=with_executions)
    steps: dict[str, tuple[int, int]] = {}
    for plane in profile.planes:
        if plane.name.startswith("/host:") and plane.name != "/host:metadata":
            _add_host(plane, profile.programs, rows, steps, source)
    if not rows.columns.count:
        raise FuseScopeError(
            "xla_cut_before_operators" if profile.notes else "xla_empty", where=source.name
        )
    return rows, steps


def _add_device(
    plane: Plane,
    programs: Programs,
    rows: Rows,
    steps: dict[str, tuple[int, int]],
    source: Source,
) -> None:
    """Streams where the device has some; else the line of XLA's operators."""
    lines = [read_line(data) for data in plane.lines]
    shown = operator_lines(line.name for line in lines)
    device = clean_text(plane.name.removeprefix("/device:"), 60)
    own_steps: list[Step] = []
    for line in lines:
        if line.name == "Steps":
            own_steps += _steps(plane, line)
    own_steps.sort()
    for start, end, label in own_steps:
        first, last = steps.get(label, (start, end))
        steps[label] = (min(first, start), max(last, end))
    for line in lines:
        if line.name not in shown:
            rows.other += len(line.events) if line.name != "Steps" else 0
            continue
        events = [read_event(data, line) for data in line.events]
        labels = labels_at(own_steps, [event.start_ns for event in events])
        _add_events(plane, programs, rows, (device, line.name), events, labels, source)


def _add_host(
    plane: Plane,
    programs: Programs,
    rows: Rows,
    steps: dict[str, tuple[int, int]],
    source: Source,
) -> None:
    """Operators that XLA ran on the CPU: events that name their instruction."""
    lines: list[tuple[str, list[Event]]] = []
    calls: list[Executed] = []
    marked: list[Step] = []
    for data in plane.lines:
        line = read_line(data)
        source.limits.check_events(
            len(calls) + len(line.events), "more_events_than_limit", source.name
        )
        mine = []
        for event in (read_event(message, line) for message in line.events):
            fact = fact_of(plane, event.kind)
            stats = {**fact.stats, **stats_of(plane, event.stats)}
            if "hlo_op" in stats:
                mine.append(event)
                told = (stats.get("program_id"), stats.get("run_id"))
                calls.append(Executed(event.start_ns, event.dur_ns, *told))
            elif "step_num" in stats and event.start_ns is not None and event.dur_ns:
                end = event.start_ns + event.dur_ns
                marked.append((event.start_ns, end, f"step {len(marked)}"))
        lines.append((line.name, mine))
        rows.other += len(line.events) - len(mine)
    labels, spans = host_runs(sorted(marked), calls)
    steps.update(spans)
    place = 0
    for name, events in lines:
        own = labels[place : place + len(events)]
        place += len(events)
        _add_events(plane, programs, rows, ("CPU", name), events, own, source)


def _steps(plane: Plane, line: Line) -> Iterator[Step]:
    """Start, end and name of the steps that a device marks."""
    for data in line.events:
        event = read_event(data, line)
        fact = fact_of(plane, event.kind)
        if event.start_ns is not None and event.dur_ns is not None and event.dur_ns > 0:
            yield event.start_ns, event.start_ns + event.dur_ns, fact.display_name or fact.name


def _add_events(
    plane: Plane,
    programs: Programs,
    rows: Rows,
    lane: tuple[str, str],
    events: Sequence[Event],
    labels: Sequence[str | None],
    source: Source,
) -> None:
    """Events of one line as rows, with the run of each; `lane` is device and stream."""
    source.limits.check_events(
        rows.columns.count + len(events), "more_events_than_limit", source.name
    )
    own, nested = [event.dur_ns for event in events], 0
    if not lane[1].startswith(STREAM):  # kernels of a stream only follow each other
        own, nested = own_times(events)
    rows.nested += nested
    stream = clean_text(lane[1], 60) or None
    known = replayed(plane, programs, events) if plane.name.startswith("/device:") else {}
    for at, (event, dur, label) in enumerate(zip(events, own, labels, strict=True)):
        stats = {**fact_of(plane, event.kind).stats, **stats_of(plane, event.stats)}
        rows.launches.append(stats.get("correlation_id"))
        rows.instructions.append(text_of(stats.get("hlo_op")))
        is_timed = event.start_ns is not None and event.dur_ns is not None
        rows.ends_ns.append((event.start_ns or 0) + (event.dur_ns or 0) if is_timed else None)
        rows.columns.add(
            **_operator(plane, programs, event, stats, known.get(at)),
            **(rows.execution(plane, event) if rows.with_executions else {}),
            device=lane[0],
            stream=stream,
            start_ns=event.start_ns,
            dur_ns=dur,
            span_ns=event.dur_ns if event.dur_ns != dur else None,
            n=event.n,
            step=label,
            source_row=rows.columns.count,
        )


def _operator(
    plane: Plane,
    programs: Programs,
    event: Event,
    stats: Mapping[str, object],
    told: Told | None,
) -> dict[str, object]:
    """What is known of the operator of an event, as columns of a trace; `told` is what its place
    tells where the event names no instruction of the program."""
    fact = fact_of(plane, event.kind)
    hlo_op = told[0] if told is not None else text_of(stats.get("hlo_op"))
    name = fact.name if hlo_op or fact.hlo is None else fact.display_name or fact.name
    found = programs.find(stats.get("program_id"), hlo_op or name)
    known = told[1] if told is not None else found or fact.hlo
    path, framework_type = _framework_op(text_of(stats.get("tf_op")))
    path = path or text_of(stats.get("name")) or (known.op_name if known else "")
    opcode = _unnumbered(hlo_op) or (known.opcode if known else "")
    op_type = text_of(stats.get("hlo_category")) or opcode or framework_type
    op_type = op_type or memory_type(name)
    members = known.members if known else None
    flop_count = _number(stats.get("model_flops")) or _number(stats.get("flops"))
    host = not plane.name.startswith("/device:")
    columns: dict[str, object] = {
        "name": name or "unnamed",
        "op_type": op_type or None,
        "op_class": _class(known.types) if known else None,
        "provider": "CPU" if host else plane.name.removeprefix("/device:").split(":")[0],
        "level": "framework_op" if host else "device_kernel",
        "launched_by": path or text_of(stats.get("hlo_module")) or None,
        "inputs": known.inputs if known else "",
        "outputs": known.outputs if known else "",
        "members": _members_text(members) if members else None,
        "members_source": members.kind if members else None,
        "is_communication": _COMMUNICATION.match(opcode or op_type) is not None,
        "occupancy": _occupancy(stats),
    }
    for counter in COUNTERS:
        if counter in stats:
            columns[counter] = _number(stats[counter])
    if flop_count is not None and flop_count > 0:
        columns |= {"flops": flop_count, "flops_source": _FLOPS_SOURCE}
    return columns


def _occupancy(stats: Mapping[str, object]) -> float | None:
    """Occupancy as 0..1; 0 is what tools write that do not know it."""
    told = _OCCUPANCY.search(text_of(stats.get("kernel_details")))
    percent = float(told[1]) if told else _number(stats.get("occupancy_pct"))
    return percent / 100 if percent is not None and 0 < percent <= 100 else None


@lru_cache(maxsize=4096)
def _framework_op(text: str) -> tuple[str, str]:
    """Path and type out of 'jit(f)/dot_general:MatMul'; two '' for what stands for none."""
    path, _, kind = text.partition(":")
    return ("", "") if text == _PLACEHOLDER else (path, kind)


@lru_cache(maxsize=4096)
def _unnumbered(name: str) -> str:
    """'fusion.12.1' -> 'fusion'."""
    while (parts := name.rpartition("."))[1] and parts[2].isdecimal():
        name = parts[0]
    return name


_members_text = lru_cache(maxsize=65_536)(members_text)


@lru_cache(maxsize=4096)
def _class(types: tuple[str, ...]) -> str | None:
    """The class of a fusion's heaviest part; None where its parts are not known."""
    found = heaviest([_CLASSES.get(name) or op_class(name) for name in types])
    return None if found == "unknown" else found


def _damaged(source: Source) -> FuseScopeError:
    if is_mangled(source.content):
        return FuseScopeError("xla_as_text", where=source.name)
    return FuseScopeError("xla_damaged", where=source.name)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None
