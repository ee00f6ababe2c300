"""Waits: calls of AscendCL that return only when the device is done.

In a timeline they lie in a process of their own (CANN), the operators of the framework in another
(Python), on threads of the same number and on the clock of the kernels; in a database likewise in
two tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from analysis.host_waits import HostWaits
from analysis.limits import MIB
from analysis.readers.ascend.launches import is_framework_op
from analysis.readers.building.coded import Bools, Coded
from analysis.readers.building.host.wait_calls import host_waits, is_wait
from analysis.readers.building.nesting import Nesting
from analysis.readers.building.numbering import Numbered
from analysis.readers.building.timetable import Ints, distinct
from analysis.readers.input.beside import Beside
from analysis.readers.input.event_windows import collect_events
from analysis.readers.input.json_events import EventFile
from analysis.readers.input.source import Source
from analysis.readers.input.times import exact_column, holds_times
from analysis.trace import Diagnostic

Cell = str | int | float | bool | None
Wait = tuple[str, int, int]  # name, start and end in ns
RUNTIME = "aclrt"  # in the names of what AscendCL does with a device


@dataclass(frozen=True)
class HostSpans:
    """Calls of the host, and others: names, threads and times in ns; only some `is_timed`."""

    names: Coded
    threads: Ints
    starts: Ints
    lengths: Ints
    is_timed: Bools


def wait_calls(calls: HostSpans, operators: HostSpans) -> list[Wait] | None:
    """Waits among `calls`, each by the innermost of the framework's `operators` around it, else by
    its own name; None where there is no call of AscendCL to a device.

    Numbers of threads are the same in both.
    """
    if not _named(calls, lambda name: RUNTIME in name).any():
        return None
    waits = np.flatnonzero(_named(calls, is_wait) & calls.is_timed)
    threads, starts = calls.threads[waits], calls.starts[waits]
    is_around = _named(operators, is_framework_op) & operators.is_timed
    around = np.flatnonzero(is_around & np.isin(operators.threads, distinct(threads)))
    nesting = Nesting(
        operators.threads[around], operators.starts[around], operators.lengths[around]
    )
    holders = nesting.holders(threads, starts)
    named = np.where(holders >= 0, np.append(around, -1)[holders], -1)
    ends = starts + calls.lengths[waits]
    times = zip(starts.tolist(), ends.tolist(), strict=True)
    return [
        (str(operators.names[by]) if by >= 0 else str(calls.names[at]).rpartition("@")[2], *span)
        for at, by, span in zip(waits.tolist(), named.tolist(), times, strict=True)
    ]


def _named(spans: HostSpans, known: Callable[[str], bool]) -> Bools:
    """Which have a name that is `known`."""
    values = [known(str(name)) for name in spans.names.values]
    return np.array([*values, False], dtype=bool)[spans.names.codes]


def waits_beside(
    beside: Beside, known: Callable[[bytes], bool], starts: Sequence[object]
) -> HostWaits | None:
    """Waits of the first file beside kernels whose head is `known` and that holds their `starts`,
    in ns; None where no such file holds calls of AscendCL."""

    def read(other: Source) -> HostWaits | None:
        if not holds_times(other.blocks(MIB), starts, RUNTIME.encode()):
            return None
        found, _, notes = collect_events(other, _HostEvent, EventFile, _HostColumns)
        if any(note.code == "cut_short" for note in notes):
            beside.notes.append(Diagnostic("warning", "companion_unreadable", 1, other.name))
            return None
        spans = found.spans()
        calls = wait_calls(spans, spans)
        return None if calls is None else host_waits(calls, other.limits)

    return beside.first(known, read)


class _HostEvent(msgspec.Struct, gc=False):
    """What a call of the host needs of an event."""

    ph: Cell = ""
    name: Cell = ""
    tid: Cell = None
    ts: msgspec.Raw = msgspec.Raw(b"")
    dur: msgspec.Raw = msgspec.Raw(b"")


class _HostColumns:
    """Calls of AscendCL and operators of the framework, part by part of the file."""

    plain = None

    def __init__(self) -> None:
        self.count = 0
        self._names, self._threads = _Names(), Numbered()
        self._parts: list[tuple[np.ndarray, ...]] = []

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[_HostEvent], *, escaped: bool = False) -> None:
        """The next events of the file."""
        self.count += len(events)
        wanted = list(map(self._names.__getitem__, [str(event.name) for event in events]))
        chosen = [
            (event, name)
            for event, name in zip(events, wanted, strict=True)
            if name >= 0 and event.ph == "X"
        ]
        starts, has_start = exact_column([event.ts for event, _ in chosen])
        lengths, has_length = exact_column([event.dur for event, _ in chosen])
        is_timed = has_start & has_length & (lengths >= 0)
        names = np.array([name for _, name in chosen], dtype="int64")
        threads = self._threads.of([str(event.tid) for event, _ in chosen])
        self._parts.append((names, threads, starts, lengths, is_timed))

    def spans(self) -> HostSpans:
        """All of them."""
        names, threads, starts, lengths, is_timed = (
            np.concatenate([part[at] for part in self._parts]) for at in range(5)
        )
        return HostSpans(Coded(names, self._names.known), threads, starts, lengths, is_timed)


class _Names(dict[str, int]):
    """Numbers of the names that matter, -1 of others."""

    def __init__(self) -> None:
        super().__init__()
        self.known: list[str] = []

    def __missing__(self, name: str) -> int:
        is_wanted = RUNTIME in name or is_framework_op(name)
        number = self[name] = len(self.known) if is_wanted else -1
        self.known += [name] if is_wanted else []
        return number
