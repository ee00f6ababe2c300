"""How far two computations of one tensor may lie apart (`sketches.distance`) by rounding alone.

A type of p significant bits rounds by about 0.4 · 2^-p of a value (root mean square), and the
errors of n roundings one after the other grow as the root of n (Higham and Mary, A new approach to
probabilistic rounding error analysis, 2019). For bfloat16 (p = 8), whose roundings alone come near
to what tells tensors apart, that is 4 · 2^-8 after a hundred roundings, also the relative tolerance
that torch.testing.assert_close has for it. Those of the other types are wider than this, since
kernels also compute functions in other ways.
"""

from __future__ import annotations

from collections.abc import Iterable

TOLERANCE = 1e-3
HALF_TOLERANCE = 1e-2  # float16, and float32 whose products are rounded to TF32: 11 bits as well
BFLOAT16_TOLERANCE = 1.6e-2


def tolerance_of(dtypes: Iterable[str]) -> float:
    """Return the tolerance of a computation with tensors of these types (numpy's, or tf32)."""
    names = set(dtypes)
    if "bfloat16" in names:
        return BFLOAT16_TOLERANCE
    return HALF_TOLERANCE if names & {"float16", "tf32"} else TOLERANCE
