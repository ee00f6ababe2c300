"""One Conv, BatchNormalization and Relu: the chain that fusion is first asked for."""

from __future__ import annotations

import onnx

from collectors.zoo.builder import GraphBuilder

SHAPE = (64, 56, 56)


def build() -> onnx.ModelProto:
    """3 nodes."""
    graph = GraphBuilder("conv_bn_relu")
    y = graph.conv_bn("input", SHAPE[0], SHAPE[0], 3, "block", activation="Relu")
    return graph.model(y, SHAPE, SHAPE)
