"""The tiny nets of `make validate-cache`: one or a few operators, at sizes on both sides of the
simulated cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAST_LEVEL_BYTES = 2**20
_FLOAT_BYTES = 4
KIB = 1024 // _FLOAT_BYTES  # floats in a KiB

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Case:
    """A net under a name: `operators` is what it is made of, `size` says which side it is on.

    All tensors are float32. `weights` are shapes, filled at random.
    """

    operators: str
    size: str
    nodes: tuple[onnx.NodeProto, ...]
    inputs: Shapes
    outputs: Shapes
    weights: Shapes = field(default_factory=dict)

    @property
    def name(self) -> str:
        """'Conv 3×3, 1.5 MiB tensors'."""
        return f"{self.operators}, {self.size}"

    def model(self) -> onnx.ModelProto:
        """The net as ONNX."""
        chance = np.random.default_rng(0)
        constants = [
            numpy_helper.from_array(chance.random(shape, dtype=np.float32), name)
            for name, shape in self.weights.items()
        ]
        graph = helper.make_graph(
            list(self.nodes), "net", _values(self.inputs), _values(self.outputs), constants
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cases() -> Iterator[Case]:
    """Every case; names are unique."""
    for kib in (64, 2048):
        yield from _single(kib)
    for kib in (64, 384, 2048):
        yield from _chains(kib)
    for kib in (448, 576):  # two tensors: 7/8 and 9/8 of the cache
        flat = (kib * KIB,)
        yield Case("Relu", _size(kib), (_node("Relu", "x", "y"),), {"x": flat}, {"y": flat})
    for channels, side in ((16, 28), (16, 78), (16, 168)):
        yield from _convolutions(channels, side)
    for rows in (128, 768):
        yield from _products(rows)
    yield from _large_weights()


def _single(kib: int) -> Iterator[Case]:
    flat = (kib * KIB,)
    matrix = (kib, KIB)
    size = _size(kib)
    one = {"x": flat}
    yield Case("Add", size, (_node("Add", "a b", "y"),), {"a": flat, "b": flat}, {"y": flat})
    yield Case("Relu", size, (_node("Relu", "x", "y"),), one, {"y": flat})
    yield Case("Sigmoid", size, (_node("Sigmoid", "x", "y"),), one, {"y": flat})
    yield Case(
        "Transpose", size, (_node("Transpose", "x", "y", perm=[1, 0]),),
        {"x": matrix}, {"y": matrix[::-1]},
    )  # fmt: skip
    yield Case(
        "Softmax", size, (_node("Softmax", "x", "y", axis=-1),), {"x": matrix}, {"y": matrix}
    )
    yield Case(
        "LayerNormalization", size, (_node("LayerNormalization", "x s b", "y"),),
        {"x": matrix}, {"y": matrix}, {"s": (KIB,), "b": (KIB,)},
    )  # fmt: skip
    yield Case(
        "ReduceMean", size, (_node("ReduceMean", "x", "y", axes=[1], keepdims=1),),
        {"x": matrix}, {"y": (kib, 1)},
    )  # fmt: skip
    yield Case(
        "Concat", size, (_node("Concat", "a b", "y", axis=0),),
        {"a": flat, "b": flat}, {"y": (2 * flat[0],)},
    )  # fmt: skip


def _chains(kib: int) -> Iterator[Case]:
    flat = (kib * KIB,)
    size = _size(kib)
    yield Case(
        "Mul, Add", size, (_node("Mul", "x s", "t"), _node("Add", "t b", "y")),
        {"x": flat}, {"y": flat}, {"s": (1,), "b": (1,)},
    )  # fmt: skip
    yield Case(
        "Sigmoid, Mul", size, (_node("Sigmoid", "x", "t"), _node("Mul", "x t", "y")),
        {"x": flat}, {"y": flat},
    )  # fmt: skip
    yield Case(
        "Relu, Neg, Abs, Neg", size,
        (_node("Relu", "x", "t"), _node("Neg", "t", "u"), _node("Abs", "u", "v"),
         _node("Neg", "v", "y")),
        {"x": flat}, {"y": flat},
    )  # fmt: skip


def _convolutions(channels: int, side: int) -> Iterator[Case]:
    image = (1, channels, side, side)
    size = _size(channels * side * side // KIB)
    half = (1, channels, side // 2, side // 2)
    for kernel, group, name in ((3, 1, "Conv 3×3"), (1, 1, "Conv 1×1"), (3, channels, "Depthwise")):
        conv = _node("Conv", "x w", "y", pads=[kernel // 2] * 4, group=group)
        weight = (channels, channels // group, kernel, kernel)
        yield Case(name, size, (conv,), {"x": image}, {"y": image}, {"w": weight})
    yield Case(
        "MaxPool 2×2", size,
        (_node("MaxPool", "x", "y", kernel_shape=[2, 2], strides=[2, 2]),),
        {"x": image}, {"y": half},
    )  # fmt: skip
    per_channel = (channels,)
    yield Case(
        "Conv 3×3, BatchNormalization, Relu", size,
        (
            _node("Conv", "x w", "t", pads=[1] * 4),
            _node("BatchNormalization", "t s b m v", "u"),
            _node("Relu", "u", "y"),
        ),
        {"x": image}, {"y": image},
        {"w": (channels, channels, 3, 3), **dict.fromkeys("sbmv", per_channel)},
    )  # fmt: skip
    yield Case(
        "Conv 1×1, Add", size, (_node("Conv", "x w", "t"), _node("Add", "t x", "y")),
        {"x": image}, {"y": image}, {"w": (channels, channels, 1, 1)},
    )  # fmt: skip


def _products(rows: int) -> Iterator[Case]:
    left, right, out = (rows, 64), (64, rows), (rows, rows)
    size = f"{rows}×64 · 64×{rows}"
    yield Case("MatMul", size, (_node("MatMul", "a b", "y"),), {"a": left, "b": right}, {"y": out})
    yield Case(
        "Gemm", size, (_node("Gemm", "a w b", "y"),),
        {"a": left}, {"y": out}, {"w": right, "b": (rows,)},
    )  # fmt: skip


def _large_weights() -> Iterator[Case]:
    """A product of few rows: the weights are what moves."""
    for inner in (128, 1024):
        yield Case(
            "Gemm", f"4×{inner} · {inner}×{inner}", (_node("Gemm", "a w b", "y"),),
            {"a": (4, inner)}, {"y": (4, inner)}, {"w": (inner, inner), "b": (inner,)},
        )  # fmt: skip


def _node(op_type: str, inputs: str, outputs: str, **attributes: object) -> onnx.NodeProto:
    name = f"{op_type}_{outputs}"
    return helper.make_node(op_type, inputs.split(), outputs.split(), name=name, **attributes)


def _values(shapes: Shapes) -> list[onnx.ValueInfoProto]:
    return [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    ]


def _size(kib: int) -> str:
    return f"{kib} KiB tensors" if kib < 1024 else f"{kib / 1024:.3g} MiB tensors"
