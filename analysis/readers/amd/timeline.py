"""The timeline of rocprof before rocprofv3: `results.json` of --hip-trace or --sys-trace.

A Chrome trace whose processes are labelled 'GPU0', 'COPY' or 'CPU HIP API', some with a number in
front. Exact times stand among the arguments, as text in ns; `ts` and `dur` are cut to whole µs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from fusescope.analysis.readers.amd.rows import RocprofRows, is_call, kernel_name
from fusescope.analysis.readers.building.coded import Whole, coded
from fusescope.analysis.readers.building.kernels import kernel_columns
from fusescope.analysis.readers.building.numbering import Distinct, Numbered, plain_id
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.event_windows import collect_events
from fusescope.analysis.readers.input.json_events import EventFile
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_column
from fusescope.analysis.trace import noted

_SIGN = re.compile(rb'\{\s*"traceEvents"\s*:\s*\[\s*\{\s*\}\s*,')
_LABEL = re.compile(
    rb'"name"\s*:\s*"(?:\d{1,3} )?(?:GPU\d{1,3}|COPY|CPU (?:HIP|HSA|KFD) API|Markers and Ranges)"'
)
_DEVICE = re.compile(r"(?:\d{1,3} )?(GPU\d{1,3}|COPY)")
_BARRIER = "<barrier packet>"
Pid = int | float | str | None
Lane = tuple[Pid, Pid]


class _Args(msgspec.Struct, gc=False):
    name: object = None
    begin: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="BeginNs")
    end: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="EndNs")
    queue: object = msgspec.field(default=None, name="queue-id")
    stream: object = msgspec.field(default=None, name="stream-id")


class _Event(msgspec.Struct, gc=False):
    ph: str | None = None
    name: str | None = None
    pid: int | float | str | None = None
    tid: int | float | str | None = None
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()
    args: _Args | None = None


def is_timeline(head: bytes) -> bool:
    """True for the JSON that rocprof wrote before rocprofv3."""
    text = utf8(head).lstrip()
    return _SIGN.match(text) is not None and _LABEL.search(text) is not None


def add_timeline(rows: RocprofRows, source: Source) -> None:
    """What ran on devices, and calls of HIP; other calls of the host and markers are counted."""
    found, _, notes = collect_events(source, _Event, EventFile, _Timed)
    rows.notes += notes
    rows.tool = "rocprof"
    spans = found.spans()
    pids = [pid for pid, _ in found.lanes]
    is_device = np.array([pid in found.devices for pid in pids], dtype=bool)
    on_device = is_device[spans.lanes] if len(spans.rows) else np.zeros(0, dtype=bool)
    names = found.names.cells()
    hip = np.array([is_call(name) for name in names], dtype=bool)
    calls = ~on_device & hip[spans.names] if len(spans.rows) else on_device
    _add_calls(rows, spans, np.flatnonzero(calls), names, list(found.lanes))
    is_barrier = np.array([name == _BARRIER for name in names], dtype=bool)
    barriers = on_device & is_barrier[spans.names] if len(spans.rows) else on_device
    ran = np.flatnonzero(on_device & ~barriers)
    rows.notes += noted("info", "other_events", int((~on_device & ~calls).sum()))
    rows.notes += noted("info", "not_operators", int(barriers.sum()), _BARRIER)
    begins, ends = spans.begins.take(ran), spans.ends.take(ran)
    starts, dur_ns = begins, Whole(ends.numbers - begins.numbers, begins.known & ends.known)
    if not begins.known.any():
        starts, dur_ns = spans.starts.take(ran), spans.lengths.take(ran)
    streams = coded(spans.streams[ran], [cell and cell[:40] for cell in found.streams])
    of_lane = [found.devices.get(pid) for pid in pids]
    kernels = coded(spans.names[ran], [kernel_name(name) for name in names])
    rows.columns.extend(
        {
            **kernel_columns([str(name) for name in kernels]),
            "device": list(coded(spans.lanes[ran], of_lane)),
            "stream": list(streams),
            "start_ns": list(starts),
            "dur_ns": list(dur_ns),
            "source_row": spans.rows[ran].tolist(),
        }
    )


def _add_calls(
    rows: RocprofRows,
    spans: _Spans,
    calls: Ints,
    names: Sequence[str | None],
    lanes: Sequence[Lane],
) -> None:
    """The calls of HIP at these places."""
    begins, ends = spans.begins.take(calls), spans.ends.take(calls)
    starts, lengths = spans.starts.take(calls), spans.lengths.take(calls)
    times = zip(calls.tolist(), begins, ends, starts, lengths, strict=True)
    for at, begin, end, start, length in times:
        if begin is None or end is None:
            begin, end = start, None if start is None or length is None else start + length
        process, thread = lanes[spans.lanes[at]]
        rows.add_call(names[spans.names[at]], process, thread, begin, end)


@dataclass(frozen=True)
class _Spans:
    """Events with a duration: numbers of names, of processes with threads, and of streams.

    `begins` and `ends` are in ns as the arguments say them; `starts` and `lengths` of µs, only
    where one of these lacks.
    """

    rows: Ints
    names: Ints
    lanes: Ints
    streams: Ints
    begins: Whole
    ends: Whole
    starts: Whole
    lengths: Whole


class _Timed:
    """Collects events with a duration, part by part; `devices` are 'GPU0' or 'COPY' by process."""

    plain = None

    def __init__(self) -> None:
        self.count = 0
        self.names = Distinct()
        self.lanes: dict[Lane, int] = Numbered()  # type: ignore[assignment]
        self.streams: dict[str | None, int] = Numbered()  # type: ignore[assignment]
        self.devices: dict[Pid, str] = {}
        self._parts: list[tuple[np.ndarray, ...]] = []

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[_Event], *, escaped: bool = False) -> None:
        """The next events of the file."""
        rows = [row for row, event in enumerate(events) if event.ph == "X"]
        if len(rows) < len(events):
            self._label(events)
        timed = [events[row] for row in rows]
        told = [event.args or _NO_ARGS for event in timed]
        begins, has_begin = exact_column([args.begin for args in told], "ns")
        ends, has_end = exact_column([args.end for args in told], "ns")
        starts, lengths = np.zeros(len(rows), dtype="int64"), np.zeros(len(rows), dtype="int64")
        has_start, has_length = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
        places = np.flatnonzero(~(has_begin & has_end))
        if len(places):
            lacking = [timed[at] for at in places.tolist()]
            starts[places], has_start[places] = exact_column([event.ts for event in lacking])
            lengths[places], has_length[places] = exact_column([event.dur for event in lacking])
        told_lanes = [(plain_id(event.pid), plain_id(event.tid)) for event in timed]
        lanes = map(self.lanes.__getitem__, told_lanes)
        streams = map(self.streams.__getitem__, map(_stream, timed, told))
        self._parts.append(
            (
                self.count + np.array(rows, dtype="int64"),
                self.names.number([event.name for event in timed]),
                np.fromiter(lanes, "int32", len(rows)),
                np.fromiter(streams, "int32", len(rows)),
                begins, has_begin, ends, has_end, starts, has_start, lengths, has_length,
            )
        )  # fmt: skip
        self.count += len(events)

    def spans(self) -> _Spans:
        """All of them."""
        columns = [np.concatenate([part[at] for part in self._parts]) for at in range(12)]
        rows, names, lanes, streams = columns[:4]
        times = (Whole(columns[at], columns[at + 1]) for at in range(4, 12, 2))
        return _Spans(rows, names, lanes, streams, *times)

    def _label(self, events: Sequence[_Event]) -> None:
        """Takes the names of processes that are not the host."""
        for event in events:
            if event.ph == "M" and event.name == "process_name" and event.args is not None:
                match = _DEVICE.fullmatch(str(event.args.name)[:80])
                if match:
                    self.devices[plain_id(event.pid)] = match[1]


def _stream(event: _Event, args: _Args) -> str | None:
    """The text of the first of stream, queue and thread that there is."""
    for cell in (args.stream, args.queue, event.tid):
        if cell is not None:
            return cell if isinstance(cell, str) else str(cell)
    return None


_NO_ARGS = _Args()
