"""How far the outputs of two runs of one model are apart."""

from __future__ import annotations

import numpy as np

from fusescope.collectors.models.array import Array

LARGEST = 1e18  # that an experiment file holds


def difference_of(
    reference: list[Array | None], outputs: list[Array | None]
) -> tuple[float | None, float | None]:
    """max|a-b| over all outputs, and the largest max|a-b| / max|a| of any output.

    `reference` is a. None where values are not finite, shapes differ, or a type has no numbers;
    the ratio alone is None where a is all zero and b is not, the difference alone where it is
    larger than LARGEST.
    """
    absolute, relative = 0.0, 0.0
    for a, b in zip(reference, outputs, strict=True):
        if a is None or b is None or a.shape != b.shape:
            return None, None
        if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
            return None, None
        if not a.size:
            continue
        left, right = a.astype(np.float64), b.astype(np.float64)
        if not (np.isfinite(left).all() and np.isfinite(right).all()):
            return None, None
        difference = float(np.max(np.abs(left - right)))
        scale = float(np.max(np.abs(left)))
        absolute = max(absolute, difference)
        if difference > 0:
            relative = max(relative, difference / scale if scale else np.inf)
    told = absolute if absolute <= LARGEST else None
    return told, float(relative) if np.isfinite(relative) else None
