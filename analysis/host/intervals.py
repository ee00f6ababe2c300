"""Idle intervals: when nothing of a trace ran on its device, and which threads launch around."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.host.leaves import NONE
from fusescope.analysis.host_activity import RUNTIME, HostActivity
from fusescope.analysis.metrics.spans import call_times
from fusescope.analysis.metrics.stretch import merged
from fusescope.analysis.trace import Trace

QUEUED_NS = 100_000  # from a launch to its start; a device that has nothing to do takes some 10 us
_BEFORE = -(2**62)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals in which nothing ran, in order inside each window: the window, the times, when the
    call returned that launched what runs next, in them, and whether that was at least QUEUED_NS
    before it ran, or before the interval; the thread that launched it, and the one that launched
    what ran before, NONE where no launch is known. Where a launch goes through a queue,
    `next_lanes` is the thread that hands it to the device, and `asking_lanes` the one that left it
    there, until `asked_ns`; else both are the same.

    Where the launch of what runs next is not known it counts as launched at the end, but before the
    start where nothing was launched yet that the file shows.
    """

    windows: np.ndarray
    starts_ns: np.ndarray
    ends_ns: np.ndarray
    launched_ns: np.ndarray
    is_queued: np.ndarray
    next_lanes: np.ndarray
    previous_lanes: np.ndarray
    asking_lanes: np.ndarray
    asked_ns: np.ndarray


def idle_intervals(
    trace: Trace, host: HostActivity, starts_ns: np.ndarray, ends_ns: np.ndarray
) -> Intervals | None:
    """The intervals of each window [start, end), also before the first and after the last call;
    None where a call has no start."""
    calls = trace.calls
    if not len(calls) or calls["start_ns"].isna().any():
        return None
    starts, lengths = call_times(calls)
    busy_starts, busy_ends = merged(starts, starts + lengths)
    low = min(int(starts_ns.min()), int(busy_starts[0])) if len(starts_ns) else 0
    high = max(int(ends_ns.max()), int(busy_ends[-1])) if len(starts_ns) else 0
    gap_starts, gap_ends = np.append(low, busy_ends), np.append(busy_starts, high)
    first = np.searchsorted(gap_ends, starts_ns, side="right")
    counts = np.maximum(np.searchsorted(gap_starts, ends_ns, side="left") - first, 0)
    windows = np.repeat(np.arange(len(starts_ns)), counts)
    at = np.arange(len(windows)) - np.repeat(np.cumsum(counts) - counts, counts) + first[windows]
    begins = np.maximum(gap_starts[at], starts_ns[windows])
    ends = np.minimum(gap_ends[at], ends_ns[windows])
    is_idle = ends > begins
    at, windows, begins, ends = at[is_idle], windows[is_idle], begins[is_idle], ends[is_idle]
    next_lanes, previous_lanes, launched, asking_lanes, asked = _launches(
        trace, host, starts, gap_ends
    )
    is_queued = gap_ends - np.maximum(launched, gap_starts) >= QUEUED_NS
    is_queued |= launched <= gap_starts
    return Intervals(
        windows,
        begins,
        ends,
        np.clip(launched[at], begins, ends),
        is_queued[at],
        next_lanes[at],
        previous_lanes[at],
        asking_lanes[at],
        np.clip(asked[at], begins, ends),
    )


def _launches(
    trace: Trace, host: HostActivity, starts: np.ndarray, gap_ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The thread of the first call with a known launch that begins at the end of each gap or later,
    else of the last one; that of the last such call before; when what begins at the end was
    launched; and which thread asked for the first, until when."""
    rows = trace.calls["source_row"].to_numpy("int64", na_value=-1)
    lanes, times = host.submissions_of(rows)
    known = np.flatnonzero(lanes >= 0)
    if not len(known):
        only = np.full(len(gap_ends), _launching_thread(host))
        return only, only, gap_ends, only, gap_ends
    known = known[np.lexsort((times[known], starts[known]))]
    ordered, of, launched = starts[known], lanes[known], times[known]
    asking, asked = (column[known] for column in host.launches_of(rows))
    at = np.searchsorted(ordered, gap_ends, side="left")
    next_one = np.minimum(at, len(of) - 1)
    is_next = ordered[next_one] == gap_ends
    unknown = np.where(gap_ends < ordered[0], _BEFORE, gap_ends)
    before = np.where(at > 0, asking[np.maximum(at - 1, 0)], asking[next_one])
    # Of what one call launches, as a graph, all but the first wait for no call of the host.
    _, firsts = np.unique(np.stack((of, launched)), axis=1, return_index=True)
    is_first = np.isin(next_one, firsts)
    returned = _returned(host, of[next_one], launched[next_one])
    returned = np.where(is_first, returned, launched[next_one])
    moment = np.where(is_next, returned, unknown)
    return of[next_one], before, moment, asking[next_one], asked[next_one]


def _returned(host: HostActivity, lanes: np.ndarray, times: np.ndarray) -> np.ndarray:
    """When the call to the runtime returned that launched something on a thread at a time; that
    time where no call is known. Until then the host is in it: some copies return when they are
    done."""
    is_call = host.kind_of == RUNTIME
    returned = times.copy()
    for lane in np.unique(lanes).tolist():
        calls = np.flatnonzero(is_call & (host.lanes == lane))
        own = np.flatnonzero(lanes == lane)
        starts = host.starts_ns[calls]
        at = np.searchsorted(starts, times[own], side="left")
        found = at < len(calls)
        found[found] = starts[at[found]] == times[own[found]]
        returned[own[found]] = host.ends_ns[calls[at[found]]]
    return returned


def _launching_thread(host: HostActivity) -> int:
    """Where the file does not say what a call launched: the thread with most calls to the runtime;
    NONE without any."""
    runtime = host.lanes[host.kind_of == RUNTIME]
    return int(np.bincount(runtime).argmax()) if len(runtime) else NONE
