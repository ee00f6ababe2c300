"""The device's own period, where the host is more than a run ahead of it."""

from __future__ import annotations

import msgspec
import numpy as np

from fusescope.analysis.metrics.spans import call_times
from fusescope.analysis.trace import Trace


class DeviceWindows(msgspec.Struct, frozen=True, eq=False):
    """Units on the device: when they begin, and how long they take until the next one does, the
    last one until its last kernel ends."""

    begins: np.ndarray
    walls: np.ndarray


def device_windows(trace: Trace, of_call: np.ndarray, host_ns: np.ndarray) -> DeviceWindows | None:
    """Return the units on the device, from first kernel to first kernel.

    `of_call` is the unit that launched each call of the trace, -1 for none, `host_ns` how long the
    units take on the host. None unless the median kernel starts later after its launch than a unit
    takes: only then has the host no part in the period, and only then is the device busy until
    the last kernel of the last unit ends.
    """
    launched_ns = launch_times(trace)
    starts, lengths = call_times(trace.calls)
    known = (launched_ns >= 0) & (of_call >= 0)
    if len(host_ns) < 2 or not known.any():
        return None
    behind_ns = float(np.median(starts[known] - launched_ns[known]))
    if behind_ns <= float(np.median(host_ns)):
        return None
    first = np.full(len(host_ns), np.iinfo("int64").max)
    np.minimum.at(first, of_call[known], starts[known])
    is_last = known & (of_call == len(host_ns) - 1)
    if (np.diff(first) <= 0).any() or not is_last.any():
        return None
    edges = np.append(first, int((starts + lengths)[is_last].max()))
    return DeviceWindows(first, np.diff(edges))


def launch_times(trace: Trace) -> np.ndarray:
    """Return when each call of the trace was launched, -1 where the file does not say it."""
    host = trace.host
    if host is None or not len(host.launch_rows):
        return np.full(len(trace.calls), -1)
    lanes, times_ns = host.launches_of(trace.calls["source_row"].to_numpy("int64", na_value=-1))
    return np.where(lanes >= 0, times_ns, -1)
