"""Kernels that run in another unit of work than the one that launched them: launched before the
file begins, as part of work that it does not show, or still running after their unit ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fusescope.analysis.metrics.spans import call_times, union_ns
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units.units import OUTSIDE, Units

_MUCH = 0.05  # of a unit, in which the device runs what was launched before the file begins
_LAUNCHED = 0.5  # of the calls of a device: with fewer, the file does not say what was launched


def launched_earlier(trace: Trace) -> np.ndarray:
    """Return which calls of a trace were launched before the file begins: of a file that has the
    launches of most, those without one that start before all others of their stream; on a stream
    of which it has no launch, before all others of the device."""
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
    first[first == np.iinfo("int64").max] = first.min()
    earlier: np.ndarray = mine & ~is_known & (starts < first[streams])
    return earlier


def behind_earlier(trace: Trace, units: Units, much: float = _MUCH) -> Units:
    """Return a single unit as the device runs it: from where that is done with what was launched
    before the file begins until the unit and its last kernel have ended. Unchanged where
    earlier kernels take less than the share `much` of it; several units begin one by another."""
    starts, lasts = call_times(trace.calls)
    mine = units.unit_of == 0
    if units.count != 1 or units.starts_ns[0] < 0 or not mine.any():
        return units
    if units.host_ns is not None or bool(trace.calls["start_ns"].isna().any()):
        return units
    begin, length = int(units.starts_ns[0]), int(units.walls_ns[0])
    earlier = launched_earlier(trace) & ~mine
    earlier &= (starts + lasts > begin) & (starts < begin + length)
    first = np.maximum(starts[earlier], begin)
    if union_ns(first, (starts + lasts)[earlier] - first) < much * length:
        return units
    end = max(begin + length, int((starts + lasts)[mine].max()))
    free = min(int((starts + lasts)[earlier].max(initial=begin)), int(starts[mine].min()))
    free = max(begin, free)
    return replace(
        units,
        starts_ns=np.array([free]),
        walls_ns=np.array([end - free]),
        host_ns=length,
        is_behind=True,
    )


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
