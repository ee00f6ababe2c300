"""Layout: which tensors an engine keeps in channel blocks (NCHWc), estimated from the graph.

ONNX Runtime moves convolutions and pooling there at level all, and operators between them follow.
"""

from __future__ import annotations

from functools import lru_cache

from fusescope.analysis.graph import Node
from fusescope.analysis.patterns.view import View

BLOCK = 16  # channels of one block: 16 with AVX-512, 8 with less
_STARTS = frozenset(("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"))
# Each runs as it is where everything it reads is blocked; a normalisation becomes a convolution.
_FOLLOWS = frozenset(
    ("Add", "Sum", "Mul", "Concat", "Relu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Gelu")
)


def can_block(node: Node, view: View) -> bool:
    """True for a convolution that the engine can run on blocked tensors: two spatial axes, a
    constant float weight, and groups that are whole blocks, or depthwise."""
    if node.op_type != "Conv" or len(node.inputs) < 2:
        return False
    weight = view.tensor(node.inputs[1])
    if not view.is_constant(node.inputs[1]) or weight.shape is None or len(weight.shape) != 4:
        return False
    if weight.dtype not in (None, "float32", "float16"):
        return False
    group = node.attributes.get("group", 1)
    channels_out, group_in = weight.shape[:2]
    if not isinstance(group, int) or group <= 1:
        return True
    depthwise = group_in == 1 and channels_out == group
    return depthwise or (group_in % BLOCK == 0 and (channels_out // group) % BLOCK == 0)


@lru_cache(maxsize=2)
def blocked_tensors(view: View) -> frozenset[str]:
    """Tensors that are in channel blocks once the engine has chosen layouts."""
    blocked: set[str] = set()
    for node in view.graph.nodes:
        if not node.outputs or not node.inputs:
            continue
        start = view.source(node.inputs[0])
        shape = view.tensor(node.inputs[0]).shape
        whole = shape is not None and len(shape) == 4 and shape[1] % BLOCK == 0
        read = [view.source(name) for name in node.inputs if name]
        if (
            can_block(node, view)
            or (node.op_type in _STARTS and (whole or start in blocked))
            or (node.op_type in _FOLLOWS and all(name in blocked for name in read))
            or (node.op_type == "BatchNormalization" and start in blocked)
        ):
            blocked.add(node.outputs[0])
    return frozenset(blocked)
