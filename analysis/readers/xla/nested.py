"""Events of a line that lie inside others: loops and calls, with what runs in them."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.readers.xla.xspace import Event


def own_times(events: Sequence[Event]) -> tuple[list[int | None], int]:
    """Durations without the time of events inside (loops, calls); how many lie inside others."""
    own = [event.dur_ns for event in events]
    order = [
        index
        for index, event in enumerate(events)
        if event.start_ns is not None and event.dur_ns is not None and event.dur_ns >= 0
    ]
    order.sort(key=lambda index: (events[index].start_ns, -(events[index].dur_ns or 0)))
    stack: list[tuple[int, int]] = []  # (end, place)
    nested = 0
    for index in order:
        start, dur = events[index].start_ns or 0, events[index].dur_ns or 0
        while stack and stack[-1][0] <= start:
            stack.pop()
        if stack and start + dur <= stack[-1][0]:
            outer = stack[-1][1]
            own[outer] = max(0, (own[outer] or 0) - dur)
            nested += 1
        stack.append((start + dur, index))
    return own, nested
