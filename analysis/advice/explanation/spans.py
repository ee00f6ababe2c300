"""Which spans of the host lie around a launch, or inside one another."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from fusescope.analysis.host_activity import HostActivity

Matches = Callable[[str], object]


def spans_of(host: HostActivity, matches: Matches) -> np.ndarray:
    """Return the numbers of the spans whose name matches, by thread and start."""
    names = np.array([bool(matches(name)) for name in host.names], dtype=bool)
    return np.flatnonzero(names[host.name_of]) if len(names) else np.zeros(0, dtype="int64")


def holder_of(
    host: HostActivity, spans: np.ndarray, lanes: np.ndarray, times_ns: np.ndarray
) -> np.ndarray:
    """Return which of these spans of the host, by thread and start, holds each time on a thread:
    its place among them, -1 for none. Of spans inside one another the outermost counts."""
    found = np.full(len(times_ns), -1, dtype="int64")
    for lane in np.unique(host.lanes[spans]).tolist():
        places = np.flatnonzero(host.lanes[spans] == lane)
        starts, ends = host.starts_ns[spans[places]], host.ends_ns[spans[places]]
        reached = np.maximum.accumulate(ends)
        is_outer = np.append(True, starts[1:] >= reached[:-1])
        places, starts, ends = places[is_outer], starts[is_outer], ends[is_outer]
        mine = np.flatnonzero(lanes == lane)
        at = np.searchsorted(starts, times_ns[mine], side="right") - 1
        inside = (at >= 0) & (times_ns[mine] < ends[np.maximum(at, 0)])
        found[mine[inside]] = places[at[inside]]
    return found


def names_around(
    host: HostActivity | None, pattern: re.Pattern[str], lanes: np.ndarray, times_ns: np.ndarray
) -> list[str]:
    """Return the name of the outermost span of this form around each launch, '' for none."""
    if host is None:
        return [""] * len(lanes)
    spans = spans_of(host, pattern.match)
    held = holder_of(host, spans, lanes, times_ns)
    return [host.names[host.name_of[spans[at]]] if at >= 0 else "" for at in held.tolist()]
