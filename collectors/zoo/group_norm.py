"""Conv, group normalisation (Wu and He 2018) and Relu: the normalisation as one operator, which an
engine without a kernel for it expands, and as the older operators that it has kernels for."""

from __future__ import annotations

import numpy as np
import onnx

from fusescope.collectors.zoo.builder import GraphBuilder

SHAPE = (32, 28, 28)
GROUPS = 8
EPSILON = 1e-5


def group_norm() -> onnx.ModelProto:
    """3 nodes."""
    graph = GraphBuilder("group_norm", opset=21)
    y = graph.conv("input", SHAPE[0], SHAPE[0], 3, "block")
    gamma, beta = (graph.weight(name, values) for name, values in _parameters(SHAPE[0]).items())
    y = graph.node(
        "GroupNormalization", [y, gamma, beta], "block", num_groups=GROUPS, epsilon=EPSILON
    )
    return graph.model(graph.node("Relu", [y], "block"), SHAPE, SHAPE)


def instance_norm() -> onnx.ModelProto:
    """7 nodes: an InstanceNormalization of one channel a group between two Reshape, then gamma
    and beta, as PyTorch exports it to opsets that have no GroupNormalization."""
    graph = GraphBuilder("instance_norm")
    y = graph.conv("input", SHAPE[0], SHAPE[0], 3, "block")
    apart = graph.weight("apart", np.array([0, GROUPS, -1], np.int64))
    plain = [
        graph.weight("one", np.ones(GROUPS, np.float32)),
        graph.weight("zero", np.zeros(GROUPS, np.float32)),
    ]
    y = graph.node("Reshape", [y, apart], "block")
    y = graph.node("InstanceNormalization", [y, *plain], "block", epsilon=EPSILON)
    together = graph.weight("together", np.array([0, *SHAPE], np.int64))
    y = graph.node("Reshape", [y, together], "block")
    gamma, beta = (
        graph.weight(name, values.reshape(-1, 1, 1))
        for name, values in _parameters(SHAPE[0]).items()
    )
    y = graph.node("Add", [graph.node("Mul", [y, gamma], "block"), beta], "block")
    return graph.model(graph.node("Relu", [y], "block"), SHAPE, SHAPE)


def _parameters(channels: int) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(1)
    return {
        "gamma": (1 + 0.1 * chance.standard_normal(channels)).astype(np.float32),
        "beta": (0.1 * chance.standard_normal(channels)).astype(np.float32),
    }
