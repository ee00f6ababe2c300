"""What a recording may ask of device and data type of a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.spelling import nearest
from fusescope.collectors.torch.names import CUDA_GRAPH
from fusescope.collectors.workers.placement import CPU, Placement

DTYPES = ("float32", "bfloat16", "float16")
DEVICES = (CPU, "cuda", "rocm", "xpu", "mps", "npu")
_CONVERT = ("torch", "jax")  # engines that convert a model
# By engine, the kinds of devices that it has.
_ON_DEVICES: Mapping[str, tuple[str, ...]] = {"torch": DEVICES[1:], "jax": ("cuda", "rocm")}
_DEVICE = re.compile(r"([a-z]+)(?::\d{1,3})?", re.ASCII)
_TF32 = ("cuda", "rocm")  # devices that round to it
GRAPHS = ("cuda", "rocm")  # devices with CUDA graphs


def check(placement: Placement, runtime: str, *, is_beside: bool) -> None:
    """Raises FuseScopeError for what there is not, or the engine does not have; `is_beside` others
    in one recording, none has it. Whether the device is there is seen by the engine."""
    _check_device(placement)
    if placement.dtype and placement.dtype not in DTYPES:
        raise FuseScopeError(
            "dtype_unknown",
            dtype=placement.dtype[:60],
            known=", ".join(DTYPES),
            nearest=nearest(placement.dtype, DTYPES),
        )
    for option, is_given, engines in (
        ("--device", placement.kind != CPU, tuple(_ON_DEVICES)),
        ("--tf32", placement.tf32 is not None, ("torch",)),
        ("--flush-l2", placement.flush_l2, ("torch",)),
        ("--dtype", bool(placement.dtype), _CONVERT),
    ):
        if is_given and is_beside:
            raise FuseScopeError("option_not_beside", option=option)
        if is_given and runtime not in engines:
            raise FuseScopeError(
                "option_of_engines", option=option, runtime=runtime, engines=", ".join(engines)
            )
    kinds = _ON_DEVICES.get(runtime, ())
    if placement.kind not in (CPU, *kinds):
        raise FuseScopeError(
            "device_unknown",
            device=placement.device,
            known=", ".join((CPU, *kinds)),
            nearest=None,
        )


def check_variants(placement: Placement, names: Sequence[str]) -> None:
    """Raises FuseScopeError for a variant that only other devices have."""
    for name in names:
        if not has_variant(placement, name):
            raise FuseScopeError(
                "variant_of_devices", variant=CUDA_GRAPH, devices=", ".join(GRAPHS)
            )


def has_variant(placement: Placement, name: str) -> bool:
    """Whether the device has that variant, by its name in a recording of one engine or several."""
    return name.rpartition(":")[2] != CUDA_GRAPH or placement.kind in GRAPHS


def _check_device(placement: Placement) -> None:
    found = _DEVICE.fullmatch(placement.device)
    if found is None or found[1] not in DEVICES or placement.device.startswith(f"{CPU}:"):
        raise FuseScopeError(
            "device_unknown",
            device=placement.device[:60],
            known=", ".join(DEVICES),
            nearest=nearest(placement.device, DEVICES),
        )
    if placement.tf32 is not None and placement.kind not in _TF32:
        raise FuseScopeError("option_of_devices", option="--tf32", devices=", ".join(_TF32))
    if placement.flush_l2 and placement.kind == CPU:
        raise FuseScopeError(
            "option_of_devices", option="--flush-l2", devices=", ".join(DEVICES[1:])
        )
