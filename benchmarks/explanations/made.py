"""A made trace, where no real one lies beside the project: a transformer of 8 layers on a GPU."""

from __future__ import annotations

from typing import Any

from benchmarks.explanations.document import Document, Event

_STEPS, _LAYERS = 4, 8
_LAUNCH_US, _BETWEEN_US = 4.0, 6.0
# Operator of the framework, kernel, us, shapes of its inputs.
_LAYER = (
    ("aten::native_layer_norm", "void vectorized_layer_norm_kernel<float>", 9.0, [[8, 512, 768]]),
    ("aten::addmm", "sm80_xmma_gemm_f16f16_qkv", 62.0, [[2304], [4096, 768], [768, 2304]]),
    ("aten::_flash_attention_forward", "flash_fwd_kernel", 55.0, [[8, 512, 12, 64]]),
    ("aten::_softmax", "void cunn_SoftMaxForward<4, float>", 21.0, [[8, 12, 512, 512]]),
    ("aten::addmm", "sm80_xmma_gemm_f16f16_out", 35.0, [[768], [4096, 768], [768, 768]]),
    ("aten::addmm", "sm80_xmma_gemm_f16f16_mlp", 95.0, [[3072], [4096, 768], [768, 3072]]),
    ("aten::gelu", "void gelu_kernel<c10::Half>", 14.0, [[8, 512, 3072]]),
    ("aten::add", "void add_kernel<c10::Half>", 8.0, [[8, 512, 768]]),
)  # fmt: skip


def document() -> Document:
    """Return the trace: 4 steps, in which the host launches one kernel behind the other."""
    events: list[Event] = []
    now, correlation = 1000.0, 1
    for step in range(_STEPS):
        begin = now
        for layer in range(_LAYERS):
            for operator, kernel, us, shapes in _LAYER:
                # No two recordings of one kernel are equal: a fixed pattern within 0.4 %.
                length = round(us * (1 + 0.004 * ((step * 5 + layer * 3) % 7 - 3) / 3), 3)
                events += _launched(operator, kernel, shapes, now, length, correlation)
                now += length + _BETWEEN_US
                correlation += 1
        now += 40.0
        name = f"ProfilerStep#{step + 1}"
        events.append(_event("user_annotation", name, begin - 2.0, now - begin - 4.0))
    return Document({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events})


def _launched(
    operator: str, kernel: str, shapes: Any, now: float, length: float, correlation: int
) -> list[Event]:
    """Return an operator of the host, its launch, and the kernel behind it."""
    started = now + 0.5
    on_device = _event("kernel", kernel, started + _LAUNCH_US, length, device=0, stream=7)
    on_device |= {"pid": 0, "tid": 7}
    on_device["args"] |= {"correlation": correlation, "grid": [64, 1, 1], "block": [128, 1, 1]}
    call = _event("cuda_runtime", "cudaLaunchKernel", started, 3.0, correlation=correlation)
    given = {"Input Dims": shapes, "Input type": ["c10::Half"] * len(shapes)}
    host = _event("cpu_op", operator, now, length + _BETWEEN_US - 1.0)
    host["args"] |= given | {"External id": correlation}
    return [host, call, on_device]


def _event(cat: str, name: str, ts: float, dur: float, **args: Any) -> Event:
    return {
        "ph": "X", "cat": cat, "name": name, "pid": 100, "tid": 100,
        "ts": round(ts, 3), "dur": round(dur, 3), "args": dict(args),
    }  # fmt: skip
