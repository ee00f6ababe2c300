"""Operators that do the heavy work, and what normalises, pools and reduces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from fusescope.collectors.translation.backend import Value
from fusescope.collectors.translation.elementwise import Translate
from fusescope.collectors.translation.node import Node

Pads = list[tuple[int, int]]


def _windows(node: Node, kernel: Sequence[int]) -> tuple[list[int], Pads, list[int]]:
    """Strides, pads and dilations of a convolution or a pooling."""
    count = len(kernel)
    strides = node.many("strides") or [1] * count
    dilations = node.many("dilations") or [1] * count
    how = node.text("auto_pad", "NOTSET")
    if how in ("SAME_UPPER", "SAME_LOWER"):
        pads = []
        for size, k, stride, dilation in zip(
            node.shape(0)[2:], kernel, strides, dilations, strict=True
        ):
            whole = max(0, (math.ceil(size / stride) - 1) * stride + (k - 1) * dilation + 1 - size)
            less, more = whole // 2, whole - whole // 2
            pads.append((less, more) if how == "SAME_UPPER" else (more, less))
        return strides, pads, dilations
    given = node.many("pads") if how == "NOTSET" else None
    flat = given or [0] * (2 * count)
    return strides, list(zip(flat[:count], flat[count:], strict=True)), dilations


def _conv(node: Node) -> Value:
    strides, pads, dilations = _windows(node, node.shape(1)[2:])
    if not 1 <= len(strides) <= 3:
        raise node.unsupported(f"over {len(strides)} axes")
    return node.backend.conv(
        node.value(0),
        node.value(1),
        node.optional(2),
        strides=strides,
        pads=pads,
        dilations=dilations,
        group=node.integer("group", 1),
    )


def _pool(kind: str, node: Node) -> Value:
    kernel = node.many("kernel_shape") or []
    strides, pads, dilations = _windows(node, kernel)
    if node.integer("ceil_mode", 0):
        sizes = zip(node.shape(0)[2:], kernel, strides, pads, dilations, strict=True)
        if any((n + sum(pad) - (k - 1) * d - 1) % stride for n, k, stride, pad, d in sizes):
            raise node.unsupported("with ceil_mode")
    if len([name for name in node.step.outputs if name]) > 1:
        raise node.unsupported("with the places of its results")
    return node.backend.pool(
        kind,
        node.value(0),
        kernel=kernel,
        strides=strides,
        pads=pads,
        dilations=dilations,
        count_pad=bool(node.integer("count_include_pad", 0)),
    )


def _global(kind: str, node: Node) -> Value:
    axes = range(2, len(node.shape(0)))
    return node.backend.reduce(kind, node.value(0), axes, keep=True)


def _gemm(node: Node) -> Value:
    return node.backend.gemm(
        node.value(0),
        node.value(1),
        node.optional(2),
        (bool(node.integer("transA", 0)), bool(node.integer("transB", 0))),
        (node.number("alpha", 1.0), node.number("beta", 1.0)),
    )


def _matmul(node: Node) -> Value:
    return node.backend.matmul(node.value(0), node.value(1))


def _batch_norm(node: Node) -> Value:
    if node.integer("training_mode", 0):
        raise node.unsupported("in training mode")
    x, scale, shift, mean, variance = (node.value(place) for place in range(5))
    epsilon = node.number("epsilon", 1e-5)
    return node.backend.batch_norm(x, scale, shift, mean, variance, epsilon)


def _layer_norm(node: Node) -> Value:
    if len([name for name in node.step.outputs if name]) > 1:
        raise node.unsupported("with its mean as a result")
    axis = node.integer("axis", -1) % len(node.shape(0))
    values = node.value(0), node.value(1), node.optional(2)
    return node.backend.layer_norm(*values, axis, node.number("epsilon", 1e-5))


def _instance_norm(node: Node) -> Value:
    return _grouped(node, node.shape(0)[1])


def _group_norm(node: Node) -> Value:
    groups = node.integer("num_groups", 1)
    if node.shape(1) != node.shape(0)[1:2]:
        raise node.unsupported("with a scale for each group")
    return _grouped(node, groups)


def _grouped(node: Node, groups: int) -> Value:
    x, scale, shift = (node.value(place) for place in range(3))
    return node.backend.group_norm(x, scale, shift, groups, node.number("epsilon", 1e-5))


def _softmax(node: Node, log: bool) -> Value:
    rank = len(node.shape(0))
    usual = -1 if node.opset >= 13 else 1
    axis = node.integer("axis", usual) % rank
    if node.opset < 13 and axis != rank - 1:
        raise node.unsupported("of opset 12 or older over several axes")
    return node.backend.softmax(node.value(0), axis, log=log)


def _reduce(kind: str, node: Node) -> Value:
    rank = len(node.shape(0))
    axes = node.axes(1, rank)
    if not axes:
        if node.integer("noop_with_empty_axes", 0):
            return node.value(0)
        axes = list(range(rank))
    return node.backend.reduce(kind, node.value(0), axes, keep=bool(node.integer("keepdims", 1)))


def _arg(kind: str, node: Node) -> Value:
    if node.integer("select_last_index", 0):
        raise node.unsupported("that selects the last place")
    axis = node.integer("axis", 0) % len(node.shape(0))
    return node.backend.arg(kind, node.value(0), axis, keep=bool(node.integer("keepdims", 1)))


TABLE: dict[str, Translate] = {
    "ArgMax": partial(_arg, "max"),
    "ArgMin": partial(_arg, "min"),
    "AveragePool": partial(_pool, "average"),
    "BatchNormalization": _batch_norm,
    "Conv": _conv,
    "Gemm": _gemm,
    "GlobalAveragePool": partial(_global, "mean"),
    "GlobalMaxPool": partial(_global, "max"),
    "GroupNormalization": _group_norm,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "LogSoftmax": partial(_softmax, log=True),
    "MatMul": _matmul,
    "MaxPool": partial(_pool, "max"),
    "ReduceMax": partial(_reduce, "max"),
    "ReduceMean": partial(_reduce, "mean"),
    "ReduceMin": partial(_reduce, "min"),
    "ReduceProd": partial(_reduce, "prod"),
    "ReduceSum": partial(_reduce, "sum"),
    "Softmax": partial(_softmax, log=False),
}
