"""Processes and devices of one PyTorch trace: each is a trace of its own, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.trace import Trace
from tests.readers.pytorch.test_kineto import (
    ADD,
    GEMM,
    codes,
    event,
    kernel,
    launch,
    op,
    step,
    trace_of,
)

Events = list[dict[str, Any]]


def on(device: int, one: dict[str, Any]) -> dict[str, Any]:
    """The same kernel on another device."""
    return {**one, "pid": device, "args": {**one["args"], "device": device}}


def of_host(pid: object, events: Iterable[dict[str, Any]]) -> Events:
    """The same events of another process."""
    return [{**one, "pid": pid} for one in events]


def times(trace: Trace) -> dict[str, int]:
    return {name: int(one.calls["dur_ns"].sum()) for name, one in trace.units.items()}


def launchers(trace: Trace) -> list[str]:
    return trace.operators["launched_by"].tolist()


def test_one_process_that_runs_two_devices() -> None:
    """DataParallel: 5 + 2 µs on one, 4 µs on the other, launched in one step by three calls."""
    trace = trace_of([
        step(1, 0, 100), op("aten::mm", 10, 20, 1), op("aten::add", 40, 10, 2),
        launch(12, 1), launch(14, 2), launch(42, 3),
        event("cuda_runtime", "cudaDeviceSynchronize", 60, 30),
        on(0, kernel(GEMM, 20, 5, 1)), on(1, kernel(GEMM, 22, 4, 2)), on(0, kernel(ADD, 45, 2, 3)),
    ])  # fmt: skip
    assert times(trace) == {"device:0": 7000, "device:1": 4000}
    first, second = trace.units.values()
    assert [one.runs["dur_ns"].tolist() for one in (first, second)] == [[100_000], [100_000]]
    assert launchers(first) == ["aten::mm", "aten::add"] and launchers(second) == ["aten::mm"]
    assert [one.runs["launches"].tolist() for one in (first, second)] == [[2], [1]]
    for one in (first, second):  # what the host waited for belongs to both
        assert one.host_waits is not None and one.host_waits.names == ("cudaDeviceSynchronize",)
        assert codes(one) == {"one_of_devices": 2}
        assert one.host is not None and len(one.host.starts_ns) == 7  # as does what it did
    assert [one.host.launch_ns.tolist() for one in (first, second) if one.host] == [
        [12_000, 42_000], [14_000],
    ]  # fmt: skip


def rank(pid: object, shift: float, mm: float, device: int = 0) -> Events:
    """A step of 100 µs with two kernels, whose calls have the same ids in every rank."""
    host = [
        step(1, shift, 100), op("aten::mm", shift + 10, 20, 1), op("aten::add", shift + 40, 10, 2),
        launch(shift + 12, 1), launch(shift + 42, 2),
    ]  # fmt: skip
    kernels = [kernel(GEMM, shift + 50, mm, 1), kernel(ADD, shift + 70, 2, 2)]
    return [*of_host(pid, host), *(on(device, one) for one in kernels)]


@pytest.mark.parametrize("shift", [0, 7, 5000])
@pytest.mark.parametrize("device", [0, 1])
def test_ranks_one_after_the_other_whose_calls_have_the_same_ids(shift: float, device: int) -> None:
    """Of two files of one GPU each, or of one node, one after the other in one file."""
    trace = trace_of([*rank(11, 0, 5), *rank(12, shift, 8, device)])
    assert times(trace) == {"process:11": 7000, "process:12": 10_000}
    for at, one in enumerate(trace.units.values()):
        assert one.runs["start_ns"].tolist() == [1000 * shift * at]
        assert one.runs["dur_ns"].tolist() == [100_000]
        assert one.calls["run"].tolist() == [0, 0]
        assert launchers(one) == ["aten::mm", "aten::add"]
        assert codes(one) == {"one_of_processes": 2}
        assert one.host is not None and one.host.lane_names == ("thread 1",)
        assert one.host.starts_ns.tolist() == [
            round(1000 * (shift * at + us)) for us in (0, 10, 12, 40, 42)
        ]


def test_ranks_in_order_of_time_on_devices_of_their_own() -> None:
    """Where a join sorted the events, a device keeps to one of the ranks."""
    both = [*rank(11, 0, 5, 3), *rank(12, 1, 8, 4)]
    trace = trace_of(sorted(both, key=lambda one: float(one["ts"])))
    assert times(trace) == {"process:11": 7000, "process:12": 10_000}
    assert codes(trace) == {"one_of_processes": 2, "launchers_assumed": 2}


def test_ranks_with_names_in_front_of_their_numbers() -> None:
    def named(name: str, events: Events) -> Events:
        return [{**one, "pid": f"[{name}] {one['pid']}"} for one in events]

    both = [*named("TP00", rank(7, 0, 5)), *named("TP01", rank(7, 1, 8))]
    trace = trace_of(sorted(both, key=lambda one: float(one["ts"])))
    assert times(trace) == {"process:[TP00] 7": 7000, "process:[TP01] 7": 10_000}
    alone = trace_of([one for one in both if one["cat"] == "kernel"])  # without their hosts
    assert times(alone) == {"process:[TP00]": 7000, "process:[TP01]": 10_000}


def test_ranks_without_a_device_are_traces_of_their_own() -> None:
    def host(pid: int, length: float) -> Events:
        return of_host(pid, [step(1, 0, 100), op("aten::mm", 10, length, 1)])

    trace = trace_of([*host(11, 20), *host(12, 30), {**op("aten::add", 90, 1, 3), "pid": None}])
    assert times(trace) == {"process:11": 21_000, "process:12": 30_000}  # of no process: the first
    assert "several_processes" not in codes(trace)


def test_memory_is_that_of_the_device() -> None:
    def memory(device: int, allocated: int) -> dict[str, Any]:
        args = {"Total Allocated": allocated, "Device Type": 1, "Device Id": device}
        return {"ph": "i", "name": "[memory]", "pid": 100, "tid": 1, "ts": 30, "s": "t",
                "args": args}  # fmt: skip

    trace = trace_of([
        launch(1, 1), launch(2, 2), on(0, kernel(GEMM, 20, 5, 1)), on(1, kernel(GEMM, 22, 4, 2)),
        memory(0, 3 << 20), memory(1, 5 << 20),
    ])  # fmt: skip
    peaks = [[max(use.allocated) for use in one.memory] for one in trace.units.values()]
    assert peaks == [[3 << 20], [5 << 20]]


def test_two_ranks_of_one_file_are_two_sides() -> None:
    """From the first kernel to the end of the last of a step: both took 100 µs."""
    trace = trace_of([*rank(11, 0, 5), *rank(12, 0, 8)])
    comparison = compare(*choose_sides(trace))
    assert [side.trace.meta.variant for side in (comparison.baseline, comparison.candidate)] == [
        "process:11", "process:12",
    ]  # fmt: skip
    assert {one.code for one in comparison.diagnostics} >= {"one_recording"}


@pytest.mark.parametrize("kind", ["devices", "processes"])
def test_a_file_of_a_hundred_thousand_stays_one_trace(kind: str) -> None:
    """More than 64 are not taken apart, which is said."""
    count = 100_000
    if kind == "devices":
        events = [on(at, kernel(GEMM, at, 1, at)) for at in range(count)]
    else:
        events = [
            one
            for at in range(count // 2)
            for one in ({**launch(at, at), "pid": at + 1}, kernel(GEMM, at + 1, 1, at))
        ]
    trace = trace_of(events)
    assert trace.others == ()
    assert codes(trace)["units_beyond"] in (count, 65)
    assert int(trace.calls["n"].sum()) == (count if kind == "devices" else count // 2)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),  # process of the host, 3 for a kernel that nothing launched
            st.integers(0, 2),  # device
            st.integers(0, 40),  # id of the call, which may be another's
            st.integers(1, 50),  # µs
        ),
        min_size=1,
        max_size=25,
    )
)
def test_units_have_every_kernel_once(rows: list[tuple[int, int, int, int]]) -> None:
    events: Events = []
    for at, (process, device, correlation, length) in enumerate(rows):
        if process < 3:
            events.append({**launch(100 * at, correlation), "pid": 500 + process})
        events.append(on(device, kernel(GEMM, 100 * at + 10, length, correlation)))
    trace = trace_of(events)
    units = list(trace.units.values()) or [trace]
    calls = pd.concat([one.calls for one in units])
    kernels = [at for at, one in enumerate(events) if one["cat"] == "kernel"]
    assert sorted(calls["source_row"]) == kernels
    assert int(calls["dur_ns"].sum()) == 1000 * sum(length for *_, length in rows)
    devices = {one.meta.variant: set(one.calls["device"]) for one in units}
    assert all(len(told) == 1 for told in devices.values())
