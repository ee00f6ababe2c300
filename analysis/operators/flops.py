"""Floating-point operations of convolutions, matrix products and attention.

From shapes or from a Graph. One multiply-add counts as two. Only the convolution or matrix products
of a fused operator are counted (not its bias, activation or residual), so that fused and unfused
compare.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import msgspec

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.operators import attention_flops, xla_flops

Shape = tuple[int, ...]

FROM_SHAPES = "shapes, padded taps counted"
FROM_BLOCKED_SHAPES = "shapes, padded taps and padded channels counted"
FROM_GRAPH = "graph, padded taps not counted"

_CONV = {"Conv", "FusedConv", "NhwcFusedConv", "NhwcConv", "ConvInteger", "QLinearConv"}
_MATMUL = {"MatMul", "FusedMatMul", "MatMulInteger", "MatMulIntegerToFloat", "TransposeMatMul"}
_GEMM = {"Gemm", "FusedGemm"}
# Scales stand between the operands: a, scale, zero point, b, ...
_QUANTISED_PRODUCTS = {"QLinearMatMul": 3, "QGemm": 3, "DynamicQuantizeMatMul": 1}
NCHWC_DOMAIN = "com.microsoft.nchwc"
COUNTED = "counter"
# Sizes of at most 18 digits: what is longer, or no number, is not a shape.
_TENSOR = re.compile(
    r"(?<![\w?])([\w?]+)\[((?:(?:-?[0-9]{1,18})?,)*(?:-?[0-9]{1,18})?)\](?::(\w+))?"
)


def parse_shapes(text: str) -> list[Shape]:
    """Shapes out of canonical text: 'float32[1,3]; int64[]' -> [(1, 3), ()]."""
    return [tuple(int(d) for d in match[2].split(",") if d) for match in _TENSOR.finditer(text)]


def from_shapes(op_type: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    """FLOPs from tensor shapes alone; None for other operators or when shapes do not suffice.

    Conv: 2 · |out| · (C_in / group) · k_h · k_w = 2 · |out| · |weight[0]|, padded taps included.
    MatMul: 2 · |out| · K. Gemm: 2 · |out| · K with K = |A| / M, either way A is transposed.
    Attention: `analysis.operators.attention_flops`; `shapes_source` says what was counted.
    """
    if not inputs or not outputs or any(d < 0 for d in (*inputs[0], *outputs[0])):
        return None
    if op_type in attention_flops.ONNX_ATTENTION:
        known = all(d >= 0 for shape in (*inputs, *outputs) for d in shape)
        return attention_flops.onnx(op_type, inputs, outputs) if known else None
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
    other = _QUANTISED_PRODUCTS.get(op_type)
    if other is not None and other < len(inputs) and inputs[0]:
        inner, weight = inputs[0][-1], inputs[other]
        return 2 * out * inner if inner in weight[-2:] else None
    return None


def shapes_source(op_type: str) -> str:
    """What `from_shapes` counts of an operator."""
    if op_type == "GroupQueryAttention":
        return attention_flops.FROM_CAUSAL
    is_attention = op_type in attention_flops.ONNX_ATTENTION
    return attention_flops.FROM_SCORES if is_attention else FROM_SHAPES


class _Tensor(msgspec.Struct, frozen=True):
    shape: Shape
    layout: str  # '' for plain ones

    @property
    def is_blocked(self) -> bool:
        return self.layout.startswith("FRACTAL_") or self.layout in _BLOCKED

    @property
    def matrix(self) -> tuple[Shape, int, int] | None:
        """Batch, rows and columns; FRACTAL_NZ is [batch, N1, M1, M0, N0]. None for others."""
        if self.layout == "FRACTAL_NZ":
            if len(self.shape) < 4:
                return None
            *batch, n1, m1, m0, n0 = self.shape
            return tuple(batch), m1 * m0, n1 * n0
        if self.is_blocked or len(self.shape) < 2:
            return None
        return self.shape[:-2], self.shape[-2], self.shape[-1]


_BLOCKED = ("NC1HWC0", "NDC1HWC0", "C1HWNCOC0", "NC1HWC0_C04")
_LARGEST_BLOCK = 32  # channels, of 8-bit types
_NAME = re.compile(r"(?:.*::)?_?([A-Za-z0-9_]+?)(?:V\d|(?<=[a-z])D|_)?$")
# From inputs alone, since nothing else could come out. aten::linear and aten::matmul call these:
# counting them, too, would count twice.
_ATEN_PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}
_PRODUCTS = {"MatMul", "BatchMatMul", "BatchMatmul", "FullyConnected", "QuantBatchMatmul",
             "MatMulCommon", "WeightQuantBatchMatmul", "MatmulAllReduce",
             "MatMulAllReduce", "MatmulAllReduceAddRmsNorm"}  # fmt: skip
_GROUPED_PRODUCTS = {"GroupedMatmul", "GroupedMatMul"}
_CANN_ATTENTION = {"FlashAttentionScore", "FusedInferAttentionScore", "PromptFlashAttention"}
_CANN_ATTENTION_GRADIENT = "FlashAttentionScoreGrad"
_CONVOLUTIONS = {"Conv2D", "Convolution", "Conv3D", "GroupConvolution"}


def from_tensors(op_type: str, inputs: str, outputs: str) -> tuple[int, str] | None:
    """FLOPs of one call and what they were counted from, by the canonical text of its tensors.

    As `from_shapes` for the operators of ONNX; and, where the shapes agree with each other, of:
    matrix products of CANN, MindSpore and OpenVINO, 2 · |out| · K, either side transposed, plain
    or FRACTAL_NZ; convolutions in NCHW and NHWC, 2 · |out| · |weight| / C_out, and in NC1HWC0 with
    a FRACTAL_Z weight, 2 · N · H_out · W_out · |weight|; their gradients alike, with the gradient
    of the output in its place; products by group, 2 · |out| · K, every row with one group's
    matrix; attention and its gradient (`analysis.operators.attention_flops`); aten::mm, bmm, addmm
    and baddbmm from their inputs. Blocked layouts pad channels, and padded ones count
    (`FROM_BLOCKED_SHAPES`). None for everything else.
    """
    ins, outs = _tensors(inputs), _tensors(outputs)
    match = _NAME.match(op_type)
    name = match[1] if match else op_type
    if any(d < 0 for tensor in (*ins, *outs) for d in tensor.shape):
        return None
    if "::" in op_type:
        return _aten_product(name, ins)
    if not ins or not outs:
        return None
    if name in _CANN_ATTENTION or name == _CANN_ATTENTION_GRADIENT:
        shapes = [t.shape for t in ins], [t.shape for t in outs]
        return attention_flops.cann(*shapes, backward=name == _CANN_ATTENTION_GRADIENT)
    is_blocked = any(tensor.is_blocked for tensor in (*ins, *outs))
    if name in _GROUPED_PRODUCTS:
        found = _grouped_product(ins, outs[0])
    elif name in _PRODUCTS and (is_blocked or op_type not in _MATMUL):
        found = _product(ins[0], ins[1], outs[0]) if len(ins) > 1 else None
    elif name in _CONVOLUTIONS:
        found = _convolution(ins[1], outs[0]) if len(ins) > 1 else None
    elif name == "Conv2DBackpropInput":
        found = _convolution(ins[-2], ins[-1]) if len(ins) > 1 else None
    elif name == "Conv2DBackpropFilter":
        found = _convolution(outs[0], ins[-1])
    elif is_blocked:
        return None
    else:
        found = from_shapes(op_type, [t.shape for t in ins], [t.shape for t in outs])
    if found is None:
        return None
    return found, FROM_BLOCKED_SHAPES if is_blocked else shapes_source(op_type)


def _tensors(text: str) -> list[_Tensor]:
    return [
        _Tensor(tuple(int(d) for d in match[2].split(",") if d), (match[3] or "").upper())
        for match in _TENSOR.finditer(text)
    ]


def _product(first: _Tensor, second: _Tensor, out: _Tensor) -> int | None:
    """2 · |out| · K, where K is the one inner size that fits both sides and the output."""
    a, b, c = first.matrix, second.matrix, out.matrix
    if a is None or b is None or c is None:
        return None
    if any(batch not in ((), c[0]) and math.prod(batch) != 1 for batch in (a[0], b[0])):
        return None
    inner: set[int] = set()
    for rows, k in {a[1:], a[:0:-1]}:
        for other, columns in {b[1:], b[:0:-1]}:
            sizes = ((rows, c[1]), (k, other), (columns, c[2]))
            if all(one == two or _is_padded(one, two, first, second, out) for one, two in sizes):
                inner.add(min(k, other))
    return 2 * math.prod(c[0]) * c[1] * c[2] * inner.pop() if len(inner) == 1 else None


def _grouped_product(ins: Sequence[_Tensor], out: _Tensor) -> int | None:
    """2 · |out| · K of one list of rows [m, k] and all groups' matrices, stacked, [g, k, n]."""
    rows, weight = ins[0].shape, ins[1].matrix if len(ins) > 1 else None
    if weight is None or len(rows) != 2 or len(out.shape) != 2 or rows[0] != out.shape[0]:
        return None
    sides = {(rows[1], out.shape[1]), (out.shape[1], rows[1])}
    if len(weight[0]) != 1 or weight[1:] not in sides:
        return None
    return 2 * math.prod(out.shape) * rows[1]


def _is_padded(one: int, two: int, *tensors: _Tensor) -> bool:
    """Sizes that are the same but for the padding of a blocked layout."""
    longer = max(one, two)
    blocked = any(tensor.is_blocked for tensor in tensors)
    return blocked and abs(one - two) < _LARGEST_BLOCK and longer % 16 == 0


def _convolution(weight: _Tensor, out: _Tensor) -> int | None:
    """2 · taps · |weight|: every weight meets every position of the output, padded taps too."""
    size = math.prod(weight.shape)
    if out.layout == "NC1HWC0" and weight.layout.startswith("FRACTAL_Z"):
        if len(out.shape) != 5 or len(weight.shape) != 4:
            return None
        n, c1, height, width, c0 = out.shape
        filters = weight.shape[1] * weight.shape[2]  # C1·k_h·k_w, filters / 16, 16, C0
        return 2 * n * height * width * size if filters - 16 < c1 * c0 <= filters + c0 else None
    if out.is_blocked or weight.is_blocked or len(out.shape) < 3 or not weight.shape:
        return None
    channels_last = out.layout in ("NHWC", "NDHWC")
    filters = weight.shape[-1] if weight.layout in ("HWCN", "DHWCN") else weight.shape[0]
    grouped = len(weight.shape) == len(out.shape) + 1
    if grouped:
        filters *= weight.shape[1]
    elif len(weight.shape) != len(out.shape):
        return None
    if filters < 1 or filters != (out.shape[-1] if channels_last else out.shape[1]):
        return None
    return 2 * math.prod(out.shape) * (size // filters)


def _aten_product(name: str, ins: Sequence[_Tensor]) -> tuple[int, str] | None:
    skipped = _ATEN_PRODUCTS.get(name)
    if skipped is None or len(ins) < skipped + 2:
        return None
    a, b = (tensor.shape for tensor in ins[skipped : skipped + 2])
    rank = 3 if name in ("bmm", "baddbmm") else 2
    if len(a) != rank or len(b) != rank or a[:-2] != b[:-2] or a[-1] != b[-2]:
        return None
    return 2 * math.prod(a) * b[-1], FROM_SHAPES


def from_graph(node: Node, graph: Graph) -> int | None:
    """FLOPs of a node of a graph, with taps that fall on padding left out.

    For a convolution the number of valid taps along each spatial axis is counted and multiplied
    over the axes; those of JAX as `analysis.operators.xla_flops` says, other operators as in
    `from_shapes`. A fusion of XLA tells the sum of its parts. None when shapes are missing.
    """
    told = node.attributes.get("flops")
    if isinstance(told, int):
        return told if told >= 0 else None
    inputs = [_shape(graph, name) for name in node.inputs if name]
    outputs = [_shape(graph, name) for name in node.outputs if name]
    if not inputs or not outputs or inputs[0] is None or outputs[0] is None:
        return None
    if node.op_type in _CONV and not node.op_type.startswith("Nhwc"):
        weight = _weight_shape(node, graph)
        ranks = {len(inputs[0]), len(outputs[0]), len(weight or ())}
        if weight is None or len(ranks) > 1 or len(weight) < 3:
            return None
        channels_last = node.attributes.get("channels_last") == 1
        size, out = (_spatial(shape, channels_last) for shape in (inputs[0], outputs[0]))
        taps = _valid_taps(node, size, out, weight[2:])
        if taps is None:
            return None
        channels = outputs[0][0] * outputs[0][-1 if channels_last else 1] * weight[1]
        return 2 * channels * math.prod(taps)
    if node.op_type in xla_flops.TYPES:
        shapes = [shape for shape in (*inputs, outputs[0]) if shape is not None]
        return xla_flops.count(node.op_type, node.attributes, shapes)
    if node.op_type in attention_flops.ONNX_ATTENTION:
        return None  # a graph lists fewer shapes than a profile: not those of earlier keys
    known = [shape for shape in inputs if shape is not None]
    return from_shapes(node.op_type, known, [outputs[0]])


def _spatial(shape: Shape, channels_last: bool) -> Shape:
    return shape[1:-1] if channels_last else shape[2:]


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


# A longer kernel axis is not a kernel; the loop over taps must stay short on hostile shapes.
_MAX_TAPS = 65536
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
        if strides[axis] < 1 or kernel[axis] > _MAX_TAPS:
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
