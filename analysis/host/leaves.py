"""Leaves: the innermost span of each thread of the host at every moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.host_activity import HostActivity
from fusescope.analysis.readers.building.timetable import holders, latest_inside, starts_of

NONE = -1


@dataclass(frozen=True, eq=False)
class Pieces:
    """Parts of intervals, in order of time of each: `of` is the interval, `spans` the span of the
    host, NONE for no span."""

    of: np.ndarray
    starts_ns: np.ndarray
    ends_ns: np.ndarray
    spans: np.ndarray


class Leaves:
    """The innermost span of each thread at every moment: of those that run, the last to begin.

    `around` is the span around each one, NONE for none, always in front of it.
    """

    def __init__(self, host: HostActivity) -> None:
        """Raises OverflowError where threads and times are too many for a number of 64 bits."""
        starts_lane = starts_of(host.lanes)
        self.around = holders(starts_lane, host.starts_ns, host.ends_ns)
        # A span that ends after the one around it keeps that one open, as rounded times do.
        ends = latest_inside(host.ends_ns, self.around)
        spans = np.flatnonzero(ends > host.starts_ns)
        self._keys = _Keys(host.lanes, host.starts_ns, ends)
        times = np.concatenate([ends[spans], host.starts_ns[spans]])
        lanes = np.concatenate([host.lanes[spans], host.lanes[spans]])
        keys = self._keys.of(lanes, times)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        is_first = starts_of(keys)
        is_last = np.append(is_first[1:], True) if len(keys) else is_first
        # At a moment ends stand before starts, the outer in front of the inner: the last start is
        # the innermost span from then on; without any it is what is around the outermost end.
        first, last = order[is_first], order[is_last]
        begins = last >= len(spans)
        at = spans[np.where(begins, last, first) % max(1, len(spans))]
        self._from = keys[is_first]
        self._spans = np.where(begins, at, self.around[at])

    def of(self, lanes: np.ndarray, starts_ns: np.ndarray, ends_ns: np.ndarray) -> Pieces:
        """The intervals in pieces of one innermost span of a thread each; lane NONE has no span."""
        lowest = self._keys.of(lanes, np.full(len(lanes), self._keys.before))
        begins = self._keys.of(lanes, starts_ns)
        first = np.searchsorted(self._from, begins, side="right") - 1
        # In front of the first span of a thread, and on no thread, is none.
        first = np.where((first >= 0) & (self._at(first) >= lowest) & (lanes >= 0), first, NONE)
        last = np.searchsorted(self._from, self._keys.of(lanes, ends_ns), side="left") - 1
        start_of_lane = np.searchsorted(self._from, lowest, side="left")
        counts = np.where(lanes >= 0, last - np.where(first >= 0, first, start_of_lane - 1) + 1, 1)
        counts = np.maximum(counts, 1)
        of = np.repeat(np.arange(len(lanes)), counts)
        place = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        known = np.where(first >= 0, first, start_of_lane - 1)[of] + place
        is_none = (place == 0) & (first[of] < 0)
        starts = np.where(place == 0, starts_ns[of], self._keys.time_of(self._at(known), lanes[of]))
        is_end = np.append(of[1:] != of[:-1], True) if len(of) else np.zeros(0, dtype=bool)
        ends = np.where(is_end, ends_ns[of], np.append(starts[1:], 0)[: len(of)])
        spans = np.where(is_none, NONE, self._span(known))
        return Pieces(of, starts, ends, spans)

    def _at(self, places: np.ndarray) -> np.ndarray:
        if not len(self._from):
            return np.zeros(len(places), dtype="int64")
        keys: np.ndarray = self._from[np.clip(places, 0, len(self._from) - 1)]
        return keys

    def _span(self, places: np.ndarray) -> np.ndarray:
        if not len(self._spans):
            return np.full(len(places), NONE, dtype="int64")
        spans: np.ndarray = self._spans[np.clip(places, 0, len(self._spans) - 1)]
        return spans


class _Keys:
    """Threads and times as one number each, in that order; times outside of all spans are the
    nearest ones."""

    def __init__(self, lanes: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
        self.before = int(starts.min()) - 1 if len(starts) else 0
        self._after = int(ends.max()) + 1 if len(ends) else 1
        self._width = self._after - self.before + 1
        if self._width * (int(lanes.max()) + 2 if len(lanes) else 1) >= 2**62:
            raise OverflowError("the times of the host are too far apart")

    def of(self, lanes: np.ndarray, times: np.ndarray) -> np.ndarray:
        """The numbers."""
        within = np.clip(times, self.before, self._after) - self.before
        keys: np.ndarray = lanes.astype("int64") * self._width + within
        return keys

    def time_of(self, keys: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """The time in each number of a thread."""
        times: np.ndarray = keys - lanes.astype("int64") * self._width + self.before
        return times
