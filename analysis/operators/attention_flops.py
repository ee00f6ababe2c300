"""Floating-point operations of attention: the two matrix products of every head.

With b·h heads, s_q queries and s_k keys of d numbers, and values of d_v: forward
2·b·h·s_q·s_k·(d + d_v); backward, which computes the scores again, 2·b·h·s_q·s_k·(3·d + 2·d_v), as
`torch.utils.flop_counter` has them. Softmax, mask and scale are not counted. Heads are those of the
queries: keys and values of grouped heads are used several times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Shape = tuple[int, ...]

FROM_SCORES = "shapes, masked scores counted"
FROM_CAUSAL = "shapes, causal: scores after the diagonal not counted"

_STATISTICS = (1, 8)  # last size of CANN's maxima and sums of softmax: [batch, heads, s_q, 8]
_ONNX_PROJECTS = {"Attention", "QAttention"}  # of com.microsoft: the weights are an input
_ONNX = {"Attention", "MultiHeadAttention", "GroupQueryAttention"}
ONNX_ATTENTION = _ONNX | _ONNX_PROJECTS


def of_heads(
    query: Shape,
    key: Shape,
    value: Shape,
    *,
    heads_first: bool,
    causal: bool = False,
    backward: bool = False,
) -> tuple[int, str] | None:
    """FLOPs and what was counted, from [b, h, s, d] (`heads_first`) or [b, s, h, d].

    Causal attention counts s·(s + 1) / 2 scores a head where s_q = s_k; where they differ, the
    diagonal may begin at either end, and every score counts. None where the shapes contradict each
    other.
    """
    if not len(query) == len(key) == len(value) == 4:
        return None
    at_heads, at_rows = (1, 2) if heads_first else (2, 1)
    batch, heads, rows, width = query[0], query[at_heads], query[at_rows], query[3]
    columns, groups = key[at_rows], key[at_heads]
    if (batch, width, columns) != (key[0], key[3], value[at_rows]) or batch != value[0]:
        return None
    if groups < 1 or groups != value[at_heads] or heads % groups:
        return None
    is_triangle = causal and rows == columns
    pairs = rows * (rows + 1) // 2 if is_triangle else rows * columns
    flops = _products(batch * heads * pairs, width, value[3], backward)
    return flops, FROM_CAUSAL if is_triangle else FROM_SCORES


def _products(pairs: int, width: int, value_width: int, backward: bool) -> int:
    by = 3 * width + 2 * value_width if backward else width + value_width
    return 2 * pairs * by


def cann(
    inputs: Sequence[Shape], outputs: Sequence[Shape], *, backward: bool = False
) -> tuple[int, str] | None:
    """FLOPs and what was counted, of CANN's attention: query, key, value, ..., one query each row.

    The layout is an attribute that no table has: [b, s, h·d], [s, b, h·d], [b, h, s, d] or
    [b, s, h, d]. It counts where the softmax statistics [b, h, s_q, 8] or a mask [..., s_q, s_k]
    among the tensors leave one number; None for packed sequences, whose lengths no table has.
    """
    if len(inputs) < 3:
        return None
    query, key, value = inputs[:3]
    rest = [shape for shape in (*inputs[3:], *outputs) if shape not in (query, key, value)]
    found: set[int] = set()
    for reading in _readings(query, key, value):
        if any(_agrees(shape, reading) for shape in rest):
            flops = _cann_flops(query, key, value, reading, backward)
            if flops is not None:
                found.add(flops)
    return (found.pop(), FROM_SCORES) if len(found) == 1 else None


def _readings(query: Shape, key: Shape, value: Shape) -> list[tuple[int, int, int, int]]:
    """Batch, s_q, s_k and where the heads stand (0 for 'with the width'), by each layout."""
    if not len(query) == len(key) == len(value) or min((*query, *key, *value), default=0) < 1:
        return []
    if len(query) == 3 and key[:2] == value[:2]:
        return [(query[b], query[s], key[s], 0) for b, s in ((0, 1), (1, 0)) if query[b] == key[b]]
    if len(query) == 4 and query[0] == key[0] == value[0] and query[3] == key[3]:
        return [
            (query[0], query[s], key[s], h)
            for h, s in ((1, 2), (2, 1))
            if key[s] == value[s] and key[h] == value[h] and query[h] % key[h] == 0
        ]
    return []


def _agrees(shape: Shape, reading: tuple[int, int, int, int]) -> bool:
    """Whether a tensor is softmax statistics, or a mask, of a reading."""
    batch, rows, columns, _ = reading
    if len(shape) == 4 and shape[3] in _STATISTICS:
        return (shape[0], shape[2]) == (batch, rows)
    return len(shape) in (2, 4) and shape[-2:] == (rows, columns)


def _cann_flops(
    query: Shape,
    key: Shape,
    value: Shape,
    reading: tuple[int, int, int, int],
    backward: bool,
) -> int | None:
    batch, rows, columns, at_heads = reading
    pairs = batch * rows * columns
    if at_heads:
        return _products(pairs * query[at_heads], query[3], value[3], backward)
    # All heads in one row; grouped keys and values are narrower by the same factor.
    if query[2] % key[2] or query[2] * value[2] % key[2]:
        return None
    return _products(pairs, query[2], query[2] * value[2] // key[2], backward)


def onnx(op_type: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    """FLOPs of attention of ONNX and com.microsoft; None for other types and unclear shapes.

    MultiHeadAttention, and Attention of ONNX: query, key and value as [b, s, h·d] or [b, h, s, d],
    every score counted. GroupQueryAttention is causal by definition: scores after the diagonal are
    not counted. Attention of com.microsoft projects, too: 2·b·s·|weights| besides. Keys of earlier
    tokens count where the output `present` tells how many there are.
    """
    if op_type not in ONNX_ATTENTION or len(inputs) < 2 or not outputs:
        return None
    if len(inputs[1]) == 2:
        return _projected(inputs, outputs) if op_type in _ONNX_PROJECTS else None
    if op_type not in _ONNX or len(inputs) < 3:
        return None
    query, key, value, out = *inputs[:3], outputs[0]
    rank = len(query)
    if rank not in (3, 4) or not rank == len(key) == len(value) == len(out):
        return None
    if not query[0] == key[0] == value[0] == out[0] or key[-2] != value[-2]:
        return None
    rows, columns = query[-2], key[-2]
    if rank == 4 and (query[1] != out[1] or key[1] < 1 or query[1] % key[1]):
        return None
    total = _keys(inputs, outputs, rows, columns)
    if total is None or out[-2] != rows:
        return None
    heads = query[1] if rank == 4 else 1
    pairs = rows * total
    if op_type == "GroupQueryAttention":
        if rows != columns or total < rows:
            return None
        pairs = rows * (total - rows) + rows * (rows + 1) // 2
    return _products(query[0] * heads * pairs, query[-1], out[-1], backward=False)


def _keys(inputs: Sequence[Shape], outputs: Sequence[Shape], rows: int, columns: int) -> int | None:
    """How many keys each query meets: those of this call and earlier ones."""
    # Of four-dimensional inputs one may be earlier keys, another a mask [b, h, s_q, s_k].
    others = [shape for shape in inputs[3:] if len(shape) == 4]
    if len(outputs) > 1 and len(outputs[1]) == 4:
        total = outputs[1][2]
        earlier = total - columns
        fits = earlier == 0 if not others else any(shape[2] == earlier for shape in others)
        return total if earlier >= 0 and fits else None
    return columns if all(shape[-2:] == (rows, columns) for shape in others) else None


def _projected(inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    """Query, key and value in one product with the weights [in, 2·h·d + h·d_v], then attention."""
    rows_in, weights, out = inputs[0], inputs[1], outputs[0]
    if len(rows_in) != 3 or len(out) != 3 or rows_in[:2] != out[:2] or rows_in[2] != weights[0]:
        return None
    both = weights[1] - out[2]
    batch, rows = rows_in[:2]
    total = rows
    present = outputs[1] if len(outputs) > 1 and len(outputs[1]) == 5 else None
    if present is not None:
        total = present[3]
    elif any(len(shape) == 5 for shape in inputs[2:]):
        return None
    if both < 0 or both % 2 or total < rows:
        return None
    return 2 * batch * rows * math.prod(weights) + _products(
        batch * rows * total, both // 2, out[2], backward=False
    )
