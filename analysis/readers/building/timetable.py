"""Timetables: many times in many groups (threads, ids), and the last one before a moment."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_MOST_STRIDES = 16  # through all spans, before they are taken one by one
_STRIDE_COST = 1000  # of a stride itself, in spans


class Timetable:
    """Entries with a group and a time, in the order of group and time; of equal ones the longer
    first where lengths are given, else the first given.

    `order` are positions of entries in that order. Takes time linear in entries, whatever the
    number of groups.
    """

    def __init__(self, groups: Ints, times: Ints, lengths: Ints | None = None) -> None:
        self.order = _in_order(groups, times, lengths)
        self.groups = groups[self.order]
        self.times = times[self.order]
        self.starts_group = starts_of(self.groups)

    def last(self, groups: Ints, times: Ints, *, inclusive: bool = True) -> Ints:
        """Places in `order` of the last entry of each group at or before (else before) each time;
        -1 where there is none."""
        return self._search(groups, times, inclusive=inclusive)[0]

    def last_or_first(self, groups: Ints, times: Ints) -> Ints:
        """Likewise, the first entry where all of the group are later; -1 for an unknown group."""
        last, firsts = self._search(groups, times, inclusive=True)
        return np.where((last < 0) & (firsts >= 0), firsts, last)

    @cached_property
    def _known(self) -> Ints:
        return self.groups[self.starts_group]

    @cached_property
    def _distinct(self) -> Ints:
        return distinct(self.times)

    @cached_property
    def _places(self) -> Ints:
        """Group and time of each entry as one number, in the order of entries."""
        width = len(self._distinct) + 1
        ranks = np.searchsorted(self._distinct, self.times)
        return (np.cumsum(self.starts_group) - 1) * width + ranks

    def _search(self, groups: Ints, times: Ints, *, inclusive: bool) -> tuple[Ints, Ints]:
        none = np.full(len(groups), -1, dtype="int64")
        if not len(self.order) or not len(groups):
            return none, none
        numbers = np.minimum(np.searchsorted(self._known, groups), len(self._known) - 1)
        is_known = self._known[numbers] == groups
        begins = numbers * (len(self._distinct) + 1)
        ranks = np.searchsorted(self._distinct, times, side="right" if inclusive else "left")
        first = np.searchsorted(self._places, begins)
        found = np.searchsorted(self._places, begins + ranks) - 1
        last = np.where(is_known & (found >= first), found, -1)
        return last, np.where(is_known, first, -1)


def distinct(numbers: Ints) -> Ints:
    """The different ones of these, sorted. NumPy's own goes by hashes, which takes longer."""
    found = np.sort(numbers)
    return found[starts_of(found)]


def starts_of(groups: Ints) -> npt.NDArray[np.bool_]:
    """Which entries of sorted groups are the first of theirs."""
    is_first = np.ones(len(groups), dtype=bool)
    np.not_equal(groups[1:], groups[:-1], out=is_first[1:])
    return is_first


def ended_before(starts_group: npt.NDArray[np.bool_], ends: Ints) -> Ints:
    """When all entries before each one of its group had ended; 0 for the first of a group."""
    if not len(ends):
        return ends
    if ((ends[1:] < ends[:-1]) & ~starts_group[1:]).any():
        # A running maximum inside each group: ranks of ends, each group above those before it.
        known = distinct(ends)
        numbers = np.cumsum(starts_group) - 1
        ranks = np.searchsorted(known, ends) + numbers * len(known)
        ends = known[np.maximum.accumulate(ranks) % len(known)]
    before = np.concatenate([[0], ends[:-1]])
    return np.where(starts_group, 0, before)


def _in_order(groups: Ints, times: Ints, lengths: Ints | None) -> Ints:
    """Positions by group and time; sorting is what takes long, and many files are in order."""
    later = times[1:] > times[:-1]
    if lengths is None:
        later |= times[1:] == times[:-1]
    else:
        later |= (times[1:] == times[:-1]) & (lengths[1:] <= lengths[:-1])
    later &= groups[1:] == groups[:-1]
    if (later | (groups[1:] > groups[:-1])).all():
        return np.arange(len(times))
    keys = (times, groups) if lengths is None else (-lengths, times, groups)
    return np.lexsort(keys)


def holders(starts_group: npt.NDArray[np.bool_], starts: Ints, ends: Ints) -> Ints:
    """For spans in the order of a Timetable with lengths: the place of the span around each one,
    the last to begin of those that still run; -1 for none. Linear in the number of spans."""
    count = len(starts)
    around = np.arange(-1, count - 1, dtype="int64")
    around[starts_group] = -1
    open_ = np.flatnonzero(around >= 0)
    # Whatever lies between a span and what may be around it has ended, so both steps can be made
    # at once: sibling after sibling is left behind in ever larger strides.
    open_ = open_[ends[around[open_]] <= starts[open_]]
    work = _MOST_STRIDES * count
    while len(open_):
        work -= len(open_) + _STRIDE_COST
        if work < 0:
            return _swept(starts_group, starts, ends)
        further = around[around[open_]]
        around[open_] = further
        is_open = further >= 0
        is_open[is_open] = ends[further[is_open]] <= starts[open_[is_open]]
        open_ = open_[is_open]
    return around


def _swept(starts_group: npt.NDArray[np.bool_], starts: Ints, ends: Ints) -> Ints:
    """The same, span by span: what nests deeply takes too many strides."""
    around: list[int] = []
    running: list[int] = []
    until = ends.tolist()
    begins = zip(starts_group.tolist(), starts.tolist(), strict=True)
    for place, (is_first, start) in enumerate(begins):
        if is_first:
            running.clear()
        while running and until[running[-1]] <= start:
            running.pop()
        around.append(running[-1] if running else -1)
        running.append(place)
    return np.array(around, dtype="int64")


def latest_inside(ends: Ints, around: Ints) -> Ints:
    """When the last of each span and those inside it ends; `around` as `holders` tells it."""
    inside = np.flatnonzero(around >= 0)
    latest = ends.copy()
    late = inside[latest[inside] > latest[around[inside]]]
    for _ in range(_MOST_STRIDES):
        if not len(late):
            return latest
        np.maximum.at(latest, around[late], latest[late])
        late = inside[latest[inside] > latest[around[inside]]]
    spans = latest.tolist()
    for place, holder in reversed(list(enumerate(around.tolist()))):
        if holder >= 0 and spans[place] > spans[holder]:
            spans[holder] = spans[place]
    return np.array(spans, dtype="int64")
