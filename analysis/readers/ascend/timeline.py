"""Timelines of Ascend devices: the Chrome events of msprof, torch_npu and MindSpore as rows.

A kernel is a task of a core; copies, events and the like are counted as no operators: they are
missing in kernel_details.csv, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from fusescope.analysis.host_activity import HostActivity
from fusescope.analysis.limits import Limits
from fusescope.analysis.operators.members import Members, members_text
from fusescope.analysis.readers.ascend.columns import check_core_times, device_classes, message_text
from fusescope.analysis.readers.ascend.events import (
    BACKWARD,
    FLOWS,
    PLAIN,
    UNTIMED,
    Cell,
    Event,
    EventColumns,
    Flows,
    Group,
)
from fusescope.analysis.readers.ascend.host.threads import (
    AscendHost,
    Launched,
    kind_by_name,
    kind_of,
    named,
)
from fusescope.analysis.readers.ascend.host.waits import HostSpans, Wait, wait_calls
from fusescope.analysis.readers.ascend.lanes import (
    COLLECTIVE,
    CONTROL,
    HOST,
    OVERLAP,
    PART,
    STEPS,
    Lanes,
)
from fusescope.analysis.readers.ascend.launches import Arrows, HostCalls, is_framework_op, launchers
from fusescope.analysis.readers.building.coded import (
    Bools,
    Cells,
    Coded,
    Combined,
    Whole,
    coded,
    distinct_rows,
    listed,
    taken,
)
from fusescope.analysis.readers.building.host.spans import HostSpans as Recorded
from fusescope.analysis.readers.building.iterations import Span
from fusescope.analysis.readers.building.numbering import Distinct, Numbered
from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.readers.input.event_windows import collect_events
from fusescope.analysis.readers.input.json_events import EventFile
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import Diagnostic, clean_example, noted

_SCOPED = re.compile(
    r"(?:.*/)?(\w+)-op\d+(?:_\d+)*", re.DOTALL
)  # MindSpore: Default/conv1/Conv2D-op8
_FUSED = re.compile(r"FusionOp_(\w+)")
_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_HARDWARE = "Ascend Hardware"
_ITERATION = re.compile(r"Iteration (\d{1,18})")


@dataclass(frozen=True)
class Launches:
    """Where the host launched each task: when its flow begins, and the operator there.

    `calls` are numbers of calls of operators, equal for calls that say the same, -1 for none;
    `inputs` are pairs of JSON texts as in the file, shapes and data types.
    """

    starts_ns: Whole
    calls: Ints
    names: Coded
    inputs: Coded

    def take(self, rows: Ints) -> Launches:
        """Those of the tasks at these places."""
        return Launches(
            self.starts_ns.take(rows),
            self.calls[rows],
            self.names.take(rows),
            self.inputs.take(rows),
        )


@dataclass(frozen=True)
class Timeline:
    """Device tasks as columns, one entry a task, and what the file says about them."""

    columns: dict[str, Any]
    pids: Coded
    tasks: Coded  # Task Id
    launches: Launches | None
    steps: list[Span]  # of the host
    iterations: list[Span]  # of the device
    waits: list[Wait] | None  # None where calls of the host were not recorded
    host: AscendHost | None  # of all tasks of the file
    processes: frozenset[str]
    devices: Mapping[Any, str]  # of processes, where the file tells it
    notes: list[Diagnostic]

    def of(self, rows: Ints) -> Timeline:
        """The tasks at these places, with the marks of their devices, and of none."""
        devices = set(Coded.of(self.columns["device"]).take(rows).present().values)

        def own(spans: list[Span]) -> list[Span]:
            of_spans = ((span, self.devices.get(span.pid)) for span in spans)
            return [span for span, device in of_spans if device is None or device in devices]

        return replace(
            self,
            columns={name: taken(cells, rows) for name, cells in self.columns.items()},
            pids=self.pids.take(rows),
            tasks=self.tasks.take(rows),
            launches=None if self.launches is None else self.launches.take(rows),
            steps=own(self.steps),
            iterations=own(self.iterations),
        )


def read_timeline(source: Source, *, launched: bool = False) -> Timeline:
    """The timeline in one file, with launches where `launched`. Raises FuseScopeError where it is
    not readable."""
    found, _, notes = collect_events(source, Event, EventFile, EventColumns)
    return _Reading(found, notes).timeline(launched=launched)


def host_of(
    timeline: Timeline, limits: Limits
) -> tuple[HostActivity | None, Stacks | None, list[Diagnostic]]:
    """The activity of the host in a timeline of one file, the stacks around launches, and notes."""
    if timeline.host is None:
        return None, None, []
    rows = timeline.columns["source_row"]
    host, notes = timeline.host.activity(rows, limits)
    return host, timeline.host.stacks(rows, limits), notes


def rows_of(columns: Mapping[str, Cells]) -> dict[str, Any]:
    """The columns as `build_trace` takes them: where starts lack equal rows are looked for, and NaN
    is not equal to itself."""
    starts = columns["start_ns"]
    if isinstance(starts, Whole) and starts.known.all():
        return dict(columns)
    return {name: listed(cells) for name, cells in columns.items()}


class _Reading:
    """Makes a timeline of all events of a file."""

    def __init__(self, found: EventColumns, notes: list[Diagnostic]) -> None:
        self._found, self._notes = found, notes
        self._groups = found.groups()
        self._spans, self._told = found.spans(), found.told()
        self._names = [str(cell or "") for cell in found.names.cells()]
        self._lanes = Lanes(found, self._groups, self._names, self._spans, self._told)
        self._devices = _devices(found)
        self._is_timed = (self._spans.starts != UNTIMED) & (self._spans.lengths >= 0)

    def timeline(self, *, launched: bool) -> Timeline:
        """The timeline; events are let go of with this object."""
        places, kinds = self._lanes.tasks()
        is_task = kinds <= COLLECTIVE
        tasks = places[is_task]
        self._note_others(places, kinds)
        columns = self._columns(tasks, kinds[is_task] == COLLECTIVE)
        check_core_times(columns, self._notes)
        pids = coded(self._spans.groups[tasks], [group.pid for group in self._groups])
        flows = self._found.flows()
        return Timeline(
            columns=columns,
            pids=pids,
            tasks=self._cells(tasks, self._told.tasks, self._found.tasks).mapped(_text),
            launches=self._launches(tasks, flows) if launched else None,
            steps=self._marks(_STEP, HOST),
            iterations=self._marks(_ITERATION, STEPS),
            waits=self._waits(),
            host=self._host(tasks, flows),
            processes=frozenset(self._found.processes.values()),
            devices=self._devices,
            notes=self._notes,
        )

    def _note_others(self, places: Ints, kinds: Ints) -> None:
        """Counts tasks of devices that are not operators, and events on other lanes."""
        control = places[kinds == CONTROL]
        if len(control):
            first = int(control[0])
            args = int(self._spans.args[first])
            kind = self._names[self._spans.names[first]]
            if args >= 0:
                kind = str(self._found.kinds.cells()[self._told.kinds[args]])
            elif args == PLAIN:
                kind = str(None)
            self._notes += noted("info", "not_operators", len(control), clean_example(kind, 80))
        others = self._found.others + int((self._lanes.of >= OVERLAP).sum())
        self._notes += noted("info", "other_events", others + int((kinds == PART).sum()))

    def _columns(self, tasks: Ints, is_collective: Bools) -> dict[str, Any]:
        spans, told, found = self._spans, self._told, self._found
        groups = Coded(spans.groups[tasks], self._groups)
        threads = Coded(spans.groups[tasks], self._lanes.threads)
        talks = Coded(is_collective.astype("int64"), [False, True])
        names = coded(spans.names[tasks], [name or "unnamed" for name in self._names])
        members = names.mapped(lambda name: scoped_type(name)[1])
        columns: dict[str, Any] = {
            "name": names,
            "op_type": names.mapped(lambda name: scoped_type(name)[0]),
            "provider": Combined(self._cells(tasks, told.kinds, found.kinds), groups, talks).made(
                self._provider
            ),
            "level": Coded.same("device_kernel", len(tasks)),
            "launched_by": self._cells(tasks, told.operators, found.operators).mapped(_text),
            "members": members.mapped(members_text),
            "members_source": members.mapped(lambda of: of.kind),
            "is_communication": talks,
            "inputs": Combined(self._messages(tasks), talks).made(
                lambda message, is_collective: message if is_collective else None
            ),
            "device": coded(
                spans.groups[tasks], [self._devices.get(group.pid) for group in self._groups]
            ),
            "stream": Combined(
                self._cells(tasks, told.streams, found.streams), groups, threads, talks
            ).made(_stream),
            "start_ns": _whole(spans.starts[tasks]),
            "dur_ns": _whole(spans.lengths[tasks]),
            "source_row": spans.rows[tasks],
            "Aicore Time(ms)": self._floats(tasks, told.core_times),
            "Total Cycle": self._floats(tasks, told.cycles),
        }
        columns["op_class"] = Combined(
            *(columns[name] for name in ("op_type", "name", "provider", "is_communication"))
        ).all(
            lambda *lists: device_classes(
                dict(zip(("op_type", "name", "provider", "is_communication"), lists, strict=True))
            )
        )
        return columns

    def _provider(self, kind: Cell, group: Group, talks: bool) -> Cell:
        if kind is not None or not talks:
            return kind
        return self._lanes.processes.get(group.pid, "HCCL").upper()

    def _cells(self, tasks: Ints, told: Ints, cells: Distinct) -> Coded:
        """A column of arguments, None for what an event does not say."""
        args = self._spans.args[tasks]
        codes = np.full(len(tasks), -1, dtype="int64")
        codes[args >= 0] = told[args[args >= 0]]
        return Coded(codes, cells.cells())

    def _messages(self, tasks: Ints) -> Coded:
        """The message of each collective as the tensor that it is, None where it is not known."""
        args = self._spans.args[tasks]
        codes = np.full(len(tasks), -1, dtype="int64")
        codes[args >= 0] = self._told.messages[args[args >= 0]]
        texts = [message_text(*each) for each in self._found.messages]  # type: ignore[misc]
        return coded(codes, texts)

    def _floats(self, tasks: Ints, told: np.ndarray) -> np.ndarray:
        args = self._spans.args[tasks]
        numbers = np.full(len(tasks), np.nan)
        numbers[args >= 0] = told[args[args >= 0]]
        return numbers

    def _marks(self, wanted: re.Pattern[str], lane: int) -> list[Span]:
        """Steps and iterations: the events on a lane with such a name."""
        labels = [match and match[1] for match in map(wanted.fullmatch, self._names)]
        is_mark = np.array([label is not None for label in labels], dtype=bool)
        spans = self._spans
        places = np.flatnonzero((self._lanes.of == lane) & self._is_timed)
        places = places[is_mark[spans.names[places]]] if len(places) else places
        times = zip(spans.starts[places].tolist(), spans.lengths[places].tolist(), strict=True)
        return [
            Span(str(labels[spans.names[at]]), *both, self._groups[spans.groups[at]].pid)
            for at, both in zip(places.tolist(), times, strict=True)
        ]

    def _waits(self) -> list[Wait] | None:
        threads = Numbered().of([str(group.tid) for group in self._groups])
        spans = self._spans
        calls = HostSpans(
            Coded(spans.names, self._names),
            threads[spans.groups],
            spans.starts,
            spans.lengths,
            self._is_timed,
        )
        return wait_calls(calls, calls)

    def _host(self, tasks: Ints, flows: Flows) -> AscendHost | None:
        """What the threads of the host did; those of the framework and of CANN have the same
        numbers in processes of two names."""
        processes = self._lanes.processes
        kinds = [
            kind_of(group.cat, processes.get(group.pid, "")) if group.ph == "X" else None
            for group in self._groups
        ]
        of_group = np.array([-1 if kind is None else kind for kind in kinds], dtype="int64")
        spans = self._spans
        chosen = np.flatnonzero((self._lanes.of == HOST) & self._is_timed)
        chosen = chosen[of_group[spans.groups[chosen]] >= 0]
        if not len(chosen):
            return None
        numbers = Numbered()
        thread_of = numbers.of([str(group.tid) for group in self._groups])
        names, name_of = named(self._names)
        told, first = distinct_rows(
            [spans.groups[chosen], spans.names[chosen]],
            [len(self._groups), len(self._names)],
            len(chosen),
        )
        by_name = [
            kind_by_name(int(of_group[spans.groups[at]]), self._names[spans.names[at]])
            for at in chosen[first].tolist()
        ]
        return AscendHost(
            Recorded(
                thread_of[spans.groups[chosen]],
                spans.starts[chosen],
                spans.lengths[chosen],
                name_of[spans.names[chosen]],
                np.array(by_name, dtype="int64")[told],
            ),
            names,
            [str(thread) for thread in numbers],
            launched=self._begun(tasks, flows, FLOWS[1], thread_of),
            submitted=self._begun(tasks, flows, FLOWS[0], thread_of),
            forward=self._begun(chosen, flows, BACKWARD, thread_of),
        )

    def _begun(self, places: Ints, flows: Flows, category: str, threads: Ints) -> Launched:
        """When and on which thread the flow of a category to each of these spans begins."""
        spans = self._spans
        lane_of = Numbered().of([(group.pid, group.tid) for group in self._groups])
        thread_of_lane = np.zeros(len(lane_of), dtype="int64")
        thread_of_lane[lane_of] = threads
        arrows = Arrows(flows, self._groups, lane_of, (category,))
        lanes, times = arrows.begins(lane_of[spans.groups[places]], spans.starts[places])
        return Launched(thread_of_lane[lanes], times)

    def _launches(self, tasks: Ints, flows: Flows) -> Launches:
        """Where flows to the tasks begin, and the operators of the host there."""
        spans = self._spans
        lane_of = Numbered().of([(group.pid, group.tid) for group in self._groups])
        lanes = lane_of[spans.groups]
        arrows = Arrows(flows, self._groups, lane_of)
        from_lanes, starts = arrows.begins(lanes[tasks], spans.starts[tasks])
        launched = np.flatnonzero(starts.known)
        is_frame = np.array([g.cat == "python_function" for g in self._groups], dtype=bool)
        is_call = (self._lanes.of == HOST) & self._is_timed & ~is_frame[spans.groups]
        calls = np.flatnonzero(is_call & np.isin(lanes, distinct(from_lanes[launched])))
        is_framework = np.array([is_framework_op(name) for name in self._names], dtype=bool)
        of = HostCalls(
            lanes[calls],
            spans.starts[calls],
            spans.lengths[calls],
            is_framework[spans.names[calls]] if len(calls) else np.zeros(0, dtype=bool),
        )
        at = launchers(of, from_lanes[launched], starts.numbers[launched])
        launched, by = launched[at >= 0], calls[at[at >= 0]]
        names = coded(spans.names[by], self._names)
        inputs = self._inputs(by)
        same = (Coded.of(Whole(times[by])) for times in (lanes, spans.starts, spans.lengths))
        told = (names, inputs, *same)
        numbers, _ = distinct_rows(
            [column.codes for column in told], [len(column.values) for column in told], len(by)
        )
        return Launches(
            starts,
            _spread(numbers, launched, len(tasks)),
            Coded(_spread(names.codes, launched, len(tasks)), names.values),
            Coded(_spread(inputs.codes, launched, len(tasks)), inputs.values),
        )

    def _inputs(self, calls: Ints) -> Coded:
        """Shapes and data types of the inputs of calls, as they stand in the file."""
        args = self._spans.args[calls]
        known: list[object] = [*self._found.inputs, (b"", b"")]
        codes = np.full(len(calls), len(known) - 1, dtype="int64")
        codes[args >= 0] = self._told.inputs[args[args >= 0]]
        return coded(codes, known)


def _spread(numbers: Ints, places: Ints, count: int) -> Ints:
    """The numbers at these of so many places, -1 at the others."""
    spread = np.full(count, -1, dtype="int64")
    spread[places] = numbers
    return spread


def _devices(found: EventColumns) -> Mapping[Cell, str]:
    """The device of each process, as labels tell it; where none does, each process that is called a
    device is one."""
    hardware = [pid for pid, name in found.processes.items() if name == _HARDWARE]
    if found.devices or len(hardware) < 2:
        return found.devices
    return {pid: str(pid) for pid in hardware}


def _whole(times: Ints) -> Whole:
    known = times != UNTIMED
    return Whole(np.where(known, times, 0), known)


def _stream(cell: Cell, group: Group, thread: str, talks: bool) -> str | None:
    if cell is None:
        cell = thread.removeprefix("Stream ") or group.tid
    return _text(thread or cell if talks else cell)


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
