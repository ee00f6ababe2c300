"""Chains of elementwise operators on 4 MB a sample, each bound by memory."""

from __future__ import annotations

import numpy as np
import onnx

from fusescope.collectors.zoo.builder import GraphBuilder

SHAPE = (64, 128, 128)


def mul_add() -> onnx.ModelProto:
    """2 nodes."""
    graph = GraphBuilder("mul_add")
    y = graph.node("Mul", ["input", graph.weight("scale", np.float32(1.5))], "chain")
    y = graph.node("Add", [y, graph.weight("shift", np.float32(0.25))], "chain")
    return graph.model(y, SHAPE, SHAPE)


def mynet() -> onnx.ModelProto:
    """2 nodes: x · 2 + 1, the net of MindSpore's tutorial on graph kernels."""
    graph = GraphBuilder("mynet")
    y = graph.node("Mul", ["input", graph.weight("two", np.float32(2))], "chain")
    y = graph.node("Add", [y, graph.weight("one", np.float32(1))], "chain")
    return graph.model(y, SHAPE, SHAPE)


def mynet_composite() -> onnx.ModelProto:
    """4 nodes: y = (x · 2)³, then (b - y) · b, where the last two are the composite operator of
    MindSpore's tutorial."""
    graph = GraphBuilder("mynet_composite")
    y = graph.node("Mul", ["input", graph.weight("two", np.float32(2))], "power")
    y = graph.node("Pow", [y, graph.weight("three", np.float32(3))], "power")
    y = graph.node("Mul", [graph.node("Sub", ["b", y], "composite"), "b"], "composite")
    return graph.model(y, SHAPE, SHAPE, ("input", "b"))


def add_relu() -> onnx.ModelProto:
    """2 nodes: the end of a residual block."""
    graph = GraphBuilder("add_relu")
    y = graph.node("Relu", [graph.node("Add", ["input", "residual"], "chain")], "chain")
    return graph.model(y, SHAPE, SHAPE, ("input", "residual"))


def mul_sigmoid() -> onnx.ModelProto:
    """2 nodes: x · sigmoid(x), the activation called SiLU or Swish."""
    graph = GraphBuilder("mul_sigmoid")
    y = graph.node("Mul", ["input", graph.node("Sigmoid", ["input"], "chain")], "chain")
    return graph.model(y, SHAPE, SHAPE)
