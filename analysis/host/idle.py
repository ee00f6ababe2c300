"""Idle time by what the host did: each interval in which nothing ran on the device, put to the
stack of the thread that launches what runs next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fusescope.analysis.host.causes import (
    QUEUED,
    STARTING,
    STEP_MARK,
    WAITS_FOR_THREAD,
    Cause,
    CauseKind,
    Frame,
    Stack,
    is_read,
)
from fusescope.analysis.host.intervals import Intervals, idle_intervals
from fusescope.analysis.host.leaves import NONE, Leaves, Pieces
from fusescope.analysis.host_activity import RUNTIME, HostActivity
from fusescope.analysis.trace import Trace

# Nodes of pieces that are of no stack: from a launch to its start, and what was launched before.
_STARTING, _QUEUED = NONE - 1, NONE - 2
LONG_NS = 50_000  # a call to the runtime that lasts longer than this waits for something


@dataclass(frozen=True)
class IdleCause:
    """What kept the device idle: `name` is what an engineer would call it, `path` the stack of most
    of its time, outermost first; `idle_ns` in `count` intervals, of which the longest begins at
    `longest_ns`."""

    kind: CauseKind
    name: str
    path: tuple[str, ...]
    idle_ns: int
    count: int
    longest_ns: tuple[int, int]


@dataclass(frozen=True, eq=False)
class HostIdle:
    """The idle time of windows by the stack of the host.

    Stacks are a tree: `frames` with their `parents`, which stand in front of them, NONE for none.
    The other columns have a row for each piece of an interval: the window, the interval, the node
    of the innermost span, below 0 where no span covers it or what runs next was launched already,
    and the times; they add up to the idle time of each window exactly.
    """

    frames: tuple[Frame, ...]
    parents: np.ndarray
    windows: np.ndarray
    intervals: np.ndarray
    nodes: np.ndarray
    starts_ns: np.ndarray
    ends_ns: np.ndarray

    @property
    def idle_ns(self) -> int:
        """All idle time of all windows."""
        return int((self.ends_ns - self.starts_ns).sum())

    def stack(self, node: int) -> tuple[Frame, ...]:
        """The frames down to a node, outermost first; none for NONE."""
        found: list[Frame] = []
        while node >= 0:
            found.append(self.frames[node])
            node = int(self.parents[node])
        return tuple(reversed(found))

    def beside_unrecorded_work(self, trace: Trace) -> np.ndarray:
        """Return a mask of the pieces in which the first call of a stream waits for long although
        it was launched: what it waits for was launched before the file began and is not in it, so
        the device may have been busy."""
        calls = trace.calls
        streams = calls.groupby(["device", "stream"], observed=True, dropna=False)["start_ns"]
        firsts = streams.min().dropna().to_numpy(dtype="int64")
        is_long = self.ends_ns - self.starts_ns > LONG_NS
        found: np.ndarray = (self.nodes == _QUEUED) & np.isin(self.ends_ns, firsts) & is_long
        return found

    def only(self, chosen: np.ndarray) -> HostIdle:
        """Return the idle time of the pieces that a mask chooses."""
        return HostIdle(
            self.frames,
            self.parents,
            self.windows[chosen],
            self.intervals[chosen],
            self.nodes[chosen],
            self.starts_ns[chosen],
            self.ends_ns[chosen],
        )

    @cached_property
    def causes(self) -> tuple[IdleCause, ...]:
        """The causes of all windows together, most idle time first."""
        return self.causes_of(np.ones(len(self.windows), dtype=bool))

    def causes_of(self, chosen: np.ndarray) -> tuple[IdleCause, ...]:
        """The causes of the pieces that a mask chooses, most idle time first."""
        at = np.flatnonzero(chosen)
        lengths = (self.ends_ns - self.starts_ns)[at]
        causes, of_piece, of_node = self._numbered
        of = of_piece[at]
        by_node = np.bincount(self.nodes[at] - _QUEUED, weights=lengths)
        found = []
        for number, group in _groups(of):
            nodes = np.unique(self.nodes[at[group]])
            own = nodes[(of_node[nodes] == number) & (nodes >= 0)]
            nodes = own if len(own) else nodes
            most = int(nodes[np.argmax(by_node[nodes - _QUEUED])])
            intervals, starts, ends = _joined(
                self.intervals[at[group]], self.starts_ns[at[group]], self.ends_ns[at[group]]
            )
            longest = int(np.argmax(ends - starts))
            cause = causes[number]
            found.append(
                IdleCause(
                    kind=cause.kind,
                    name=cause.name,
                    path=tuple(frame.name for frame in self.stack(most)),
                    idle_ns=int(lengths[group].sum()),
                    count=len(np.unique(intervals)),
                    longest_ns=(int(starts[longest]), int(ends[longest])),
                )
            )
        return tuple(sorted(found, key=lambda one: (-one.idle_ns, one.kind, one.name)))

    def stacks_of(self, cause: IdleCause) -> dict[tuple[str, ...], int]:
        """Return the idle ns of a cause of all windows by stack, outermost frame first; what only
        followed from it is left out."""
        causes, of, of_node = self._numbered
        number = causes.index(Cause(cause.kind, cause.name))
        chosen = (of == number) & (self.nodes >= 0) & (of_node[self.nodes] == number)
        times: dict[tuple[str, ...], int] = {}
        lengths = (self.ends_ns - self.starts_ns)[chosen]
        nodes, of_piece = np.unique(self.nodes[chosen], return_inverse=True)
        for node, ns in zip(nodes.tolist(), np.bincount(of_piece, weights=lengths), strict=True):
            path = tuple(frame.name for frame in self.stack(node))
            times[path] = times.get(path, 0) + int(ns)
        return times

    @property
    def piece_causes(self) -> tuple[Sequence[Cause], np.ndarray]:
        """The causes, and which of them each piece has."""
        causes, of, _ = self._numbered
        return causes, of

    def count_of(self, kind: CauseKind) -> int:
        """In how many intervals causes of a kind occur."""
        causes, of_piece, _ = self._numbered
        return len(np.unique(self.intervals[_are(causes, kind)[of_piece]]))

    def by_window(self, count: int) -> dict[Cause, np.ndarray]:
        """Idle ns of each of so many windows by cause."""
        causes, of, _ = self._numbered
        times = np.zeros((len(causes), count), dtype="int64")
        np.add.at(times, (of, self.windows), self.ends_ns - self.starts_ns)
        return {cause: row for cause, row in zip(causes, times, strict=True) if row.any()}

    @cached_property
    def _numbered(self) -> tuple[list[Cause], np.ndarray, np.ndarray]:
        """The causes, and which of them each piece and each node has. What is launched after a wait
        in which the device ran dry is launched too late because of the wait."""
        numbers: dict[Cause, int] = {}
        stacks: list[Stack] = []
        for frame, parent in zip(self.frames, self.parents.tolist(), strict=True):
            around = stacks[parent] if parent >= 0 else Stack()  # parents stand in front
            stacks.append(around.around(frame))
        told = [stack.cause for stack in stacks]
        told += [QUEUED, STARTING, Stack().cause]  # from the end, as nodes below 0 count
        of_node = np.array([numbers.setdefault(cause, len(numbers)) for cause in told])
        causes, of = list(numbers), of_node[self.nodes]
        if not len(of):
            return causes, of, of_node
        opens = np.append(True, self.intervals[1:] != self.intervals[:-1])
        first = of[opens][np.cumsum(opens) - 1]
        late = _are(causes, "synchronisation")[first] & _are(causes, "launching")[of]
        return causes, np.where(late, first, of), of_node


def idle_by_host(trace: Trace, starts_ns: np.ndarray, ends_ns: np.ndarray) -> HostIdle | None:
    """The idle time in each window [start, end) of the clock of the trace; None where the file does
    not say what the host did, and where a call has no start.

    From the launch of what runs next on, nothing of it is the host's: it is part of launching where
    it is short and the device waited for the launch; else the device had work in its queue.
    Where the thread that launches next runs nothing that the file shows, or waits for a thread, the
    one counts that left the launch in its queue, until it did so, and else the one that launched
    what ran before.
    """
    host = trace.host
    if host is None:
        return None
    found = idle_intervals(trace, host, starts_ns, ends_ns)
    if found is None:
        return None
    try:
        leaves = Leaves(host)
    except OverflowError:
        return None
    pieces = leaves.of(found.next_lanes, found.starts_ns, found.launched_ns)
    pieces = _with_the_other_thread(
        host, leaves, _handed_over(found, pieces), found.asking_lanes, found.next_lanes
    )
    pieces = _with_the_other_thread(host, leaves, pieces, found.previous_lanes, found.asking_lanes)
    frames, parents, nodes = _tree(host, leaves.around, pieces.spans)
    count = len(found.windows)
    of = np.concatenate([pieces.of, np.arange(count)])
    starts = np.concatenate([pieces.starts_ns, found.launched_ns])
    ends = np.concatenate([pieces.ends_ns, found.ends_ns])
    nodes = np.concatenate([nodes, np.where(found.is_queued, _QUEUED, _STARTING)])
    order = np.lexsort((starts, of))
    order = order[ends[order] > starts[order]]
    of = of[order]
    return HostIdle(
        frames, parents, found.windows[of], of, nodes[order], starts[order], ends[order]
    )


def _handed_over(found: Intervals, pieces: Pieces) -> Pieces:
    """The pieces, cut where a launch was left in a queue: from then on, where the thread that takes
    it out does nothing, it is being launched."""
    asked = found.asked_ns[pieces.of]
    is_free = (pieces.spans == NONE) & (found.next_lanes != found.asking_lanes)[pieces.of]
    is_behind = is_free & (pieces.ends_ns > asked)
    is_cut = is_behind & (pieces.starts_ns < asked)
    if not is_behind.any():
        return pieces
    spans = np.where(is_behind & ~is_cut, _STARTING, pieces.spans)
    of = np.concatenate([pieces.of, pieces.of[is_cut]])
    starts = np.concatenate([pieces.starts_ns, asked[is_cut]])
    ends = np.concatenate([np.where(is_cut, asked, pieces.ends_ns), pieces.ends_ns[is_cut]])
    spans = np.concatenate([spans, np.full(int(is_cut.sum()), _STARTING)])
    order = np.lexsort((starts, of))
    return Pieces(of[order], starts[order], ends[order], spans[order])


def _with_the_other_thread(
    host: HostActivity, leaves: Leaves, pieces: Pieces, others: np.ndarray, own: np.ndarray
) -> Pieces:
    """The pieces with what another thread of each interval did, where it is none of `own`'s and
    did something, and that one did not, or waited for a thread."""
    waits = np.array([WAITS_FOR_THREAD.match(name) is not None for name in host.names], dtype=bool)
    is_free = pieces.spans == NONE
    is_working = pieces.spans >= 0
    is_free[is_working] = waits[host.name_of[pieces.spans[is_working]]]
    is_free &= (own != others)[pieces.of]
    free = np.flatnonzero(is_free)
    if not len(free):
        return pieces
    lanes = others[pieces.of[free]]
    other = leaves.of(lanes, pieces.starts_ns[free], pieces.ends_ns[free])
    before = pieces.spans[free][other.of]
    is_working = other.spans >= 0
    is_working[is_working] = ~waits[host.name_of[other.spans[is_working]]]
    kept = np.flatnonzero(~is_free)
    of = np.concatenate([pieces.of[kept], pieces.of[free][other.of]])
    starts = np.concatenate([pieces.starts_ns[kept], other.starts_ns])
    ends = np.concatenate([pieces.ends_ns[kept], other.ends_ns])
    spans = np.concatenate([pieces.spans[kept], np.where(is_working, other.spans, before)])
    order = np.lexsort((starts, of))
    return Pieces(of[order], starts[order], ends[order], spans[order])


def _tree(
    host: HostActivity, around: np.ndarray, spans: np.ndarray
) -> tuple[tuple[Frame, ...], np.ndarray, np.ndarray]:
    """The stacks of these spans as a tree, without marks of steps, and the node of each."""
    is_mark = np.array([STEP_MARK.match(name) is not None for name in host.names], dtype=bool)
    may_wait = np.array([is_read(name) for name in host.names], dtype=bool)
    frames: list[Frame] = []
    parents: list[int] = []
    children: dict[tuple[int, int, int, bool], int] = {}
    nodes: dict[int, int] = {NONE: NONE, _STARTING: _STARTING}
    used, place = np.unique(spans, return_inverse=True)
    is_long = host.ends_ns - host.starts_ns >= LONG_NS
    is_long |= ~((host.kind_of == RUNTIME) | may_wait[host.name_of])
    arounds, names, kinds, longs, marks = (
        column.tolist() for column in (around, host.name_of, host.kind_of, is_long, is_mark)
    )
    for span in used.tolist():
        chain = []
        at = span
        while at not in nodes:
            chain.append(at)
            at = arounds[at]
        node = nodes[at]
        for inner in reversed(chain):
            name, kind = names[inner], kinds[inner]
            if not marks[name]:
                key = (node, name, kind, longs[inner])
                known = children.get(key)
                if known is None:
                    known = children[key] = len(frames)
                    frames.append(Frame(host.names[name], kind, key[3]))
                    parents.append(node)
                node = known
            nodes[inner] = node
    of_used = np.array([nodes[span] for span in used.tolist()], dtype="int64")
    return tuple(frames), np.array(parents, dtype="int64"), of_used[place]


def _are(causes: Sequence[Cause], kind: CauseKind) -> np.ndarray:
    return np.array([cause.kind == kind for cause in causes], dtype=bool)


def _groups(numbers: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Each number and the positions of it."""
    if not len(numbers):
        return
    order = np.argsort(numbers, kind="stable")
    found, first = np.unique(numbers[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, first[1:]), strict=True)


def _joined(
    intervals: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pieces of one interval that touch each other as one."""
    opens = np.append(True, (intervals[1:] != intervals[:-1]) | (starts[1:] != ends[:-1]))
    closes = np.append(opens[1:], True)
    return intervals[opens], starts[opens], ends[closes]
