"""ResNet-50 (He et al. 2016; stride in the 3x3 convolution)."""

from __future__ import annotations

import onnx

from fusescope.collectors.zoo.builder import Features, GraphBuilder, Strides

STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))  # blocks, width
EXPANSION = 4


def build() -> onnx.ModelProto:
    """175 nodes: 53 Conv, 53 BatchNormalization, 49 Relu, 16 Add."""
    graph = GraphBuilder("resnet50")
    found = features(graph)
    output = graph.classifier(found.high, found.high_channels)
    return graph.model(output, (3, 224, 224), (1000,))


def features(graph: GraphBuilder, prefix: str = "", output_stride: int = 32) -> Features:
    """The convolutions on `input`; scopes start with `prefix`. 172 nodes: all but the head."""
    strides = Strides(output_stride)
    stem = f"{prefix}stem"
    x = graph.conv_bn("input", 3, 64, 7, stem, activation="Relu", stride=strides.step(2)[0])
    stride, _ = strides.step(2)
    x = graph.node(
        "MaxPool", [x], stem, kernel_shape=[3, 3], strides=[stride, stride], pads=[1, 1, 1, 1]
    )
    low, channels = "", 64
    for stage, (blocks, width) in enumerate(STAGES):
        for block in range(blocks):
            stride, dilation = strides.step(2 if block == 0 and stage > 0 else 1)
            x = _bottleneck(
                graph, x, channels, width, f"{prefix}layer{stage + 1}/{block}",
                stride=stride, dilation=dilation, first=block == 0,
            )  # fmt: skip
            channels = EXPANSION * width
        low = low or x
    return Features(low, EXPANSION * STAGES[0][1], x, channels)


def _bottleneck(
    graph: GraphBuilder,
    x: str,
    channels: int,
    width: int,
    scope: str,
    *,
    stride: int,
    dilation: int,
    first: bool,
) -> str:
    y = graph.conv_bn(x, channels, width, 1, f"{scope}/a", activation="Relu")
    y = graph.conv_bn(
        y, width, width, 3, f"{scope}/b", activation="Relu", stride=stride, dilation=dilation
    )
    # a small last gamma keeps the sum of many random residuals from growing
    y = graph.conv_bn(y, width, EXPANSION * width, 1, f"{scope}/c", gamma=0.3)
    if first:
        x = graph.conv_bn(x, channels, EXPANSION * width, 1, f"{scope}/down", stride=stride)
    return graph.node("Relu", [graph.node("Add", [y, x], f"{scope}/add")], f"{scope}/out")
