"""Drawing values for an input by its type. Needs numpy alone, so workers of every engine can."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.models.array import Array

Range = tuple[float, float]


def drawn(
    chance: np.random.Generator,
    dtype: np.dtype[np.generic],
    shape: tuple[int, ...],
    between: Range | None,
) -> tuple[Array, str]:
    """Values by data type, or uniform `between`, and how they are called."""
    if between is not None:
        low, high = between
        text = f"uniform {low:.15g} to {high:.15g}"  # read back by Recording.like
        if dtype.kind == "f":
            return chance.uniform(low, high, shape).astype(dtype), text
        if dtype.kind == "b":
            return chance.integers(int(low), int(high), shape, endpoint=True).astype(dtype), text
        bounds = np.iinfo(dtype.name)
        first, last = max(int(low), int(bounds.min)), min(int(high), int(bounds.max))
        if first > last:
            raise FuseScopeError("range_without_values", type=str(dtype), low=low, high=high)
        return chance.integers(first, last, shape, dtype=dtype.type, endpoint=True), text
    if dtype.kind == "f":
        if len(shape) == 4:
            return _image(chance, shape).astype(dtype), "smooth images"
        return chance.standard_normal(shape, dtype=np.float32).astype(dtype), "standard normal"
    return chance.integers(0, 2, shape).astype(dtype), "0 or 1"


def _image(chance: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Sum of coarse noise at four scales and a little fine noise: smooth like a photograph, so
    that channels do not average out the way they do on white noise."""
    samples, channels, height, width = shape
    image = 0.1 * chance.standard_normal(shape, dtype=np.float32)
    for scale in (4, 8, 16, 64):
        coarse = chance.standard_normal((samples, channels, scale, scale), dtype=np.float32)
        rows = np.arange(height) * scale // max(height, 1)
        columns = np.arange(width) * scale // max(width, 1)
        image += 0.5 * coarse[:, :, rows][:, :, :, columns]
    return image
