"""Counters of PyTorch's experimental CUPTI profiler: whose they are, and what is said of others."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from fusescope.analysis.doctor import fields
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.pytorch.kineto import KINETO
from fusescope.analysis.trace import Trace

FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
PCT = "sm__throughput.avg.pct_of_peak_sustained_elapsed"


def event(cat: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    on_device = cat in ("kernel", "cuda_profiler_range", "gpu_memcpy")
    return {"ph": "X", "cat": cat, "name": name, "pid": 0 if on_device else 9, "tid": 7,
            "ts": ts, "dur": dur, "args": args}  # fmt: skip


def counted(name: str, place: int, fadd: object, pct: object = 50.0, **more: Any) -> dict[str, Any]:
    """Times are shares of the recording."""
    args = {FADD: fadd, PCT: pct, **more}
    return event("cuda_profiler_range", name, 1000 * place, 1000, **args)


def op(name: str, at: float, dur: float, *calls: float) -> list[dict[str, Any]]:
    ran = [event("cuda_runtime", "cudaLaunchKernel", ts, 2, correlation=int(ts)) for ts in calls]
    return [event("cpu_op", name, at, dur, **{"External id": int(at)}), *ran]


def trace_of(events: list[dict[str, Any]]) -> Trace:
    header = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Toy GPU"}]}
    trace = read(Source("t.json", json.dumps({**header, "traceEvents": events}).encode()))
    assert isinstance(trace, Trace) and trace.meta.format == "kineto"
    return trace


def notes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def column(trace: Trace, name: str) -> dict[str, list[float | None]]:
    names = trace.operators["name"].astype(str).to_numpy()[trace.calls["operator"]]
    cells = trace.calls[name]
    found: dict[str, list[float | None]] = {}
    for operator, cell in zip(names, cells, strict=True):
        found.setdefault(operator, []).append(None if pd.isna(cell) else float(cell))
    return found


def kernel(name: str, ts: float, correlation: int) -> dict[str, Any]:
    return event("kernel", name, ts, 5, device=0, stream=7, correlation=correlation)


def test_ranges_are_kernels_where_names_and_order_agree() -> None:
    trace = trace_of([
        *op("aten::mm", 100, 30, 110, 120),
        kernel("gemm", 140, 110), kernel("split", 150, 120),
        event("gpu_memcpy", "Memcpy HtoD", 90, 3, device=0, stream=7),
        counted("gemm", 0, 7), counted("split", 1, 9, "NaN"),
    ])  # fmt: skip
    assert column(trace, FADD) == {"Memcpy HtoD": [None], "gemm": [7.0], "split": [9.0]}
    assert column(trace, PCT)["split"] == [None]
    assert fields(trace)["counters"] and KINETO.fields["counters"]
    assert not notes(trace).keys() & {"other_events", "counters_of_ranges"}


def test_ranges_of_other_kernels_are_said_with_what_they_count() -> None:
    trace = trace_of([*op("aten::mm", 100, 30, 110), kernel("gemm", 140, 110),
                      counted("other", 0, 7)])  # fmt: skip
    assert FADD not in trace.calls and notes(trace)["counters_of_ranges"] == 1
    [note] = [one for one in trace.diagnostics if one.code == "counters_of_ranges"]
    assert note.example == "other" and FADD in str(note.values["names"])


def test_without_kernels_ranges_are_those_of_the_launches_in_order() -> None:
    trace = trace_of([
        *op("aten::conv2d", 100, 100, 120, 150), *op("aten::relu", 300, 30, 310),
        counted("fft", 0, 8), counted("gemm", 1, 5), counted("relu_kernel", 2, 3, 20.0),
    ])  # fmt: skip
    assert column(trace, FADD) == {"aten::conv2d": [13.0], "aten::relu": [3.0]}
    # A mean of two kernels is not the sum of theirs.
    assert column(trace, PCT) == {"aten::conv2d": [None], "aten::relu": [20.0]}
    assert notes(trace)["counters_of_launches"] == 3 and "other_events" not in notes(trace)


@pytest.mark.parametrize("ranges", [1, 3])
def test_another_number_of_launches_joins_nothing(ranges: int) -> None:
    events = [*op("aten::mm", 100, 30, 110, 120), *(counted("k", n, 1) for n in range(ranges))]
    trace = trace_of(events)
    assert FADD not in trace.calls and notes(trace)["counters_of_ranges"] == ranges


def test_a_counter_takes_no_other_columns_place() -> None:
    trace = trace_of([*op("aten::mm", 100, 30, 110), kernel("gemm", 140, 110),
                      counted("gemm", 0, 7, dur_ns=1, stream=3, run=5, bytes=4)])  # fmt: skip
    assert trace.calls["dur_ns"].tolist() == [5000] and trace.calls["stream"].tolist() == ["7"]
    assert trace.operators["name"].tolist() == ["gemm"]


def test_counters_beyond_the_limit_are_counted() -> None:
    many = {f"m{n}.sum": n for n in range(400)}
    trace = trace_of([*op("aten::mm", 100, 30, 110), kernel("gemm", 140, 110),
                      event("cuda_profiler_range", "gemm", 0, 9, **many)])  # fmt: skip
    assert notes(trace)["counters_beyond"] == 100
