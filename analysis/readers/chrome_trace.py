"""Any other trace in Chrome's Trace Event Format: what ran when, and nothing about what it was.

Complete events (`X`) and pairs of begin and end (`B`, `E`) are operators, each with the time that
events inside it on the same thread leave to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from analysis.errors import FuseScopeError
from analysis.messages import Message, mark
from analysis.messages.places import event_of
from analysis.operators.kernel_names import kernel_type
from analysis.readers.building.nesting import Nesting
from analysis.readers.building.trace_tables import build_trace
from analysis.readers.input.encoding import utf8
from analysis.readers.input.json_events import decode_events
from analysis.readers.input.json_value import decode
from analysis.readers.input.source import Source
from analysis.readers.input.times import LATEST_NS, exact_ns
from analysis.readers.reader import ALWAYS, Reader
from analysis.text import clean_text
from analysis.trace import Diagnostic, Example, Trace, noted

_PHASE = re.compile(rb'"ph"\s*:\s*"[XBEMbeinNCsftPOD(,]"')
_HEADER = re.compile(rb'"traceEvents"\s*:\s*\[')
_EMPTY = (b"", b"null", b'""')
_NOT_TIMED = ("M", "i", "I", "C", "s", "t", "f", "P")  # labels, instants, counters, arrows
_MAX_DEPTH = 10_000


class _Event(msgspec.Struct, gc=False):
    name: str | None = None
    ph: str | None = None
    pid: msgspec.Raw = msgspec.Raw()
    tid: msgspec.Raw = msgspec.Raw()
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()
    args: msgspec.Raw = msgspec.Raw()


class _Label(msgspec.Struct):
    name: str = ""


Lane = tuple[bytes, bytes]


@dataclass
class _Spans:
    """Timed events as columns, and what else the file says."""

    rows: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    start_ns: list[int] = field(default_factory=list)
    dur_ns: list[int] = field(default_factory=list)
    processes: dict[bytes, str] = field(default_factory=dict)
    threads: dict[Lane, str] = field(default_factory=dict)

    def add(self, row: int, name: str, lane: Lane, start_ns: int, dur_ns: int) -> None:
        self.rows.append(row)
        self.names.append(name or "unnamed")
        self.lanes.append(lane)
        self.start_ns.append(start_ns)
        self.dur_ns.append(dur_ns)


def _sniff(head: bytes) -> bool:
    """JSON with events that have a phase."""
    text = utf8(head).lstrip()
    if text[:1] == b"{":
        return _HEADER.search(text) is not None
    return text[:1] == b"[" and _PHASE.search(text) is not None


def _read(source: Source) -> Trace:
    """The trace: self times of all timed events, in one run of kind file."""
    events, notes = decode_events(source.content, _Event, source.name, source.limits)
    spans = _spans(events, notes)
    if not spans.rows:
        raise FuseScopeError("chrome_trace_empty", where=source.name)
    del events
    notes.append(Diagnostic("warning", "unknown_events", len(spans.rows)))
    nesting = Nesting(spans.lanes, spans.start_ns, spans.dur_ns)
    own = nesting.self_ns
    return build_trace(
        source.meta(CHROME_TRACE.name, "unknown"),
        {
            "name": spans.names,
            "op_type": [_type(name) for name in spans.names],
            "level": ["framework_op"] * len(own),
            "device": [spans.processes.get(p) or _text(p) for p, _ in spans.lanes],
            "stream": [spans.threads.get(lane) or _text(lane[1]) for lane in spans.lanes],
            "start_ns": spans.start_ns,
            "dur_ns": own,
            "span_ns": [
                dur if dur != rest else None for dur, rest in zip(spans.dur_ns, own, strict=True)
            ],
            "source_row": spans.rows,
        },
        notes=notes,
        limits=source.limits,
    )


CHROME_TRACE = Reader(
    name="chrome_trace",
    title=mark("Chrome trace of another tool"),
    fields=dict.fromkeys(("start", "types", "stream"), ALWAYS),
    recording=(
        "Any tool that writes Chrome's Trace Event Format (JSON). FuseScope sees names and times "
        "only: prefer a format of this list that tells of operators."
    ),
    sniff=_sniff,
    read=_read,
)


_OF_PHASE = Message("phase {phase:name}")  # of Chrome's format, a letter


def _spans(events: Sequence[_Event], notes: list[Diagnostic]) -> _Spans:
    found = _Spans()
    begun: list[tuple[int, int, _Event, Lane]] = []
    bad = 0
    bad_example: Example = ""
    other: list[str] = []
    for row, event in enumerate(events):
        phase = event.ph
        if phase == "M":
            _label(event, found)
            continue
        if phase not in ("X", "B", "E"):
            if phase not in _NOT_TIMED:
                other.append(clean_text(phase or "none", 20))
            continue
        start = exact_ns(event.ts)
        dur = exact_ns(event.dur) if phase == "X" else 0
        if start is None or dur is None or not 0 <= dur < LATEST_NS or abs(start) >= LATEST_NS:
            bad += 1
            bad_example = bad_example or event_of(row, clean_text(event.name or "", 80))
            continue
        lane = (_plain(event.pid), _plain(event.tid))
        if phase == "X":
            found.add(row, event.name or "", lane, start, dur)
        else:
            begun.append((start, row, event, lane))
    notes += noted("warning", "bad_time", bad, bad_example)
    notes += noted("info", "other_events", [_OF_PHASE.of(phase=phase) for phase in other])
    notes += noted("warning", "unpaired_events", _pair(begun, found))
    return found


def _pair(begun: list[tuple[int, int, _Event, Lane]], found: _Spans) -> int:
    """Joins each end with the last begin that is open on its thread; how many have no partner."""
    begun.sort(key=lambda item: item[:2])
    running: dict[Lane, list[tuple[int, int, str]]] = {}
    unpaired = 0
    for time, row, event, lane in begun:
        stack = running.setdefault(lane, [])
        if event.ph == "B":
            if len(stack) < _MAX_DEPTH:
                stack.append((time, row, event.name or ""))
            else:
                unpaired += 1
        elif stack:
            start, first, name = stack.pop()
            found.add(first, name, lane, start, time - start)
        else:
            unpaired += 1
    return unpaired + sum(len(stack) for stack in running.values())


def _label(event: _Event, found: _Spans) -> None:
    """Names of processes and threads."""
    if event.name not in ("process_name", "thread_name"):
        return
    label = decode(event.args, _Label, None)
    if label is None:
        return
    process = _plain(event.pid)
    if event.name == "process_name":
        found.processes.setdefault(process, label.name)
    else:
        found.threads.setdefault((process, _plain(event.tid)), label.name)


def _plain(raw: msgspec.Raw) -> bytes:
    text = bytes(raw)
    return b"" if text in _EMPTY else text.strip(b'"')


def _type(name: str) -> str:
    """A name without the number that tells executions apart: 'fusion.12' -> 'fusion'."""
    text = kernel_type(name)
    head = text.rstrip("0123456789")
    return head.rstrip(" ._-:#") or text if head[-1:] in " ._-:#" else text


def _text(raw: bytes) -> str | None:
    return raw.decode("utf-8", "replace")[:80] or None
