"""What a recording may ask of the data type of a model."""

from __future__ import annotations

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.spelling import nearest
from fusescope.collectors.workers.placement import Placement

DTYPES = ("float32", "bfloat16", "float16")
_CONVERT = ("torch", "jax")  # engines that convert a model


def check(placement: Placement, runtime: str, *, is_beside: bool) -> None:
    """Raises FuseScopeError for what there is not, or the engine does not have; `is_beside` others
    in one recording, none has it."""
    if not placement.dtype:
        return
    if placement.dtype not in DTYPES:
        raise FuseScopeError(
            "dtype_unknown",
            dtype=placement.dtype[:60],
            known=", ".join(DTYPES),
            nearest=nearest(placement.dtype, DTYPES),
        )
    if is_beside:
        raise FuseScopeError("option_not_beside", option="--dtype")
    if runtime not in _CONVERT:
        raise FuseScopeError("dtype_of_others", runtime=runtime, engines=", ".join(_CONVERT))
