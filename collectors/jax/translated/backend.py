"""The functions of JAX that stand for operators of ONNX."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from fusescope.collectors.models.array import Array

_NARROW = {"int64": "int32", "float64": "float32"}  # JAX has the wide ones only when told so
_NUMPY = {
    "abs", "add", "ceil", "clip", "cos", "divide", "equal", "exp", "floor", "greater",
    "greater_equal", "less", "less_equal", "log", "logical_and", "logical_not", "logical_or",
    "logical_xor", "maximum", "minimum", "multiply", "negative", "power", "reciprocal", "round",
    "sign", "sin", "sqrt", "subtract", "tan", "tanh",
}  # fmt: skip
_OTHER: dict[str, Callable[..., Any]] = {
    "divide_int": lax.div,
    "elu": jax.nn.elu,
    "erf": lax.erf,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu_tanh": lambda x: jax.nn.gelu(x, approximate=True),
    "leaky_relu": jax.nn.leaky_relu,
    "relu": lambda x: jnp.maximum(x, 0),
    "sigmoid": lax.logistic,
    "softplus": jax.nn.softplus,
}
_REDUCE: dict[str, Callable[..., Any]] = {
    "max": jnp.max, "mean": jnp.mean, "min": jnp.min, "prod": jnp.prod, "sum": jnp.sum,
}  # fmt: skip
_SPATIAL = "DHW"


class JaxBackend:
    """Computes with arrays, or with what stands for them while JAX traces. `weights` are those
    that are fed, by the names that the model has."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        self._weights = weights

    def constant(self, name: str, array: Array) -> Any:
        """The weight that is fed, else the array itself."""
        return self._weights[name] if name in self._weights else jnp.asarray(_narrow(array))

    def shape(self, value: Any) -> tuple[int, ...]:
        """Its sizes."""
        return tuple(value.shape)

    def dtype(self, value: Any) -> str:
        """Its type by numpy's name."""
        return str(value.dtype)

    def apply(self, name: str, *values: Any) -> Any:
        """The function of that name, element by element."""
        if name == "divide_int":
            one, other = jnp.broadcast_arrays(*values)
            return lax.div(one, other.astype(one.dtype))
        return getattr(jnp, name)(*values) if name in _NUMPY else _OTHER[name](*values)

    def cast(self, value: Any, dtype: str) -> Any:
        """The same numbers in another type."""
        return value.astype(_NARROW.get(dtype, dtype))

    def matmul(self, one: Any, other: Any) -> Any:
        """As numpy.matmul."""
        return jnp.matmul(one, other)

    def gemm(
        self, a: Any, b: Any, c: Any | None, flipped: tuple[bool, bool],
        factors: tuple[float, float],
    ) -> Any:  # fmt: skip
        """One product, and what is added."""
        a, b = (one.T if flip else one for one, flip in zip((a, b), flipped, strict=True))
        alpha, beta = factors
        made = jnp.matmul(a, b)
        made = made if alpha == 1 else made * alpha
        if c is None:
            return made
        return made + (c if beta == 1 else c * beta)

    def conv(
        self, x: Any, weight: Any, bias: Any | None, *, strides: Sequence[int],
        pads: Sequence[tuple[int, int]], dilations: Sequence[int], group: int,
    ) -> Any:  # fmt: skip
        """A convolution, channels first."""
        axes = _SPATIAL[-len(strides) :]
        numbers = (f"NC{axes}", f"OI{axes}", f"NC{axes}")
        made = lax.conv_general_dilated(
            x, weight, tuple(strides), list(pads), rhs_dilation=tuple(dilations),
            dimension_numbers=numbers, feature_group_count=group,
        )  # fmt: skip
        return made if bias is None else made + _along_channels(bias, x)

    def pool(
        self, kind: str, x: Any, *, kernel: Sequence[int], strides: Sequence[int],
        pads: Sequence[tuple[int, int]], dilations: Sequence[int], count_pad: bool,
    ) -> Any:  # fmt: skip
        """'max' or 'average' over windows."""

        def windows(values: Any, start: Any, combine: Any) -> Any:
            return lax.reduce_window(
                values, start, combine, (1, 1, *kernel), (1, 1, *strides),
                [(0, 0), (0, 0), *pads], window_dilation=(1, 1, *dilations),
            )  # fmt: skip

        if kind == "max":
            least = -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
            return windows(x, jnp.asarray(least, x.dtype), lax.max)
        summed = windows(x, jnp.asarray(0, x.dtype), lax.add)
        if count_pad or not any(one for pad in pads for one in pad):
            return summed / math.prod(kernel)
        return summed / windows(jnp.ones_like(x), jnp.asarray(0, x.dtype), lax.add)

    def batch_norm(
        self, x: Any, scale: Any, shift: Any, mean: Any, variance: Any, epsilon: float
    ) -> Any:
        """By known statistics."""
        factor = scale * lax.rsqrt(variance + epsilon)
        moved = (x - _along_channels(mean, x)) * _along_channels(factor, x)
        return moved + _along_channels(shift, x)

    def layer_norm(self, x: Any, scale: Any, shift: Any | None, axis: int, epsilon: float) -> Any:
        """Over the axes from `axis` on."""
        made = _normalised(x, tuple(range(axis, x.ndim)), epsilon) * scale
        return made if shift is None else made + shift

    def group_norm(self, x: Any, scale: Any, shift: Any, groups: int, epsilon: float) -> Any:
        """Over groups of channels."""
        split = x.reshape((x.shape[0], groups, -1))
        made = _normalised(split, (2,), epsilon).reshape(x.shape)
        return made * _along_channels(scale, x) + _along_channels(shift, x)

    def softmax(self, x: Any, axis: int, *, log: bool) -> Any:
        """Or its logarithm."""
        return jax.nn.log_softmax(x, axis) if log else jax.nn.softmax(x, axis)

    def reduce(self, kind: str, x: Any, axes: Sequence[int], *, keep: bool) -> Any:
        """Over the axes."""
        return _REDUCE[kind](x, axis=tuple(axes), keepdims=keep)

    def arg(self, kind: str, x: Any, axis: int, *, keep: bool) -> Any:
        """The first place of the largest or the smallest."""
        return (jnp.argmax if kind == "max" else jnp.argmin)(x, axis=axis, keepdims=keep)

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        """In another shape."""
        return jnp.reshape(x, tuple(shape))

    def transpose(self, x: Any, order: Sequence[int]) -> Any:
        """Axes in another order."""
        return jnp.transpose(x, tuple(order))

    def expand(self, x: Any, shape: Sequence[int]) -> Any:
        """Repeated to that shape."""
        return jnp.broadcast_to(x, tuple(shape))

    def concat(self, values: Sequence[Any], axis: int) -> Any:
        """One behind the other."""
        return jnp.concatenate(list(values), axis)

    def cut(self, x: Any, cuts: Sequence[slice]) -> Any:
        """A part of it."""
        return x[tuple(cuts)]

    def gather(self, x: Any, places: Any, axis: int) -> Any:
        """What stands at places of an axis."""
        return jnp.take(x, places, axis=axis, mode="clip")

    def pad(self, x: Any, pads: Sequence[tuple[int, int]], mode: str, fill: float) -> Any:
        """A pair for each axis."""
        if mode == "constant":
            return jnp.pad(x, list(pads), constant_values=fill)
        return jnp.pad(x, list(pads), mode=mode)

    def tile(self, x: Any, times: Sequence[int]) -> Any:
        """Repeated along each axis."""
        return jnp.tile(x, tuple(times))

    def resize(self, x: Any, sizes: Sequence[int], mode: str, *, corners: bool) -> Any:
        """Of all axes after the channels, one after the other."""
        for axis, size in enumerate(sizes, 2):
            if size != x.shape[axis]:
                x = _resized(x, axis, size, mode, corners)
        return x

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        """One or the other."""
        return jnp.where(condition, one, other)


def _narrow(array: Array) -> Array:
    kind = str(array.dtype)
    return array.astype(_NARROW[kind]) if kind in _NARROW else array


def _along_channels(values: Any, x: Any) -> Any:
    return values.reshape((1, -1, *[1] * (x.ndim - 2)))


def _normalised(x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    moved = x - jnp.mean(x, axes, keepdims=True)
    return moved * lax.rsqrt(jnp.mean(moved * moved, axes, keepdims=True) + epsilon)


def _resized(x: Any, axis: int, size: int, mode: str, corners: bool) -> Any:
    """Along one axis; places are numbers that are known."""
    old = x.shape[axis]
    if mode == "nearest":
        return jnp.take(x, jnp.asarray([place * old // size for place in range(size)]), axis)
    if corners:
        places = [place * (old - 1) / max(size - 1, 1) for place in range(size)]
    else:
        places = [max((place + 0.5) * old / size - 0.5, 0.0) for place in range(size)]
    low = [min(int(place), old - 1) for place in places]
    high = [min(one + 1, old - 1) for one in low]
    part = jnp.asarray([place - one for place, one in zip(places, low, strict=True)], x.dtype)
    part = part.reshape([-1 if at == axis else 1 for at in range(x.ndim)])
    first, second = (jnp.take(x, jnp.asarray(at), axis) for at in (low, high))
    return first * (1 - part) + second * part
