"""The CUDA device that this process uses, by NVIDIA's driver."""

from __future__ import annotations

import ctypes

_NAME_BYTES = 256


def name() -> str:
    """'NVIDIA H100 80GB HBM3'; '' where the driver does not tell."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ""
    device, text = ctypes.c_int(), ctypes.create_string_buffer(_NAME_BYTES)
    for code in (
        driver.cuInit(0),
        driver.cuDeviceGet(ctypes.byref(device), 0),
        driver.cuDeviceGetName(text, _NAME_BYTES, device),
    ):
        if code:
            return ""
    return text.value.decode("utf-8", "replace")
