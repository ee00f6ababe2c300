"""Traces of PyTorch's profiler with modules, operators and shapes, whose times are given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace


@dataclass(frozen=True)
class Launch:
    """A kernel of `us` that an operator launches within modules, outermost first, as 'Layer_0'."""

    modules: tuple[str, ...]
    operator: str
    shapes: tuple[tuple[int, ...], ...]
    us: int
    kernel: str = "gemm"


def kineto_json(launches: Sequence[Launch], step: int = 0) -> bytes:
    """A file of one step with these launches, one behind the other."""
    host = {"ph": "X", "pid": 1, "tid": 1}
    ends = 100 * (len(launches) + 1)
    events: list[dict[str, object]] = [
        {**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": 0, "dur": ends}
    ]
    device_at = 1000
    for number, launch in enumerate(launches):
        at = 100 * (number + 1)
        for depth, module in enumerate(launch.modules):
            frame = {"name": f"nn.Module: {module}", "ts": at + depth, "dur": 80 - 2 * depth}
            events.append({**host, "cat": "python_function", **frame, "args": {}})
        dims = [list(shape) for shape in launch.shapes]
        args = {"External id": number, "Input Dims": dims, "Input type": ["float"] * len(dims)}
        events += [
            {
                **host, "cat": "cpu_op", "name": launch.operator, "ts": at + 20, "dur": 20,
                "args": args,
            },
            {
                **host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 25, "dur": 5,
                "args": {"correlation": number + 1, "External id": number},
            },
            {
                "ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": launch.kernel,
                "ts": device_at, "dur": launch.us,
                "args": {
                    "correlation": number + 1, "External id": number, "device": 0, "stream": 7,
                },
            },
        ]  # fmt: skip
        device_at += launch.us
    given = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "GPU"}],
        "traceEvents": events,
    }
    return json.dumps(given).encode()


def trace_of(launches: Sequence[Launch]) -> Trace:
    """What is read of such a file."""
    found = read(Source("t.json", kineto_json(launches)))
    assert isinstance(found, Trace)
    return found


NARROW, WIDE = ((8, 64, 64), (8, 64, 64)), ((8, 64, 512), (8, 512, 64))


def model(
    *, layers: int, narrow_us: int, wide_us: int, norm: str = "aten::native_layer_norm"
) -> list[Launch]:
    """A model of layers, each with two products of other shapes in its attention, and a norm."""
    launches = [Launch(("Net_0", "Embedding_0"), "aten::index_select", ((64,),), 5, "gather")]
    for at in range(layers):
        attention = ("Net_0", f"Layer_{at}", f"Attention_{at}")
        launches += [
            Launch(attention, "aten::bmm", NARROW, narrow_us),
            Launch(attention, "aten::bmm", WIDE, wide_us),
            Launch(("Net_0", f"Layer_{at}", f"Norm_{at}"), norm, ((64, 64),), 3, "norm"),
        ]
    return launches
