"""The timeline of rocprof before rocprofv3: `results.json` of --hip-trace or --sys-trace.

A Chrome trace whose processes are labelled 'GPU0', 'COPY' or 'CPU HIP API', some with a number in
front. Exact times stand among the arguments, as text in ns; `ts` and `dur` are cut to whole µs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from analysis.readers.amd.rows import RocprofRows, durations, kernel_name
from analysis.readers.building.kernels import kernel_columns
from analysis.readers.building.launch_calls import is_launch
from analysis.readers.building.wait_calls import is_wait
from analysis.readers.input.encoding import utf8
from analysis.readers.input.json_events import decode_events
from analysis.readers.input.times import exact_ns
from analysis.trace import noted

_SIGN = re.compile(rb'\{\s*"traceEvents"\s*:\s*\[\s*\{\s*\}\s*,')
_LABEL = re.compile(
    rb'"name"\s*:\s*"(?:\d{1,3} )?(?:GPU\d{1,3}|COPY|CPU (?:HIP|HSA|KFD) API|Markers and Ranges)"'
)
_DEVICE = re.compile(r"(?:\d{1,3} )?(GPU\d{1,3}|COPY)")
_BARRIER = "<barrier packet>"


class _Args(msgspec.Struct, gc=False):
    name: object = None
    begin: object = msgspec.field(default=None, name="BeginNs")
    end: object = msgspec.field(default=None, name="EndNs")
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


def add_timeline(rows: RocprofRows, data: bytes, where: str) -> None:
    """What ran on devices; calls of the host and markers are counted."""
    events, notes = decode_events(data, _Event, where, rows.limits)
    rows.notes += notes
    rows.tool = "rocprof"
    devices = _devices(events)
    timed = [(row, event) for row, event in enumerate(events) if event.ph == "X"]
    found = [(row, event) for row, event in timed if event.pid in devices]
    _add_calls(rows, timed)
    ran = [(row, event) for row, event in found if event.name != _BARRIER]
    rows.notes += noted("info", "other_events", len(timed) - len(found))
    rows.notes += noted("info", "not_operators", len(found) - len(ran), _BARRIER)
    told = [event.args or _Args() for _, event in ran]
    starts: list[object] = [exact_ns(args.begin, "ns") for args in told]
    dur_ns = durations(starts, [exact_ns(args.end, "ns") for args in told])
    if not any(isinstance(start, int) for start in starts):
        starts = [exact_ns(event.ts, "us") for _, event in ran]
        dur_ns = [exact_ns(event.dur, "us") for _, event in ran]
    lanes = [
        next((lane for lane in (args.stream, args.queue, event.tid) if lane is not None), None)
        for args, (_, event) in zip(told, ran, strict=True)
    ]
    rows.columns.extend(
        {
            **kernel_columns([kernel_name(event.name) for _, event in ran]),
            "device": [devices[event.pid] for _, event in ran],
            "stream": [None if lane is None else str(lane)[:40] for lane in lanes],
            "start_ns": starts,
            "dur_ns": dur_ns,
            "source_row": [row for row, _ in ran],
        }
    )


def _add_calls(rows: RocprofRows, timed: list[tuple[int, _Event]]) -> None:
    """Calls of HIP that launched kernels, and those that waited for the device."""
    for _, event in timed:
        if is_launch(event.name) or is_wait(event.name):
            args = event.args or _Args()
            start, end = exact_ns(args.begin, "ns"), exact_ns(args.end, "ns")
            if start is None or end is None:
                start, dur_ns = exact_ns(event.ts, "us"), exact_ns(event.dur, "us")
                end = None if start is None or dur_ns is None else start + dur_ns
            rows.add_call(event.name, (event.pid, event.tid), start, end)


def _devices(events: list[_Event]) -> Mapping[int | float | str | None, str]:
    """Process -> 'GPU0' or 'COPY', of those that are no host."""
    found: dict[int | float | str | None, str] = {}
    for event in events:
        if event.ph == "M" and event.name == "process_name" and event.args is not None:
            match = _DEVICE.fullmatch(str(event.args.name)[:80])
            if match:
                found[event.pid] = match[1]
    return found
