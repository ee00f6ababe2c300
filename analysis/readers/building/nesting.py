"""Nesting: events of one thread that hold each other, and the time that is each one's own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from fusescope.analysis.readers.building.timetable import Ints, Timetable, holders, latest_inside

_MAX_LEVELS = 512


class Nesting:
    """Which event holds which, by lane (a thread) and time.

    `own_ns` is each event's time without that of events inside it: every instant of a lane counts
    for the event that began last of those still running, so the sum is the lane's busy time, also
    where rounded times let a child end after its parent. `around` are positions, -1 for none.
    `self_ns` and `parents` are the same as lists.
    """

    def __init__(
        self,
        lanes: Sequence[Hashable] | Ints,
        start_ns: Sequence[int] | Ints,
        dur_ns: Sequence[int] | Ints,
    ) -> None:
        self._numbers: dict[Hashable, int] = {}
        if not isinstance(lanes, np.ndarray):
            numbers = self._numbers
            lanes = np.array([numbers.setdefault(at, len(numbers)) for at in lanes], dtype="int64")
        starts = np.asarray(start_ns, dtype="int64")
        lengths = np.asarray(dur_ns, dtype="int64")
        self._table = Timetable(lanes, starts, lengths)
        order = self._table.order
        self._ends = self._table.times + lengths[order]
        self._around = holders(self._table.starts_group, self._table.times, self._ends)
        self.around = np.full(len(order), -1, dtype="int64")
        is_inside = self._around >= 0
        self.around[order[is_inside]] = order[self._around[is_inside]]
        self.own_ns = np.empty(len(order), dtype="int64")
        self.own_ns[order] = _own(self._table.times, self._ends, self._around)

    @property
    def self_ns(self) -> list[int]:
        """`own_ns` as a list."""
        own: list[int] = self.own_ns.tolist()
        return own

    @property
    def parents(self) -> list[int]:
        """`around` as a list."""
        around: list[int] = self.around.tolist()
        return around

    def holder(self, lane: Hashable, time_ns: int) -> int | None:
        """The innermost event of a lane that runs at a time; None where none does."""
        number = self._numbers.get(lane, -1) if self._numbers else lane
        found = self.holders(np.array([number]), np.array([time_ns]))[0]
        return int(found) if found >= 0 else None

    def holders(self, lanes: Ints, times_ns: Ints) -> Ints:
        """The same for many moments, lanes as numbers; -1 where none runs."""
        at = self._table.last(lanes, times_ns)
        if not len(self._ends):
            return at
        walking = np.flatnonzero(at >= 0)
        for _ in range(_MAX_LEVELS):
            walking = walking[self._ends[at[walking]] < times_ns[walking]]
            if not len(walking):
                break
            at[walking] = self._around[at[walking]]
            walking = walking[at[walking] >= 0]
        else:
            at[walking] = -1
        return np.where(at >= 0, self._table.order[at], -1)


def _own(starts: Ints, ends: Ints, around: Ints) -> Ints:
    """Each span's own time; all in the order of a Timetable with lengths."""
    inside = np.flatnonzero(around >= 0)
    holder = around[inside]
    # A span holds its lane until the last one inside it has ended, which may be later than itself.
    until = latest_inside(ends, around)
    own = ends - starts
    np.subtract.at(own, holder, np.minimum(until[inside], ends[holder]) - starts[inside])
    return own
