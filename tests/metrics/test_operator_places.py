"""Where operators ran: a cell of several calls is true of each of them."""

from __future__ import annotations

import pandas as pd
import pytest

from fusescope.analysis.metrics import places
from fusescope.analysis.metrics.breakdown import by_class, by_type
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

TYPES = ["MatMul", "MatMul", "Add", "Add", "Add"]
# Of the products the second kind takes most of the time, though it is called once.
DUR_NS = [10, 30, 5, 5, 5]


def trace_of(tool: str, providers: list[str | None], device: str | None = None) -> Trace:
    return Trace(
        Meta("hand", tool),
        runs_frame(run=[0], kind=["step"], dur_ns=[55], profiled=[True]),
        operators_frame(
            operator=range(5), name=list("abcde"), op_type=TYPES, op_class=TYPES, provider=providers
        ),
        calls_frame(
            operator=range(5), run=[0] * 5, start_ns=range(0, 50, 10), dur_ns=DUR_NS,
            device=[device] * 5, n=[1] * 5,
        ),
    )  # fmt: skip


def told(trace: Trace) -> dict[str, str | None]:
    table = by_type(trace)
    assert list(by_class(trace)["provider"]) == list(table["provider"])
    return dict(zip(table["op_type"], table["provider"], strict=True))


@pytest.mark.parametrize(
    ("providers", "expected"),
    [
        (["AI_CORE", "MIX_AIC", "AIV", "AIV", "AIV"], {"MatMul": "MIX_AIC, AI_CORE", "Add": "AIV"}),
        # One call that does not say where it ran may have run anywhere.
        (["AI_CORE", "AI_CORE", "AIV", None, "AIV"], {"MatMul": "AI_CORE", "Add": None}),
        ([None] * 5, {"MatMul": None, "Add": None}),
    ],
)
def test_a_kind_names_every_place_of_its_calls(
    providers: list[str | None], expected: dict[str, str | None]
) -> None:
    assert told(trace_of("msprof", providers)) == expected


@pytest.mark.parametrize(
    ("tool", "device", "place"),
    [("TensorRT", "NVIDIA A100", None), ("openvino", "CPU", "CPU"), ("OpenVINO", None, None)],
)
def test_a_kernel_is_no_place(tool: str, device: str | None, place: str | None) -> None:
    trace = trace_of(tool, ["gemm_a", "gemm_b", "jit", "jit", None], device)
    assert told(trace) == {"MatMul": place, "Add": place}
    where, kernels = places.of_operators(trace, trace.operators["provider"])
    assert [None if pd.isna(one) else one for one in where] == [place] * 4 + [None]
    assert kernels is not None and list(kernels)[:2] == ["gemm_a", "gemm_b"]


def test_names_are_without_what_all_of_them_have() -> None:
    both = "CPUExecutionProvider, CUDAExecutionProvider"
    assert places.shown(both) == "CPU, CUDA"
