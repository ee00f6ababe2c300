"""Placement: the data type in which an engine runs a model."""

from __future__ import annotations

import msgspec


class Placement(msgspec.Struct, frozen=True):
    """`dtype` is what floating-point weights and inputs are converted to, '' for none: they stay
    what the model says."""

    dtype: str = ""


AS_IT_IS = Placement()
