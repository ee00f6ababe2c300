"""Which devices a worker sees: none, the one that a recording names, or all that the user does."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fusescope.collectors.workers.placement import CPU, Placement

HIDDEN: Mapping[str, str] = {"CUDA_VISIBLE_DEVICES": ""}
# The variable by which each maker's driver hides devices; Apple's has one device.
_BY_KIND = {
    "cuda": "CUDA_VISIBLE_DEVICES",
    "rocm": "HIP_VISIBLE_DEVICES",
    "xpu": "ZE_AFFINITY_MASK",
    "npu": "ASCEND_RT_VISIBLE_DEVICES",
}
_OF_DRIVERS = ("CUDA_", "NVIDIA_", "HIP_", "ROCR_", "HSA_", "ROCM_", "ZE_", "ONEAPI_", "ASCEND_")


def environment(placement: Placement, *, whole: bool = False) -> Mapping[str, str] | None:
    """Return the variables for a worker: those of the drivers as the user has them, so that they
    leave the device alone visible, as number 0, or, with `whole`, what the user sees. None for the
    processor. Numbers count through what the user's own variable leaves; where that is fewer, the
    worker sees none."""
    if placement.kind == CPU:
        return None
    own = {name: value for name, value in os.environ.items() if name.startswith(_OF_DRIVERS)}
    variable = _BY_KIND.get(placement.kind)
    if whole or variable is None:
        return own
    return {**own, variable: _chosen(own.get(variable), placement.number)}


def _chosen(listed: str | None, number: int) -> str:
    if listed is None:
        return str(number)
    named = [one.strip() for one in listed.split(",") if one.strip()]
    return named[number] if number < len(named) else ""
