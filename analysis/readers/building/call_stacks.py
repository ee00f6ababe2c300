"""Call stacks: the functions and operators of the host that run at a moment, outermost first."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np

from analysis.limits import DEFAULT_LIMITS, Limits
from analysis.stacks import MAX_NODES, Stacks
from analysis.text import clean_text

_MAX_DEPTH = 256  # frames deeper than this are left out


@dataclass
class Frames:
    """Timed frames by lane (a thread), as columns: millions of them stay small."""

    _ids: dict[str, int] = field(default_factory=dict)
    _lanes: dict[Hashable, tuple[array[int], array[int], array[int]]] = field(default_factory=dict)

    def add(self, lane: Hashable, name: str, start_ns: int, dur_ns: int) -> None:
        """One frame."""
        columns = self._lanes.get(lane)
        if columns is None:
            columns = self._lanes[lane] = (array("q"), array("q"), array("q"))
        columns[0].append(start_ns)
        columns[1].append(start_ns + dur_ns)
        columns[2].append(self._ids.setdefault(name, len(self._ids)))

    @property
    def names(self) -> list[str]:
        """The distinct names of frames, by their number."""
        return list(self._ids)

    def lane(self, lane: Hashable) -> tuple[list[int], list[int], list[int]]:
        """Starts, ends and names of a lane, by start; of those that begin together the longer one
        first, as it holds the other, and of equal ones the first of the file."""
        columns = self._lanes.get(lane)
        if columns is None:
            return [], [], []
        starts, ends, names = (np.frombuffer(column, dtype="int64") for column in columns)
        order = np.lexsort((np.arange(len(starts)), -ends, starts))
        return starts[order].tolist(), ends[order].tolist(), names[order].tolist()


@dataclass(frozen=True, slots=True)
class Moment:
    """When and on which lane a call of the trace was started; `row` is its row of the file. With
    `before` frames that begin at this moment are inside it, without they hold it."""

    lane: Hashable
    time_ns: int
    row: int
    before: bool = False


def stacks_of(
    frames: Frames, moments: Iterable[Moment], limits: Limits = DEFAULT_LIMITS
) -> Stacks | None:
    """The frames that run at each moment, as one tree of their names; None where none ever does."""
    by_lane: dict[Hashable, list[Moment]] = {}
    for moment in moments:
        by_lane.setdefault(moment.lane, []).append(moment)
    tree = _Tree()
    found: list[tuple[int, int]] = []
    for lane, asked in by_lane.items():
        asked.sort(key=lambda moment: (moment.time_ns, not moment.before))
        starts, ends, names = frames.lane(lane)
        running: list[list[int]] = []  # the end of a frame, its name, its node once it is known
        place = 0
        for moment in asked:
            time_ns = moment.time_ns
            until = time_ns if moment.before else time_ns + 1
            while place < len(starts) and starts[place] < until:
                while running and running[-1][0] <= starts[place]:
                    running.pop()
                if len(running) < _MAX_DEPTH:
                    running.append([ends[place], names[place], -1])
                place += 1
            while running and running[-1][0] < time_ns:
                running.pop()
            found.append((moment.row, tree.node(running)))
    if all(node < 0 for _, node in found):
        return None
    found.sort()
    known = frames.names
    return Stacks(
        names=tuple(clean_text(known[name], limits.text_chars) for name in tree.names),
        parents=np.array(tree.parents, dtype="int64"),
        rows=np.array([row for row, _ in found], dtype="int64"),
        nodes=np.array([node for _, node in found], dtype="int64"),
    )


class _Tree:
    def __init__(self) -> None:
        self.names: list[int] = []
        self.parents: list[int] = []
        self._children: dict[tuple[int, int], int] = {}

    def node(self, running: list[list[int]]) -> int:
        """The node of these frames, which remember theirs."""
        at = -1
        for frame in running:
            if frame[2] < 0:
                frame[2] = self._child(at, frame[1])
            at = frame[2]
        return at

    def _child(self, parent: int, name: int) -> int:
        known = self._children.get((parent, name))
        if known is not None:
            return known
        if len(self.names) >= MAX_NODES:
            return parent
        self.names.append(name)
        self.parents.append(parent)
        self._children[parent, name] = len(self.names) - 1
        return len(self.names) - 1
