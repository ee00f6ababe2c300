"""The device's own period, where the host is more than a run ahead of it."""

from __future__ import annotations

import numpy as np

from analysis.metrics.spans import call_times
from analysis.trace import Trace


def device_windows(
    trace: Trace, of_call: np.ndarray, host_ns: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return when units begin on the device and how long they take, from first kernel to first
    kernel, without the last one, of which the file has no end.

    `of_call` is the unit that launched each call of the trace, -1 for none, `host_ns` how long the
    units take on the host. None unless the median kernel starts later after its launch than a unit
    takes: only then has the host no part in the period.
    """
    launched_ns = launch_times(trace)
    starts, _ = call_times(trace.calls)
    known = (launched_ns >= 0) & (of_call >= 0)
    if len(host_ns) < 2 or not known.any():
        return None
    behind_ns = float(np.median(starts[known] - launched_ns[known]))
    if behind_ns <= float(np.median(host_ns)):
        return None
    first = np.full(len(host_ns), np.iinfo("int64").max)
    np.minimum.at(first, of_call[known], starts[known])
    walls: np.ndarray = np.diff(first)
    return None if (walls <= 0).any() else (first[:-1], walls)


def launch_times(trace: Trace) -> np.ndarray:
    """Return when each call of the trace was launched, -1 where the file does not say it."""
    host = trace.host
    if host is None or not len(host.launch_rows):
        return np.full(len(trace.calls), -1)
    lanes, times_ns = host.launches_of(trace.calls["source_row"].to_numpy("int64", na_value=-1))
    return np.where(lanes >= 0, times_ns, -1)
