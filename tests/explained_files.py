"""Two PyTorch profiles of which the second has a known change, with any text in all names."""

from __future__ import annotations

import json
from typing import Any

STEPS, LAYERS = 3, 8
FRAME = "/home/alice/work/loader.py(12): __next__"
LOAD = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
# Kernels of a layer: name, operator that launches it, us.
LAYER = (("norm_kernel", "aten::norm", 5), ("gemm_kernel", "aten::mm", 40),
         ("flash_fwd_kernel", "aten::attention", 30))  # fmt: skip
ADDED = ("quantise_kernel", "aten::quantise", 9)
WAIT_US = 400  # longer in the candidate's steps, while data are loaded


def baseline(mark: str = "") -> bytes:
    """Three steps of eight layers, 600 us of kernels each."""
    return _profile(mark, LAYER, wait_us=50)


def candidate(mark: str = "") -> bytes:
    """The same with a kernel of 9 us before each attention, and 350 us more of loading a step."""
    return _profile(mark, (*LAYER[:2], ADDED, LAYER[2]), wait_us=WAIT_US)


def _profile(mark: str, layer: tuple[tuple[str, str, int], ...], wait_us: int) -> bytes:
    events: list[dict[str, Any]] = []
    now, correlation = 1000, 1

    def add(
        cat: str, name: str, ts: int, dur: int, *, on_device: bool = False, **args: Any
    ) -> None:
        pid, tid = (0, 7) if on_device else (100, 100)
        at: dict[str, Any] = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid}
        events.append(at | {"ts": ts, "dur": dur, "args": args})

    for step in range(STEPS):
        begin = now
        add("python_function", FRAME + mark, now, wait_us, **{"Python id": correlation})
        add("user_annotation", LOAD + mark, now, wait_us)
        now += wait_us
        for name, operator, us in layer * LAYERS:
            add("cpu_op", operator + mark, now, 2, **{"External id": correlation})
            add("cuda_runtime", "cudaLaunchKernel", now, 1, correlation=correlation)
            add(
                "kernel", name + mark, now + 2, us, on_device=True,
                correlation=correlation, device=0, stream=7,
            )  # fmt: skip
            now, correlation = now + us + 3, correlation + 1
        add("user_annotation", f"ProfilerStep#{step}", begin, now - begin)
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()
