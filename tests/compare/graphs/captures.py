"""Files of PyTorch that capture a graph, replay it, or run without one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

Event = dict[str, object]
# Module, operator, shapes, kernel, us.
Step = tuple[str, str, list[list[int]], str, int]
LAYER: tuple[Step, ...] = (
    ("RMSNorm_0", "aten::rms_norm", [[32, 64]], "rms_norm_kernel", 5),
    ("Attention_0", "aten::mm", [[32, 64], [64, 192]], "Cijk_gemm_qkv", 40),
    (
        "Attention_0", "aten::scaled_dot_product_attention", [[32, 4, 16]],
        "paged_attention_kernel", 30,
    ),
    ("MLP_0", "aten::mm", [[32, 64], [64, 256]], "Cijk_gemm_up", 60),
)  # fmt: skip


def trace_of(events: Sequence[Event], name: str) -> Trace:
    """The trace of a file of these events."""
    file = {"schemaVersion": 1, "record_shapes": 1, "traceEvents": list(events)}
    trace = read(Source(name, json.dumps(file).encode()))
    assert isinstance(trace, Trace)
    return trace


def event(cat: str, name: str, ts: float, dur: float, **args: object) -> Event:
    lane = {"pid": 0, "tid": 7} if cat == "kernel" else {"pid": 100, "tid": 100}
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "args": args, **lane}


def launched(steps: Sequence[Step], begin: int, *, runs: bool, is_named: bool) -> list[Event]:
    """What the host does for these kernels, 100 us each: a module, an operator, a launch; with
    `runs` the kernels behind it, with `is_named` the launch says which kernel."""
    events = []
    for at, (module, operator, shapes, kernel, us) in enumerate(steps):
        now, key = begin + 100 * at, begin + at
        events += [
            event("python_function", f"nn.Module: {module}", now, 90, **{"Python id": key}),
            event(
                "cpu_op", operator, now + 5, 60,
                **{"Input Dims": shapes, "Input type": ["c10::Half"] * len(shapes)},
            ),
            event(
                "cuda_runtime", "hipLaunchKernel", now + 10, 4, correlation=key,
                **({"kernel": kernel} if is_named else {}),
            ),
        ]  # fmt: skip
        if runs:
            events.append(
                event("kernel", kernel, now + 20, us, correlation=key, device=0, stream=7)
            )
    return events


def capture(steps: Sequence[Step], begin: int = 1000, *, is_named: bool = True) -> list[Event]:
    """The capture of a graph of these kernels, behind one kernel that runs."""
    end = begin + 100 * len(steps) + 10
    first = launched([("Model_0", "aten::fill_", [[1]], "fill_kernel", 3)], begin - 200,
                     runs=True, is_named=is_named)  # fmt: skip
    return [
        *first,
        event("cuda_runtime", "hipStreamBeginCapture", begin - 10, 3, correlation=begin + 9000),
        *launched(steps, begin, runs=False, is_named=is_named),
        event("cuda_runtime", "hipStreamEndCapture", end, 3, correlation=begin + 9001),
    ]


def replay(steps: Sequence[Step], begin: int = 1000, times: int = 1) -> list[Event]:
    """Replays of the graph, each by one launch."""
    events, now = [], begin
    for at in range(times):
        key = 500_000 + begin + at
        events.append(event("cuda_runtime", "hipGraphLaunch", now, 8, correlation=key))
        now += 20
        for _, _, _, kernel, us in steps:
            events.append(event("kernel", kernel, now, us, correlation=key, device=0, stream=7))
            now += us
        now += 50
    return events
