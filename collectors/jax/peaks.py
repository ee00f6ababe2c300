"""What a device reaches in JAX: matrix products by data type, and the bandwidth of its memory."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp

from fusescope.analysis.experiment import Bandwidth, ProductPeak, Spread
from fusescope.collectors.jax.devices import Device

SIZES = (2048, 4096, 8192)
REPETITIONS = 20
_WARMUP = 3
_VECTOR_BYTES = 256 * 1024 * 1024  # of each of three, far above every cache
_Type = Literal["float32", "tf32", "bfloat16", "float16"]


def products(device: Device, sizes: tuple[int, ...] = SIZES) -> tuple[ProductPeak, ...]:
    """Return the best product of each data type, by wall time until the result is there."""
    types: tuple[_Type, ...] = ("float32", "bfloat16", "float16")
    if not device.is_cpu:
        types = (*types, "tf32")
    return tuple(one for name in types if (one := _product(name, sizes)) is not None)


def bandwidth(bytes_each: int = _VECTOR_BYTES) -> Bandwidth | None:
    """Return the best rate of y = a + b over long float32 vectors; None where they do not fit."""
    try:
        a, b = (jnp.full(bytes_each // 4, number, jnp.float32) for number in (1, 2))
        seconds = _seconds(partial(jax.jit(jnp.add), a, b))
    except jax.errors.JaxRuntimeError:
        return None
    rates = [3 * a.nbytes / one for one in seconds]
    return Bandwidth(None, max(rates), _spread(rates), 3 * a.nbytes)


def _product(name: _Type, sizes: tuple[int, ...]) -> ProductPeak | None:
    """That of the size which reaches most; None where the device does not take the type, or has no
    memory for it."""
    best: ProductPeak | None = None
    dtype = "float32" if name == "tf32" else name
    precision = jax.lax.Precision.HIGH if name == "tf32" else jax.lax.Precision.HIGHEST
    run = jax.jit(partial(jnp.matmul, precision=precision if dtype == "float32" else None))
    for n in sizes:
        key = jax.random.key(n)
        try:
            a, b = (one.astype(dtype) for one in jax.random.normal(key, (2, n, n)))
            seconds = _seconds(partial(run, a, b))
        except jax.errors.JaxRuntimeError:
            continue
        rates = [2 * n**3 / one for one in seconds]
        if best is None or max(rates) > best.flops_per_s:
            best = ProductPeak(name, max(rates), n, _spread(rates))
    return best


def _seconds(run: Callable[[], Any]) -> list[float]:
    for _ in range(_WARMUP):
        jax.block_until_ready(run())
    found = []
    for _ in range(REPETITIONS):
        begun = time.perf_counter()
        jax.block_until_ready(run())
        found.append(time.perf_counter() - begun)
    return [one for one in found if one > 0]


def _spread(rates: list[float]) -> Spread:
    low, _, high = statistics.quantiles(rates, n=4, method="inclusive")
    return Spread(low, high)
