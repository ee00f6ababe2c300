"""Conversions: operators that compute nothing, they change layout, type or processor."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from fusescope.analysis.advice.subject import Answer, Subject
from fusescope.analysis.operators.classes import CONVERSIONS, plain_type
from fusescope.analysis.trace import Value

# As every reader spells them, without namespace and case.
_TYPES = frozenset(
    ("cast", "castlike", "convert", "convert_element_type", "to", "to_copy", "quantizelinear",
     "dequantizelinear", "dynamicquantizelinear", "quantize_per_tensor", "dequantize",
     "ascendquant", "ascenddequant", "aclnncast")
)  # fmt: skip
_LAYOUTS = frozenset(
    ("reorder", "reorderinput", "reorderoutput", "transdata", "transpose", "permute",
     "permute_copy", "formattransfer", "shuffle", "layout_transform", "nchwtonhwc",
     "nhwctonchw", "contiguous")
)  # fmt: skip
# Names of kernels rather than op types: 'batched_transpose_32x32_half', 'Reformat'.
_LAYOUT_KERNELS = re.compile(
    r"transpose|permute|reformat|reorder|n?chw_?to_?n?hwc|n?hwc_?to_?n?chw"
)
_TYPE_KERNELS = re.compile(r"cast|convert|quanti[sz]e|bfloat16tofloat32")
# Where an operator runs when no other processor takes it, and what marks the others; the libraries
# are kernels of the host's own.
_OF_DEVICE = frozenset(("AI_CPU", "AICPU"))  # the CPUs of an Ascend NPU
HOSTS = frozenset(("CPUExecutionProvider", *_OF_DEVICE))
_LIBRARIES = tuple(
    f"{name}ExecutionProvider"
    for name in ("Dnnl", "MKLDNN", "Mkldnn", "Nuphar", "XNNPACK", "Xnnpack", "ACL", "ArmNN")
)
_ACCELERATORS = re.compile(r"\w+ExecutionProvider|AI_\w+|AICORE|MIX_\w+")


def reorders(subject: Subject) -> Answer:
    """Operators that only change the layout take 2 % of the run, or more."""
    texts = subject.texts
    if not (texts["op_type"] != "").any():
        return "no_types"
    mask = changes_layout(texts)
    engine = {"engine": subject.other_engine} if subject.other_engine else {}
    return subject.wasted("reorders", mask, {"executions": subject.executions(mask), **engine})


def type_conversions(subject: Subject) -> Answer:
    """Operators that only change the data type take 2 % of the run, or more."""
    texts = subject.texts
    if not (texts["op_type"] != "").any():
        return "no_types"
    mask = _of(texts, _TYPES, _TYPE_KERNELS) & ~changes_layout(texts)
    return subject.wasted("type_conversions", mask, {"executions": subject.executions(mask)})


def fallback(subject: Subject) -> Answer:
    """Return the operators that run on a CPU, the host's or the device's, while others have an
    accelerator; conversions have findings of their own, so that no time is saved twice."""
    providers = subject.texts["provider"]
    if not (providers != "").any():
        # Kernels of a device are on no host, also where no name of the device is known.
        is_kernel = subject.texts["level"] == "device_kernel"
        return () if bool(is_kernel.all()) else "no_providers"
    mask = providers.isin(HOSTS).to_numpy(dtype=bool)
    others = ~mask & ~providers.isin(_LIBRARIES).to_numpy(dtype=bool)
    numbers, told = pd.factorize(providers)
    known = [_ACCELERATORS.fullmatch(name) is not None for name in told]
    others &= np.array(known, dtype=bool)[numbers]
    texts = subject.texts
    mask = mask & ~(changes_layout(texts) | _of(texts, _TYPES, _TYPE_KERNELS))
    if not mask.any() or not others.any():
        return ()
    provider = str(providers[mask].iloc[0])
    is_on_device = bool(providers[mask].isin(_OF_DEVICE).all())
    values: dict[str, Value] = {
        "operators": int(mask.sum()),
        "provider": provider,
        **({"on_device": True} if is_on_device else {}),
    }
    return subject.wasted("fallback", mask, values)


def changes_layout(texts: pd.DataFrame) -> np.ndarray:
    """Return which operators only change the layout of tensors, by `op_type` and `op_class`."""
    return _of(texts, _LAYOUTS, _LAYOUT_KERNELS)


def _of(texts: pd.DataFrame, types: frozenset[str], kernels: re.Pattern[str]) -> np.ndarray:
    """Operators of these types, and those that convert by their class and whose names are of such
    kernels."""
    numbers, told = pd.factorize(texts["op_type"])  # far fewer than operators
    of_type = np.array([plain_type(text) in types for text in told], dtype=bool)
    named = np.array([kernels.search(text.lower()) is not None for text in told], dtype=bool)
    found: np.ndarray = of_type[numbers]
    found |= named[numbers] & texts["op_class"].isin(CONVERSIONS).to_numpy(dtype=bool)
    return found
