"""What the host of a Chrome trace did, where the arguments of its events tell of launches.

The `trace.json.gz` of JAX and TensorFlow has the threads of the host beside the lanes of the
devices, and gives a kernel and the call that launched it the same number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import numpy as np

from fusescope.analysis.host_activity import RUNTIME, HostActivity
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.checks.clocks import clock_skew
from fusescope.analysis.readers.building.coded import Coded
from fusescope.analysis.readers.building.host.spans import HostSpans
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.chrome_lanes import Lane
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.xla.host_steps import HostSteps
from fusescope.analysis.readers.xla.host_threads import HostThreads, span_kind
from fusescope.analysis.trace import Diagnostic, noted

_TELLING = re.compile(rb'"(?:correlation(?:_id)?|step_num)"')
# A call to the runtime or driver of a device: 'cuLaunchKernel', 'hipMemcpyAsync'.
_CALL = re.compile(r"(?:cu|cuda|hip|acl|aclrt|ze)[A-Z]\w*")
_ID_CHARS = 40


class _Args(msgspec.Struct, gc=False):
    correlation_id: object = None
    correlation: object = None
    step_num: object = None
    hlo_op: object = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one event: the number of its launch and its instruction of the program, '' for none, and
    whether it marks a step of the host."""

    launch: str
    instruction: str
    is_step: bool


def facts_of(args: msgspec.Raw) -> Facts | None:
    """Return what the arguments of an event tell of a launch or a step; None for nothing."""
    if _TELLING.search(bytes(args)) is None:
        return None
    found = decode(args, _Args, None)
    if found is None:
        return None
    launch = _text(found.correlation if found.correlation_id is None else found.correlation_id)
    is_step = found.step_num is not None
    return Facts(launch, _text(found.hlo_op), is_step) if launch or is_step else None


@dataclass(frozen=True, eq=False)
class Events:
    """Timed events of a file as columns, and what the arguments of some tell, by their place;
    `threads` are the names of threads."""

    names: Sequence[str]
    lanes: Sequence[Lane]
    starts_ns: Ints
    lengths_ns: Ints
    rows: Ints
    facts: Mapping[int, Facts]
    threads: Mapping[Lane, str]


@dataclass(frozen=True, eq=False)
class ChromeHost:
    """The launches of what ran on devices, in the order of `ran`: which event of the host launched
    each one, -1 where not exactly one has its number; `moves_ns` is by how much each start is
    moved, so that none is before its launch."""

    events: Events
    on_host: Ints
    ran: Ints
    launched_by: Ints
    moves_ns: Ints
    notes: list[Diagnostic] = field(default_factory=list)

    def moves_of(self, places: Ints) -> Ints:
        """Return by how much to move the marks at these places, as what ran on their device was."""
        of = {self.events.lanes[at][0]: by for at, by in zip(self.ran, self.moves_ns, strict=True)}
        found = [of.get(self.events.lanes[at][0], 0) for at in places.tolist()]
        return np.array(found, dtype="int64")

    @cached_property
    def steps(self) -> HostSteps:
        """Return the steps that the host marks, and when each of `ran` was launched, by its
        place."""
        events = self.events
        marks = [at for at in self.on_host.tolist() if at in events.facts]
        marks = [at for at in marks if events.facts[at].is_step and events.lengths_ns[at] > 0]
        begins, ends = events.starts_ns[marks], (events.starts_ns + events.lengths_ns)[marks]
        spans = sorted(zip(begins.tolist(), ends.tolist(), strict=True))
        known = np.flatnonzero(self.launched_by >= 0)
        times = events.starts_ns[self.launched_by[known]]
        return HostSteps(
            [(start, end, f"step {number}") for number, (start, end) in enumerate(spans)],
            dict(zip(known.tolist(), times.tolist(), strict=True)),
        )

    def activity(self, limits: Limits) -> tuple[HostActivity | None, list[Diagnostic]]:
        """Return the activity of the host, and notes; None where no launch is known."""
        events = self.events
        known = self.launched_by >= 0
        if not known.any():
            return None, []
        shown = [at for at in self.on_host.tolist() if _is_shown(events, at)]
        numbers: dict[Lane, int] = {}
        names: dict[str, int] = {}
        spans = [
            (
                numbers.setdefault(events.lanes[at], len(numbers)),
                int(events.starts_ns[at]),
                int(events.lengths_ns[at]),
                names.setdefault(name, len(names)),
                kind,
            )
            for at, (kind, name) in zip(shown, (_span(events, at) for at in shown), strict=True)
        ]
        calls = self.launched_by.tolist()
        moments = {
            at: (numbers[events.lanes[at]], int(events.starts_ns[at])) for at in calls if at >= 0
        }
        threads = HostThreads(
            HostSpans(*np.array(spans, dtype="int64").T),
            list(names),
            [_line(events, lane) for lane in numbers],
            moments,
        )
        facts = [events.facts.get(at) for at in self.ran.tolist()]
        return threads.activity(
            [at if at >= 0 else None for at in calls],
            [fact.instruction if fact is not None else "" for fact in facts],
            limits,
            events.rows[self.ran],
        )


def chrome_host(events: Events, on_host: Ints, ran: Ints) -> ChromeHost:
    """Return the launches of the events at the places `ran`, which devices ran, among those of the
    host."""
    facts = [events.facts.get(at) for at in ran.tolist()]
    by_number = _launches(events, on_host)
    launched = np.array(
        [by_number.get(fact.launch, -1) if fact is not None else -1 for fact in facts],
        dtype="int64",
    )
    known = launched >= 0
    times = np.where(known, events.starts_ns[launched], 0) if len(on_host) else launched
    devices = Coded.of([events.lanes[at][0] for at in ran.tolist()]).codes
    moves, notes = clock_skew(events.starts_ns[ran], times, known, devices)
    is_early = known & (events.starts_ns[ran] + moves < times)
    launched[is_early] = -1
    if (launched >= 0).any():
        notes += noted("info", "launches_unknown", int((launched < 0).sum()))
    return ChromeHost(events, on_host, ran, launched, moves, notes)


def _launches(events: Events, on_host: Ints) -> dict[str, int]:
    """Return the event of the host with each number, without numbers that several have."""
    told = [(events.facts[at].launch, at) for at in on_host.tolist() if at in events.facts]
    counts = Counter(launch for launch, _ in told)
    return {launch: at for launch, at in told if launch and counts[launch] == 1}


def _is_shown(events: Events, at: int) -> bool:
    """Return True for what takes time, and for calls that launch."""
    fact = events.facts.get(at)
    return events.lengths_ns[at] > 0 or (fact is not None and fact.launch != "")


def _span(events: Events, at: int) -> tuple[int, str]:
    """Return the kind of a span of the host and the name that is shown."""
    fact = events.facts.get(at)
    name = events.names[at]
    if fact is not None and fact.launch and _CALL.match(name):
        return RUNTIME, name
    return span_kind(name, is_step=fact is not None and fact.is_step)


def _line(events: Events, lane: Lane) -> str:
    return events.threads.get(lane) or lane[1].decode("utf-8", "replace")


def _text(value: object) -> str:
    """Return a number or text as text, '' for anything else; what is too long is none."""
    is_plain = isinstance(value, int | str) and not isinstance(value, bool)
    text = str(value) if is_plain else ""
    return text if len(text) <= _ID_CHARS else ""
