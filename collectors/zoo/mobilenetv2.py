"""MobileNetV2 (Sandler et al. 2018), width 1.0."""

from __future__ import annotations

import onnx

from collectors.zoo.builder import GraphBuilder

# expansion, channels, repeats, stride
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def build() -> onnx.ModelProto:
    """152 nodes: 52 Conv, 52 BatchNormalization, 35 Clip, 10 Add."""
    graph = GraphBuilder("mobilenetv2")
    x = graph.conv_bn("input", 3, 32, 3, "stem", activation="Relu6", stride=2)
    channels = 32
    for stage, (expansion, width, repeats, stage_stride) in enumerate(STAGES):
        for repeat in range(repeats):
            stride = stage_stride if repeat == 0 else 1
            x = _block(graph, x, channels, width, expansion, stride, f"block{stage}/{repeat}")
            channels = width
    x = graph.conv_bn(x, channels, 1280, 1, "last", activation="Relu6")
    return graph.model(graph.classifier(x, 1280), (3, 224, 224), (1000,))


def _block(
    graph: GraphBuilder, x: str, channels: int, width: int, expansion: int, stride: int, scope: str
) -> str:
    inner = channels * expansion
    y = x
    if expansion != 1:
        y = graph.conv_bn(y, channels, inner, 1, f"{scope}/expand", activation="Relu6")
    y = graph.conv_bn(
        y, inner, inner, 3, f"{scope}/dw", activation="Relu6", stride=stride, groups=inner
    )
    y = graph.conv_bn(y, inner, width, 1, f"{scope}/project")
    return graph.node("Add", [y, x], scope) if stride == 1 and channels == width else y
