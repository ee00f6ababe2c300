"""Traces with a device and what the host did, made in a test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusescope.analysis.host_activity import KINDS, HostActivity
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.call_stacks import Moments
from fusescope.analysis.readers.building.host.spans import HostSpans, host_activity
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

Span = tuple[int, str, str, int, int]  # thread, kind, name, start, end
Call = tuple[int, int, int | None, int]  # start, end, thread that launched it, when


def host_of(
    spans: Sequence[Span],
    calls: Sequence[Call] = (),
    handed: Sequence[tuple[int, int] | None] = (),
) -> HostActivity | None:
    """`handed` says of calls which other thread handed them to the device, and when."""
    names = list(dict.fromkeys(name for _, _, name, *_ in spans))
    rows = [
        (lane, start, end - start, names.index(name), KINDS.index(kind))
        for lane, kind, name, start, end in spans
    ]
    launches = [(lane, at, row) for row, (*_, lane, at) in enumerate(calls) if lane is not None]
    columns = np.array(rows, dtype="int64").reshape(-1, 5).T
    moments = Moments(*np.array(launches, dtype="int64").reshape(-1, 3).T)
    lanes = [("1", str(at)) for at in range(8)]
    known = [
        (*one, row)
        for row, (one, (*_, lane, _)) in enumerate(zip(handed, calls, strict=False))
        if one is not None and lane is not None
    ]
    queue = Moments(*np.array(known, dtype="int64").reshape(-1, 3).T)
    return host_activity(HostSpans(*columns), moments, names, lanes, Limits(), queue)[0]


def trace_of(
    spans: Sequence[Span],
    calls: Sequence[Call],
    runs: Sequence[tuple[int, int]] = (),
    handed: Sequence[tuple[int, int] | None] = (),
) -> Trace:
    """A trace of as many operators as calls; each call in the run that it begins in."""
    count = len(calls)
    of_run = [
        next((at for at, (begin, end) in enumerate(runs) if begin <= start < end), None)
        for start, *_ in calls
    ]
    low, high = min(start for start, *_ in calls), max(end for _, end, *_ in calls)
    bounds = runs or [(low, high)]
    return Trace(
        Meta("kineto", "PyTorch profiler"),
        runs_frame(
            run=list(range(len(bounds))),
            kind=["step" if runs else "file"] * len(bounds),
            start_ns=[start for start, _ in bounds],
            dur_ns=[end - start for start, end in bounds],
            profiled=[True] * len(bounds),
        ),
        operators_frame(
            operator=list(range(count)),
            name=[f"gemm_{at}" for at in range(count)],
            op_type=["gemm"] * count,
            level=["device_kernel"] * count,
        ),
        calls_frame(
            operator=list(range(count)),
            run=of_run if runs else [0] * count,
            device=["0"] * count,
            stream=["7"] * count,
            start_ns=[start for start, *_ in calls],
            dur_ns=[end - start for start, end, *_ in calls],
            source_row=list(range(count)),
        ),
        host=host_of(spans, calls, handed),
    )
