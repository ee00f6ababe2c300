"""One Mul and one Add on big tensors: an elementwise chain bound by memory."""

from __future__ import annotations

import numpy as np
import onnx

from collectors.zoo.builder import GraphBuilder

SHAPE = (64, 128, 128)


def build() -> onnx.ModelProto:
    """2 nodes."""
    graph = GraphBuilder("mul_add")
    y = graph.node("Mul", ["input", graph.weight("scale", np.float32(1.5))], "chain")
    y = graph.node("Add", [y, graph.weight("shift", np.float32(0.25))], "chain")
    return graph.model(y, SHAPE, SHAPE)
