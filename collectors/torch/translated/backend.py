"""The functions of torch that stand for operators of ONNX.

Each call becomes a step of a graph of torch.fx, so that what runs is straight code as a person
would write it, and is done with tensors that have no memory, to know shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as f

from fusescope.collectors.models.array import Array
from fusescope.collectors.translation.backend import Untranslated

_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "abs": torch.abs,
    "add": torch.add,
    "ceil": torch.ceil,
    "clip": torch.clamp,
    "cos": torch.cos,
    "divide": torch.div,
    "elu": f.elu,
    "equal": torch.eq,
    "erf": torch.erf,
    "exp": torch.exp,
    "floor": torch.floor,
    "gelu": f.gelu,
    "greater": torch.gt,
    "greater_equal": torch.ge,
    "leaky_relu": f.leaky_relu,
    "less": torch.lt,
    "less_equal": torch.le,
    "log": torch.log,
    "logical_and": torch.logical_and,
    "logical_not": torch.logical_not,
    "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "multiply": torch.mul,
    "negative": torch.neg,
    "power": torch.pow,
    "reciprocal": torch.reciprocal,
    "relu": torch.relu,
    "round": torch.round,
    "sigmoid": torch.sigmoid,
    "sign": torch.sign,
    "sin": torch.sin,
    "softplus": f.softplus,
    "sqrt": torch.sqrt,
    "subtract": torch.sub,
    "tan": torch.tan,
    "tanh": torch.tanh,
}
_REDUCE: dict[str, Callable[..., Any]] = {
    "max": torch.amax,
    "mean": torch.mean,
    "min": torch.amin,
    "sum": torch.sum,
}
_LINES = {3: "linear", 4: "bilinear", 5: "trilinear"}
_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate"}


class Traced:
    """A value of the graph: its step, and a tensor of its type and shape without memory."""

    def __init__(self, node: torch.fx.Node, like: torch.Tensor) -> None:
        self.node, self.like = node, like


class TorchBackend:
    """Builds `graph`; weights become parameters of `root`, whose names for them are in `named`,
    with the names that the model has."""

    def __init__(self) -> None:
        self.graph = torch.fx.Graph()
        self.root = torch.nn.Module()
        self.named: dict[str, str] = {}
        self._constants: dict[int | str, Traced] = {}
        self._alive: list[Array] = []

    def given(self, name: str, array: Array) -> Traced:
        """An input of the model."""
        place = len([node for node in self.graph.nodes if node.op == "placeholder"])
        node = self.graph.placeholder(f"given_{place}")
        node.meta["tensor"] = name
        return Traced(node, torch.from_numpy(array).to("meta"))

    def constant(self, name: str, array: Array) -> Traced:
        """A weight, once for each array."""
        key = name or id(array)
        if key not in self._constants:
            self._alive.append(array)
            own = f"weight_{len(self._constants)}"
            # the engine's memory, aligned as its own tensors are, and not the file's
            tensor = torch.from_numpy(array).clone()
            self.root.register_parameter(own, torch.nn.Parameter(tensor, requires_grad=False))
            self.named[own] = name or own
            node = self.graph.get_attr(own)
            self._constants[key] = Traced(node, tensor.to("meta"))
        return self._constants[key]

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Traced:
        """A step that calls a function."""
        like = function(*_likes(args), **{name: _likes(one) for name, one in kwargs.items()})
        nodes = {name: _nodes(one) for name, one in kwargs.items()}
        return Traced(self.graph.call_function(function, _nodes(args), nodes), like)

    def shape(self, value: Traced) -> tuple[int, ...]:
        """Its sizes."""
        return tuple(value.like.shape)

    def dtype(self, value: Traced) -> str:
        """Its type by numpy's name."""
        return str(value.like.dtype).removeprefix("torch.")

    def apply(self, name: str, *values: Any) -> Traced:
        """The function of that name, element by element."""
        if name == "divide_int":
            return self.call(torch.div, *values, rounding_mode="trunc")
        if name == "gelu_tanh":
            return self.call(f.gelu, *values, approximate="tanh")
        if not isinstance(values[0], Traced) or name in ("maximum", "minimum"):
            values = tuple(self._tensor(one, values) for one in values)
        return self.call(_ELEMENTWISE[name], *values)

    def _tensor(self, one: Any, values: Sequence[Any]) -> Traced:
        if isinstance(one, Traced):
            return one
        other = next(value for value in values if isinstance(value, Traced))
        return self.constant("", torch.tensor(one, dtype=other.like.dtype).numpy())

    def cast(self, value: Traced, dtype: str) -> Traced:
        """The same numbers in another type."""
        return self.call(torch.Tensor.to, value, getattr(torch, dtype))

    def matmul(self, one: Traced, other: Traced) -> Traced:
        """As numpy.matmul."""
        return self.call(torch.matmul, one, other)

    def gemm(
        self, a: Traced, b: Traced, c: Traced | None, flipped: tuple[bool, bool],
        factors: tuple[float, float],
    ) -> Traced:  # fmt: skip
        """A linear layer where it is one."""
        if flipped == (False, True) and factors == (1.0, 1.0) and (c is None or c.like.ndim == 1):
            return self.call(f.linear, a, b, c)
        a, b = (
            self.call(torch.t, one) if flip else one
            for one, flip in zip((a, b), flipped, strict=True)
        )
        alpha, beta = factors
        if c is None:
            made = self.call(torch.matmul, a, b)
            return made if alpha == 1 else self.call(torch.mul, made, alpha)
        return self.call(torch.addmm, c, a, b, beta=beta, alpha=alpha)

    def conv(
        self, x: Traced, weight: Traced, bias: Traced | None, *, strides: Sequence[int],
        pads: Sequence[tuple[int, int]], dilations: Sequence[int], group: int,
    ) -> Traced:  # fmt: skip
        """A convolution, channels first."""
        x, even = self._evenly_padded(x, pads, 0.0)
        function = (f.conv1d, f.conv2d, f.conv3d)[len(strides) - 1]
        return self.call(
            function, x, weight, bias, tuple(strides), tuple(even), tuple(dilations), group
        )

    def _evenly_padded(
        self, x: Traced, pads: Sequence[tuple[int, int]], fill: float
    ) -> tuple[Traced, list[int]]:
        """The input and pads that are the same at both ends, padded beforehand where they are
        not."""
        if all(before == after for before, after in pads):
            return x, [before for before, _ in pads]
        flat = [one for pad in reversed(pads) for one in pad]
        return self.call(f.pad, x, flat, "constant", fill), [0] * len(pads)

    def pool(
        self, kind: str, x: Traced, *, kernel: Sequence[int], strides: Sequence[int],
        pads: Sequence[tuple[int, int]], dilations: Sequence[int], count_pad: bool,
    ) -> Traced:  # fmt: skip
        """'max' or 'average' over windows."""
        axes = len(kernel)
        uneven = any(before != after for before, after in pads)
        if kind == "max":
            x, even = self._evenly_padded(x, pads, -math.inf)
            function = (f.max_pool1d, f.max_pool2d, f.max_pool3d)[axes - 1]
            return self.call(
                function, x, tuple(kernel), tuple(strides), tuple(even), tuple(dilations)
            )
        if any(one != 1 for one in dilations) or (uneven and not count_pad):
            raise Untranslated("AveragePool with dilations or uneven pads")
        x, even = self._evenly_padded(x, pads, 0.0)
        function = (f.avg_pool1d, f.avg_pool2d, f.avg_pool3d)[axes - 1]
        return self.call(function, x, tuple(kernel), tuple(strides), tuple(even), False, count_pad)

    def batch_norm(
        self, x: Traced, scale: Traced, shift: Traced, mean: Traced, variance: Traced,
        epsilon: float,
    ) -> Traced:  # fmt: skip
        """By known statistics."""
        return self.call(f.batch_norm, x, mean, variance, scale, shift, False, 0.0, epsilon)

    def layer_norm(
        self, x: Traced, scale: Traced, shift: Traced | None, axis: int, epsilon: float
    ) -> Traced:
        """Over the axes from `axis` on."""
        return self.call(f.layer_norm, x, tuple(x.like.shape[axis:]), scale, shift, epsilon)

    def group_norm(
        self, x: Traced, scale: Traced, shift: Traced, groups: int, epsilon: float
    ) -> Traced:
        """Over groups of channels."""
        if groups == x.like.shape[1]:
            return self.call(f.instance_norm, x, None, None, scale, shift, True, 0.1, epsilon)
        return self.call(f.group_norm, x, groups, scale, shift, epsilon)

    def softmax(self, x: Traced, axis: int, *, log: bool) -> Traced:
        """Or its logarithm."""
        return self.call(torch.log_softmax if log else torch.softmax, x, axis)

    def reduce(self, kind: str, x: Traced, axes: Sequence[int], *, keep: bool) -> Traced:
        """Over the axes."""
        if kind in _REDUCE:
            return self.call(_REDUCE[kind], x, tuple(axes), keep)
        for axis in sorted(axes, reverse=True):
            x = self.call(torch.prod, x, axis, keep)
        return x

    def arg(self, kind: str, x: Traced, axis: int, *, keep: bool) -> Traced:
        """The first place of the largest or the smallest."""
        return self.call(torch.argmax if kind == "max" else torch.argmin, x, axis, keep)

    def reshape(self, x: Traced, shape: Sequence[int]) -> Traced:
        """In another shape."""
        return self.call(torch.reshape, x, tuple(shape))

    def transpose(self, x: Traced, order: Sequence[int]) -> Traced:
        """Axes in another order. That of a key in attention is written in two steps: of one step
        the compiler (2.13) does not see the order, takes it for another, and fails."""
        if tuple(order) == (0, 2, 3, 1):
            return self.call(torch.transpose, self.call(torch.permute, x, (0, 2, 1, 3)), 2, 3)
        return self.call(torch.permute, x, tuple(order))

    def expand(self, x: Traced, shape: Sequence[int]) -> Traced:
        """Repeated to that shape."""
        return self.call(torch.broadcast_to, x, tuple(shape))

    def concat(self, values: Sequence[Traced], axis: int) -> Traced:
        """One behind the other."""
        return self.call(torch.cat, list(values), axis)

    def cut(self, x: Traced, cuts: Sequence[slice]) -> Traced:
        """A part of it, axis by axis; backwards by turning it round first."""
        for axis, one in enumerate(cuts):
            if one == slice(None):
                continue
            start, stop, step = one.indices(x.like.shape[axis])
            if step < 0:
                places = list(range(start, stop, step))
                x = self.call(torch.flip, x, (axis,))
                last = x.like.shape[axis] - 1
                start, step = (last - places[0], -step) if places else (0, 1)
                stop = last - places[-1] + 1 if places else 0
            x = self.call(torch.ops.aten.slice.Tensor, x, axis, start, max(start, stop), step)
        return x

    def gather(self, x: Traced, places: Traced, axis: int) -> Traced:
        """What stands at places of an axis."""
        if places.like.ndim == 1:
            return self.call(torch.index_select, x, axis, places)
        flat = self.call(torch.index_select, x, axis, self.reshape(places, (-1,)))
        sizes = x.like.shape
        return self.reshape(flat, (*sizes[:axis], *places.like.shape, *sizes[axis + 1 :]))

    def pad(self, x: Traced, pads: Sequence[tuple[int, int]], mode: str, fill: float) -> Traced:
        """A pair for each axis; torch counts them from the last."""
        first = next((at for at, pad in enumerate(pads) if any(pad)), len(pads))
        flat = [one for pad in reversed(pads[first:]) for one in pad]
        if mode == "constant":
            return self.call(f.pad, x, flat, "constant", fill)
        return self.call(f.pad, x, flat, _MODES[mode])

    def tile(self, x: Traced, times: Sequence[int]) -> Traced:
        """Repeated along each axis."""
        return self.call(torch.tile, x, tuple(times))

    def resize(self, x: Traced, sizes: Sequence[int], mode: str, *, corners: bool) -> Traced:
        """Of all axes after the channels."""
        if mode == "nearest":
            return self.call(f.interpolate, x, tuple(sizes), None, "nearest")
        return self.call(f.interpolate, x, tuple(sizes), None, _LINES[x.like.ndim], corners)

    def where(self, condition: Traced, one: Traced, other: Traced) -> Traced:
        """One or the other."""
        return self.call(torch.where, condition, one, other)


def _likes(one: Any) -> Any:
    if isinstance(one, Traced):
        return one.like
    if isinstance(one, list | tuple):
        return type(one)(map(_likes, one))
    return one


def _nodes(one: Any) -> Any:
    if isinstance(one, Traced):
        return one.node
    if isinstance(one, list | tuple):
        return type(one)(map(_nodes, one))
    return one
