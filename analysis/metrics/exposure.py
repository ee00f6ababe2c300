"""How long each collective runs while its device computes nothing, and what it hides."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.spans import busy_until, call_times
from fusescope.analysis.trace import Trace


@once
def exposed_collectives(trace: Trace) -> np.ndarray | None:
    """Return of each call the time in ns, of a collective, in which no kernel of its device that
    computes runs, and no collective that began before it; 0 for all other calls. Copies compute
    nothing. None where a call has no start."""
    calls = trace.calls
    if not len(calls) or calls["start_ns"].isna().any():
        return None
    starts, lasts = call_times(calls)
    operators = calls["operator"].to_numpy()
    talks = trace.operators["is_communication"].to_numpy(dtype=bool)
    on_device = (trace.operators["level"] == "device_kernel").to_numpy(dtype=bool)
    may_compute = on_device if on_device.any() else ~on_device
    computes = (may_compute & ~(talks | copies_of(trace)))[operators]
    device = calls["device"].cat.codes.to_numpy()
    exposed = np.zeros(len(calls), dtype="int64")
    for one in np.unique(device[talks[operators]]):
        mine = np.flatnonzero(talks[operators] & (device == one))
        mine = mine[np.argsort(starts[mine], kind="stable")]
        others = computes & (device == one)
        # A collective counts from where those before it have ended.
        begins, ends = starts[mine], starts[mine] + lasts[mine]
        reached = np.maximum.accumulate(np.r_[begins[:1], ends])[:-1]
        begins = np.minimum(np.maximum(begins, reached), ends)
        computed = busy_until(starts[others], lasts[others])
        exposed[mine] = (ends - begins) - (computed(ends) - computed(begins))
    return exposed


@once
def hidden_times(trace: Trace) -> np.ndarray | None:
    """Return of each call that is no collective the time in ns inside of collectives of its device
    which run on after all computing: without the call they would end no earlier. 0 for all other
    calls, and of collectives at whose end the device computes. None where a call has no start."""
    calls = trace.calls
    if not len(calls) or calls["start_ns"].isna().any():
        return None
    starts, lasts = call_times(calls)
    ends = starts + lasts
    operators = calls["operator"].to_numpy()
    talks = trace.operators["is_communication"].to_numpy(dtype=bool)[operators]
    device = calls["device"].cat.codes.to_numpy()
    hidden = np.zeros(len(calls), dtype="int64")
    for one in np.unique(device[talks]):
        mine, others = (np.flatnonzero(mask & (device == one)) for mask in (talks, ~talks))
        computed = busy_until(starts[others], lasts[others])
        last = mine[computed(ends[mine]) == computed(ends[mine] - 1)]
        behind = busy_until(starts[last], lasts[last])
        hidden[others] = behind(ends[others]) - behind(starts[others])
    return hidden
