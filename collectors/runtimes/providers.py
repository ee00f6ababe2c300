"""Execution providers of ONNX Runtime beside its own for the CPU, by their names in variants."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from importlib import metadata

CPU = "CPUExecutionProvider"


@dataclass(frozen=True)
class Provider:
    """`engine_name` is what ONNX Runtime calls it, `package` the build on the package index that
    has it, '' where ONNX Runtime has to be built for it. What it does not take goes to
    `next_best`, if there is one, and then to the CPU. One that `has_device` starts kernels there
    and does not wait for them."""

    name: str
    title: str
    engine_name: str
    package: str = ""
    next_best: str = ""
    has_device: bool = False


PROVIDERS = (
    Provider("openvino", "OpenVINO", "OpenVINOExecutionProvider", "onnxruntime-openvino"),
    Provider("dnnl", "oneDNN", "DnnlExecutionProvider"),
    Provider("cuda", "CUDA", "CUDAExecutionProvider", "onnxruntime-gpu", has_device=True),
    Provider(
        "tensorrt",
        "TensorRT",
        "TensorrtExecutionProvider",
        "onnxruntime-gpu",
        next_best="cuda",
        has_device=True,
    ),
)
_BY_NAME = {provider.name: provider for provider in PROVIDERS}


def find(name: str) -> Provider:
    """The provider of that name, which has to be one."""
    return _BY_NAME[name]


def installed() -> tuple[Provider, ...]:
    """Those whose build of ONNX Runtime is there, in their order; starts nothing. Whether the
    device that one needs is there shows when it is loaded."""
    return tuple(one for one in PROVIDERS if one.package and _is_installed(one.package))


def options(name: str, threads: int) -> dict[str, str]:
    """What a provider is told: to compute in float32 where it would not by itself, and with the
    threads of the recording where it has a pool of its own."""
    if name == "openvino":
        return {"device_type": "CPU", "precision": "FP32", "num_of_threads": str(threads)}
    if name == "cuda":
        return {"use_tf32": "0"}
    return {}


def _is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def has_device(name: str) -> bool:
    """Whether the provider of that name runs operators on a device; '' is the CPU's."""
    return name != "" and find(name).has_device


def made_ready(name: str, threads: int) -> list[str | tuple[str, dict[str, str]]]:
    """The providers of a session, as ONNX Runtime takes them; '' is the CPU's alone. Libraries of
    a device that pip installed are loaded: ONNX Runtime does not look for them there."""
    if has_device(name):
        _load_libraries()
    chosen: list[str | tuple[str, dict[str, str]]] = []
    while name:
        provider = find(name)
        chosen.append((provider.engine_name, options(name, threads)))
        name = provider.next_best
    return [*chosen, CPU]


def wait_for_kernels() -> None:
    """From here on this process waits for every kernel that it starts on a device, so that the time
    of an operator is not that of its launch. For processes that have not used one yet."""
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"


@cache
def _load_libraries() -> None:
    import onnxruntime as ort

    load = getattr(ort, "preload_dlls", None)  # since 1.21
    if load is not None:
        load(directory="")  # what cannot be loaded is printed, and told by the session
