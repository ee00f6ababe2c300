"""Floating-point operations of convolutions and matrix products, from shapes or from a Graph.

One multiply-add counts as two. Only the convolution or matrix product of a fused operator is
counted (not its bias, activation or residual), so that fused and unfused compare.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from analysis.graph import Graph, Node

Shape = tuple[int, ...]

FROM_SHAPES = "shapes, padded taps counted"
FROM_BLOCKED_SHAPES = "shapes, padded taps and padded channels counted"
FROM_GRAPH = "graph, padded taps not counted"

_CONV = {"Conv", "FusedConv", "NhwcFusedConv", "NhwcConv", "ConvInteger", "QLinearConv"}
_MATMUL = {"MatMul", "FusedMatMul", "MatMulInteger", "MatMulIntegerToFloat", "TransposeMatMul"}
_GEMM = {"Gemm", "FusedGemm"}
NCHWC_DOMAIN = "com.microsoft.nchwc"
_TENSOR = re.compile(r"(\w+)\[([-\d,]*)\]")


def parse_shapes(text: str) -> list[Shape]:
    """Shapes out of canonical text: 'float32[1,3]; int64[]' -> [(1, 3), ()]."""
    return [tuple(int(d) for d in match[2].split(",") if d) for match in _TENSOR.finditer(text)]


def from_shapes(op_type: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    """FLOPs from tensor shapes alone; None for other operators or when shapes do not suffice.

    Conv: 2 · |out| · (C_in / group) · k_h · k_w = 2 · |out| · |weight[0]|, padded taps included.
    MatMul: 2 · |out| · K. Gemm: 2 · |out| · K with K = |A| / M, either way A is transposed.
    """
    if not inputs or not outputs or any(d < 0 for d in (*inputs[0], *outputs[0])):
        return None
    out = math.prod(outputs[0])
    if op_type in _CONV:
        # The quantised form interleaves scales: input, scale, zero point, weight, ...
        weights = [s for s in inputs[1:] if len(s) == len(inputs[0]) and len(s) >= 3]
        if not weights or any(d < 0 for d in weights[0]):
            return None
        return 2 * out * math.prod(weights[0][1:])
    if op_type in _MATMUL:
        first = inputs[0]
        if len(first) >= 2 and len(outputs[0]) >= len(first) and outputs[0][-2] > 0:
            return 2 * out * (first[-1] * first[-2] // outputs[0][-2])  # whichever is transposed
        return 2 * out * first[-1] if first else None
    if op_type in _GEMM and len(outputs[0]) == 2 and outputs[0][0] > 0:
        return 2 * out * (math.prod(inputs[0]) // outputs[0][0])
    return None


def from_graph(node: Node, graph: Graph) -> int | None:
    """FLOPs of a node of a graph, with taps that fall on padding left out.

    For a convolution the number of valid taps along each spatial axis is counted and multiplied
    over the axes; other operators are counted as in `from_shapes`. None when shapes are missing.
    """
    inputs = [_shape(graph, name) for name in node.inputs if name]
    outputs = [_shape(graph, name) for name in node.outputs if name]
    if not inputs or not outputs or inputs[0] is None or outputs[0] is None:
        return None
    if node.op_type in _CONV and not node.op_type.startswith("Nhwc"):
        weight = _weight_shape(node, graph)
        ranks = {len(inputs[0]), len(outputs[0]), len(weight or ())}
        if weight is None or len(ranks) > 1 or len(weight) < 3:
            return None
        taps = _valid_taps(node, inputs[0][2:], outputs[0][2:], weight[2:])
        if taps is None:
            return None
        channels = outputs[0][0] * outputs[0][1] * weight[1]
        return 2 * channels * math.prod(taps)
    known = [shape for shape in inputs if shape is not None]
    return from_shapes(node.op_type, known, [outputs[0]])


def logical_conv(node: Node, after: Graph, before: Graph) -> Node | None:
    """The convolution of the unoptimised graph that an NCHWc convolution carries out, or None.

    NCHWc pads channels to the block size, so its own shapes overcount. ONNX Runtime names such a
    node after the original tensor that it produces: `<tensor>_nchwc`. From that tensor walk back
    through the few operators that fuse into a convolution; of the convolutions found (a residual
    has two) the one with the same kernel and strides and the nearest channel counts is it.
    """
    blocked = _weight_shape(node, after)
    if node.domain != NCHWC_DOMAIN or not node.name.endswith("_nchwc") or blocked is None:
        return None
    pending = [node.name.removesuffix("_nchwc")]
    found: list[tuple[int, Node]] = []
    for _ in range(12):
        producer = before.producer.get(pending.pop(0)) if pending else None
        if producer is None:
            continue
        if producer.op_type in _FUSES_INTO_CONV:
            pending.extend(name for name in producer.inputs if name)
        weight = _weight_shape(producer, before) if producer.op_type in _CONV else None
        if weight is None or len(weight) < 3 or weight[2:] != blocked[2:]:
            continue
        fits = weight[0] <= blocked[0] and weight[1] <= blocked[1]
        ones = [1] * (len(weight) - 2)
        if fits and _ints(producer, "strides", ones) == _ints(node, "strides", ones):
            found.append((math.prod(blocked) - math.prod(weight), producer))
    return min(found, key=lambda item: item[0])[1] if found else None


# A longer kernel axis is no kernel; the loop over taps must stay short on hostile shapes.
_MOST_TAPS = 65536
_FUSES_INTO_CONV = {
    "BatchNormalization", "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid",
    "HardSwish", "Add", "Sum", "Mul", "Identity",
}  # fmt: skip


def _valid_taps(node: Node, size: Shape, out: Shape, kernel: Shape) -> list[int] | None:
    """Per spatial axis: sum over output positions of kernel taps that lie inside the input."""
    rank = len(size)
    strides = _ints(node, "strides", [1] * rank)
    dilations = _ints(node, "dilations", [1] * rank)
    pads = _ints(node, "pads", [0] * (2 * rank))
    auto_pad = node.attributes.get("auto_pad", "NOTSET")
    taps = []
    for axis in range(rank):
        if strides[axis] < 1 or kernel[axis] > _MOST_TAPS:
            return None
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        begin = pads[axis]
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            total = max(0, (out[axis] - 1) * strides[axis] + reach - size[axis])
            begin = total // 2 if auto_pad == "SAME_UPPER" else (total + 1) // 2
        elif auto_pad == "VALID":
            begin = 0
        valid = 0
        for tap in range(kernel[axis]):
            # Output positions p with 0 <= p · stride - begin + tap · dilation < size.
            offset = begin - tap * dilations[axis]
            first = max(0, -(-offset // strides[axis]))
            last = min(out[axis] - 1, (size[axis] - 1 + offset) // strides[axis])
            valid += max(0, last - first + 1)
        taps.append(valid)
    return taps


def _weight_shape(node: Node, graph: Graph) -> Shape | None:
    position = 3 if node.op_type == "QLinearConv" else 1
    return _shape(graph, node.inputs[position]) if len(node.inputs) > position else None


def _shape(graph: Graph, name: str) -> Shape | None:
    tensor = graph.tensor.get(name)
    if tensor is None or tensor.shape is None or any(d < 0 for d in tensor.shape):
        return None
    return tensor.shape


def _ints(node: Node, name: str, default: list[int]) -> list[int]:
    value = node.attributes.get(name)
    if not isinstance(value, list) or len(value) != len(default):
        return default
    return [int(item) for item in value]
