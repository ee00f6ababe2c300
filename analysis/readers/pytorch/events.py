"""Events of a Kineto trace by what they are, as columns, collected part by part of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace as replaced

from fusescope.analysis.host_activity import FRAME, OPERATOR
from fusescope.analysis.messages.places import event_of
from fusescope.analysis.readers.building.begin_end import Mark, pairs
from fusescope.analysis.readers.building.call_stacks import Frames
from fusescope.analysis.readers.building.coded import Bools
from fusescope.analysis.readers.building.numbering import Numbered
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.input.event_windows import Inexact
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.times import LATEST_NS
from fusescope.analysis.readers.pytorch.arguments import (
    AUTOGRAD,
    KERNEL_LABELS,
    KERNEL_NUMBERS,
    Arguments,
    Batch,
)
from fusescope.analysis.readers.pytorch.event import (
    KINDS,
    Allocation,
    CounterRange,
    Event,
    Kind,
    MemoryArgs,
    Span,
    plain,
)
from fusescope.analysis.readers.pytorch.plain_events import PLAIN, EpochEvent, PlainEvent, times_of
from fusescope.analysis.readers.pytorch.spans import COLUMNS, Lane, Spans, Tables
from fusescope.analysis.readers.pytorch.spans import KINDS as SPAN_KINDS
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Example, Value, noted

_STEP = re.compile(r"ProfilerStep\s*#\s*(\d{1,18})")
_MEMORY = "[memory]"
_CALL = "## Call CompiledFxGraph "
_MAX_BYTES = 2**60
_MAX_MISSES = 2  # parts that a plain type did not fit

Times = tuple[Ints, Ints, tuple[Bools, Bools]]  # as `times_of` tells them

# What is done with events, beside numbers of SPAN_KINDS.
_FRAME, _FLOW, _INSTANT, _RANGE, _OTHER, _MARK, _LEFT = range(len(SPAN_KINDS), len(SPAN_KINDS) + 7)
_ANNOTATION = SPAN_KINDS.index("annotation")
_OP, _LAUNCH = SPAN_KINDS.index("op"), SPAN_KINDS.index("launch")


@dataclass(frozen=True)
class Flows:
    """Where arrows from the host to a device begin, by their id: thread and time of the first."""

    ids: Ints
    lanes: Ints
    times: Ints


@dataclass
class Sorted:
    """The events of a file by what they are."""

    tables: Tables
    count: int
    ops: Spans
    calls: Spans  # of compiled graphs, on the host
    kernels: Spans  # with copies and fills
    launches: Spans
    runtime: Spans  # all calls to the runtime of the host, also those that launch elsewhere
    steps: list[tuple[int, Span]]  # on the host, with their number
    device_steps: list[tuple[int, Span]]
    flows: Flows
    frames: Frames  # Python calls and operators of the host
    frame_kinds: Ints  # which of the two each is, as HostActivity numbers them
    annotations: Frames  # ranges that the host marked, with steps and calls of compiled graphs
    memory: list[Allocation]
    ranges: list[CounterRange]
    lane_numbers: dict[Lane, int]
    notes: list[Diagnostic] = field(default_factory=list)


def sort_events(events: Sequence[Event]) -> Sorted:
    """Events by kind; those without a valid time and those of other kinds are counted."""
    found = EventColumns()
    found.add(events)
    return found.sorted()


class _Group(NamedTuple):
    """Events of one category, phase and thread."""

    use: int
    lane: int
    cat: str
    on_device: bool


class _Names(Numbered):
    """Names of events, with what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[int] = []  # the number of a step, -1 for none
        self.is_call: list[bool] = []

    def __missing__(self, value: Any) -> int:
        name = value or ""
        if not value and "" in self:
            self[value] = self[""]
            return self[""]
        step = _STEP.match(name)
        self.steps.append(int(step[1]) if step else -1)
        self.is_call.append(name.startswith(_CALL))
        number = self[name] = len(self.steps) - 1
        if value is None:
            self[None] = number
        return number


class EventColumns:
    """Collects the events of a file, part by part, into columns."""

    def __init__(self) -> None:
        self.count = 0
        self._names = _Names()
        self._groups: dict[object, int] = _Groups(self)
        self._told: list[_Group] = []
        self._lanes: dict[Lane, int] = {}
        self._arguments = Arguments()
        self._parts: dict[str, list[dict[str, np.ndarray]]] = {}
        self._bad = 0
        self._bad_kernels = 0  # among them
        self._bad_example: Example = ""
        self._other: dict[str, int] = {}
        self._memory: list[Allocation] = []
        self._ranges: list[CounterRange] = []
        self._misses = 0
        self._escaped = False
        self._marks: list[Mark] = []  # begins and ends of pairs
        self._begun: dict[int, Event] = {}  # events of the begins by row

    @property
    def plain(self) -> type[PlainEvent | EpochEvent] | None:
        """The type to try first, while one fits."""
        return (
            PLAIN[self._misses // _MAX_MISSES] if self._misses < _MAX_MISSES * len(PLAIN) else None
        )

    def miss(self) -> None:
        """Plain types did not fit a part."""
        self._misses += 1

    def add(
        self,
        events: Sequence[Event] | Sequence[PlainEvent] | Sequence[EpochEvent],
        *,
        escaped: bool = False,
    ) -> None:
        """The next events of the file. Raises Inexact, and adds nothing, where times need more than
        doubles, or ids may be `escaped`."""
        if not events:
            return
        self._escaped = escaped
        is_plain = not isinstance(events[0], Event)
        part = self._part(events, np.arange(self.count, self.count + len(events)), times_of(events))
        use = self._use(part)
        is_memory = use == _INSTANT
        if is_memory.any():
            is_memory &= part.names == self._names[_MEMORY]
            if is_plain and is_memory.any():
                raise Inexact  # plain types leave out what these say
        is_mark, is_range = use == _MARK, use == _RANGE
        if is_plain and (is_mark | is_range).any():
            raise Inexact  # the other half may be in another part; plain types leave out counters
        self.count += len(events)
        self._add_marks(part, np.flatnonzero(is_mark))
        self._add_ranges(part, np.flatnonzero(is_range))
        self._add_flows(part, np.flatnonzero(use == _FLOW))
        for at in np.flatnonzero(is_memory).tolist():
            self._add_memory(part, at)
        self._add_spans(part, use)

    def sorted(self) -> Sorted:
        """Everything collected so far."""
        unpaired = self._add_pairs()
        tables = Tables(
            [str(name) for name in self._names if name is not None],
            list(self._lanes),
            list(self._arguments.inputs),  # type: ignore[arg-type]
            list(self._arguments.labels),  # type: ignore[arg-type]
            list(self._arguments.messages),  # type: ignore[arg-type]
        )
        kernels = self._with_times(self._spans("kernel", tables))
        launches = self._spans("launch", tables)
        steps = self._spans("step", tables)
        found = Sorted(
            tables,
            self.count,
            self._spans("op", tables),
            self._spans("call", tables),
            kernels,
            launches,
            launches,
            *self._steps(steps),
            self._flows(),
            *self._frames("frame", tables),
            self._frames("annotation", tables)[0],
            self._memory,
            self._ranges,
            self._lanes,
        )
        if self._bad:
            found.notes.append(self._without_times(found))
        found.notes += noted("warning", "unpaired_events", unpaired)
        if self._other:
            maximum = max(self._other, key=lambda name: self._other[name])
            found.notes.append(
                Diagnostic(
                    "info", "other_events", sum(self._other.values()), clean_text(maximum, 40)
                )
            )
        return found

    def _without_times(self, found: Sorted) -> Diagnostic:
        """A note on events without times; of a device its kernels, copies and fills are what may be
        missed."""
        lost, left = self._bad, len(found.ops)
        if found.kernels:
            lost, left = self._bad_kernels, len(found.kernels)
        values: dict[str, Value] = {"lost": lost, "of": left + lost}
        return Diagnostic("warning", "bad_time", self._bad, self._bad_example, values)

    def lane(self, pid: object, tid: object) -> int:
        """The number of a thread."""
        if self._escaped and (isinstance(pid, str) or isinstance(tid, str)):
            raise Inexact
        key = (_id_text(pid), _id_text(tid))
        return self._lanes.setdefault(key, len(self._lanes))

    def group(self, cat: str | None, ph: str | None, lane: int) -> int:
        """The number of a new group."""
        kind = KINDS.get(cat.strip().lower()) if cat else None
        on_device = (cat or "").strip().lower().startswith("gpu")
        self._told.append(_Group(_use(cat, ph, kind), lane, cat or "", on_device))
        return len(self._told) - 1

    def _keys(self, events: Sequence[Any]) -> Any:
        pids, tids = [event.pid for event in events], [event.tid for event in events]
        if isinstance(events[0], Event):
            pids, tids = list(map(plain, pids)), list(map(plain, tids))
        cats, phases = [event.cat for event in events], [event.ph for event in events]
        return zip(cats, phases, pids, tids, strict=True)

    def _count_others(self, codes: Ints) -> None:
        """Events of these groups, in the order of the file, are of no kind that is read."""
        if not len(codes):
            return
        counts = np.bincount(codes)
        _, first = np.unique(codes, return_index=True)
        for code in codes[np.sort(first)].tolist():
            cat = self._told[code].cat
            self._other[cat] = self._other.get(cat, 0) + int(counts[code])

    def _add_flows(self, part: _Part, places: Ints) -> None:
        if not len(places):
            return
        starts, known = part.starts, part.is_started
        places = places[known[places]]
        ids = self._arguments.ids([part.events[at].id for at in places.tolist()])
        self._keep("flow", ids=ids, lanes=part.lanes[places], times=starts[places])

    def _add_marks(self, part: _Part, places: Ints) -> None:
        """Begins and ends of pairs, with the event that each begin is."""
        for at in places.tolist():
            if not part.is_started[at] or abs(int(part.starts[at])) >= LATEST_NS:
                self._miss_time(part, at)
                continue
            event, row = part.events[at], int(part.rows[at])
            lane = (plain(event.pid), plain(event.tid))
            begins = event.ph == "B"
            self._marks.append(Mark(int(part.starts[at]), row, begins, event.name or "", lane))
            if begins:
                self._begun[row] = event

    def _add_ranges(self, part: _Part, places: Ints) -> None:
        for at in places.tolist():
            event = part.events[at]
            self._ranges.append(
                CounterRange(
                    int(part.rows[at]),
                    event.name or "",
                    plain(event.pid),
                    int(part.starts[at]),
                    event.args,
                )
            )

    def _add_pairs(self) -> int:
        """Pairs of begin and end as the spans that they are; how many marks have no partner."""
        joined, unpaired = pairs(self._marks)
        joined.sort(key=lambda pair: pair.begin.row)
        events = [replaced(self._begun[pair.begin.row], ph="X") for pair in joined]
        self._marks, self._begun = [], {}
        if not events:
            return unpaired
        starts = np.array([pair.begin.time_ns for pair in joined], dtype="int64")
        lengths = np.array([pair.end.time_ns for pair in joined], dtype="int64") - starts
        rows = np.array([pair.begin.row for pair in joined], dtype="int64")
        is_timed = np.ones(len(events), dtype=bool)
        part = self._part(events, rows, (starts, lengths, (is_timed, is_timed)))
        self._add_spans(part, self._use(part))
        return unpaired

    def _part(self, events: Sequence[Any], rows: Ints, times: Times) -> _Part:
        """These events at their places in the file, with the numbers of what they say."""
        codes = np.fromiter(map(self._groups.__getitem__, self._keys(events)), "int64", len(events))
        names = self._names.of([event.name for event in events])
        lanes = np.array([group.lane for group in self._told], dtype="int64")[codes]
        return _Part(events, rows, codes, names, lanes, *times)

    def _use(self, part: _Part) -> Ints:
        """What is done with each event."""
        return np.array([group.use for group in self._told], dtype="int64")[part.codes]

    def _add_memory(self, part: _Part, at: int) -> None:
        """The event where it says how much is allocated, at a valid time."""
        args = decode(part.events[at].args, MemoryArgs, MemoryArgs())
        time_ns = int(part.starts[at])
        if not part.is_started[at] or abs(time_ns) >= LATEST_NS:
            return
        if args.allocated is not None and 0 <= args.allocated < _MAX_BYTES:
            lane = list(self._lanes)[part.lanes[at]]
            self._memory.append(Allocation(lane, time_ns, args))

    def _add_spans(self, part: _Part, use: Ints) -> None:
        steps = np.array(self._names.steps, dtype="int64")[part.names]
        is_call = np.array(self._names.is_call, dtype=bool)[part.names]
        on_device = np.array([group.on_device for group in self._told], dtype=bool)[part.codes]
        is_annotation, is_op = use == _ANNOTATION, use == _OP
        is_step = (steps >= 0) & (is_annotation | is_op)
        is_call &= is_annotation & ~on_device & ~is_step
        unused = is_annotation & on_device & ~is_step
        self._count_others(part.codes[unused | (use == _OTHER)])
        is_span = (use < len(SPAN_KINDS)) & ~unused
        bad = np.flatnonzero(is_span & ~part.is_timed)
        if len(bad):
            self._bad_kernels += int(((use[bad] > _OP) & (use[bad] < _LAUNCH)).sum())
            self._bad += len(bad) - 1
            self._miss_time(part, int(bad[0]))
        is_span &= part.is_timed
        self._keep_spans("step", part, is_span & is_step, use, None, on_device=on_device)
        self._keep_spans("call", part, is_span & is_call, use, self._arguments.ops)
        is_plain_op = is_span & is_op & ~is_step
        self._keep_spans("op", part, is_plain_op, use, self._arguments.ops)
        self._keep_spans("launch", part, is_span & (use == _LAUNCH), use, self._arguments.launches)
        is_kernel = is_span & (use > _OP) & (use < _LAUNCH)
        self._keep_spans("kernel", part, is_kernel, use, self._arguments.kernels)
        is_frame = (use == _FRAME) & part.is_timed & (part.names != self._names[""])
        framed = np.flatnonzero(is_frame | is_plain_op)
        kinds = np.where(is_plain_op[framed], OPERATOR, FRAME).astype("int8")
        self._keep_frames("frame", part, framed, kinds=kinds)
        is_mark = is_span & (is_annotation | is_step) & ~on_device
        self._keep_frames("annotation", part, np.flatnonzero(is_mark))

    def _keep_frames(self, kind: str, part: _Part, places: Ints, **more: np.ndarray) -> None:
        """Spans of the host of which only thread, time and name are read."""
        if not len(places):
            return
        names, empty = part.names[places], self._names[""]
        if (names == empty).any():
            names = np.where(names == empty, self._names["unnamed"], names)
        self._keep(
            kind,
            lanes=part.lanes[places].astype("int32"),
            starts=part.starts[places],
            lengths=part.lengths[places],
            names=names.astype("int32"),
            **more,
        )

    def _miss_time(self, part: _Part, at: int) -> None:
        """Counts an event without a valid time."""
        self._bad += 1
        name = clean_text(part.events[at].name or "", 80)
        self._bad_example = self._bad_example or event_of(int(part.rows[at]), name)

    def _keep_spans(
        self, kind: str, part: _Part, chosen: Bools, use: Ints, batch: Batch | None, **more: Any
    ) -> None:
        places = np.flatnonzero(chosen)
        if not len(places):
            return
        columns = {name: column[places] for name, column in more.items()}
        if batch is not None:
            chosen_args = [part.events[at].args for at in places.tolist()]
            columns |= batch(chosen_args)
        self._keep(
            kind,
            rows=part.rows[places],
            kinds=use[places],
            names=part.names[places],
            lanes=part.lanes[places],
            starts=part.starts[places],
            lengths=part.lengths[places],
            **columns,
        )

    def _keep(self, kind: str, **columns: np.ndarray) -> None:
        self._parts.setdefault(kind, []).append(columns)

    def _columns(self, kind: str) -> dict[str, np.ndarray]:
        parts = self._parts.get(kind, [])
        names = parts[0] if parts else {}
        columns = {name: np.concatenate([part[name] for part in parts]) for name in names}
        rows = columns.get("rows")
        if rows is not None and (rows[1:] < rows[:-1]).any():  # pairs come last
            order = np.argsort(rows, kind="stable")
            columns = {name: column[order] for name, column in columns.items()}
        return columns

    def _spans(self, kind: str, tables: Tables) -> Spans:
        columns = self._columns(kind)
        none = np.full(len(columns.get("rows", ())), -1, dtype="int64")
        own = {name: columns.pop(name, none) for name in COLUMNS}
        if kind in ("op", "call") and not columns:
            columns = {"inputs": none, "flops": none.astype("float64"), "message": none}
            columns |= dict.fromkeys(AUTOGRAD, none)
        if kind == "kernel" and not columns:
            columns = {name: none for name in KERNEL_LABELS}
            columns |= {name: none.astype("float64") for name in KERNEL_NUMBERS.values()}
            columns["message"] = none
        return Spans(tables, **own, more=columns)

    def _with_times(self, kernels: Spans) -> Spans:
        """Those whose times the profiler collected: it writes 0 and 0 where it could not."""
        is_lost = (kernels.starts == 0) & (kernels.lengths == 0)
        lost = np.flatnonzero(is_lost)
        if not len(lost) or not (kernels.starts > 0).any():
            return kernels
        self._bad += len(lost)
        self._bad_kernels += len(lost)
        first = int(lost[0])
        name = clean_text(kernels.tables.names[kernels.names[first]], 80)
        self._bad_example = self._bad_example or event_of(int(kernels.rows[first]), name)
        return kernels.take(np.flatnonzero(~is_lost))

    def _steps(self, spans: Spans) -> tuple[list[tuple[int, Span]], list[tuple[int, Span]]]:
        """Steps of the host and of devices, with their number."""
        on_device = spans.more.get("on_device", ())
        numbered = [
            (self._names.steps[name], span)
            for name, span in zip(spans.names.tolist(), spans, strict=True)
        ]
        both = list(zip(numbered, on_device, strict=True))
        return [step for step, is_on in both if not is_on], [step for step, is_on in both if is_on]

    def _flows(self) -> Flows:
        columns = self._columns("flow")
        none = np.empty(0, dtype="int64")
        ids = columns.get("ids", none)
        ids, first = np.unique(ids, return_index=True)
        lanes, times = (columns.get(name, none)[first] for name in ("lanes", "times"))
        return Flows(ids, lanes, times)

    def _frames(self, kind: str, tables: Tables) -> tuple[Frames, Ints]:
        """Spans of the host, and the kind of each where that is known."""
        columns = self._columns(kind)
        none = np.empty(0, dtype="int64")
        lanes, starts, lengths, names, kinds = (
            columns.get(name, none) for name in ("lanes", "starts", "lengths", "names", "kinds")
        )
        return Frames(lanes, starts, lengths, names, tables.names), kinds


class _Groups(dict[object, int]):
    """The number of a category, phase, process and thread."""

    def __init__(self, columns: EventColumns) -> None:
        super().__init__()
        self._columns = columns

    def __missing__(self, key: Any) -> int:
        cat, ph, pid, tid = key
        number = self[key] = self._columns.group(cat, ph, self._columns.lane(pid, tid))
        return number


@dataclass(frozen=True)
class _Part:
    """Events and their places in the file."""

    events: Sequence[Any]
    rows: Ints
    codes: Ints
    names: Ints
    lanes: Ints
    starts: Ints
    lengths: Ints
    times: tuple[Bools, Bools]  # which have a start, and which a valid start and length

    @property
    def is_started(self) -> Bools:
        return self.times[0]

    @property
    def is_timed(self) -> Bools:
        return self.times[1]


def _use(cat: str | None, ph: str | None, kind: Kind | None) -> int:
    """What is done with events of a category and phase."""
    if ph == "s" and kind == "flow":
        return _FLOW
    if ph in ("i", "I"):
        return _INSTANT
    if ph in ("B", "E"):
        return _MARK
    if ph not in ("X", None, ""):
        return _LEFT
    if kind is None or kind == "flow":
        return _OTHER if cat and ph else _LEFT
    return {"frame": _FRAME, "range": _RANGE}.get(kind) or SPAN_KINDS.index(kind)


def _id_text(value: object) -> bytes:
    """An id as text, b'' for none."""
    if isinstance(value, bytes):
        return value
    return b"" if value is None else str(value).encode("utf-8", "surrogatepass")
