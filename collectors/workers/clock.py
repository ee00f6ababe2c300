"""The system's clock, which engines put into profiles: it can be set while they run."""

from __future__ import annotations

import time

_READINGS = 5
_SET_NS = 1_000_000  # clocks that are slewed differ by less in the seconds that a profile takes


class Watch:
    """Notices whether somebody sets the system's clock from here on."""

    def __init__(self) -> None:
        self._offset_ns = offset_ns()

    def was_set(self) -> bool:
        """Whether the clock has been set, back or forth, by more than a millisecond."""
        return abs(offset_ns() - self._offset_ns) > _SET_NS


def offset_ns() -> int:
    """The system's clock minus the steady one, by the reading with the least time around it."""
    readings = []
    for _ in range(_READINGS):
        before = time.monotonic_ns()
        now = time.time_ns()
        after = time.monotonic_ns()
        readings.append((after - before, now - (before + after) // 2))
    return min(readings)[1]
