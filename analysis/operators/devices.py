"""Execution providers, of ONNX Runtime and PyTorch, that run operators on a device of its own."""

from __future__ import annotations

# The host does not wait for their kernels. Names as ONNX Runtime begins them.
_PROVIDERS = (
    "CUDA", "ROCM", "MIGraphX", "Tensorrt", "TensorRT", "NvTensorRTRTX", "Dml", "WebGpu", "Js",
    "XPU", "MPS", "NPU",  # of PyTorch
)  # fmt: skip


def runs_on_device(provider: str) -> bool:
    """Whether that execution provider launches kernels on a device and does not wait for them."""
    return provider.startswith(_PROVIDERS)
