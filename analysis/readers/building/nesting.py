"""Nesting: events of one thread that hold each other, and the time that is each one's own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence

_MAX_LEVELS = 512


class Nesting:
    """Which event holds which, by lane (a thread) and time.

    `self_ns` is each event's time without that of events inside it: every instant of a lane counts
    for the event that began last of those still running, so the sum is the lane's busy time, also
    where rounded times let a child end after its parent. `parents` are positions, -1 for none.
    """

    def __init__(
        self, lanes: Sequence[Hashable], start_ns: Sequence[int], dur_ns: Sequence[int]
    ) -> None:
        self._ends = [start + dur for start, dur in zip(start_ns, dur_ns, strict=True)]
        self.self_ns = [0] * len(self._ends)
        self.parents = [-1] * len(self._ends)
        self._lanes: dict[Hashable, tuple[list[int], list[int]]] = {}
        by_lane: dict[Hashable, list[int]] = {}
        for position, lane in enumerate(lanes):
            by_lane.setdefault(lane, []).append(position)
        for lane, positions in by_lane.items():
            # The longer of two that begin together holds the other; of equal ones the first.
            positions.sort(key=lambda at: (start_ns[at], -dur_ns[at], at))
            self._lanes[lane] = ([start_ns[at] for at in positions], positions)
            self._sweep(positions, start_ns)

    def holder(self, lane: Hashable, time_ns: int) -> int | None:
        """The innermost event of a lane that runs at a time; None where none does."""
        known = self._lanes.get(lane)
        if known is None:
            return None
        starts, positions = known
        index = bisect_right(starts, time_ns) - 1
        at = positions[index] if index >= 0 else -1
        for _ in range(_MAX_LEVELS):
            if at < 0 or self._ends[at] >= time_ns:
                break
            at = self.parents[at]
        else:
            return None
        return at if at >= 0 else None

    def _sweep(self, positions: list[int], start_ns: Sequence[int]) -> None:
        running: list[int] = []
        now = 0
        for position in positions:
            now = self._advance(running, now, start_ns[position])
            if running:
                self.parents[position] = running[-1]
            running.append(position)
        while running:
            now = self._advance(running, now, self._ends[running[-1]])

    def _advance(self, running: list[int], now: int, until: int) -> int:
        """Give the time up to `until` to what runs, innermost first, and drop what has ended."""
        while running:
            end = self._ends[running[-1]]
            if end > until:
                self.self_ns[running[-1]] += max(0, until - now)
                break
            if end > now:
                self.self_ns[running[-1]] += end - now
                now = end
            running.pop()
        return until
