"""Models with dynamic dimensions as exporters write them: sizes are computed while they run."""

from __future__ import annotations

import numpy as np
import onnx

from tests.architectures import FLOAT, Model


def causal(layers: int = 1, width: int = 16) -> onnx.ModelProto:
    """Products with a bias, a causal mask that Range makes of the length in every layer, and
    positions from a table."""
    m = Model(3, opset=17, constant_nodes=True)
    x = m.input("x", ["batch", "length", width])
    zero, one = m.weight(np.int64(0)), m.weight(np.int64(1))
    for layer in range(layers):
        m.scope = f"/layers.{layer}"
        length = m.op("Gather", m.op("Shape", x), one, axis=0)
        places = m.op("Range", zero, length, one)
        table = m.op("Gather", m.weight(m.normal(64, width), "position"), places)
        x = m.op("Add", x, table)
        q, k, v = (m.linear(x, width, width) for _ in range(3))
        scores = m.op("MatMul", q, m.op("Transpose", k, perm=[0, 2, 1]))
        rows = m.op("Unsqueeze", places, m.weight(np.array([1], np.int64)))
        scores = m.op("Where", m.op("LessOrEqual", places, rows), scores, m.weight(np.float32(-9)))
        x = m.op("Add", m.op("MatMul", m.op("Softmax", scores, axis=-1), v), x)
        x = m.op("Reshape", m.linear(x, width, width), _target(m, x, width))
    return m.build(x)


def _target(m: Model, x: str, width: int) -> str:
    """[batch, length, width], with the length in halves: no optimizer sees through that."""
    axes = m.weight(np.array([0], np.int64))
    two = m.weight(np.int64(2))
    batch, length = (
        m.op("Gather", m.op("Shape", x), m.weight(np.int64(at)), axis=0) for at in (0, 1)
    )
    length = m.op("Mul", m.op("Div", length, two), two)
    parts = [m.op("Unsqueeze", part, axes) for part in (batch, length)]
    return m.op("Concat", *parts, m.weight(np.array([width], np.int64)), axis=0)


def any_rank() -> onnx.ModelProto:
    """A second input that does not even say how many dimensions it has."""
    m = Model(4)
    x = m.input("x", [3, 4])
    m.inputs.append(onnx.helper.make_tensor_value_info("y", FLOAT, None))
    return m.build(m.op("Relu", m.op("Add", x, "y")))
