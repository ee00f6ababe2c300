"""Kernels that run in another unit of work than the one that launched them: launched before the
file begins, as part of work that it does not show, or still running after their unit ends."""

from __future__ import annotations

import numpy as np

from analysis.metrics.spans import call_times
from analysis.trace import Trace
from analysis.work_units.units import OUTSIDE, Units

_LAUNCHED = 0.5  # of the calls of a device: with fewer, the file does not say what was launched


def launched_earlier(trace: Trace) -> np.ndarray:
    """Return which calls of a trace were launched before the file begins: of a file that has the
    launches of most, those without one that start before all others of their stream."""
    calls, host = trace.calls, trace.host
    nothing = np.zeros(len(calls), dtype=bool)
    if host is None or not len(host.launch_rows) or not bool(calls["start_ns"].notna().all()):
        return nothing
    lanes, _ = host.launches_of(calls["source_row"].to_numpy("int64", na_value=-1))
    is_known = lanes >= 0
    on_device = (trace.operators["level"] == "device_kernel").to_numpy(dtype=bool)
    mine = on_device[calls["operator"].to_numpy()] if on_device.any() else ~nothing
    if not mine.any() or is_known[mine].mean() < _LAUNCHED:
        return nothing
    streams = calls["stream"].cat.codes.to_numpy("int64") + 1
    starts, _ = call_times(calls)
    first = np.full(int(streams.max(initial=0)) + 1, np.iinfo("int64").max)
    np.minimum.at(first, streams[is_known], starts[is_known])
    earlier: np.ndarray = mine & ~is_known & (starts < first[streams])
    return earlier


def after_the_end_ns(trace: Trace, units: Units) -> int:
    """Return how long the kernels of a unit run after it ends, on average, in ns: their sum; 0
    where the file does not say when units and kernels begin."""
    calls = trace.calls
    if not units.count or (units.starts_ns < 0).any() or bool(calls["start_ns"].isna().any()):
        return 0
    own = units.unit_of != OUTSIDE
    starts, lasts = (times[own] for times in call_times(calls))
    ends = (units.starts_ns + units.walls_ns)[units.unit_of[own]]
    after = np.maximum(0, starts + lasts - np.maximum(starts, ends))
    return round(float(after.sum()) / units.count)
