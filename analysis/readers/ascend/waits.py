"""Waits: calls of AscendCL that return only when the device is done.

In a timeline they lie in a process of their own (CANN), the operators of the framework in another
(Python), on threads of the same number and on the clock of the kernels; in a database likewise in
two tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from analysis.host_waits import HostWaits
from analysis.readers.ascend.launches import is_framework_op
from analysis.readers.building.nesting import Nesting
from analysis.readers.building.wait_calls import host_waits, is_wait
from analysis.readers.input.beside import Beside
from analysis.readers.input.json_events import decode_events
from analysis.readers.input.source import Source
from analysis.readers.input.times import exact_ns, holds_times
from analysis.trace import Diagnostic

Cell = str | int | float | bool | None
Wait = tuple[str, int, int]  # name, start and end in ns
HostSpan = tuple[str, str, tuple[int, int]]  # thread, name, start and end in ns
RUNTIME = "aclrt"  # in the names of what AscendCL does with a device


class HostEvent(msgspec.Struct, gc=False):
    """What a call of the host needs of an event."""

    ph: Cell = ""
    name: Cell = ""
    tid: Cell = None
    ts: msgspec.Raw = msgspec.Raw(b"")
    dur: msgspec.Raw = msgspec.Raw(b"")

    def span_ns(self) -> tuple[int, int] | None:
        """Start and end in ns; None where they are not numbers."""
        start, dur = exact_ns(self.ts), exact_ns(self.dur)
        return None if start is None or dur is None or dur < 0 else (start, start + dur)


def wait_calls(events: Sequence[HostEvent]) -> list[Wait] | None:
    """Each by the innermost operator of the framework around it, else by its own name; None where
    the file holds no call of AscendCL to a device."""
    calls = [event for event in events if event.ph == "X" and RUNTIME in str(event.name)]
    if not calls:
        return None
    waits = [
        (str(event.tid), str(event.name).rpartition("@")[2], span)
        for event in calls
        if is_wait(str(event.name)) and (span := event.span_ns()) is not None
    ]
    threads = {thread for thread, *_ in waits}
    around = [
        (str(event.tid), str(event.name), span)
        for event in events
        if event.ph == "X"
        and is_framework_op(str(event.name))
        and str(event.tid) in threads
        and (span := event.span_ns()) is not None
    ]
    return by_operator(waits, around)


def by_operator(waits: Iterable[HostSpan], around: Sequence[HostSpan]) -> list[Wait]:
    """The waits, each by the innermost of the operators `around` it on its thread, else by its own
    name."""
    nesting = Nesting(
        [thread for thread, *_ in around],
        [start for *_, (start, _) in around],
        [end - start for *_, (start, end) in around],
    )
    found = []
    for thread, name, (start, end) in waits:
        holder = nesting.holder(thread, start)
        found.append((name if holder is None else around[holder][1], start, end))
    return found


def waits_beside(
    beside: Beside, known: Callable[[bytes], bool], starts: Sequence[object]
) -> HostWaits | None:
    """Waits of the first file beside kernels whose head is `known` and that holds their `starts`,
    in ns; None where no such file holds calls of AscendCL."""

    def read(other: Source) -> HostWaits | None:
        content, limits = other.content, other.limits
        if RUNTIME.encode() not in content or not holds_times(content, starts):
            return None
        events, notes = decode_events(content, HostEvent, other.name, limits)
        if any(note.code == "cut_short" for note in notes):
            beside.notes.append(Diagnostic("warning", "companion_unreadable", 1, other.name))
            return None
        calls = wait_calls(events)
        return None if calls is None else host_waits(calls, limits)

    return beside.first(known, read)
