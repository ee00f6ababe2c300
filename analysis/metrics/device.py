"""Device: kernels, busy and idle time, launches and copies of a run, where a device ran them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.spans import run_spans
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.operators.devices import runs_on_device
from fusescope.analysis.quantity import ratio
from fusescope.analysis.trace import Trace

_COPIES = ("Memcpy", "Memset")  # how every reader names copies and fills of memory
_ROCM_COPIES = "__amd_rocclr_"  # ROCm copies and fills memory by kernels of these names


class DeviceUse(msgspec.Struct, frozen=True):
    """Means per run of one trace; all devices of the file together.

    `kernels` are executions without copies, fills and communication. `busy_ns` is the union of all
    that the device ran, `idle` the part of the run in which it ran nothing; both are None where
    calls have no start, `idle` also where the file does not mark its runs or the device outlived
    one. `launches` are calls of the host that launch kernels or graphs, `launch_ns` its time in
    them, of runs that were launched in the file; None where the file does not hold them. `copies`
    and `copy_ns` count copies and fills of memory.
    """

    kernels: float
    busy_ns: float | None
    idle: float | None
    launches: float | None
    launch_ns: float | None
    copies: float
    copy_ns: float


@once
def device_use(trace: Trace) -> DeviceUse | None:
    """What the device did in a run; None where no operator of the trace ran on a device."""
    operators = trace.operators
    on_device = (operators["level"] == "device_kernel").to_numpy()
    if not on_device.any():
        return None
    copies = copies_of(trace)
    kernels = on_device & ~copies & ~operators["is_communication"].to_numpy()
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    of = calls["operator"].to_numpy()
    runs = max(1, len(steady.runs))
    return DeviceUse(
        kernels=float(calls["n"].to_numpy()[kernels[of]].sum()) / runs,
        **_busy(trace, bool(on_device.all())),
        launches=_mean(trace, steady.runs, "launches"),
        launch_ns=_mean(trace, steady.runs, "launch_ns"),
        copies=float(calls["n"].to_numpy()[copies[of]].sum()) / runs,
        copy_ns=float(calls["dur_ns"].to_numpy()[copies[of]].sum()) / runs,
    )


@once
def copies_of(trace: Trace) -> np.ndarray:
    """Which operators are copies or fills of memory on a device, or to and from it."""
    is_kernel = (trace.operators["level"] == "device_kernel").to_numpy()
    on_device = is_kernel | np.array(trace.each("provider", runs_on_device), dtype=bool)
    copies = trace.each("op_type", lambda op_type: op_type.startswith(_COPIES))
    kernels = trace.each("name", lambda name: name.startswith(_ROCM_COPIES))
    found: np.ndarray = on_device & (np.array(copies, dtype=bool) | np.array(kernels, dtype=bool))
    return found


def _mean(trace: Trace, runs: Sequence[int], column: str) -> float | None:
    """Return the mean of a column over these runs; None where one of them lacks it."""
    values = trace.runs.loc[trace.runs["run"].isin(runs), column]
    return None if values.empty or values.isna().any() else float(values.astype(float).mean())


def _busy(trace: Trace, whole: bool) -> dict[str, float | None]:
    """Busy time and idle share; None where operators of a host are among them."""
    spans = run_spans(trace)
    if not whole or spans["busy_ns"].isna().any() or spans.empty:
        return {"busy_ns": None, "idle": None}
    busy = spans["busy_ns"].astype(float)
    marked = bool((trace.profiled_runs["kind"] != "file").all())
    gaps = spans["gap_ns"]
    known = marked and not gaps.isna().any() and bool((gaps >= 0).all())
    idle = ratio(float(gaps.astype(float).sum()), float(spans["span_ns"].sum())) if known else None
    return {"busy_ns": float(busy.mean()), "idle": idle}
