"""DeepLabV3+ (Chen et al. 2018): a backbone at output stride 16, atrous separable convolutions in
parallel (ASPP), and a decoder that joins them with low-level features."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import onnx

from fusescope.collectors.zoo import mobilenetv2, resnet50
from fusescope.collectors.zoo.builder import Features, GraphBuilder

# Residuals of small size, as resnet50 has them anyway: in a random network of this depth the
# engine's rounding errors would grow to 1e-4 of the output otherwise.
BACKBONES: dict[str, Callable[[GraphBuilder, str, int], Features]] = {
    "mobilenetv2": partial(mobilenetv2.features, residual_gamma=0.3),
    "resnet50": resnet50.features,
}
OUTPUT_STRIDE = 16
LOW_STRIDE = 4
RATES = (6, 12, 18)  # for this output stride
WIDTH = 256
LOW_WIDTH = 48
CLASSES = 21
SIZE = 513
OPSET = 18  # Resize with axes: its sizes leave the batch open


def build(backbone: str = "mobilenetv2", size: int = SIZE) -> onnx.ModelProto:
    """195 nodes with mobilenetv2, 221 with resnet50. `size` of the images is a multiple of 16,
    plus 1: so the corners of all feature maps lie on each other."""
    assert size % OUTPUT_STRIDE == 1
    graph = GraphBuilder(f"deeplabv3plus-{backbone}", opset=OPSET)
    found = BACKBONES[backbone](graph, "backbone/", OUTPUT_STRIDE)
    x = _aspp(graph, found.high, found.high_channels, size // OUTPUT_STRIDE + 1)
    low = graph.conv_bn(
        found.low, found.low_channels, LOW_WIDTH, 1, "decoder/low_level", activation="Relu"
    )
    x = _resize(graph, x, size // LOW_STRIDE + 1, "decoder")
    x = graph.node("Concat", [x, low], "decoder", axis=1)
    x = _separable(graph, x, WIDTH + LOW_WIDTH, 1, "classifier/refine0")
    x = _separable(graph, x, WIDTH, 1, "classifier/refine1")
    x = graph.conv(x, WIDTH, CLASSES, 1, "classifier", bias=True)
    x = _resize(graph, x, size, "classifier")
    return graph.model(x, (3, size, size), (CLASSES, size, size))


def _aspp(graph: GraphBuilder, x: str, channels: int, size: int) -> str:
    """What surrounds each place, near, at three distances, and in the whole image."""
    branches = [graph.conv_bn(x, channels, WIDTH, 1, "aspp/near", activation="Relu")]
    branches += [_separable(graph, x, channels, rate, f"aspp/rate{rate}") for rate in RATES]
    pooled = graph.node("GlobalAveragePool", [x], "aspp/image")
    pooled = graph.conv_bn(pooled, channels, WIDTH, 1, "aspp/image", activation="Relu")
    branches.append(_resize(graph, pooled, size, "aspp/image"))
    joined = graph.node("Concat", branches, "aspp", axis=1)
    return graph.conv_bn(joined, len(branches) * WIDTH, WIDTH, 1, "aspp/project", activation="Relu")


def _separable(graph: GraphBuilder, x: str, channels: int, rate: int, scope: str) -> str:
    """A depthwise 3x3 convolution and a pointwise one, each with its own activation."""
    y = graph.conv_bn(
        x, channels, channels, 3, f"{scope}/depthwise",
        activation="Relu", groups=channels, dilation=rate,
    )  # fmt: skip
    return graph.conv_bn(y, channels, WIDTH, 1, f"{scope}/pointwise", activation="Relu")


def _resize(graph: GraphBuilder, x: str, size: int, scope: str) -> str:
    sizes = graph.weight(f"size{size}", np.array([size, size], np.int64))
    return graph.node(
        "Resize",
        [x, "", "", sizes],
        scope,
        axes=[2, 3],
        mode="linear",
        coordinate_transformation_mode="align_corners",
    )
