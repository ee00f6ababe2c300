"""Host activity: what the threads of the host did, and when and where each kernel was launched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

# What a span is: an operator of the framework, a Python call, a range that a program or a framework
# marked, or a call to the runtime or driver of the device.
KINDS = ("operator", "frame", "annotation", "runtime")
OPERATOR, FRAME, ANNOTATION, RUNTIME = range(len(KINDS))
# As readers name Python's frames, by file and line, by the file alone, and built-in functions.
_PYTHON_FRAME = re.compile(r"[^(]{0,500}\.py[xc]?(?:\(\d+\)|\Z)|<(?:built-in |method |frozen )")
MAX_SPANS = 2_000_000  # of one trace, the longest ones


@dataclass(frozen=True, eq=False)
class HostActivity:
    """Spans of the host on the clock of the calls of the trace, by thread and start, of those that
    begin together the longer one first, as it holds the other.

    `lanes` are the places of threads in `lane_names`, `name_of` those of names in `names`,
    `kind_of` those of kinds in KINDS. `launch_rows` are the `source_row` of calls of the trace,
    ascending; `launch_lanes` and `launch_ns` the thread that launched each one, and when.
    `submit_lanes` and `submit_ns` are the thread that handed each one to the device, which takes it
    out of a queue where it is another one, and when; None where the file has launches alone.
    """

    names: tuple[str, ...]
    lane_names: tuple[str, ...]
    lanes: np.ndarray  # int32
    starts_ns: np.ndarray  # int64
    ends_ns: np.ndarray  # int64
    name_of: np.ndarray  # int32
    kind_of: np.ndarray  # int8
    launch_rows: np.ndarray  # int64
    launch_lanes: np.ndarray  # int32
    launch_ns: np.ndarray  # int64
    submit_lanes: np.ndarray | None = None  # int32
    submit_ns: np.ndarray | None = None  # int64

    def __post_init__(self) -> None:
        spans = (self.lanes, self.starts_ns, self.ends_ns, self.name_of, self.kind_of)
        launches = [self.launch_rows, self.launch_lanes, self.launch_ns]
        if (self.submit_lanes is None) != (self.submit_ns is None):
            raise ValueError("host activity: a queue without its threads or times")
        if self.submit_lanes is not None and self.submit_ns is not None:
            launches += [self.submit_lanes, self.submit_ns]
        if any(len({len(column) for column in columns}) > 1 for columns in (spans, launches)):
            raise ValueError("host activity: columns differ in length")
        if any(len(set(texts)) < len(texts) for texts in (self.names, self.lane_names)):
            raise ValueError("host activity: a name is there twice")
        submitting = self.launch_lanes if self.submit_lanes is None else self.submit_lanes
        places = (
            (self.name_of, self.names), (self.kind_of, KINDS), (self.lanes, self.lane_names),
            (self.launch_lanes, self.lane_names),
            (submitting, self.lane_names),
        )  # fmt: skip
        for numbers, texts in places:
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(texts):
                raise ValueError("host activity: a name is not there")
        if not _is_ordered(self.lanes, self.starts_ns, self.ends_ns):
            raise ValueError("host activity: times go back")
        if (self.launch_rows[1:] <= self.launch_rows[:-1]).any():
            raise ValueError("host activity: rows go back")

    def launches_of(self, source_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The thread that launched the call in each of these rows of the file, -1 where it is not
        known, and when, 0 there."""
        return self._of(source_rows, self.launch_lanes, self.launch_ns)

    def submissions_of(self, source_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of the thread that handed each call to the device, which is another one than
        launched it where launches go through a queue."""
        if self.submit_lanes is None or self.submit_ns is None:
            return self.launches_of(source_rows)
        return self._of(source_rows, self.submit_lanes, self.submit_ns)

    def _of(
        self, source_rows: np.ndarray, of_lanes: np.ndarray, of_ns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if not len(self.launch_rows):
            return np.full(len(source_rows), -1), np.zeros(len(source_rows), dtype="int64")
        places = np.searchsorted(self.launch_rows, source_rows)
        places = np.minimum(places, len(self.launch_rows) - 1)
        is_known = self.launch_rows[places] == source_rows
        lanes = np.where(is_known, of_lanes[places], -1)
        return lanes, np.where(is_known, of_ns[places], 0)

    def renamed(self, names: Sequence[str], lane_names: Sequence[str]) -> HostActivity:
        """The same under other names, in the order of the present ones; those that are now alike
        are one, but threads stay apart."""
        of: dict[str, int] = {}
        places = np.array([of.setdefault(name, len(of)) for name in names], dtype="int32")
        name_of = places[self.name_of] if len(places) else self.name_of
        return replace(self, names=tuple(of), lane_names=told_apart(lane_names), name_of=name_of)


def call_lengths(host: HostActivity, lanes: np.ndarray, starts_ns: np.ndarray) -> np.ndarray:
    """Return how long the calls to the runtime take that begin on these threads at these times, in
    ns; -1 where none does."""
    of_runtime = np.flatnonzero(host.kind_of == RUNTIME)
    found = np.full(len(lanes), -1, dtype="int64")
    for lane in np.unique(lanes).tolist():
        calls = of_runtime[host.lanes[of_runtime] == lane]  # in order of start
        mine = np.flatnonzero(lanes == lane)
        if not len(calls):
            continue
        at = np.searchsorted(host.starts_ns[calls], starts_ns[mine])
        call = calls[np.minimum(at, len(calls) - 1)]
        is_there = host.starts_ns[call] == starts_ns[mine]
        found[mine[is_there]] = (host.ends_ns - host.starts_ns)[call[is_there]]
    return found


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names, those that stand there before with a number: ('t', 't #2')."""
    made: dict[str, None] = {}
    counts: dict[str, int] = {}
    for name in names:
        one = name
        while one in made:
            counts[name] = counts.get(name, 1) + 1
            one = f"{name} #{counts[name]}"
        made[one] = None
    return tuple(made)


def _is_ordered(lanes: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bool:
    same_lane = lanes[1:] == lanes[:-1]
    forward = starts[1:] > starts[:-1]
    forward |= (starts[1:] == starts[:-1]) & (ends[1:] <= ends[:-1])
    in_order = (lanes[1:] > lanes[:-1]) | (same_lane & forward)
    return bool(in_order.all() and (ends >= starts).all())


def is_python(name: str) -> bool:
    """Return whether code of this name is a frame of Python, not a range that a program marked,
    which may be of any language, or a call to a library."""
    return _PYTHON_FRAME.match(name) is not None
