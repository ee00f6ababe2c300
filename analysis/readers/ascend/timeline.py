"""Timelines of Ascend devices: the Chrome events of msprof, torch_npu and MindSpore as rows.

Lanes are told apart by their process: `Ascend Hardware` holds the tasks of the device, `HCCL` or
`Communication` collective operations (and, in planes, the tasks that they consist of), `Overlap
Analysis` sums of both, the others the host and counters. A kernel is a task of a core; copies,
events and the like are counted as no operators: they are missing in kernel_details.csv, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import msgspec

from analysis.limits import Limits
from analysis.operators.members import Members, members_text
from analysis.readers.ascend.columns import check_core_times, device_classes, task_kind
from analysis.readers.ascend.launches import HostCall, Point, launchers
from analysis.readers.ascend.waits import Cell, HostEvent, Wait, wait_calls
from analysis.readers.building.columns import Columns
from analysis.readers.building.iterations import Span
from analysis.readers.input.json_events import decode_events
from analysis.readers.input.source import Source
from analysis.readers.input.times import exact_ns
from analysis.trace import Diagnostic, noted

Lane = Literal["device", "communication", "overlap", "steps", "host"]

_CORES = ("AI_", "AIV", "AICPU", "MIX_", "KERNEL", "DSA", "DVPP", "FFTS")
_COPIES = re.compile(r"DMA|MEMCPY|MEMSET|REDUCE[_ ]|WRITE|READ_VALUE", re.IGNORECASE)
# Parts of a collective, where neither an argument nor the name of their lane says so.
_PARTS = re.compile(
    r"notify|event|wait|record|(\w+[_ ])?memcpy|sdma|rdma|reduce[_ ](inline|tbe)"
    r"|local[_ ]?(copy|reduce)|write[_ ]?(value|with)",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"(?:(?:event|notify|stream|remote|mem\w*|capture)[ _]?)*(?:wait|record)(?:[ _]\w+)?",
    re.IGNORECASE,
)
_SCOPED = re.compile(
    r"(?:.*/)?(\w+)-op\d+(?:_\d+)*", re.DOTALL
)  # MindSpore: Default/conv1/Conv2D-op8
_FUSED = re.compile(r"FusionOp_(\w+)")
_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_ITERATION = re.compile(r"Iteration (\d{1,18})")
_DEVICE_NUMBER = re.compile(r"NPU\s+(\d+)")


# Those that every timeline has, also one without rows.
_COLUMNS = (
    "name", "op_type", "provider", "launched_by", "is_communication", "device", "stream",
    "start_ns", "dur_ns",
)  # fmt: skip


class _Args(msgspec.Struct, gc=False):
    name: Cell = None
    labels: Cell = None
    task_type: Cell = msgspec.field(default=None, name="Task Type")
    part_type: Cell = msgspec.field(default=None, name="task type")
    physic_stream: Cell = msgspec.field(default=None, name="Physic Stream Id")
    stream: Cell = msgspec.field(default=None, name="Stream Id")
    task: Cell = msgspec.field(default=None, name="Task Id")
    core_time: Cell = msgspec.field(default=None, name="Aicore Time(ms)")
    cycles: Cell = msgspec.field(default=None, name="Total Cycle")
    mindspore_op: Cell = None
    dims: msgspec.Raw = msgspec.field(default=msgspec.Raw(b""), name="Input Dims")
    types: msgspec.Raw = msgspec.field(default=msgspec.Raw(b""), name="Input type")


class _Event(HostEvent, gc=False):
    cat: Cell = None
    pid: Cell = None
    id: Cell = None
    args: _Args | None = None

    def point(self) -> Point | None:
        """What a flow points at."""
        start = exact_ns(self.ts)
        return None if start is None else (self.pid, self.tid, start)


@dataclass
class Timeline:
    """Device tasks as columns, one entry a task, and what the file says about them.

    `launches` holds, per task, where the host launched it: the point at which its flow begins;
    `launchers` the operator of the host at such a point.
    """

    columns: Columns = field(default_factory=lambda: Columns(*_COLUMNS))
    pids: list[Cell] = field(default_factory=list)
    tasks: list[str | None] = field(default_factory=list)  # Task Id
    launches: list[Point | None] = field(default_factory=list)
    steps: list[Span] = field(default_factory=list)  # of the host
    iterations: list[Span] = field(default_factory=list)  # of the device
    launchers: dict[Point, HostCall] = field(default_factory=dict)
    waits: list[Wait] | None = None  # None where calls of the host were not recorded
    processes: set[str] = field(default_factory=set)
    notes: list[Diagnostic] = field(default_factory=list)


def read_timeline(source: Source, limits: Limits) -> Timeline:
    """The timeline in one file. Raises FuseScopeError where it is not readable."""
    events, notes = decode_events(source.content, _Event, source.name, limits)
    timeline = Timeline(notes=notes)
    lanes = _Lanes(events)
    timeline.processes = set(lanes.names.values())
    flows = _flows(events)
    threads = {(pid, tid) for pid, tid, _ in flows.values()}
    calls: list[HostCall] = []
    other: Counter[str] = Counter()
    control: list[str] = []
    for row, event in enumerate(events):
        if event.ph in ("M", "s", "f", "t"):
            continue
        lane = lanes.lane(event) if event.ph == "X" else "host"
        if lane == "device" or lane == "communication":
            kind = _kind(event, lane, lanes.thread(event))
            if kind == "operator" or kind == "communication":
                _add(timeline, event, row, kind, lanes, flows)
                continue
            if kind == "control":
                control.append(str(event.args.task_type if event.args else event.name))
            else:
                other[kind] += 1
            continue
        other[lane] += 1
        if event.ph == "X" and lane in ("host", "steps"):
            _add_span(timeline, event, lane)
            if lane == "host" and (event.pid, event.tid) in threads:
                calls += _host_call(event)
    timeline.launchers = launchers(calls, flows.values())
    timeline.waits = wait_calls(events)
    notes += noted("info", "not_operators", control, chars=80)
    notes += noted("info", "other_events", other.total())
    timeline.columns["op_class"] = device_classes(timeline.columns)
    check_core_times(timeline.columns, notes)
    return timeline


class _Lanes:
    """Names of processes and threads, and what lies in them."""

    def __init__(self, events: Sequence[_Event]) -> None:
        self.names: dict[Cell, str] = {}
        self.threads: dict[tuple[Cell, Cell], str] = {}
        self.devices: dict[Cell, str] = {}
        for event in events:
            if event.ph != "M" or event.args is None:
                continue
            if event.name == "process_name":
                self.names[event.pid] = str(event.args.name or "").strip()
            elif event.name == "thread_name":
                self.threads[event.pid, event.tid] = str(event.args.name or "").strip()
            elif event.name == "process_labels":
                number = _DEVICE_NUMBER.search(str(event.args.labels or ""))
                self.devices.update({event.pid: number[1]} if number else {})
        self._kinds = {pid: _process_kind(name) for pid, name in self.names.items()}

    def thread(self, event: _Event) -> str:
        return self.threads.get((event.pid, event.tid), "")

    def lane(self, event: _Event) -> Lane:
        """The lane of an X event; tasks of a device also tell by their arguments."""
        lane = self._kinds.get(event.pid)
        if event.cat == "Iteration Time" or lane == "steps":
            return "steps"
        if lane == "device" and self.thread(event).startswith("Step Trace"):
            return "steps"
        if lane in ("device", "communication", "overlap"):
            return lane
        if event.args is not None and event.args.task_type is not None:
            return "device"
        if lane is None and event.args is not None and event.args.part_type is not None:
            return "communication"
        return "host"


def _process_kind(name: str) -> Lane:
    lower = name.lower()
    if lower.startswith(("ascend hardware", "task scheduler")):
        return "device"
    if lower.startswith(("hccl", "communication")):
        return "communication"
    if lower.startswith("overlap"):
        return "overlap"
    return "steps" if lower.startswith("step trace") else "host"


def _kind(
    event: _Event, lane: Lane, thread: str
) -> Literal["operator", "communication", "control", "part"]:
    """What an event in a lane of the device is; the parts of a collective are none of these."""
    name = str(event.name or "")
    if lane == "communication":
        is_part = event.args is not None and event.args.part_type is not None
        is_part |= thread.startswith("Plane") or _PARTS.match(name) is not None
        return "part" if is_part else "communication"
    task_type = event.args.task_type if event.args is not None else None
    if not isinstance(task_type, str):
        return "control"
    kind = device_task(task_type)  # a collective has a lane of its own, this is a part of it
    if kind == "operator" and not task_type.upper().startswith(_CORES) and _WAITS.fullmatch(name):
        return "control"  # the type says nothing, the name does
    return "part" if kind == "communication" else kind


@lru_cache(maxsize=4096)
def device_task(task_type: str) -> Literal["operator", "communication", "control"]:
    """What a task of the device is by its type; a copy is no operator of the network."""
    kind = task_kind(task_type)
    if kind == "operator" and not task_type.upper().startswith(_CORES):
        return "control" if _COPIES.search(task_type) else "operator"
    return kind


def _add(
    timeline: Timeline,
    event: _Event,
    row: int,
    kind: Literal["operator", "communication"],
    lanes: _Lanes,
    flows: dict[Point, Point],
) -> None:
    args = event.args or _Args()
    name = str(event.name or "") or "unnamed"
    op_type, members = scoped_type(name)
    stream = args.physic_stream if args.physic_stream is not None else args.stream
    if stream is None:
        stream = lanes.thread(event).removeprefix("Stream ") or event.tid
    if kind == "communication":
        stream = lanes.thread(event) or stream
    point = event.point()
    timeline.columns.add(
        name=name,
        op_type=op_type,
        provider=args.task_type if args.task_type is not None else _provider(kind, lanes, event),
        level="device_kernel",
        launched_by=_text(args.mindspore_op),
        members=members_text(members) if members else None,
        members_source=members.kind if members else None,
        is_communication=kind == "communication",
        device=lanes.devices.get(event.pid),
        stream=_text(stream),
        start_ns=point[2] if point else None,
        dur_ns=exact_ns(event.dur),
        source_row=row,
        **{"Aicore Time(ms)": _number(args.core_time), "Total Cycle": _number(args.cycles)},
    )
    timeline.pids.append(event.pid)
    timeline.tasks.append(_text(args.task))
    timeline.launches.append(flows.get(point) if point else None)


def _provider(kind: str, lanes: _Lanes, event: _Event) -> str | None:
    return lanes.names.get(event.pid, "HCCL").upper() if kind == "communication" else None


def _add_span(timeline: Timeline, event: _Event, lane: Lane) -> None:
    wanted = _ITERATION if lane == "steps" else _STEP
    match = wanted.fullmatch(str(event.name or ""))
    if match is None:
        return
    start, dur = exact_ns(event.ts), exact_ns(event.dur)
    if start is not None and dur is not None and dur >= 0:
        spans = timeline.iterations if lane == "steps" else timeline.steps
        spans.append(Span(match[1], start, dur, event.pid))


def _host_call(event: _Event) -> list[HostCall]:
    """The call of an operator that an event of the host is; frames of Python are none."""
    if event.cat == "python_function":
        return []
    start, dur = exact_ns(event.ts), exact_ns(event.dur)
    if start is None or dur is None or dur < 0:
        return []
    args = event.args or _Args()
    dims, dtypes = bytes(args.dims), bytes(args.types)
    return [HostCall(str(event.name or ""), event.pid, event.tid, start, dur, dims, dtypes)]


def _flows(events: Sequence[_Event]) -> dict[Point, Point]:
    """End -> begin of the flows from operators of the host to tasks of the device.

    Flows of the framework (async_npu) say more than those of the driver (HostToDevice).
    """
    begins: dict[tuple[str, Cell], Point] = {}
    ends: dict[tuple[str, Cell], Point] = {}
    for event in events:
        if event.ph in ("s", "f") and event.cat in ("async_npu", "HostToDevice"):
            side, point = begins if event.ph == "s" else ends, event.point()
            if point is not None:
                side.setdefault((str(event.cat), event.id), point)
    flows: dict[Point, Point] = {}
    for key, end in sorted(ends.items(), key=lambda item: item[0][0] == "async_npu"):
        if key in begins:
            flows[end] = begins[key]
    return flows


@lru_cache(maxsize=65536)
def scoped_type(name: str) -> tuple[str | None, Members | None]:
    """Op type, and members of a fused operator, where MindSpore's name of it says them.

    'Default/conv1-Conv2d/Conv2D-op8' is a Conv2D, 'FusionOp_BiasAdd_ReluV2-op5' is made of two.
    """
    match = _SCOPED.fullmatch(name)
    if match is None:
        return None, None
    fused = _FUSED.fullmatch(match[1])
    parts = tuple(part for part in fused[1].split("_") if part) if fused else ()
    return match[1], Members(parts, "op_types") if len(parts) > 1 else None


def _text(value: Cell) -> str | None:
    return None if value is None or isinstance(value, bool) else str(value)


def _number(value: Cell) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None
