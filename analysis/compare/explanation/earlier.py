"""What a device ran before its only step: work that the host launched before the file began."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.align.repeats import fold, walk
from fusescope.analysis.metrics.spans import call_times, union_ns
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units import Units
from fusescope.analysis.work_units.earlier import launched_earlier
from fusescope.analysis.work_units.units import OUTSIDE

_IN_LAYERS = 0.7  # of the kernels launched before the file, which its layers hold
_FEWEST = 3  # layers


def earlier_units(trace: Trace) -> Units:
    """Return what was launched before the file began as one unit, whose time is that in which any
    of it runs; idle time between its kernels has no cause in the file, and is none of it."""
    earlier = launched_earlier(trace)
    starts, lasts = call_times(trace.calls)
    return Units(
        "earlier",
        "",
        "named",
        np.where(earlier, 0, OUTSIDE),
        np.array([-1], dtype="int64"),
        np.array([union_ns(starts[earlier], lasts[earlier])], dtype="int64"),
        ("",),
    )


def layers_in(trace: Trace, calls: np.ndarray) -> int:
    """Return how many layers these calls are, in order of start; 0 where most do not repeat."""
    if not len(calls):
        return 0
    starts, _ = call_times(trace.calls)
    calls = calls[np.argsort(starts[calls], kind="stable")]
    families = trace.operators["op_type"].cat.codes.to_numpy("int64")
    ids = families[trace.calls["operator"].to_numpy()[calls]] + 1
    repeats = [repeat for _, repeat in walk(fold(ids)) if repeat.copies >= _FEWEST]
    best = max(repeats, key=lambda repeat: repeat.covered, default=None)
    if best is None or best.covered < _IN_LAYERS * len(ids):
        return 0
    return best.copies
