"""Bytes that operators on single values move, from the canonical text of their inputs."""

from __future__ import annotations

from functools import lru_cache

from fusescope.analysis.operators.flops import parse_shapes
from fusescope.analysis.readers.building.trace_tables import dtype_bytes, tensor_bytes

# One result for each place of the inputs, which are broadcast, in the widest of their types.
_POINTWISE = frozenset((
    "add", "sub", "rsub", "mul", "div", "true_divide", "pow", "maximum", "minimum", "addcmul",
    "addcdiv", "lerp", "neg", "abs", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos",
    "tanh", "sigmoid", "relu", "silu", "gelu", "clamp", "clamp_min", "clamp_max",
    "threshold_backward", "gelu_backward", "silu_backward", "sigmoid_backward", "tanh_backward",
))  # fmt: skip
_COPY = "copy"


@lru_cache(maxsize=4096)
def pointwise_bytes(op: str, inputs: str) -> tuple[int, int] | None:
    """Return the bytes that 'aten::add_' of 'bfloat16[4,8]; bfloat16[8]' reads and writes, each
    place once; None for other operators, and where types or shapes are not known or do not fit.

    A copy reads its second input and writes the first one.
    """
    namespace, _, name = op.partition("::")
    kind = name.removesuffix("_")
    tensors = inputs.split("; ") if inputs else []
    if namespace != "aten" or not tensors:
        return None
    sizes = [tensor_bytes(text) for text in tensors]
    if any(size is None for size in sizes):
        return None
    if kind == _COPY and len(sizes) == 2:
        return sizes[1] or 0, sizes[0] or 0
    if kind not in _POINTWISE:
        return None
    written = _written(tensors)
    return None if written is None else (sum(size or 0 for size in sizes), written)


def _written(tensors: list[str]) -> int | None:
    """Bytes of the result; a tensor of one value does not decide its type."""
    shapes = [parse_shapes(text)[0] for text in tensors]
    types = [text.partition("[")[0] for text in tensors]
    deciding = [kind for kind, shape in zip(types, shapes, strict=True) if shape] or types
    width = max((_is_float(kind), dtype_bytes(kind) or 0.0) for kind in deciding)[1]
    if {"float16", "bfloat16"} <= set(deciding):
        width = max(width, 4.0)
    elements = 1
    for axis in range(1, max(map(len, shapes)) + 1):
        lengths = {shape[-axis] for shape in shapes if len(shape) >= axis} - {1}
        if len(lengths) > 1:
            return None
        elements *= lengths.pop() if lengths else 1
    return int(elements * width)


def _is_float(kind: str) -> bool:
    return kind.startswith(("float", "bfloat", "complex"))
