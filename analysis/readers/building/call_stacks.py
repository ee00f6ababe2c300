"""Call stacks: the functions and operators of the host that run at a moment, outermost first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.readers.building.timetable import Ints, Timetable, holders
from fusescope.analysis.stacks import MAX_NODES, Stacks
from fusescope.analysis.text import clean_text

_MAX_DEPTH = 256  # frames deeper than this are left out
_MAX_STRIDES = 64  # outwards for all moments at once, before they are taken one by one
_UNKNOWN = -2


@dataclass(frozen=True)
class Frames:
    """Timed frames of threads, as columns in the order of the file: millions of them stay small.

    `lanes` are numbers of threads; `name_of` are positions in `names`.
    """

    lanes: Ints
    starts: Ints
    lengths: Ints
    name_of: Ints
    names: Sequence[str]

    def take(self, places: Ints) -> Frames:
        """The frames at these places."""
        return Frames(
            self.lanes[places],
            self.starts[places],
            self.lengths[places],
            self.name_of[places],
            self.names,
        )

    @cached_property
    def table(self) -> Timetable:
        """The frames by thread and start; of those that begin together the longer one first, as it
        holds the other, and of equal ones the first of the file."""
        return Timetable(self.lanes, self.starts, self.lengths)

    @cached_property
    def ends(self) -> Ints:
        """The ends, in the order of `table`."""
        return self.table.times + self.lengths[self.table.order]

    @cached_property
    def around(self) -> Ints:
        """The place of the frame around each one in `table`, -1 for none."""
        return holders(self.table.starts_group, self.table.times, self.ends)


@dataclass(frozen=True)
class Moments:
    """When and on which thread calls of the trace were started; `rows` are their rows of the file.
    With `before` frames that begin at a moment are inside it, without they hold it."""

    lanes: Ints
    times_ns: Ints
    rows: Ints
    before: bool = False


def stacks_of(
    frames: Frames,
    moments: Moments,
    limits: Limits = DEFAULT_LIMITS,
    forward: Moments | None = None,
) -> Stacks | None:
    """The frames that run at each moment, as one tree of their names; None where none ever does.

    `forward` are moments of some of the same rows, when and where the forward operator of each
    began.
    """
    innermost = _innermost(frames, moments)
    if not len(innermost) or innermost.max() < 0:
        return None
    tree = _Tree(frames)
    asked = _by_lane(moments)
    nodes = np.full(len(innermost), -1, dtype="int64")
    nodes[asked] = [tree.node(place) for place in innermost[asked].tolist()]
    if nodes.max() < 0:
        return None
    order = np.lexsort((nodes, moments.rows))
    rows = moments.rows[order]
    linked = None
    if forward is not None and len(forward.rows):
        places = _innermost(frames, forward).tolist()
        linked = np.full(len(rows), -1, dtype="int64")
        linked[np.searchsorted(rows, forward.rows)] = [tree.node(place) for place in places]
    return Stacks(
        names=tuple(clean_text(frames.names[name], limits.text_chars) for name in tree.names),
        parents=np.array(tree.parents, dtype="int64"),
        rows=rows,
        nodes=nodes[order],
        forward=linked,
    )


def innermost(frames: Frames, moments: Moments) -> Ints:
    """Return the position of the innermost frame at each moment, -1 for none."""
    if not len(frames.lanes):
        return np.full(len(moments.lanes), -1, dtype="int64")
    places = _innermost(frames, moments)
    return np.where(places >= 0, frames.table.order[places], -1)


def _innermost(frames: Frames, moments: Moments) -> Ints:
    """The place of the innermost frame at each moment, -1 for none."""
    at = frames.table.last(moments.lanes, moments.times_ns, inclusive=not moments.before)
    walking = np.flatnonzero(at >= 0)
    for _ in range(_MAX_STRIDES):
        walking = walking[frames.ends[at[walking]] < moments.times_ns[walking]]
        if not len(walking):
            return at
        at[walking] = frames.around[at[walking]]
        walking = walking[at[walking] >= 0]
    at[walking] = _climbed(frames, at[walking], moments.times_ns[walking])
    return at


def _climbed(frames: Frames, places: Ints, times_ns: Ints) -> list[int]:
    """From each place the first frame outwards that still runs at that time, -1 for none, in time
    linear in both: a frame that has ended is climbed once, as it stays so for all later moments."""
    around, ends = frames.around.tolist(), frames.ends.tolist()
    found: list[int] = places.tolist()
    for at in np.argsort(times_ns, kind="stable").tolist():
        place, time, ended = found[at], int(times_ns[at]), []
        while place >= 0 and ends[place] < time:
            ended.append(place)
            place = around[place]
        for passed in ended:
            around[passed] = place
        found[at] = place
    return found


def _by_lane(moments: Moments) -> Ints:
    """Positions of moments by thread, as they first come, and time."""
    _, first, number = np.unique(moments.lanes, return_index=True, return_inverse=True)
    return np.lexsort((moments.times_ns, first[number]))


class _Tree:
    def __init__(self, frames: Frames) -> None:
        self.names: list[int] = []
        self.parents: list[int] = []
        self._around: list[int] = frames.around.tolist()
        self._name_of: list[int] = frames.name_of[frames.table.order].tolist()
        self._children: dict[tuple[int, int], int] = {}
        self._nodes = [_UNKNOWN] * len(self._around)
        self._depths: dict[int, int] = {-1: 0}  # of nodes

    def node(self, place: int) -> int:
        """The node of a frame and those around it; -1 for no frame."""
        nodes, chain = self._nodes, []
        while place >= 0 and nodes[place] == _UNKNOWN:
            chain.append(place)
            place = self._around[place]
        at = nodes[place] if place >= 0 else -1
        for inner in reversed(chain):
            at = nodes[inner] = self._child(at, self._name_of[inner])
        return at

    def _child(self, parent: int, name: int) -> int:
        known = self._children.get((parent, name))
        if known is not None:
            return known
        if len(self.names) >= MAX_NODES or self._depths[parent] >= _MAX_DEPTH:
            return parent
        self.names.append(name)
        self.parents.append(parent)
        number = self._children[parent, name] = len(self.names) - 1
        self._depths[number] = self._depths[parent] + 1
        return number
