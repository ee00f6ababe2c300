"""Two exports of one model: the second writes a square as x · x, which no pattern of a
normalisation looks for. Both count their operators, so a name of one may be another operator of the
other."""

from __future__ import annotations

import numpy as np
import onnx

from tests.architectures import Model

ROWS, WIDTH = 6, 16


def export(*, as_product: bool = False, seed: int = 0, rows: int | str = ROWS) -> onnx.ModelProto:
    """x -> normalisation (9 operators) -> MatMul + Add -> y."""
    m = Model(seed=seed, opset=16)
    x = m.input("x", [1, rows, WIDTH])
    centred = m.op("Sub", x, m.op("ReduceMean", x, axes=[-1]))
    square = m.op("Mul", centred, centred) if as_product else m.op("Pow", centred, m.weight(two()))
    variance = m.op("ReduceMean", square, axes=[-1])
    root = m.op("Sqrt", m.op("Add", variance, m.weight(two() * 5e-6, "epsilon")))
    scale, shift = m.weight(m.normal(WIDTH), "scale"), m.weight(m.normal(WIDTH), "shift")
    y = m.op("Add", m.op("Mul", m.op("Div", centred, root), scale), shift)
    return m.build(m.linear(y, WIDTH, WIDTH))


def two() -> np.float32:
    return np.float32(2)
