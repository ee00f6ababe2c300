"""Nodes of an ONNX Runtime profile as columns, collected window by window of the file.

A model runs the same nodes again and again, so what an event says beside its times is kept once.
Profiles with kernels of a device, unnamed nodes, or runs at the same time are rare and small: they
raise Uneven, and are read event by event.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from fusescope.analysis.messages.places import event_of
from fusescope.analysis.operators.classes import op_class
from fusescope.analysis.readers.building.coded import Bools, Whole
from fusescope.analysis.readers.building.timetable import Ints, ended_before, starts_of
from fusescope.analysis.readers.input.event_windows import collect_events
from fusescope.analysis.readers.input.json_events import EventFile
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.readers.onnxruntime.events import (
    KERNEL_TIME,
    Args,
    Event,
    Run,
    copies_of,
    empty,
    stopped_early,
)
from fusescope.analysis.readers.onnxruntime.runs import self_times
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Example

_RUN, _NODE, _SESSION, _OTHER, _UNEVEN = range(5)
_EXACT_US = 2**52  # as ns they fit 64 bits


class Uneven(Exception):
    """The profile has to be read event by event."""


@dataclass
class NodeColumns:
    """The nodes of one file by start, the longer first, with numbers of what they say in `told`."""

    told: list[Event]
    events: Ints
    rows: Ints
    starts: Ints
    lengths: Ints
    runs: list[Run]
    notes: list[Diagnostic]
    bad_times: int
    bad_example: Example
    others: int

    def self_times(self) -> tuple[Ints, int]:
        """Durations without the time of nodes inside, in ns, and how many nodes are inside one."""
        kinds = {event.args.op_name if event.args else None for event in self.told}
        if all(op_class(kind) != "unknown" for kind in kinds):  # these have no body
            return self.lengths, 0
        columns = (self.starts, self.lengths, self.rows, self.events)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        found = self_times([(start, dur, row, self.told[at]) for start, dur, row, at in rows])
        return np.array(found.dur_ns, dtype="int64"), found.nested

    def run_of(self, runs: Sequence[Run]) -> Whole:
        """Where in `runs`, which follow each other, each node begins; none outside of all."""
        begins = np.array([start for start, _, _ in runs], dtype="int64")
        ends = begins + np.array([dur for _, dur, _ in runs], dtype="int64")
        places = np.searchsorted(begins, self.starts, side="right") - 1
        is_inside = (places >= 0) & (self.starts <= ends[places])
        return Whole(np.where(is_inside, places, 0), is_inside)

    def streams(self) -> tuple[Ints, list[str]]:
        """The thread of each node, as a number of these texts, which are sorted."""
        texts = [f"thread {event.tid}"[:40] for event in self.told]
        known = sorted(set(texts))
        numbers = {text: number for number, text in enumerate(known)}
        return np.array([numbers[text] for text in texts], dtype="int64")[self.events], known

    def waits(self, runs: Whole, streams: Ints) -> Whole:
        """From the end of the nodes before on the same thread in the same run; none for a first."""
        lanes = np.where(runs.known, runs.numbers + 1, 0) * (streams.max(initial=0) + 1) + streams
        order = np.argsort(lanes, kind="stable")
        is_first = starts_of(lanes[order])
        before, known = np.empty_like(lanes), np.empty(len(lanes), dtype=bool)
        before[order] = ended_before(is_first, (self.starts + self.lengths)[order])
        known[order] = ~is_first
        return Whole(np.where(known, np.maximum(self.starts - before, 0), 0), known)


def node_columns(source: Source) -> NodeColumns:
    """The nodes of one file. Raises Uneven, and FuseScopeError where it is not readable or holds no
    node."""
    found, _, notes = collect_events(source, Event, EventFile, _Collected)
    runs: list[Run] = [
        (start, dur, event.tid)
        for start, dur, event in zip(found.run_starts, found.run_lengths, found.runs, strict=True)
    ]
    if not found.parts:
        raise empty(source.name, notes, found.bad_times)
    events, rows, starts, lengths = (
        np.concatenate([part[at] for part in found.parts]) for at in range(4)
    )
    begins = sorted(run[:2] for run in runs)
    follow = all(a[0] + a[1] <= b[0] for a, b in itertools.pairwise(begins))
    if copies_of(runs) > 1 or not follow or starts.min() < 0:
        raise Uneven
    order = np.lexsort((-lengths, starts))
    return NodeColumns(
        told=found.told,
        events=events[order],
        rows=rows[order],
        starts=starts[order],
        lengths=lengths[order],
        runs=runs,
        notes=[*notes, *stopped_early(found.count)],
        bad_times=found.bad_times,
        bad_example=found.bad_example,
        others=found.others,
    )


@dataclass
class _Collected:
    """Events of the file, part by part."""

    count: int = 0
    told: list[Event] = field(default_factory=list)
    parts: list[tuple[Ints, Ints, Ints, Ints]] = field(default_factory=list)
    runs: list[Event] = field(default_factory=list)
    run_starts: list[int] = field(default_factory=list)
    run_lengths: list[int] = field(default_factory=list)
    bad_times: int = 0
    bad_example: Example = ""
    others: int = 0
    plain: None = None
    _kinds: _Kinds = field(default_factory=lambda: _Kinds())
    _numbers: dict[object, int] = field(default_factory=dict)

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[Event], *, escaped: bool = False) -> None:
        """The next events of the file. Raises Uneven."""
        kinds = np.fromiter(
            map(self._kinds.__getitem__, [(event.cat, event.name) for event in events]),
            "int64",
            len(events),
        )
        if (kinds == _UNEVEN).any():
            raise Uneven
        self.others += int((kinds == _OTHER).sum())
        starts, has_start = _ns([event.ts for event in events])
        lengths, has_length = _ns([event.dur for event in events])
        is_timed = has_start & has_length & (lengths >= 0)
        is_used = kinds <= _NODE
        bad = np.flatnonzero(is_used & ~is_timed)
        if len(bad):
            first = int(bad[0])
            self.bad_times += len(bad)
            example = event_of(self.count + first, clean_text(events[first].name, 80))
            self.bad_example = self.bad_example or example
        for at in np.flatnonzero(is_timed & (kinds == _RUN)).tolist():
            self.runs.append(events[at])
            self.run_starts.append(int(starts[at]))
            self.run_lengths.append(int(lengths[at]))
        places = np.flatnonzero(is_timed & (kinds == _NODE))
        if len(places):
            numbers = [self._number(events[at]) for at in places.tolist()]
            codes = np.array(numbers, dtype="int64")
            self.parts.append((codes, self.count + places, starts[places], lengths[places]))
        self.count += len(events)

    def _number(self, event: Event) -> int:
        """The number of what the event says beside its times."""
        args = event.args
        key: object = (event.name, event.tid)
        if args is not None:
            key = (
                event.name, event.tid, args.op_name, args.provider, args.node_index,
                args.graph_index, args.activation_size, args.parameter_size, args.output_size,
                bytes(args.input_type_shape), bytes(args.output_type_shape),
            )  # fmt: skip
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self.told)
            self.told.append(_copied(event))
        return known


class _Kinds(dict[tuple[str, str], int]):
    """What is done with events of a category and name."""

    def __missing__(self, key: tuple[str, str]) -> int:
        category, name = key
        if category == "Kernel" or (category == "Node" and name == KERNEL_TIME):
            kind = _UNEVEN
        elif category == "Node" and name.endswith(KERNEL_TIME):
            kind = _NODE
        elif category == "Session":
            kind = _RUN if name == "model_run" else _SESSION
        else:
            kind = _OTHER
        self[key] = kind
        return kind


def _copied(event: Event) -> Event:
    """The event with texts of its own, which do not hold on to a window of the file."""
    args = event.args
    if args is None:
        return event
    ins, outs = bytes(args.input_type_shape), bytes(args.output_type_shape)
    own: Args = msgspec.structs.replace(
        args, input_type_shape=msgspec.Raw(ins), output_type_shape=msgspec.Raw(outs)
    )
    return msgspec.structs.replace(event, args=own)


def _ns(told: Sequence[object]) -> tuple[Ints, Bools]:
    """Times in µs as ns, and which are such."""
    if set(map(type, told)) == {int}:
        try:
            us = np.array(told, dtype="int64")
        except OverflowError:
            us = np.array([_EXACT_US])
        if (np.abs(us) < _EXACT_US).all():
            return us * 1000, np.ones(len(us), dtype=bool)
    known = [exact_ns(value, "us") for value in told]
    numbers = np.array([value or 0 for value in known], dtype="int64")
    return numbers, np.array([value is not None for value in known], dtype=bool)
