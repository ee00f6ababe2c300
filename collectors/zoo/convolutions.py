"""One convolution, alone or with what is fused into it."""

from __future__ import annotations

import onnx

from fusescope.collectors.zoo.builder import GraphBuilder

SHAPE = (64, 56, 56)
DEPTHWISE_SHAPE = (144, 56, 56)  # of MobileNetV2's block1/1: larger than a second-level cache


def conv_bn() -> onnx.ModelProto:
    """2 nodes: what folding makes one of, with no arithmetic left over."""
    graph = GraphBuilder("conv_bn")
    y = graph.conv_bn("input", SHAPE[0], SHAPE[0], 3, "block")
    return graph.model(y, SHAPE, SHAPE)


def conv_bn_relu() -> onnx.ModelProto:
    """3 nodes: the chain that fusion is first asked for."""
    graph = GraphBuilder("conv_bn_relu")
    y = graph.conv_bn("input", SHAPE[0], SHAPE[0], 3, "block", activation="Relu")
    return graph.model(y, SHAPE, SHAPE)


def depthwise_conv() -> onnx.ModelProto:
    """1 node: nothing else can be fused into it, so its time is the convolution's own."""
    graph = GraphBuilder("depthwise_conv")
    channels = DEPTHWISE_SHAPE[0]
    y = graph.conv("input", channels, channels, 3, "block", groups=channels)
    return graph.model(y, DEPTHWISE_SHAPE, DEPTHWISE_SHAPE)
