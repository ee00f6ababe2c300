"""Inputs of a module that are given by shape and type."""

from __future__ import annotations

import msgspec

DTYPES = (
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
)  # fmt: skip


class GivenInput(msgspec.Struct, frozen=True):
    """An input to be drawn. `name` is that of a parameter, or the number of its place. `low` and
    `high` are its range, both included for whole numbers, None where none was given. The sizes of
    the `dynamic` dimensions may be other ones in what is compiled."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float | None = None
    high: float | None = None
    dynamic: tuple[int, ...] = ()
