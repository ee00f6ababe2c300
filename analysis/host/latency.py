"""Launch latency: how long after its launch each kernel began."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.metrics.memo import once
from analysis.trace import Trace

AHEAD_NS = 100_000  # an empty queue takes some 10 us


@dataclass(frozen=True)
class LaunchLatency:
    """The median time from the launch to the start of `calls` calls, in ns. With `host_is_ahead`
    others wait in front of most of them, so the device is the limit; else it waits for the host."""

    median_ns: int
    calls: int

    @property
    def host_is_ahead(self) -> bool:
        return self.median_ns >= AHEAD_NS


@once
def launch_latency(trace: Trace) -> LaunchLatency | None:
    """The latency of all calls of a device whose launch is known; None without any."""
    host, calls = trace.host, trace.calls
    on_device = (trace.operators["level"] == "device_kernel").to_numpy()
    if host is None or not on_device.any():
        return None
    lanes, times = host.submissions_of(calls["source_row"].to_numpy("int64", na_value=-1))
    known = (lanes >= 0) & calls["start_ns"].notna().to_numpy()
    if not known.any():
        return None
    starts = calls["start_ns"].to_numpy("int64", na_value=0)
    return LaunchLatency(int(np.median(starts[known] - times[known])), int(known.sum()))
