"""PyTorch's profiler without Kineto: the device's own times, and the host apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

HOST, DEVICE = "CPU functions", "CUDA functions"


def event(name: str, pid: str, ts: float, dur: float, tid: int = 0) -> dict[str, Any]:
    return {"name": name, "ph": "X", "ts": ts, "dur": dur, "tid": tid, "pid": pid, "args": {}}


def arrow(name: str, ts: float) -> dict[str, Any]:
    return {"name": name, "ph": "s", "ts": ts, "tid": 1, "pid": HOST, "id": 0,
            "cat": "cpu_to_cuda", "args": {}}  # fmt: skip


def trace_of(events: list[dict[str, Any]]) -> Trace:
    trace = read(Source("profile.json", json.dumps(events).encode()))
    assert isinstance(trace, Trace)
    return trace


def by_name(trace: Trace) -> dict[str, int]:
    names = trace.operators["name"].astype(str).to_numpy()[trace.calls["operator"]]
    return trace.calls.groupby(names)["dur_ns"].sum().to_dict()


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def test_operators_of_the_device_count_with_their_own_time() -> None:
    events = [each for at in (1, 101) for each in (
        event("aten::linear", HOST, at, 40, 1), arrow("aten::linear", at),
        event("aten::linear", DEVICE, at + 2, 30), event("aten::addmm", HOST, at + 4, 20, 1),
        event("aten::addmm", DEVICE, at + 5, 25),
    )]  # fmt: skip
    trace = trace_of(events)
    assert (trace.meta.format, trace.meta.tool) == ("pytorch_autograd", "PyTorch profiler")
    assert by_name(trace) == {"aten::linear": 10_000, "aten::addmm": 50_000}
    assert codes(trace)["host_events"] == 4 and "no_device_rows" not in codes(trace)


def test_without_a_device_the_host_counts_and_launches_without_kernels_are_said() -> None:
    trace = trace_of([event("addmm", HOST, 0, 40, 1), arrow("addmm", 0),
                      event("mm", HOST, 5, 30, 1)])  # fmt: skip
    assert by_name(trace) == {"addmm": 10_000, "mm": 30_000}
    assert codes(trace)["no_device_rows"] == 1 and "host_events" not in codes(trace)


def test_events_without_a_valid_time_are_counted() -> None:
    trace = trace_of([event("mm", HOST, 0, 4), event("mm", HOST, 5, -1)])
    assert codes(trace)["bad_time"] == 1 and trace.calls["dur_ns"].tolist() == [4000]


def test_a_file_without_operators_is_refused() -> None:
    with pytest.raises(FuseScopeError) as refused:
        trace_of([arrow("addmm", 0)])
    assert refused.value.code == "pytorch_trace_empty"
