"""Any other trace in Chrome's Trace Event Format: what ran when, and nothing about what it was.

Complete events (`X`) and pairs of begin and end (`B`, `E`) are operators, each with the time that
events inside it on the same thread leave to it. Where the labels of TensorFlow and JAX say which
lanes are of a device, its operators are the ones that count, once; the other threads are the host,
where a number in the arguments joins kernels with the calls that launched them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, mark
from fusescope.analysis.messages.places import event_of
from fusescope.analysis.operators.kernel_names import kernel_type
from fusescope.analysis.readers.building.begin_end import Mark, pairs
from fusescope.analysis.readers.building.nesting import Nesting
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.chrome_host import ChromeHost, Events, Facts, chrome_host, facts_of
from fusescope.analysis.readers.chrome_lanes import DeviceLanes, Lane, device_lanes
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.event_windows import collect_events
from fusescope.analysis.readers.input.json_events import EventFile
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import LATEST_NS, exact_column
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.readers.xla.host_steps import spans_of
from fusescope.analysis.readers.xla.steps import Step, all_steps, labels_at, step_runs
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Example, Trace, noted

_PHASE = re.compile(rb'"ph"\s*:\s*"[XBEMbeinNCsftPOD(,]"')
_HEADER = re.compile(rb'"traceEvents"\s*:\s*\[')
_EMPTY = (b"", b"null", b'""')
_NOT_TIMED = ("M", "i", "I", "C", "s", "t", "f", "P")  # labels, instants, counters, arrows
_XLA = b'"hlo_op"'  # among the arguments of what XLA ran


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


@dataclass
class _Spans:
    """Timed events as columns, and what else the file says."""

    rows: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    start_ns: list[int] = field(default_factory=list)
    dur_ns: list[int] = field(default_factory=list)
    of_xla: list[bool] = field(default_factory=list)
    crossing: list[int] = field(default_factory=list)  # positions of spans that others cross
    facts: dict[int, Facts] = field(default_factory=dict)  # by position
    processes: dict[bytes, str] = field(default_factory=dict)
    threads: dict[Lane, str] = field(default_factory=dict)

    texts: dict[str, str] = field(default_factory=dict)  # of names, each once
    known: dict[Lane, Lane] = field(default_factory=dict)

    def add(
        self, row: int, name: str, lane: Lane, start_ns: int, dur_ns: int, *, of_xla: bool = False
    ) -> None:
        name = name or "unnamed"
        self.rows.append(row)
        self.names.append(self.texts.setdefault(name, name))
        self.lanes.append(self.known.setdefault(lane, lane))
        self.start_ns.append(start_ns)
        self.dur_ns.append(dur_ns)
        self.of_xla.append(of_xla)

    def move(self, places: Ints, by_ns: Ints) -> None:
        """Move the starts of the spans at these places."""
        for at, by in zip(places.tolist(), by_ns.tolist(), strict=True):
            self.start_ns[at] += by

    def take(self, places: Sequence[int]) -> _Spans:
        """The spans at these places, with all labels."""
        crossing = set(self.crossing)
        return _Spans(
            [self.rows[at] for at in places],
            [self.names[at] for at in places],
            [self.lanes[at] for at in places],
            [self.start_ns[at] for at in places],
            [self.dur_ns[at] for at in places],
            [self.of_xla[at] for at in places],
            [new for new, at in enumerate(places) if at in crossing],
            {new: self.facts[at] for new, at in enumerate(places) if at in self.facts},
            self.processes,
            self.threads,
        )


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
    if not found.spans.rows:
        raise FuseScopeError("chrome_trace_empty", where=source.name)
    lanes, left_out = _lanes(found.spans)
    kept = np.flatnonzero(lanes.kept)
    host = _host(found.spans, lanes)
    if host is not None:
        found.spans.move(host.ran, host.moves_ns)
        found.spans.move(lanes.steps, host.moves_of(lanes.steps))
    spans, steps = found.spans.take(kept.tolist()), found.spans.take(lanes.steps.tolist())
    notes += [Diagnostic("warning", "unknown_events", len(spans.rows)), *left_out]
    nesting = Nesting(_nesting_lanes(spans), spans.start_ns, spans.dur_ns)
    own = nesting.self_ns
    columns: dict[str, list[object]] = {
        "name": list(spans.names),
        "op_type": [_type(name) for name in spans.names],
        "level": [
            "device_kernel" if is_own else "framework_op" for is_own in lanes.of_device[kept]
        ],
        "device": [spans.processes.get(p) or _text(p) for p, _ in spans.lanes],
        "stream": [spans.threads.get(lane) or _text(lane[1]) for lane in spans.lanes],
        "start_ns": list(spans.start_ns),
        "dur_ns": list(own),
        "span_ns": [
            dur if dur != rest else None for dur, rest in zip(spans.dur_ns, own, strict=True)
        ],
        "source_row": list(spans.rows),
    }
    runs = _runs(spans, steps, columns, notes)
    if host is None:
        return _built(source, columns, runs, notes)
    if runs is None:
        runs = _runs_of_host(host, spans, columns, notes)
    activity, left = host.activity(source.limits)
    if activity is not None:  # its events are not left out
        notes = [note for note in notes if note.code != "host_events"]
    trace = _built(source, columns, runs, [*notes, *host.notes, *left])
    return replace(trace, host=activity)


def _built(
    source: Source,
    columns: dict[str, list[object]],
    runs: pd.DataFrame | None,
    notes: list[Diagnostic],
) -> Trace:
    meta = source.meta(CHROME_TRACE.name, "unknown")
    return build_trace(meta, columns, runs=runs, notes=notes, limits=source.limits)


def _lanes(found: _Spans) -> tuple[DeviceLanes, list[Diagnostic]]:
    """Return which spans are operators and which ran on a device, and notes on what was left
    out."""
    lanes = device_lanes(
        found.lanes,
        found.processes,
        found.threads,
        found.names,
        np.array(found.start_ns, dtype="int64"),
        np.array(found.dur_ns, dtype="int64"),
        np.array(found.of_xla, dtype=bool),
    )
    return lanes, [
        *noted("info", "lanes_repeat", lanes.repeated, clean_text(lanes.example, 80)),
        *noted("info", "host_events", lanes.host),
        *noted("warning", "lanes_cover", lanes.covering, chars=80),
    ]


def _host(found: _Spans, lanes: DeviceLanes) -> ChromeHost | None:
    """Return the launches of the operators of devices; None where no event of the host is one."""
    on_host = np.flatnonzero(~lanes.of_device)
    if not any(found.facts[at].launch for at in on_host.tolist() if at in found.facts):
        return None
    events = Events(
        found.names,
        found.lanes,
        np.array(found.start_ns, dtype="int64"),
        np.array(found.dur_ns, dtype="int64"),
        np.array(found.rows, dtype="int64"),
        found.facts,
        found.threads,
    )
    ran = np.flatnonzero(lanes.kept & lanes.of_device)
    return chrome_host(events, on_host, ran) if len(ran) else None


def _runs_of_host(
    host: ChromeHost,
    spans: _Spans,
    columns: dict[str, list[object]],
    notes: list[Diagnostic],
) -> pd.DataFrame | None:
    """Return the runs table of the steps that the host marked, by what was launched in each; None
    without steps."""
    labels = host.steps.labels(range(len(spans.rows)))
    ends = [start + dur for start, dur in zip(spans.start_ns, spans.dur_ns, strict=True)]
    steps = spans_of(host.steps.steps, labels, spans.start_ns, ends) if any(labels) else {}
    return step_runs(steps, labels, columns, notes)


def _nesting_lanes(spans: _Spans) -> list[object]:
    """Where each span may hold others: on its thread; alone where it and others cross."""
    lanes: list[object] = list(spans.lanes)
    for at in spans.crossing:
        lanes[at] = (spans.lanes[at], at)
    return lanes


def _runs(
    spans: _Spans, steps: _Spans, columns: dict[str, list[object]], notes: list[Diagnostic]
) -> pd.DataFrame | None:
    """The runs table of the steps that devices marked, and each operator's run among the columns;
    None without steps. Steps of one name on several devices are one run."""
    marked: dict[bytes, list[Step]] = {}
    for name, (process, _), start, dur in zip(
        steps.names, steps.lanes, steps.start_ns, steps.dur_ns, strict=True
    ):
        marked.setdefault(process, []).append((start, start + dur, name))
    labels: list[str | None] = [None] * len(spans.rows)
    for process, own in marked.items():
        places = [at for at, lane in enumerate(spans.lanes) if lane[0] == process]
        found = labels_at(sorted(own), [spans.start_ns[at] for at in places])
        for at, label in zip(places, found, strict=True):
            labels[at] = label
    return step_runs(all_steps(marked.values()), labels, columns, notes)


CHROME_TRACE = Reader(
    name="chrome_trace",
    title=mark("Chrome trace of another tool"),
    fields={
        **dict.fromkeys(("start", "types", "stream"), ALWAYS),
        "runs": mark("Record with jax.profiler.StepTraceAnnotation around each step."),
    },
    recording=(
        "Any tool that writes Chrome's Trace Event Format (JSON). FuseScope sees names and times "
        "only: prefer a format of this list that tells of operators. In the `trace.json.gz` of JAX "
        "and TensorFlow the operators of each device count, steps are runs, and threads of the "
        "host whose calls have the `correlation_id` of a kernel explain idle time; the "
        "`xplane.pb` beside it holds more."
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
        self._marks: list[Mark] = []
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
                    facts = facts_of(event.args)
                    if facts is not None:
                        self.spans.facts[len(self.spans.rows)] = facts
                    of_xla = _XLA in bytes(event.args)
                    self.spans.add(row, event.name or "", lane, start, dur, of_xla=of_xla)
                else:
                    self._marks.append(Mark(start, row, phase == "B", event.name or "", lane))
        self.count += len(events)

    def notes(self) -> list[Diagnostic]:
        """What was left out, once all events are there and ends are joined with their begins."""
        first = next(iter(self._other), "")
        joined, unpaired = pairs(self._marks)
        for pair in joined:
            begin = pair.begin
            if pair.crosses:
                self.spans.crossing.append(len(self.spans.rows))
            lane = (begin.lane[0], begin.lane[1])
            self.spans.add(
                begin.row, begin.name, lane, begin.time_ns, pair.end.time_ns - begin.time_ns
            )
        return [
            *noted("warning", "bad_time", self._bad, self._bad_example),
            *noted("info", "other_events", self._other.total(), _OF_PHASE.of(phase=first)),
            *noted("warning", "unpaired_events", unpaired),
        ]


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
