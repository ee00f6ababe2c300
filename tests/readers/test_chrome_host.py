"""The host of a Chrome trace: launches joined by the numbers of the file, and only by those."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.host.latency import launch_latency
from fusescope.analysis.host.runs import idle_of_runs
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

LABELS = [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
    {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "Stream #7(Kernel)"}},
    {"ph": "M", "pid": 9, "name": "process_name", "args": {"name": "/host:CPU"}},
    {"ph": "M", "pid": 9, "tid": 1, "name": "thread_name", "args": {"name": "python"}},
]


def kernel(start: float, end: float, launch: object = None, **more: Any) -> dict[str, Any]:
    args = {} if launch is None else {"correlation_id": launch}
    return {"ph": "X", "pid": 1, "tid": 1, "name": "gemm", "ts": start, "dur": end - start,
            "args": args, **more}  # fmt: skip


def host(name: str, start: float, end: float, tid: int = 1, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "pid": 9, "tid": tid, "name": name, "ts": start, "dur": end - start,
            "args": args}  # fmt: skip


def call(launch: object, start: float, end: float, tid: int = 1) -> dict[str, Any]:
    return host("cuLaunchKernel", start, end, tid, correlation_id=launch)


def trace_of(*events: dict[str, Any]) -> Trace:
    trace = read(Source("trace.json", json.dumps({"traceEvents": [*LABELS, *events]}).encode()))
    assert isinstance(trace, Trace) and trace.meta.format == "chrome_trace"
    return trace


def causes(trace: Trace) -> dict[tuple[str, str], int]:
    found = idle_of_runs(trace)
    assert found is not None
    return {(one.kind, one.name): one.idle_ns for one in found.idle.causes}


def notes(trace: Trace) -> dict[str, int | None]:
    return {note.code: note.count for note in trace.diagnostics}


PYTHON = host("$train.py:7 load", 0, 60)


@pytest.mark.parametrize(("key", "number"), [
    ("correlation_id", "2"), ("correlation_id", 2), ("correlation", 2),
])  # fmt: skip
def test_idle_time_is_put_to_the_thread_that_launches_next(key: str, number: object) -> None:
    """Idle are 30 to 70: load until 60, the launch from there on; 10 and 9 us from launch to
    start."""
    trace = trace_of(
        kernel(20, 30, args={key: 1}), kernel(70, 80, args={key: number}), PYTHON,
        host("cuLaunchKernel", 10, 12, **{key: 1}), host("cuLaunchKernel", 61, 63, **{key: 2}),
    )  # fmt: skip
    assert causes(trace) == {("python", "train.py(7): load"): 30_000, ("launching", ""): 9_000,
                             ("unknown", ""): 1_000}  # fmt: skip
    assert trace.host is not None and trace.host.lane_names == ("thread python",)
    latency = launch_latency(trace)
    assert latency is not None and latency.median_ns == 9_500
    assert "host_events" not in notes(trace) and "launches_unknown" not in notes(trace)


def test_what_no_single_call_launched_is_counted_and_joined_with_none() -> None:
    trace = trace_of(
        kernel(20, 30, 1), kernel(40, 50, 2), kernel(60, 70, 3), kernel(80, 90),
        call(1, 10, 12), call(2, 31, 32), call(2, 33, 34, tid=2),
    )  # fmt: skip
    assert trace.host is not None
    assert len(trace.host.launch_rows) == 1, "two calls have 2, none 3, and the last no number"
    assert notes(trace)["launches_unknown"] == 3


def test_a_call_that_begins_after_the_kernel_launched_another_one() -> None:
    kernels = [kernel(20 * n, 20 * n + 10, n) for n in range(1, 6)]
    calls = [call(n, 20 * n - 5, 20 * n - 4) for n in range(1, 5)]
    trace = trace_of(*kernels, *calls, call(5, 104, 105))
    assert trace.host is not None and len(trace.host.launch_rows) == 4
    assert notes(trace)["launches_unknown"] == 1 and notes(trace)["kernels_before_launch"] == 1
    assert trace.calls["start_ns"].tolist() == [20_000, 40_000, 60_000, 80_000, 100_000]


def test_a_device_with_another_clock_is_moved_with_its_kernels() -> None:
    """Both kernels begin 5 us before their calls."""
    trace = trace_of(kernel(20, 30, 1), kernel(40, 50, 2), call(1, 25, 26), call(2, 45, 46))
    assert trace.calls["start_ns"].tolist() == [25_000, 45_000]
    assert trace.host is not None and len(trace.host.launch_rows) == 2


def test_a_file_without_numbers_has_no_host() -> None:
    trace = trace_of(kernel(20, 30), kernel(70, 80), PYTHON, host("cuLaunchKernel", 10, 12))
    assert trace.host is None
    assert notes(trace)["host_events"] == 2 and "launches_unknown" not in notes(trace)


def test_numbers_of_the_host_alone_join_nothing() -> None:
    trace = trace_of(kernel(20, 30), PYTHON, call(1, 10, 12))
    assert trace.host is None and notes(trace)["host_events"] == 2


def test_an_operator_with_a_number_is_no_call_to_the_runtime() -> None:
    """A long call to the runtime waits for something; an operator that launches does not."""
    trace = trace_of(
        kernel(10, 20, 1), kernel(300, 310, 2),
        host("MatMul", 0, 5, correlation_id=1), host("MatMul", 100, 295, correlation_id=2),
    )  # fmt: skip
    found = causes(trace)
    assert not {kind for kind, _ in found} & {"synchronisation", "copy_waits"}


def test_steps_of_the_host_are_runs_of_what_was_launched_in_them() -> None:
    """The second step marks 100 to 200 and its kernel runs until 215, so steps last from their
    first kernel to the end of their last one."""
    trace = trace_of(
        host("train", 0, 100, step_num="0"), host("train", 100, 200, step_num="1"),
        call(1, 10, 11), call(2, 20, 21), call(3, 110, 111),
        kernel(15, 25, 1), kernel(95, 105, 2), kernel(205, 215, 3),
    )  # fmt: skip
    assert trace.runs["kind"].tolist() == ["step", "step"]
    assert trace.runs["dur_ns"].tolist() == [90_000, 10_000]
    assert trace.calls["run"].tolist() == [0, 0, 1]


NUMBERS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=50), st.lists(st.integers())
)


@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 50), NUMBERS), max_size=8),
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 50), NUMBERS), max_size=8),
)
def test_any_numbers_read_and_no_kernel_is_before_its_call(
    kernels: list[tuple[int, int, object]], calls: list[tuple[int, int, object]]
) -> None:
    trace = trace_of(
        *(kernel(start, start + dur, number) for start, dur, number in kernels),
        *(call(number, start, start + dur) for start, dur, number in calls),
        kernel(1000, 1001),
    )  # fmt: skip
    if trace.host is None:
        return
    starts = dict(zip(trace.calls["source_row"], trace.calls["start_ns"], strict=True))
    for row, launched in zip(trace.host.launch_rows, trace.host.launch_ns, strict=True):
        assert launched <= starts[row]
    unknown = notes(trace).get("launches_unknown") or 0
    assert len(trace.host.launch_rows) + unknown == len(trace.calls)
