"""Floating-point operations of PyTorch operators from the inputs that its profiler records.

One multiply-add counts as two; the formulas are those of `torch.utils.flop_counter`, which counts
padded taps, and every group of a grouped convolution on its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.operators.attention_flops import of_heads
from fusescope.analysis.operators.flops import FROM_SHAPES

Shape = tuple[int, ...]
Shapes = Sequence[Shape | None]

_MAX = 2**62


@dataclass(frozen=True, slots=True)
class Count:
    """FLOPs of one part of an operator, what was counted, and how many such parts it has.

    A convolution's gradients to its input and to its weight are two parts of equal size, often two
    kernels. `parts` is None where the file does not tell which gradients were wanted. `written` is
    how many elements the operator writes, None where its inputs do not tell it.
    """

    flops: int
    source: str
    parts: int | None = 1
    written: int | None = None

    @property
    def total(self) -> int | None:
        """FLOPs of the whole operator."""
        return None if self.parts is None else self.flops * self.parts


@dataclass(frozen=True, slots=True)
class _Product:
    left: int = 0
    right: int = 1
    turned: bool = False  # the right side stands as [n, k]
    broadcast: bool = False


@dataclass(frozen=True, slots=True)
class _Convolution:
    """Where stride, padding, dilation, `transposed` and the size of the output's pad stand."""

    stride: int
    padding: int
    dilation: int
    transposed: int | bool = False


@dataclass(frozen=True, slots=True)
class _Gradient:
    """Where the output's gradient, the weight (or its size in text) and the mask stand."""

    grad: int
    weight: int | None
    given: int | None = None  # the input, where it is one
    size: int | None = None
    transposed: int | None = None
    mask: int | None = None
    parts: int | None = None


@dataclass(frozen=True, slots=True)
class _Attention:
    """Where the query stands, which layout it has, and what must be absent to know the lengths."""

    heads_first: bool
    causal: int
    first: int = 0
    lengths: tuple[int, ...] = ()
    backward: bool = False
    marks: tuple[str, ...] = ("True",)


_MASK_TYPES = ("1", "2")  # causal from the top left, from the bottom right
_PRODUCTS = {
    "aten::mm": _Product(), "aten::bmm": _Product(), "aten::_scaled_mm": _Product(),
    "aten::_int_mm": _Product(), "aten::mv": _Product(), "aten::dot": _Product(),
    "aten::vdot": _Product(), "aten::addmv": _Product(1, 2),
    "aten::addmm": _Product(1, 2), "aten::_addmm_activation": _Product(1, 2),
    "aten::baddbmm": _Product(1, 2), "aten::addbmm": _Product(1, 2),
    "aten::matmul": _Product(broadcast=True),
    "aten::linear": _Product(turned=True, broadcast=True),
    "aten::mkldnn_linear": _Product(turned=True, broadcast=True),
    "aten::_weight_int8pack_mm": _Product(turned=True),
    "mkldnn::_linear_pointwise": _Product(turned=True, broadcast=True),
    "mkl::_mkl_linear": _Product(0, 2, turned=True, broadcast=True),
    "_C::cutlass_scaled_mm": _Product(1, 2),
}  # fmt: skip
_GROUPED = ("aten::_grouped_mm", "aten::_scaled_grouped_mm")
_CONVOLUTIONS = {
    **dict.fromkeys(("aten::conv1d", "aten::conv2d", "aten::conv3d"), _Convolution(3, 4, 5)),
    **dict.fromkeys(("aten::convolution", "aten::_convolution"), _Convolution(3, 4, 5, 6)),
    "aten::convolution_overrideable": _Convolution(3, 4, 5, 6),
    "aten::cudnn_convolution": _Convolution(3, 2, 4),
    "aten::cudnn_convolution_relu": _Convolution(3, 4, 5),
    "aten::cudnn_convolution_add_relu": _Convolution(5, 6, 7),
    **dict.fromkeys(
        ("aten::miopen_convolution", "aten::miopen_depthwise_convolution",
         "aten::mkldnn_convolution", "mkldnn::_convolution_pointwise"), _Convolution(4, 3, 5)
    ),
    **dict.fromkeys(
        ("aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d",
         "aten::cudnn_convolution_transpose", "aten::miopen_convolution_transpose"),
        _Convolution(3, 4, 5, True),
    ),
    **dict.fromkeys(
        ("aten::thnn_conv2d", "aten::_slow_conv2d_forward", "aten::slow_conv3d",
         "aten::slow_conv3d_forward"), _Convolution(4, 5, 6)
    ),
    **dict.fromkeys(
        ("aten::_conv_depthwise2d", "aten::conv_depthwise3d", "aten::slow_conv_dilated2d"),
        _Convolution(4, 5, 6),
    ),
}  # fmt: skip
_UNDILATED = ("aten::thnn_conv2d", "aten::_slow_conv2d_forward", "aten::slow_conv3d",
              "aten::slow_conv3d_forward")  # fmt: skip
_GRADIENTS = {
    "aten::convolution_backward": _Gradient(0, 2, 1, transposed=7, mask=10),
    **dict.fromkeys(
        ("aten::cudnn_convolution_backward", "aten::miopen_convolution_backward",
         "aten::miopen_depthwise_convolution_backward", "aten::mkldnn_convolution_backward"),
        _Gradient(1, 2, 0),
    ),
    **dict.fromkeys(
        ("aten::thnn_conv2d_backward", "aten::_slow_conv2d_backward"), _Gradient(0, 2, 1)
    ),
    **dict.fromkeys(
        ("aten::cudnn_convolution_backward_input", "aten::miopen_convolution_backward_input",
         "aten::mkldnn_convolution_backward_input"), _Gradient(1, 2, parts=1)
    ),
    **dict.fromkeys(
        ("aten::cudnn_convolution_backward_weight", "aten::miopen_convolution_backward_weight"),
        _Gradient(1, None, 2, size=0, parts=1),
    ),
}  # fmt: skip
_ATTENTION = {
    "aten::scaled_dot_product_attention": _Attention(True, 5),
    "aten::_scaled_dot_product_flash_attention": _Attention(True, 4),
    "aten::_scaled_dot_product_flash_attention_for_cpu": _Attention(True, 4),
    "aten::_scaled_dot_product_efficient_attention": _Attention(True, 6),
    "aten::_scaled_dot_product_cudnn_attention": _Attention(True, 6),
    "aten::_scaled_dot_product_fused_attention_overrideable": _Attention(True, 5),
    "aten::_flash_attention_forward": _Attention(False, 8, lengths=(3, 4)),
    "aten::_cudnn_attention_forward": _Attention(True, 10, lengths=(4, 5)),
    "aten::_efficient_attention_forward":
        _Attention(False, 9, lengths=(4, 5), marks=_MASK_TYPES),
    "aten::_scaled_dot_product_flash_attention_backward":
        _Attention(True, 11, 1, (6, 7), backward=True),
    "aten::_flash_attention_backward": _Attention(False, 11, 1, (6, 7), backward=True),
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward":
        _Attention(True, 7, 1, backward=True),
    "aten::_scaled_dot_product_efficient_attention_backward":
        _Attention(True, 11, 1, backward=True),
    "aten::_efficient_attention_backward":
        _Attention(False, 14, 1, (6, 7), backward=True, marks=_MASK_TYPES),
    "aten::_scaled_dot_product_cudnn_attention_backward":
        _Attention(True, 14, 1, (9, 10), backward=True),
    "aten::_cudnn_attention_backward": _Attention(True, 14, 1, (9, 10), backward=True),
    "aten::_scaled_dot_product_fused_attention_overrideable_backward":
        _Attention(True, 13, 1, (8, 9), backward=True),
    **dict.fromkeys(
        ("FlashAttnFunc", "flash_attn::_flash_attn_forward", "aiter::_flash_attn_forward",
         "aiter::mha_fwd", "aiter::fmha_v3_fwd", "aiter::wrapper_fmha_v3_fwd"),
        _Attention(False, 5),
    ),
    **dict.fromkeys(
        ("flash_attn::_flash_attn_backward", "aiter::_flash_attn_backward"),
        _Attention(False, 11, 1, backward=True),
    ),
    "flash_attn_3::fwd": _Attention(False, 24, lengths=(3, 4, 5, *range(7, 17))),
    "xformers_flash::flash_fwd": _Attention(False, 10, lengths=(3, 4, 5, 14)),
}  # fmt: skip
COUNTED = frozenset((*_PRODUCTS, *_GROUPED, *_CONVOLUTIONS, *_GRADIENTS, *_ATTENTION))
_WHOLE = re.compile(r"-?\d{1,12}")
_MAX_CHARS = 200


def count(op: str, shapes: Shapes, concrete: Sequence[object]) -> Count | None:
    """FLOPs of one execution; None for other operators and where the inputs do not suffice.

    `shapes` are those of the inputs by position, None for what is not a tensor; `concrete` is what
    the profiler wrote of numbers, lists and switches, as text by position, possibly empty.

    Products of (m, k) and (k, n): 2·m·n·k, once for each of a batch. Grouped: every row meets one
    group, 2·m·n·k over all rows. Convolutions: 2 · |out| · C_in/groups · kernel with padded taps,
    the output's size from stride, padding and dilation; transposed ones 2 · |in| · C_out/groups ·
    kernel. Gradients of a convolution: each as much as the convolution itself. Attention:
    `analysis.operators.attention_flops`, causal where the operator says so.
    """
    if op in _PRODUCTS:
        found = _product(_PRODUCTS[op], shapes)
    elif op in _GROUPED:
        found = _grouped(shapes)
    elif op in _CONVOLUTIONS:
        found = _convolution(op, shapes, concrete)
    elif op in _GRADIENTS:
        return _gradient(_GRADIENTS[op], shapes, concrete)
    elif op in _ATTENTION:
        return _attention(_ATTENTION[op], shapes, concrete)
    else:
        return None
    if not found or found >= _MAX:
        return None
    return Count(found, FROM_SHAPES, written=_written(op, shapes, concrete, found))


def _written(op: str, shapes: Shapes, concrete: Sequence[object], flops: int) -> int | None:
    """Elements of the output: a product's has FLOPs / 2k, a convolution's FLOPs / 2 · C_in/groups ·
    kernel. None of transposed convolutions and of products along groups."""
    if op in _PRODUCTS:
        inner = _at(shapes, _PRODUCTS[op].left)[-1]
    elif op in _GROUPED:
        left, right = _at(shapes, 0), _at(shapes, 1)
        inner = 0 if len(left) == len(right) == 2 else left[-1]
    else:
        transposed = _is_transposed(_CONVOLUTIONS[op], concrete)
        inner = 0 if transposed is not False else math.prod(_at(shapes, 1)[1:])
    return flops // (2 * inner) if inner else None


def _at(shapes: Shapes, index: int) -> Shape:
    """A tensor's shape; () where there is none."""
    return (shapes[index] or ()) if index < len(shapes) else ()


def _text(concrete: Sequence[object], index: int) -> str:
    return str(concrete[index])[:_MAX_CHARS] if index < len(concrete) else ""


def _product(of: _Product, shapes: Shapes) -> int | None:
    left, right = _at(shapes, of.left), _at(shapes, of.right)
    if not left or not right:
        return None
    if len(right) == 1 or len(left) == 1:
        inner = right[0] if len(right) == 1 else right[-1 if of.turned else -2]
        return 2 * math.prod(left) * math.prod(right) // inner if inner == left[-1] > 0 else None
    inner, columns = (right[-1], right[-2]) if of.turned else right[-2:]
    batch = _broadcast(left[:-2], right[:-2]) if of.broadcast else left[:-2]
    if left[-1] != inner or batch is None or not (of.broadcast or batch == right[:-2]):
        return None
    return 2 * math.prod(batch) * left[-2] * inner * columns


def _broadcast(one: Shape, two: Shape) -> Shape | None:
    rank = max(len(one), len(two))
    pairs = list(zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(two)) + two, strict=True))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        return None
    return tuple(b if a == 1 else a for a, b in pairs)


def _grouped(shapes: Shapes) -> int | None:
    """[m, k] x [g, k, n], [g, m, k] x [k, n], [m, k] x [k, n] along k, or [g, m, k] x [g, k, n]."""
    left, right = _at(shapes, 0), _at(shapes, 1)
    if len(left) not in (2, 3) or len(right) not in (2, 3) or left[-1] != right[-2]:
        return None
    if len(left) == len(right) == 3 and left[0] != right[0]:
        return None
    groups = left[0] if len(left) == len(right) == 3 else 1
    return 2 * groups * left[-2] * left[-1] * right[-1]


def _convolution(op: str, shapes: Shapes, concrete: Sequence[object]) -> int | None:
    indices = _CONVOLUTIONS[op]
    size, weight = _at(shapes, 0), _at(shapes, 1)
    rank = len(weight) - 2
    if rank == len(size) - 1 and rank > 0:
        size = (1, *size)  # a single image
    if rank < 1 or len(size) != len(weight) or 0 in weight:
        return None
    transposed = _is_transposed(indices, concrete)
    if transposed is None:
        return None
    if transposed:
        return 2 * math.prod(size) * math.prod(weight[1:]) if size[1] == weight[0] else None
    if size[1] == 0 or size[1] % weight[1]:
        return None
    stride = _ints(concrete, indices.stride, rank)
    padding = _ints(concrete, indices.padding, rank)
    dilation = [1] * rank if op in _UNDILATED else _ints(concrete, indices.dilation, rank)
    if stride is None or padding is None or dilation is None:
        return None
    out = 1
    for axis in range(rank):
        reach = dilation[axis] * (weight[axis + 2] - 1) + 1
        free = size[axis + 2] + 2 * padding[axis] - reach
        if stride[axis] < 1 or free < 0:
            return None
        out *= free // stride[axis] + 1
    return 2 * size[0] * out * math.prod(weight)


def _is_transposed(indices: _Convolution, concrete: Sequence[object]) -> bool | None:
    """Whether a convolution is a transposed one; None where its inputs do not say it."""
    if isinstance(indices.transposed, bool):
        return indices.transposed
    return {"True": True, "False": False}.get(_text(concrete, indices.transposed))


def _gradient(of: _Gradient, shapes: Shapes, concrete: Sequence[object]) -> Count | None:
    """Each position of the output's gradient meets every weight of its channel.

    Of a transposed convolution it is the input that does.
    """
    grad = _at(shapes, of.grad)
    weight: Shape | None = _at(shapes, of.weight) if of.weight is not None else None
    if weight is None and of.size is not None:
        sizes = _ints(concrete, of.size, len(grad))
        weight = tuple(sizes) if sizes else ()
    given = _at(shapes, of.given) if of.given is not None else None
    told = _text(concrete, of.transposed) if of.transposed is not None else "False"
    if not weight or len(weight) < 3 or len(grad) != len(weight) or 0 in weight:
        return None
    if told not in ("True", "False") or (given is not None and len(given) != len(weight)):
        return None
    transposed = told == "True"
    spread = given if transposed else grad
    if spread is None or spread[1] != weight[0]:
        return None
    found = 2 * math.prod(spread) * math.prod(weight[1:])
    parts = of.parts
    if of.mask is not None:
        mask = re.findall("True|False", _text(concrete, of.mask))
        parts = mask[:2].count("True") if len(mask) == 3 else None
    return Count(found, FROM_SHAPES, parts) if 0 < found < _MAX and parts != 0 else None


def _attention(of: _Attention, shapes: Shapes, concrete: Sequence[object]) -> Count | None:
    if any(_at(shapes, index) for index in of.lengths):
        return None  # packed sequences, whose lengths no profiler records
    query, key, value = (_at(shapes, of.first + index) for index in range(3))
    if len(query) == 3 and of.heads_first:
        query, key, value = (1, *query), (1, *key), (1, *value)
    causal = _text(concrete, of.causal) in of.marks
    found = of_heads(
        query, key, value, heads_first=of.heads_first, causal=causal, backward=of.backward
    )
    if not found or not 0 < found[0] < _MAX:
        return None
    written = None if of.backward else math.prod(query[:-1]) * value[-1]
    return Count(*found, written=written)


def _ints(concrete: Sequence[object], index: int, rank: int) -> list[int] | None:
    """'[1, 1]' as numbers, one per axis; one number stands for all axes."""
    values = [int(text) for text in _WHOLE.findall(_text(concrete, index))]
    if len(values) == 1:
        values *= rank
    return values if len(values) == rank > 0 and min(values) >= 0 else None
