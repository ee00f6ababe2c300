"""Events of an Ascend timeline as columns, collected window by window of the file.

In which lane an event lies is known only when all processes are named, so what may matter is kept:
times, and numbers of what else an event says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import is_, ne
from typing import Any, NamedTuple

import msgspec
import numpy as np

from fusescope.analysis.readers.building.numbering import (
    Distinct,
    Numbered,
    apart,
    cell_of,
    plain_id,
    plain_ids,
)
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.input.times import exact_column

Cell = str | int | float | bool | None

NONE = -1  # the number of what an event does not say
PLAIN = -2  # the number of arguments of which nothing is read
UNTIMED = -(2**63)  # a time that lacks, or is none
FLOWS = ("HostToDevice", "async_npu")  # of the driver, and of the framework, which says more
BACKWARD = "fwdbwd"  # from an operator to the one that computes its gradients

_SPAN, _FLOW, _LABEL, _OTHER, _LEFT = range(5)
_USES = {"X": _SPAN, "M": _LABEL, "s": _LEFT, "f": _LEFT, "t": _LEFT}
_MAX = 1e300
_MAX_ID = 2**61
_MAX_DIGITS = 18
_DEVICE_NUMBER = re.compile(r"NPU\s+(\d+)")


class Args(msgspec.Struct, gc=False):
    """What is read of the arguments of an event."""

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
    count: Cell = None  # of the elements of a collective
    data_type: Cell = None
    dims: msgspec.Raw = msgspec.field(default=msgspec.Raw(b""), name="Input Dims")
    types: msgspec.Raw = msgspec.field(default=msgspec.Raw(b""), name="Input type")


class Event(msgspec.Struct, gc=False):
    """An event of any kind."""

    ph: Cell = ""
    name: Cell = ""
    tid: Cell = None
    ts: msgspec.Raw = msgspec.Raw(b"")
    dur: msgspec.Raw = msgspec.Raw(b"")
    cat: Cell = None
    pid: Cell = None
    id: Cell = None
    args: Args | None = None


class Group(NamedTuple):
    """What events of one phase, category, process and thread have in common."""

    ph: Cell
    cat: Cell
    pid: Cell
    tid: Cell


@dataclass
class Spans:
    """Events with a duration, in the order of the file; `args` are places in Told."""

    rows: Ints
    groups: Ints
    names: Ints
    starts: Ints
    lengths: Ints
    args: Ints


@dataclass
class Told:
    """Arguments of spans, where something of them is read: numbers of cells, and numbers."""

    kinds: Ints
    is_part: np.ndarray
    streams: Ints
    tasks: Ints
    operators: Ints
    inputs: Ints
    messages: Ints
    core_times: np.ndarray
    cycles: np.ndarray


@dataclass
class Flows:
    """Begins and ends of flows with a valid time, in the order of the file."""

    groups: Ints
    ids: Ints
    times: Ints


class EventColumns:
    """Collects the events of a file, part by part; `names` and the others say what numbers are.

    `processes` and `devices` are told by process, `threads` by process and thread.
    """

    plain = None

    def __init__(self) -> None:
        self.count = 0
        self.others = 0  # events that are neither spans nor flows nor labels
        self.names, self.kinds, self.streams = Distinct(), Distinct(), Distinct()
        self.tasks, self.operators, self.inputs = Distinct(), Distinct(), Numbered()
        self.messages = Numbered()
        self.processes: dict[Cell, str] = {}
        self.threads: dict[tuple[Cell, Cell], str] = {}
        self.devices: dict[Cell, str] = {}
        self._groups = _Groups()
        self._ids: dict[object, int] = {}
        self._parts: dict[str, list[tuple[np.ndarray, ...]]] = {}
        self._told = 0

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[Event], *, escaped: bool = False) -> None:
        """The next events of the file."""
        groups = self._group(events)
        uses = np.array(self._groups.uses, dtype="int8")[groups]
        self.others += int((uses == _OTHER).sum())
        for at in np.flatnonzero(uses == _LABEL).tolist():
            self._label(events[at])
        places = np.flatnonzero(uses == _FLOW)
        if len(places):
            self._add_flows([events[at] for at in places.tolist()], groups[places])
        places = np.flatnonzero(uses == _SPAN)
        if len(places):
            spans = [events[at] for at in places.tolist()]
            self._add_spans(spans, self.count + places, groups[places])
        self.count += len(events)

    def groups(self) -> list[Group]:
        """What the numbers of groups stand for."""
        return self._groups.told

    def spans(self) -> Spans:
        """All events with a duration. They are let go of here, as are the others."""
        return Spans(*self._columns("span", 6))

    def told(self) -> Told:
        """What their arguments say."""
        return Told(*self._columns("told", 9))

    def flows(self) -> Flows:
        """All begins and ends of flows."""
        return Flows(*self._columns("flow", 3))

    def _columns(self, name: str, count: int) -> list[np.ndarray]:
        parts = self._parts.pop(name, [])
        none = np.empty(0, dtype="int64")
        return [np.concatenate([part[at] for part in parts] or [none]) for at in range(count)]

    def _group(self, events: Sequence[Event]) -> Ints:
        keys = zip(
            [event.ph for event in events],
            apart([event.cat for event in events]),
            apart(plain_ids([event.pid for event in events])),
            apart(plain_ids([event.tid for event in events])),
            strict=True,
        )
        numbers = self._groups
        groups = np.fromiter(map(numbers.__getitem__, keys), "int32", len(events))
        return groups

    def _label(self, event: Event) -> None:
        if event.args is None:
            return
        pid, tid = plain_id(event.pid), plain_id(event.tid)
        if event.name == "process_name":
            self.processes[pid] = str(event.args.name or "").strip()
        elif event.name == "thread_name":
            self.threads[pid, tid] = str(event.args.name or "").strip()
        elif event.name == "process_labels":
            number = _DEVICE_NUMBER.search(str(event.args.labels or ""))
            self.devices.update({pid: number[1]} if number else {})

    def _add_flows(self, events: Sequence[Event], groups: Ints) -> None:
        times, known = exact_column([event.ts for event in events])
        ids = self._ids_of([event.id for event in events])
        self._keep("flow", groups[known], ids[known], times[known])

    def _ids_of(self, cells: Sequence[Cell]) -> Ints:
        """Numbers of ids: whole ones stand for themselves, twice, and their texts one above."""
        if set(map(type, cells)) == {int}:
            try:
                whole = np.array(cells, dtype="int64")
            except OverflowError:
                whole = np.array([-1])
            if whole.min() >= 0 and whole.max() < _MAX_ID:
                return 2 * whole
        return np.fromiter(map(self._id, cells), "int64", len(cells))

    def _id(self, cell: Cell) -> int:
        if type(cell) is str and cell.isdecimal() and cell.isascii() and len(cell) <= _MAX_DIGITS:
            if cell[0] != "0" or cell == "0":
                return 2 * int(cell) + 1
        elif isinstance(cell, int | float) and 0 <= cell < _MAX_ID and cell == int(cell):
            return 2 * int(cell)
        return -1 - self._ids.setdefault(cell, len(self._ids))

    def _add_spans(self, events: Sequence[Event], rows: Ints, groups: Ints) -> None:
        starts, has_start = exact_column([event.ts for event in events])
        lengths, has_length = exact_column([event.dur for event in events])
        given = [event.args for event in events]
        is_told = np.fromiter(map(ne, given, repeat(_NO_ARGS)), bool, len(given))
        is_none = np.fromiter(map(is_, given, repeat(None)), bool, len(given))
        args = np.where(is_none, NONE, PLAIN).astype("int32")
        told = np.flatnonzero(is_told & ~is_none)
        args[told] = np.arange(self._told, self._told + len(told))
        self._told += len(told)
        self._keep(
            "span",
            rows,
            groups,
            self.names.number([event.name for event in events]),
            np.where(has_start, starts, UNTIMED),
            np.where(has_length, lengths, UNTIMED),
            args,
        )
        if len(told):
            self._add_told([given[at] for at in told.tolist()])

    def _add_told(self, args: Sequence[Any]) -> None:
        streams = [
            one.physic_stream if one.physic_stream is not None else one.stream for one in args
        ]
        inputs = [(bytes(one.dims), bytes(one.types)) for one in args]
        messages = [(str(one.count), str(one.data_type)) for one in args]
        parts = [one.part_type for one in args]
        self._keep(
            "told",
            self.kinds.number([one.task_type for one in args]),
            ~np.fromiter(map(is_, parts, repeat(None)), bool, len(parts)),
            self.streams.number(streams),
            self.tasks.number([one.task for one in args]),
            self.operators.number([one.mindspore_op for one in args]),
            self.inputs.of(inputs).astype("int32"),
            self.messages.of(messages).astype("int32"),
            _floats([one.core_time for one in args]),
            _floats([one.cycles for one in args]),
        )

    def _keep(self, name: str, *columns: np.ndarray) -> None:
        self._parts.setdefault(name, []).append(columns)


_NO_ARGS = Args()


class _Groups(dict[tuple[Any, ...], int]):
    """Numbers of groups, and what is done with events of each."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Group] = []
        self.uses: list[int] = []

    def __missing__(self, key: tuple[Any, ...]) -> int:
        number = self[key] = len(self.told)
        group = Group(*(cell_of(part) for part in key))
        self.told.append(group)
        self.uses.append(_use(group.ph, group.cat))
        return number


def _use(ph: Cell, cat: Cell) -> int:
    """What is done with events of a phase and category."""
    if ph in ("s", "f") and (cat in FLOWS or cat == BACKWARD):
        return _FLOW
    return _USES.get(ph, _OTHER) if isinstance(ph, str) else _OTHER


def _floats(cells: Sequence[Cell]) -> np.ndarray:
    if set(cells) == {None}:
        return np.full(len(cells), np.nan)
    return np.array([_number(cell) for cell in cells], dtype="float64")


def _number(cell: Cell) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return np.nan
    return float(cell) if abs(cell) < _MAX else np.nan
