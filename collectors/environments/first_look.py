"""What a Python says of itself and of an engine. FuseScope runs this text in a Python of the
user's, of whatever version, so it imports nothing of FuseScope.

`MODULE PACKAGE…` prints what is there without importing it; `+MODULE` imports the engine, and
prints its version, build, compiler and devices. Both print one JSON object as the last line.
"""

# ruff: noqa: BLE001, S112, UP006, UP035 - an engine may raise anything; types as Python 3.5 has them

import importlib
import importlib.util
import json
import platform
import sys
import sysconfig
from typing import Any, Dict, List, Tuple

Seen = Tuple[str, str, List[str]]  # build, compiler, devices


def place_of(name: str) -> Any:
    """Return where a module lies, None where it is not there."""
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        return None
    if spec is None:
        return None
    return spec.origin or "a folder"


def of_the_python(module: str, packages: List[str]) -> Dict[str, Any]:
    """Return what this Python is, and which of these packages it lacks."""
    return {
        "python": sys.executable,
        "version": platform.python_version(),
        "abi": sysconfig.get_config_var("SOABI") or "",
        "platform": sysconfig.get_platform(),
        "headers": sysconfig.get_path("include") or "",
        "module": place_of(module),
        "lacks": [name for name in packages if place_of(name) is None],
    }


def version_of(name: str) -> str:
    """Return the version of a package, '' where it is not there."""
    try:
        return str(importlib.import_module(name).__version__)
    except Exception:
        return ""


def of_torch(torch: Any) -> Seen:
    """Return the build, the compiler and the devices of PyTorch."""
    build = [
        title + " " + str(version)
        for title, version in (
            ("CUDA", torch.version.cuda),
            ("ROCm", getattr(torch.version, "hip", None)),
            ("XPU", getattr(torch.version, "xpu", None)),
        )
        if version
    ]
    triton = version_of("triton")
    compiler = "TorchInductor" + (", Triton " + triton if triton else "")
    devices: List[str] = []
    for kind in ("cuda", "xpu", "mps", "npu"):
        part = getattr(torch, kind, None)
        try:
            if part is None or not part.is_available():
                continue
            count = part.device_count() if hasattr(part, "device_count") else 1
            name = getattr(part, "get_device_name", None)
            devices += [name(number) if name else kind for number in range(count)]
        except Exception:
            devices.append(kind)
    return (" ".join(build) or "CPU"), compiler, devices


def of_jax(jax: Any) -> Seen:
    """Return the same of JAX."""
    version = version_of("jaxlib")
    found = [one for one in jax.devices() if one.platform != "cpu"]
    devices = [str(one.device_kind) for one in found]
    build = found[0].client.platform_version if found else "CPU"
    return build, "XLA, jaxlib " + version, devices


def of_mindspore(mindspore: Any) -> Seen:
    """Return the same of MindSpore."""
    devices: List[str] = []
    for kind in ("Ascend", "GPU"):
        try:
            if mindspore.hal.is_available(kind):
                devices += [kind] * mindspore.hal.device_count(kind)
        except Exception:
            continue
    compiler = "AKG" if place_of("akg") or place_of("mindspore._akg") else ""
    return "", compiler, devices


def of_openvino(openvino: Any) -> Seen:
    """Return the same of OpenVINO."""
    core = openvino.Core()
    devices = [
        str(core.get_property(one, "FULL_DEVICE_NAME"))
        for one in core.available_devices
        if not one.startswith("CPU")
    ]
    return str(openvino.get_version()), "", devices


def of_onnxruntime(onnxruntime: Any) -> Seen:
    """Return the same of ONNX Runtime: of devices the execution providers that it has."""
    names = [
        str(one).replace("ExecutionProvider", "") for one in onnxruntime.get_available_providers()
    ]
    return "", "", [one for one in names if one not in ("CPU", "Azure")]


def of_the_engine(module: str) -> Dict[str, Any]:
    """Return what the engine says, imported."""
    engine = importlib.import_module(module)
    asked = globals().get("of_" + module)
    build, compiler, devices = asked(engine) if asked else ("", "", [])
    return {
        "version": str(engine.__version__),
        "build": build,
        "compiler": compiler,
        "devices": devices,
    }


def main(words: List[str]) -> None:
    """Print what was asked for."""
    first = words[0]
    found = of_the_engine(first[1:]) if first[0] == "+" else of_the_python(first, words[1:])
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
