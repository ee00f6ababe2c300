"""What is known before anything runs, computed with numpy: shapes, and what depends on weights
alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from fusescope.collectors.models.array import Array
from fusescope.collectors.translation.backend import Untranslated

_BY_NAME = {
    "abs", "add", "ceil", "cos", "divide", "equal", "exp", "floor", "greater", "greater_equal",
    "less", "less_equal", "log", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "multiply", "negative", "power", "reciprocal", "sign", "sin", "sqrt",
    "subtract", "tan", "tanh",
}  # fmt: skip


class Folding:
    """The part of a Backend that numpy has. Raises Untranslated for the rest, which the engine
    computes."""

    def __getattr__(self, name: str) -> NoReturn:
        raise Untranslated(name)

    def constant(self, _name: str, array: Array) -> Array:
        """As it is."""
        return array

    def shape(self, value: Array) -> tuple[int, ...]:
        """Its sizes."""
        return value.shape

    def dtype(self, value: Array) -> str:
        """Its type."""
        return str(value.dtype)

    def apply(self, name: str, *values: Any) -> Array:
        """By numpy's own function."""
        if name == "divide_int":
            one, other = values
            inexact = (one % other != 0) & ((one < 0) != (np.asarray(other) < 0))
            found: Array = one // other + inexact
            return found
        if name not in _BY_NAME:
            raise Untranslated(name)
        made: Array = np.asarray(getattr(np, name)(*values))
        return made

    def cast(self, value: Array, dtype: str) -> Array:
        """The same numbers in another type."""
        return value.astype(dtype)

    def reduce(self, kind: str, x: Array, axes: Sequence[int], *, keep: bool) -> Array:
        """By numpy's own function."""
        made: Array = np.asarray(getattr(np, kind)(x, axis=tuple(axes), keepdims=keep))
        return made.astype(x.dtype)

    def reshape(self, x: Array, shape: Sequence[int]) -> Array:
        """In another shape."""
        return x.reshape(shape)

    def transpose(self, x: Array, order: Sequence[int]) -> Array:
        """Axes in another order."""
        return np.ascontiguousarray(x.transpose(order))

    def expand(self, x: Array, shape: Sequence[int]) -> Array:
        """Repeated to that shape."""
        return np.ascontiguousarray(np.broadcast_to(x, shape))

    def concat(self, values: Sequence[Array], axis: int) -> Array:
        """One behind the other."""
        return np.concatenate(values, axis)

    def cut(self, x: Array, cuts: Sequence[slice]) -> Array:
        """A part of it."""
        return np.ascontiguousarray(x[tuple(cuts)])

    def gather(self, x: Array, places: Array, axis: int) -> Array:
        """What stands at places of an axis."""
        made: Array = np.asarray(np.take(x, places.astype("i8"), axis))
        return made

    def where(self, condition: Array, one: Array, other: Array) -> Array:
        """One or the other."""
        return np.where(condition, one, other)
