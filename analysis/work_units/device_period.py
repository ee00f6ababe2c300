"""The device's own period, where the host is more than a run ahead of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.metrics.spans import call_times
from analysis.trace import Trace

_SAME = 0.98  # of the kernels of a unit, which one launched before the file began must have
_LONGEST = 1.5  # times the first unit, which one before it takes at most


@dataclass(frozen=True, eq=False)
class DeviceWindows:
    """Units on the device: when they begin, and how long they take until the next one does, the
    last one until its last kernel ends. The first `earlier` were launched before the file began."""

    begins: np.ndarray
    walls: np.ndarray
    earlier: int


def device_windows(trace: Trace, of_call: np.ndarray, host_ns: np.ndarray) -> DeviceWindows | None:
    """Return the units on the device, from first kernel to first kernel.

    `of_call` is the unit that launched each call of the trace, -1 for none, `host_ns` how long the
    units take on the host. None unless the median kernel starts later after its launch than a unit
    takes: only then has the host no part in the period, and only then is the device busy until
    the last kernel of the last unit ends. What ran before is a unit where it has the kernels of the
    first one, in the same order, and takes about as long.
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
    earlier = _earlier(trace, first)
    edges = np.concatenate((earlier, first, [int((starts + lengths)[is_last].max())]))
    return DeviceWindows(edges[:-1], np.diff(edges), len(earlier))


def _earlier(trace: Trace, begins: np.ndarray) -> np.ndarray:
    """Return when units began that end before the first of these does, by the kernels of the stream
    that is the busiest from there on: the same ones in the same order."""
    starts, _ = call_times(trace.calls)
    streams = trace.calls["stream"].cat.codes.to_numpy("int64") + 1
    on_stream = np.flatnonzero(streams == np.bincount(streams[starts >= begins[0]]).argmax())
    on_stream = on_stream[np.argsort(starts[on_stream], kind="stable")]
    names = trace.operators["name"].cat.codes.to_numpy("int64")
    ids = names[trace.calls["operator"].to_numpy()[on_stream]]
    first, stop = np.searchsorted(starts[on_stream], begins[:2]).tolist()
    period = stop - first
    shift = int(begins[0]) - int(starts[on_stream[first]])
    longest_ns = _LONGEST * int(begins[1] - begins[0])
    edges, at = [int(begins[0])], first - period
    while period > 0 and at >= 0:
        begin = int(starts[on_stream[at]]) + shift
        is_same = (ids[at : at + period] == ids[first:stop]).mean() >= _SAME
        if not is_same or edges[-1] - begin > longest_ns:
            break
        edges.append(begin)
        at -= period
    return np.array(edges[:0:-1], dtype="int64")


def launch_times(trace: Trace) -> np.ndarray:
    """Return when each call of the trace was launched, -1 where the file does not say it."""
    host = trace.host
    if host is None or not len(host.launch_rows):
        return np.full(len(trace.calls), -1)
    lanes, times_ns = host.launches_of(trace.calls["source_row"].to_numpy("int64", na_value=-1))
    return np.where(lanes >= 0, times_ns, -1)
