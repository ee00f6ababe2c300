"""Tolerances of a data type: beyond what rounding does, below what tells tensors apart."""

from __future__ import annotations

import numpy as np
import pytest

from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.sketches import distance
from fusescope.collectors.tensors.tolerances import tolerance_of


def rounded(values: Array, bits: int) -> Array:
    """To the nearest number of so many significant bits."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(fraction * 2.0**bits) / 2.0**bits, exponent)


@pytest.mark.parametrize(
    ("dtype", "bits"), [("bfloat16", 8), ("float16", 11), ("tf32", 11), ("float32", 24)]
)
def test_a_hundred_roundings_stay_within_the_tolerance(dtype: str, bits: int) -> None:
    """Each of the products is rounded, against the same without rounding."""
    chance = np.random.default_rng(1)
    exact = chance.standard_normal(4096)
    kept = rounded(exact, bits)
    for _ in range(99):
        factor = chance.uniform(0.8, 1.25, exact.size)
        exact, kept = exact * factor, rounded(kept * factor, bits)
    away = distance(exact, kept)
    assert away <= tolerance_of([dtype, "float32"])
    if dtype == "bfloat16":
        assert away > tolerance_of([dtype]) / 4  # it is not far wider than needed


def test_integers_and_others_have_the_narrow_one() -> None:
    assert tolerance_of([]) == tolerance_of(["int64", "float32"]) == 1e-3
