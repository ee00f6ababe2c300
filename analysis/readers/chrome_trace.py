"""Any other trace in Chrome's Trace Event Format: what ran when, and nothing about what it was.

Complete events (`X`) and pairs of begin and end (`B`, `E`) are operators, each with the time that
events inside it on the same thread leave to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from analysis.errors import FuseScopeError
from analysis.messages import Message, mark
from analysis.messages.places import event_of
from analysis.operators.kernel_names import kernel_type
from analysis.readers.building.nesting import Nesting
from analysis.readers.building.trace_tables import build_trace
from analysis.readers.input.encoding import utf8
from analysis.readers.input.event_windows import collect_events
from analysis.readers.input.json_events import EventFile
from analysis.readers.input.json_value import decode
from analysis.readers.input.source import Source
from analysis.readers.input.times import LATEST_NS, exact_column
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
_Begun = tuple[int, int, bool, str, Lane]  # time, row, whether it begins, name, thread


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

    texts: dict[str, str] = field(default_factory=dict)  # of names, each once
    known: dict[Lane, Lane] = field(default_factory=dict)

    def add(self, row: int, name: str, lane: Lane, start_ns: int, dur_ns: int) -> None:
        name = name or "unnamed"
        self.rows.append(row)
        self.names.append(self.texts.setdefault(name, name))
        self.lanes.append(self.known.setdefault(lane, lane))
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
    found, _, notes = collect_events(source, _Event, EventFile, _Collected)
    notes += found.notes()
    spans = found.spans
    if not spans.rows:
        raise FuseScopeError("chrome_trace_empty", where=source.name)
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


class _Collected:
    """Events of the file, part by part, as spans."""

    plain = None

    def __init__(self) -> None:
        self.count = 0
        self.spans = _Spans()
        self._begun: list[_Begun] = []
        self._bad = 0
        self._bad_example: Example = ""
        self._other: Counter[str] = Counter()

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[_Event], *, escaped: bool = False) -> None:
        """The next events of the file."""
        starts, has_start = exact_column([event.ts for event in events])
        lengths, has_length = exact_column([event.dur for event in events])
        is_started = has_start & (np.abs(starts) < LATEST_NS)
        is_timed = is_started & has_length & (lengths >= 0) & (lengths < LATEST_NS)
        told = zip(starts.tolist(), lengths.tolist(), is_started, is_timed, strict=True)
        for row, (event, (start, dur, started, timed)) in enumerate(
            zip(events, told, strict=True), start=self.count
        ):
            phase = event.ph
            if phase == "M":
                _label(event, self.spans)
            elif phase not in ("X", "B", "E"):
                if phase not in _NOT_TIMED:
                    self._other[clean_text(phase or "none", 20)] += 1
            elif not (timed if phase == "X" else started):
                self._bad += 1
                example = event_of(row, clean_text(event.name or "", 80))
                self._bad_example = self._bad_example or example
            else:
                lane = (_plain(event.pid), _plain(event.tid))
                if phase == "X":
                    self.spans.add(row, event.name or "", lane, start, dur)
                else:
                    self._begun.append((start, row, phase == "B", event.name or "", lane))
        self.count += len(events)

    def notes(self) -> list[Diagnostic]:
        """What was left out, once all events are there and ends are joined with their begins."""
        first = next(iter(self._other), "")
        unpaired = _pair(self._begun, self.spans)
        return [
            *noted("warning", "bad_time", self._bad, self._bad_example),
            *noted("info", "other_events", self._other.total(), _OF_PHASE.of(phase=first)),
            *noted("warning", "unpaired_events", unpaired),
        ]


def _pair(begun: list[_Begun], found: _Spans) -> int:
    """Joins each end with the last begin that is open on its thread; how many have no partner."""
    begun.sort(key=lambda item: item[:2])
    running: dict[Lane, list[tuple[int, int, str]]] = {}
    unpaired = 0
    for time, row, begins, name, lane in begun:
        stack = running.setdefault(lane, [])
        if begins:
            if len(stack) < _MAX_DEPTH:
                stack.append((time, row, name))
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
