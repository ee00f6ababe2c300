"""FLOPs of the products and convolutions of JAX and XLA, whose axes may stand in any order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fusescope.analysis.graph import Attribute

Shape = tuple[int, ...]
TYPES = ("dot_general", "conv_general_dilated")
_MAX_STEPS = 1_000_000  # of counting taps along one axis; shapes are foreign


def count(op_type: str, attributes: Mapping[str, Attribute], shapes: Sequence[Shape]) -> int | None:
    """FLOPs by the shapes of both operands and of the result; None where they do not fit.

    dot_general: 2 · |out| · K, K the product of the axes of the first operand that are summed over
    (`contracting`). conv_general_dilated: 2 · N · C_out · (C_in / groups) · the taps along each
    axis of space that lie inside the input and on no hole, multiplied over the axes. `lhs_axes`,
    `rhs_axes` and `out_axes` say where batch and channels are (of the kernel: channels out and in),
    then the axes of space; `strides`, `dilations`, `holes` (of the input) and `pads` are by axis.
    """
    if len(shapes) != 3:
        return None
    lhs, rhs, out = shapes
    if op_type == "dot_general":
        axes = _numbers(attributes, "contracting")
        if axes is None or any(not 0 <= axis < len(lhs) for axis in axes):
            return None
        return 2 * math.prod(out) * math.prod(lhs[axis] for axis in axes)
    return _convolution(attributes, lhs, rhs, out)


def _convolution(
    attributes: Mapping[str, Attribute], lhs: Shape, rhs: Shape, out: Shape
) -> int | None:
    ordered = []
    for name, shape in (("lhs_axes", lhs), ("rhs_axes", rhs), ("out_axes", out)):
        axes = _numbers(attributes, name)
        if axes is None or sorted(axes) != list(range(len(shape))) or len(shape) < 2:
            return None
        ordered.append([shape[axis] for axis in axes])
    image, kernel, made = ordered
    rank = len(image) - 2
    steps = [_numbers(attributes, name) for name in ("strides", "dilations", "holes", "pads")]
    if len(kernel) != rank + 2 or len(made) != rank + 2:
        return None
    if any(found is None for found in steps) or [len(found or ()) for found in steps] != [
        rank, rank, rank, 2 * rank,
    ]:  # fmt: skip
        return None
    strides, dilations, holes, pads = (found or [] for found in steps)
    total = 2 * made[0] * made[1] * kernel[1]
    for axis in range(rank):
        taps = _taps(
            (image[axis + 2], kernel[axis + 2], made[axis + 2]),
            (strides[axis], dilations[axis], holes[axis]),
            pads[axis],
        )
        if taps is None:
            return None
        total *= taps
    return total


def _taps(sizes: tuple[int, int, int], steps: tuple[int, int, int], before: int) -> int | None:
    """How often a tap of the kernel meets a value of the input, along one axis."""
    size, kernel, out = sizes
    stride, dilation, hole = steps
    if min(*steps, size, kernel, out) < 1 or kernel > _MAX_STEPS:
        return None
    if hole == 1:
        # Positions p with 0 <= p · stride + tap · dilation - before < size.
        found = 0
        for tap in range(kernel):
            offset = before - tap * dilation
            first = max(0, -(-offset // stride))
            last = min(out - 1, (size - 1 + offset) // stride)
            found += max(0, last - first + 1)
        return found
    if kernel * out > _MAX_STEPS:
        return None
    places = (
        position * stride + tap * dilation - before
        for tap in range(kernel)
        for position in range(out)
    )
    return sum(place % hole == 0 and 0 <= place <= (size - 1) * hole for place in places)


def _numbers(attributes: Mapping[str, Attribute], name: str) -> list[int] | None:
    value = attributes.get(name)
    if not isinstance(value, list) or not all(isinstance(each, int) for each in value):
        return None
    return [int(each) for each in value]
