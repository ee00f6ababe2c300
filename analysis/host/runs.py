"""The idle time of the runs of a trace by what the host did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.host.idle import HostIdle, idle_by_host
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.spans import call_times, lacks_kernels
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Trace


@dataclass(frozen=True, eq=False)
class IdleOfRuns:
    """Idle time of `runs`, in windows in their order, which take `wall_ns` together. Of a file that
    marks no runs it is the time from the first to the last call, and `runs` is empty."""

    idle: HostIdle
    runs: tuple[int, ...]
    wall_ns: int

    @property
    def count(self) -> int:
        """By what times are divided for one run; 1 for a file."""
        return max(1, len(self.runs))

    @property
    def share(self) -> float:
        """The part of the time in which nothing ran."""
        return self.idle.idle_ns / self.wall_ns if self.wall_ns else 0.0


@once
def idle_of_runs(trace: Trace) -> IdleOfRuns | None:
    """The idle time of the runs that count; None where the file does not say what the host did,
    where starts of calls or runs are missing, and where kernels are."""
    if trace.host is None or trace.ends_early or lacks_kernels(trace) or not len(trace.calls):
        return None
    if trace.calls["start_ns"].isna().any():
        return None
    runs = trace.profiled_runs
    if not trace.has_runs:
        starts, lengths = call_times(trace.calls)
        windows = np.array([starts.min()]), np.array([(starts + lengths).max()])
        numbers: tuple[int, ...] = ()
    else:
        at = pd.Index(runs["run"]).get_indexer(pd.Index(steady_runs(trace).runs))
        runs = runs.take(at)
        if runs.empty or runs["start_ns"].isna().any():
            return None
        begins, lengths = runs["start_ns"].to_numpy("int64"), runs["dur_ns"].to_numpy("int64")
        windows = begins, begins + lengths
        numbers = tuple(runs["run"].tolist())
    idle = idle_by_host(trace, *windows)
    if idle is None:
        return None
    return IdleOfRuns(idle, numbers, int((windows[1] - windows[0]).sum()))
