"""What a device reaches in PyTorch: matrix products by data type, and the bandwidth of its memory.

Measured as the processor's peaks are: the best of repetitions counts, quartiles go with it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal

import torch

from fusescope.analysis.experiment import Bandwidth, ProductPeak, Spread
from fusescope.collectors.torch.devices import Device

SIZES = (2048, 4096, 8192)
REPETITIONS = 20
_WARMUP = 3
_VECTOR_BYTES = 256 * 1024 * 1024  # of each of three, far above every cache
_Type = Literal["float32", "tf32", "bfloat16", "float16"]
_OWN: tuple[_Type, ...] = ("float32", "bfloat16", "float16")


def products(device: Device, sizes: tuple[int, ...] = SIZES) -> tuple[ProductPeak, ...]:
    """Return the best product of each data type that the device multiplies, float32 with TF32 off
    and, where it has that, on."""
    with _float32_as("highest"):
        found = [_product(device, name, sizes) for name in _OWN]
    if device.has_tf32:
        with _float32_as("high"):
            found.append(_product(device, "tf32", sizes))
    return tuple(one for one in found if one is not None)


def bandwidth(device: Device, bytes_each: int = _VECTOR_BYTES) -> Bandwidth | None:
    """Return the best rate of y = a + b over long float32 vectors; None where they do not fit."""
    try:
        a, b, y = (torch.ones(bytes_each // 4, device=device.place) for _ in range(3))
    except torch.OutOfMemoryError:
        return None
    seconds = _seconds(device, partial(torch.add, a, b, out=y))
    rates = [3 * a.nbytes / one for one in seconds]
    return Bandwidth(None, max(rates), _spread(rates), 3 * a.nbytes)


def _product(device: Device, name: _Type, sizes: tuple[int, ...]) -> ProductPeak | None:
    """That of the size which reaches most; None where the device does not take the type, or has no
    memory for it."""
    best: ProductPeak | None = None
    dtype = torch.float32 if name == "tf32" else getattr(torch, name)
    for n in sizes:
        try:
            a, b = (torch.randn(n, n, device=device.place).to(dtype) for _ in range(2))
            y = torch.empty(n, n, device=device.place, dtype=dtype)
            seconds = _seconds(device, partial(torch.mm, a, b, out=y))
        except torch.AcceleratorError:  # the device failed
            raise
        except RuntimeError:
            continue
        rates = [2 * n**3 / one for one in seconds]
        if best is None or max(rates) > best.flops_per_s:
            best = ProductPeak(name, max(rates), n, _spread(rates))
    return best


def _seconds(device: Device, run: Callable[[], object]) -> list[float]:
    """The times of repetitions, by events of the device where it has them."""
    found = []
    for _ in range(_WARMUP):
        run()
    for _ in range(REPETITIONS):
        first, last = device.event(), device.event()
        device.synchronise()
        begun = time.perf_counter()
        if first is not None and last is not None:
            first.record()
        run()
        if first is not None and last is not None:
            last.record()
        device.synchronise()
        took = time.perf_counter() - begun
        found.append(took if first is None else first.elapsed_time(last) / 1e3)
    return [one for one in found if one > 0]


@contextmanager
def _float32_as(precision: str) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _spread(rates: list[float]) -> Spread:
    low, _, high = statistics.quantiles(rates, n=4, method="inclusive")
    return Spread(low, high)
