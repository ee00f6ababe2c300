"""Launch latency: how long after each launch the first of what it launched began."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Trace

AHEAD_NS = 100_000  # an empty queue takes some 10 us


@dataclass(frozen=True)
class LaunchLatency:
    """The median time from `launches` to the first start of what each launched, in ns. With
    `host_is_ahead` others wait in front of most of them, so the device is the limit; else it waits
    for the host."""

    median_ns: int
    launches: int

    @property
    def host_is_ahead(self) -> bool:
        return self.median_ns >= AHEAD_NS


@once
def launch_latency(trace: Trace) -> LaunchLatency | None:
    """Return the latency of all launches of kernels on a device in the runs that count, as all
    figures beside it; None without any. Copies wait for what they copy, and kernels that one call
    launches, as that of a graph, for each other, not for the launch."""
    host, calls = trace.host, trace.calls
    on_device = (trace.operators["level"] == "device_kernel").to_numpy()
    if host is None or not on_device.any():
        return None
    lanes, times = host.submissions_of(calls["source_row"].to_numpy("int64", na_value=-1))
    known = (lanes >= 0) & calls["start_ns"].notna().to_numpy() & _kernels_of_runs(trace)
    if not known.any():
        return None
    starts = calls["start_ns"].to_numpy("int64", na_value=0)
    launches, of = np.unique(np.stack((lanes, times))[:, known], axis=1, return_inverse=True)
    first = np.full(launches.shape[1], np.iinfo("int64").max)
    np.minimum.at(first, of.ravel(), starts[known])
    return LaunchLatency(int(np.median(first - launches[1])), len(first))


def _kernels_of_runs(trace: Trace) -> np.ndarray:
    """Return which calls are kernels, not copies, of a run that counts; of a trace without runs,
    all kernels."""
    operators, runs = trace.calls["operator"].to_numpy(), trace.calls["run"]
    is_counted: np.ndarray = ~copies_of(trace)[operators]
    if not trace.profiled_runs.empty:
        counted = list(steady_runs(trace).runs)
        is_counted = is_counted & np.isin(runs.to_numpy("int64", na_value=-1), counted)
    return is_counted
