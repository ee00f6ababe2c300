"""Which runs count: profilers do not mark warm-up, so leading slow runs are set aside."""

from __future__ import annotations

import msgspec
import numpy as np

from fusescope.analysis.metrics.memo import once
from fusescope.analysis.trace import Trace

SLOW_FACTOR = 1.5


class SteadyRuns(msgspec.Struct, frozen=True):
    """Profiled runs that per-operator figures rest on, and how many were set aside.

    `marked` runs were marked as warm-up by the recorder, `slow` leading runs took longer than
    SLOW_FACTOR times the median of the runs after them.
    """

    runs: tuple[int, ...]
    marked: int
    slow: int


@once
def steady_runs(trace: Trace) -> SteadyRuns:
    """The profiled runs without warm-up; never empty when the trace has a profiled run.

    Runs whose operators the file does not have are not part of them: figures per operator would be
    too small. Leading slow runs are looked for only in one process without marks of its recorder:
    among three or more runs, of which at most half are set aside. Blocks are processes.
    """
    profiled = trace.told_runs
    marked = profiled["warmup"].to_numpy(dtype=bool)
    kept = profiled.loc[~marked] if not marked.all() else profiled
    runs = kept["run"].to_numpy()
    dur_ns = kept["dur_ns"].to_numpy(dtype=float)
    slow = 0
    if not marked.any() and profiled["block"].isna().all():
        maximum = len(dur_ns) // 2
        while (
            slow < maximum
            and len(dur_ns) - slow >= 3
            and dur_ns[slow] > SLOW_FACTOR * float(np.median(dur_ns[slow + 1 :]))
        ):
            slow += 1
    return SteadyRuns(
        runs=tuple(int(run) for run in runs[slow:]),
        marked=len(profiled) - len(kept),
        slow=slow,
    )
