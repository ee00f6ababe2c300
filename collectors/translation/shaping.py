"""Operators that move numbers, or show them in another shape."""

from __future__ import annotations

import math

import numpy as np

from fusescope.collectors.translation.backend import Value
from fusescope.collectors.translation.elementwise import Translate
from fusescope.collectors.translation.node import Known, Node

_END = 2**31 - 1  # what ONNX writes for an end, or beyond


def _identity(node: Node) -> Value:
    given = node.given[0]
    return given if isinstance(given, Known) else node.value(0)


def _dropout(node: Node) -> Value:
    if len([name for name in node.step.outputs if name]) > 1:
        raise node.unsupported("with its mask as a result")
    return _identity(node)


def _shape(node: Node) -> Value:
    sizes = node.shape(0)
    start = node.integer("start", 0)
    end = node.integer("end", len(sizes))
    return Known("", np.array(sizes[start:end], dtype="i8"))


def _size(node: Node) -> Value:
    return Known("", np.array(math.prod(node.shape(0)), dtype="i8"))


def _range(node: Node) -> Value:
    first, end, step = (node.known(place, "limits").reshape(-1)[0] for place in range(3))
    return Known("", np.arange(first, end, step, dtype=first.dtype))


def _constant_of_shape(node: Node) -> Value:
    value = node.tensor("value")
    filled = np.zeros(1, "f4") if value is None else value.reshape(-1)
    return Known("", np.full(node.ints(0, "a shape"), filled[0], filled.dtype))


def _reshape(node: Node) -> Value:
    sizes, wanted = node.shape(0), node.ints(1, "a shape")
    if not node.integer("allowzero", 0):
        wanted = [sizes[at] if one == 0 else one for at, one in enumerate(wanted)]
    if -1 in wanted:
        rest = math.prod(one for one in wanted if one != -1)
        wanted[wanted.index(-1)] = math.prod(sizes) // rest if rest else 0
    return node.backend.reshape(node.value(0), wanted)


def _flatten(node: Node) -> Value:
    sizes = node.shape(0)
    axis = node.integer("axis", 1)
    axis += len(sizes) if axis < 0 else 0
    shape = [math.prod(sizes[:axis]), math.prod(sizes[axis:])]
    return node.backend.reshape(node.value(0), shape)


def _squeeze(node: Node) -> Value:
    sizes = node.shape(0)
    axes = node.axes(1, len(sizes))
    if axes is None:
        axes = [at for at, size in enumerate(sizes) if size == 1]
    kept = [size for at, size in enumerate(sizes) if at not in axes]
    return node.backend.reshape(node.value(0), kept)


def _unsqueeze(node: Node) -> Value:
    sizes = list(node.shape(0))
    given = node.many("axes") or node.ints(1, "axes")
    rank = len(sizes) + len(given)
    for axis in sorted(one % rank for one in given):
        sizes.insert(axis, 1)
    return node.backend.reshape(node.value(0), sizes)


def _transpose(node: Node) -> Value:
    order = node.many("perm") or list(range(len(node.shape(0))))[::-1]
    return node.backend.transpose(node.value(0), order)


def _expand(node: Node) -> Value:
    sizes = np.broadcast_shapes(node.shape(0), tuple(node.ints(1, "a shape")))
    return node.backend.expand(node.value(0), sizes)


def _concat(node: Node) -> Value:
    values = [node.value(place) for place in range(len(node.given))]
    return node.backend.concat(values, node.integer("axis", 0) % len(node.shape(0)))


def _split(node: Node) -> Value:
    sizes = node.shape(0)
    axis = node.integer("axis", 0) % len(sizes)
    parts = node.many("split") or (node.ints(1, "sizes") if node.has(1) else None)
    if parts is None:
        count = node.integer("num_outputs", len(node.step.outputs))
        each = math.ceil(sizes[axis] / count)
        parts = [min(each, sizes[axis] - each * at) for at in range(count)]
    x, start, found = node.value(0), 0, []
    for part in parts:
        cuts = [slice(None)] * len(sizes)
        cuts[axis] = slice(start, start + part)
        found.append(node.backend.cut(x, cuts))
        start += part
    return tuple(found)


def _slice(node: Node) -> Value:
    sizes = node.shape(0)
    starts = node.many("starts") or node.ints(1, "starts")
    ends = node.many("ends") or node.ints(2, "ends")
    axes = node.many("axes")
    if axes is None:
        axes = node.ints(3, "axes") if node.has(3) else list(range(len(starts)))
    steps = node.ints(4, "steps") if node.has(4) else [1] * len(starts)
    cuts = [slice(None)] * len(sizes)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        is_open = end >= _END if step > 0 else end <= -_END
        cuts[axis % len(sizes)] = slice(start, None if is_open else end, step)
    return node.backend.cut(node.value(0), cuts)


def _gather(node: Node) -> Value:
    sizes = node.shape(0)
    axis = node.integer("axis", 0) % len(sizes)
    places = node.given[1]
    if isinstance(places, Known):
        array = np.where(np.less(places.array, 0), places.array + sizes[axis], places.array)
        same = bool((array == places.array).all())
        return node.backend.gather(
            node.value(0), node.backend.constant(places.name if same else "", array), axis
        )
    apply, value = node.backend.apply, node.value(1)
    counted = apply("add", value, sizes[axis])  # from the end
    wrapped = node.backend.where(apply("less", value, 0), counted, value)
    return node.backend.gather(node.value(0), wrapped, axis)


def _pad(node: Node) -> Value:
    rank = len(node.shape(0))
    flat = node.many("pads") or node.ints(1, "sizes")
    axes = node.ints(3, "axes") if node.has(3) else list(range(rank))
    count = len(axes)
    pads = [(0, 0)] * rank
    for axis, before, after in zip(axes, flat[:count], flat[count:], strict=True):
        pads[axis % rank] = before, after
    fill = node.number("value", 0.0)
    if node.has(2):
        fill = node.known(2, "a value").reshape(-1)[0].item()
    mode = node.text("mode", "constant")
    if mode not in ("constant", "reflect", "edge") or any(one < 0 for pad in pads for one in pad):
        raise node.unsupported(f"with the mode {mode} or negative sizes")
    return node.backend.pad(node.value(0), pads, mode, fill)


def _tile(node: Node) -> Value:
    return node.backend.tile(node.value(0), node.ints(1, "numbers"))


def _resize(node: Node) -> Value:
    sizes = node.shape(0)
    axes = node.axes(len(node.given), len(sizes)) or list(range(len(sizes)))
    wanted = list(sizes)
    if node.has(3):
        given = [float(one) for one in node.ints(3, "sizes")]
    else:
        factors = node.known(2, "factors").reshape(-1)
        given = [math.floor(sizes[a] * float(f)) for a, f in zip(axes, factors, strict=True)]
    for axis, size in zip(axes, given, strict=True):
        wanted[axis] = int(size)
    mode = node.text("mode", "nearest")
    places = node.text("coordinate_transformation_mode", "half_pixel")
    rounding = node.text("nearest_mode", "round_prefer_floor")
    floors = mode == "nearest" and (places, rounding) == ("asymmetric", "floor")
    lines = mode == "linear" and places in ("half_pixel", "pytorch_half_pixel", "align_corners")
    shrinks = any(new < old for new, old in zip(wanted, sizes, strict=True))
    if not (floors or lines) or wanted[:2] != list(sizes[:2]) or len(sizes) not in (3, 4, 5):
        raise node.unsupported(f"with the mode {mode}, {places}")
    if node.integer("antialias", 0) and shrinks:
        raise node.unsupported("with antialias")
    return node.backend.resize(node.value(0), wanted[2:], mode, corners=places == "align_corners")


def _depth_to_space(node: Node) -> Value:
    n, c, h, w = node.shape(0)
    b = node.integer("blocksize", 1)
    is_dcr = node.text("mode", "DCR") == "DCR"
    split = [n, b, b, c // (b * b), h, w] if is_dcr else [n, c // (b * b), b, b, h, w]
    order = [0, 3, 4, 1, 5, 2] if is_dcr else [0, 1, 4, 2, 5, 3]
    moved = node.backend.transpose(node.backend.reshape(node.value(0), split), order)
    return node.backend.reshape(moved, [n, c // (b * b), h * b, w * b])


TABLE: dict[str, Translate] = {
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Dropout": _dropout,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Identity": _identity,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "Resize": _resize,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
VIEWS = {"Dropout", "Expand", "Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze",
         "Transpose", "Unsqueeze"}  # fmt: skip
