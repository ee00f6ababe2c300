"""Kineto traces of matrix products, collectives and light operators, written event by event."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace


class Product(NamedTuple):
    """`aten::mm` of [m, k] and [k, n], run once by a kernel for so many µs."""

    kernel: str
    data_type: str
    us: int
    m: int
    k: int
    n: int


class Collective(NamedTuple):
    """A collective as PyTorch records it: elements that each rank gives and gets."""

    name: str
    data_type: str
    us: int
    sent: int
    received: int


class Pointwise(NamedTuple):
    """An operator on single values of these shapes, that launches so many kernels of so many µs."""

    op: str
    data_type: str
    us: int
    shapes: tuple[tuple[int, ...], ...]
    kernels: int = 1


def traced_side(device: str, *kernels: Product | Collective | Pointwise) -> Side:
    """A Kineto trace of these, one after the other, on one device."""
    events: list[dict[str, Any]] = []
    ts = launched = 0
    for one in kernels:
        ts += 100
        told: dict[str, Any]
        if isinstance(one, Product):
            op, kernel = "aten::mm", one.kernel
            told = {
                "Input Dims": [[one.m, one.k], [one.k, one.n]],
                "Input type": [one.data_type, one.data_type],
            }
        elif isinstance(one, Pointwise):
            op, kernel = one.op, "void at::native::vectorized_elementwise_kernel<4>(int)"
            told = {
                "Input Dims": [list(shape) for shape in one.shapes],
                "Input type": [one.data_type] * len(one.shapes),
            }
        else:
            op, kernel = "record_param_comms", "ncclDevKernel_Generic_1(ncclDevKernelArgs)"
            told = {
                "Collective name": one.name,
                "dtype": one.data_type,
                "In msg nelems": one.sent,
                "Out msg nelems": one.received,
                "Input Dims": [[[one.sent]], []],
                "Input type": ["TensorList", ""],
            }
        events.append(_event("cpu_op", op, ts, 20, told))
        start = ts
        for _ in range(one.kernels if isinstance(one, Pointwise) else 1):
            launched += 1
            args = {"correlation": launched}
            on_device = {"device": 0, "stream": 7, **args}
            events += [
                _event("cuda_runtime", "cudaLaunchKernel", start + 1, 2, args),
                _event("kernel", kernel, ts + 50, one.us, on_device),
            ]
            ts += one.us
        ts += 50
    file = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": device}],
        "traceEvents": events,
    }
    trace = read(Source("t.json", json.dumps(file).encode()))
    assert isinstance(trace, Trace)
    return side_of_trace(trace)


def _event(cat: str, name: str, ts: int, dur: int, args: dict[str, Any]) -> dict[str, Any]:
    pid = 0 if cat == "kernel" else 100
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 1, "ts": ts, "dur": dur,
            "args": args}  # fmt: skip
