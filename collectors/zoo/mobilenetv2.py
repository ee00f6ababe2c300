"""MobileNetV2 (Sandler et al. 2018), width 1.0."""

from __future__ import annotations

import onnx

from fusescope.collectors.zoo.builder import Features, GraphBuilder, Strides

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
LOW_LEVEL_STAGE = 1  # the last at a quarter of the image


def build() -> onnx.ModelProto:
    """152 nodes: 52 Conv, 52 BatchNormalization, 35 Clip, 10 Add."""
    graph = GraphBuilder("mobilenetv2")
    found = features(graph)
    x = graph.conv_bn(found.high, found.high_channels, 1280, 1, "last", activation="Relu6")
    return graph.model(graph.classifier(x, 1280), (3, 224, 224), (1000,))


def features(
    graph: GraphBuilder, prefix: str = "", output_stride: int = 32, residual_gamma: float = 1.0
) -> Features:
    """The convolutions on `input`; scopes start with `prefix`. 146 nodes: 51 Conv,
    51 BatchNormalization, 34 Clip, 10 Add. `residual_gamma` scales what is added to a shortcut."""
    strides = Strides(output_stride)
    x = graph.conv_bn(
        "input", 3, 32, 3, f"{prefix}stem", activation="Relu6", stride=strides.step(2)[0]
    )
    low, channels = "", 32
    for stage, (expansion, width, repeats, stage_stride) in enumerate(STAGES):
        for repeat in range(repeats):
            stride, dilation = strides.step(stage_stride if repeat == 0 else 1)
            x = _block(
                graph, x, channels, width, expansion, f"{prefix}block{stage}/{repeat}",
                stride=stride, dilation=dilation, residual_gamma=residual_gamma,
            )  # fmt: skip
            channels = width
        if stage == LOW_LEVEL_STAGE:
            low = x
    return Features(low, STAGES[LOW_LEVEL_STAGE][1], x, channels)


def _block(
    graph: GraphBuilder,
    x: str,
    channels: int,
    width: int,
    expansion: int,
    scope: str,
    *,
    stride: int,
    dilation: int,
    residual_gamma: float,
) -> str:
    inner = channels * expansion
    whole = stride == 1 and channels == width
    y = x
    if expansion != 1:
        y = graph.conv_bn(y, channels, inner, 1, f"{scope}/expand", activation="Relu6")
    y = graph.conv_bn(
        y, inner, inner, 3, f"{scope}/dw",
        activation="Relu6", stride=stride, groups=inner, dilation=dilation,
    )  # fmt: skip
    gamma = residual_gamma if whole else 1.0
    y = graph.conv_bn(y, inner, width, 1, f"{scope}/project", gamma=gamma)
    return graph.node("Add", [y, x], scope) if whole else y
