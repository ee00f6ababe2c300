"""What an engine has to offer so that operators of ONNX can be translated to it.

A value is whatever the engine computes with. Shapes are fixed: models of a recording have no
dynamic dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fusescope.collectors.models.array import Array

Value = Any  # the engine's own


class Untranslated(Exception):
    """An operator, or a form of it, that is not translated; its text names which."""


class Backend(Protocol):
    """`apply` does what works on each element, by numpy's name where numpy has one; a Python number
    may stand for a value there. `pads` are pairs, one for each spatial axis. Methods raise
    Untranslated for a form that the engine does not offer."""

    def constant(self, name: str, array: Array) -> Value:
        """A weight or another array that is known; `name` is '' for one that the model does not
        name."""
        ...

    def shape(self, value: Value) -> tuple[int, ...]:
        """Its sizes."""
        ...

    def dtype(self, value: Value) -> str:
        """Its type by numpy's name."""
        ...

    def apply(self, name: str, *values: Value) -> Value:
        """The function of that name, element by element."""
        ...

    def cast(self, value: Value, dtype: str) -> Value:
        """The same numbers in another type."""
        ...

    def matmul(self, one: Value, other: Value) -> Value:
        """As numpy.matmul."""
        ...

    def gemm(
        self, a: Value, b: Value, c: Value | None, flipped: tuple[bool, bool],
        factors: tuple[float, float],
    ) -> Value:  # fmt: skip
        """alpha a b + beta c, a and b transposed where `flipped` says so."""
        ...

    def conv(
        self, x: Value, weight: Value, bias: Value | None, *, strides: Sequence[int],
        pads: Sequence[tuple[int, int]], dilations: Sequence[int], group: int,
    ) -> Value:  # fmt: skip
        """A convolution, channels first."""
        ...

    def pool(
        self, kind: str, x: Value, *, kernel: Sequence[int], strides: Sequence[int],
        pads: Sequence[tuple[int, int]], dilations: Sequence[int], count_pad: bool,
    ) -> Value:  # fmt: skip
        """'max' or 'average' over windows; the average counts padded places with `count_pad`."""
        ...

    def batch_norm(
        self, x: Value, scale: Value, shift: Value, mean: Value, variance: Value, epsilon: float
    ) -> Value:
        """By known statistics, channels first."""
        ...

    def layer_norm(
        self, x: Value, scale: Value, shift: Value | None, axis: int, epsilon: float
    ) -> Value:
        """Over the axes from `axis` on."""
        ...

    def group_norm(
        self, x: Value, scale: Value, shift: Value, groups: int, epsilon: float
    ) -> Value:
        """Over groups of channels; as many groups as channels normalise each by itself."""
        ...

    def softmax(self, x: Value, axis: int, *, log: bool) -> Value:
        """Or its logarithm."""
        ...

    def reduce(self, kind: str, x: Value, axes: Sequence[int], *, keep: bool) -> Value:
        """'mean', 'sum', 'max', 'min' or 'prod' over the axes."""
        ...

    def arg(self, kind: str, x: Value, axis: int, *, keep: bool) -> Value:
        """'max' or 'min': the first place of it, int64."""
        ...

    def reshape(self, x: Value, shape: Sequence[int]) -> Value: ...

    def transpose(self, x: Value, order: Sequence[int]) -> Value: ...

    def expand(self, x: Value, shape: Sequence[int]) -> Value: ...

    def concat(self, values: Sequence[Value], axis: int) -> Value: ...

    def cut(self, x: Value, cuts: Sequence[slice]) -> Value:
        """A slice for each axis; steps may be negative."""
        ...

    def gather(self, x: Value, places: Value, axis: int) -> Value:
        """As numpy.take; no place is negative."""
        ...

    def pad(self, x: Value, pads: Sequence[tuple[int, int]], mode: str, fill: float) -> Value:
        """'constant', 'reflect' or 'edge'; a pair for each axis."""
        ...

    def tile(self, x: Value, times: Sequence[int]) -> Value: ...

    def resize(self, x: Value, sizes: Sequence[int], mode: str, *, corners: bool) -> Value:
        """'nearest' (floor of places without an offset) or 'linear' (half pixels, or with
        `corners` aligned), of all axes after the channels."""
        ...

    def where(self, condition: Value, one: Value, other: Value) -> Value: ...
