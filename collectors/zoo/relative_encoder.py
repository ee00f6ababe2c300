"""Two small encoder layers in the form of T5 (Raffel et al. 2020), whose biases of relative
positions are computed from the length of the input in every run, as exporters write them."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import TensorProto

from fusescope.collectors.zoo.builder import GraphBuilder

LAYERS = 2
TOKENS = 128
WIDTH = 128
HEADS = 2
HEAD_WIDTH = WIDTH // HEADS
INNER = 512
BUCKETS = 32  # of distances: half for each direction, half of those for one distance each
FARTHEST = 128  # beyond it all distances are in the last bucket


def build() -> onnx.ModelProto:
    """93 nodes: 23 for the biases, 35 a layer. The input is embedded tokens."""
    graph = GraphBuilder("relative_encoder")
    x = "input"
    bias = _bias(graph, x, "bias")
    for layer in range(LAYERS):
        scope = f"layer{layer}"
        y = _rms_norm(graph, x, f"{scope}/attention/norm")
        y = _attention(graph, y, bias, f"{scope}/attention")
        x = graph.node("Add", [x, y], f"{scope}/attention/residual")
        y = _rms_norm(graph, x, f"{scope}/inner/norm")
        y = graph.node("Relu", [graph.linear(y, WIDTH, INNER, f"{scope}/inner")], f"{scope}/inner")
        y = graph.linear(y, INNER, WIDTH, f"{scope}/output")
        x = graph.node("Add", [x, y], f"{scope}/output/residual")
    return graph.model(x, (TOKENS, WIDTH), (TOKENS, WIDTH))


def _bias(graph: GraphBuilder, x: str, scope: str) -> str:
    """What is added to the scores, [1, heads, tokens, tokens], from a table by distance."""
    half, exact = BUCKETS // 2, BUCKETS // 4
    zero, one = (graph.weight(f"{scope}.{n}", np.int64(n)) for n in (0, 1))
    length = graph.node("Gather", [graph.node("Shape", [x], scope), one], scope, axis=0)
    places = graph.node("Range", [zero, length, one], scope)
    rows, columns = (
        graph.node("Unsqueeze", [places, graph.weight(f"{scope}.axis{axis}", [axis])], scope)
        for axis in (1, 0)
    )
    distance = graph.node("Sub", [columns, rows], scope)
    ahead = graph.node("Greater", [distance, zero], scope)
    ahead = graph.node("Cast", [ahead], scope, to=TensorProto.INT64)
    ahead = graph.node("Mul", [ahead, graph.weight(f"{scope}.half", np.int64(half))], scope)
    distance = graph.node("Abs", [distance], scope)
    near = graph.weight(f"{scope}.exact", np.int64(exact))
    # Beyond `exact` buckets grow with the logarithm; that of 0 is not used.
    far = graph.node("Cast", [distance], scope, to=TensorProto.FLOAT)
    far = graph.node("Div", [far, graph.weight(f"{scope}.exactly", np.float32(exact))], scope)
    scale = graph.weight(f"{scope}.scale", np.float32((half - exact) / math.log(FARTHEST / exact)))
    far = graph.node("Mul", [graph.node("Log", [far], scope), scale], scope)
    far = graph.node("Add", [graph.node("Cast", [far], scope, to=TensorProto.INT64), near], scope)
    far = graph.node("Min", [far, graph.weight(f"{scope}.last", np.int64(half - 1))], scope)
    bucket = graph.node(
        "Where", [graph.node("Less", [distance, near], scope), distance, far], scope
    )
    bucket = graph.node("Add", [bucket, ahead], scope)
    table = graph.normal(f"{scope}.table", (BUCKETS, HEADS))
    biases = graph.node("Gather", [table, bucket], scope, axis=0)
    biases = graph.node("Transpose", [biases], scope, perm=[2, 0, 1])
    return graph.node("Unsqueeze", [biases, graph.weight(f"{scope}.axis0", [0])], scope)


def _attention(graph: GraphBuilder, x: str, bias: str, scope: str) -> str:
    """Without a scale, which T5 has in its weights."""
    query = _heads(graph, x, f"{scope}/query", [0, 2, 1, 3])
    key = _heads(graph, x, f"{scope}/key", [0, 2, 3, 1])
    value = _heads(graph, x, f"{scope}/value", [0, 2, 1, 3])
    scores = graph.node("Add", [graph.node("MatMul", [query, key], scope), bias], scope)
    weights = graph.node("Softmax", [scores], scope, axis=-1)
    mixed = graph.node("MatMul", [weights, value], scope)
    mixed = graph.node("Transpose", [mixed], scope, perm=[0, 2, 1, 3])
    together = graph.weight("together", np.array([0, 0, WIDTH], np.int64))
    mixed = graph.node("Reshape", [mixed, together], scope)
    return graph.linear(mixed, WIDTH, WIDTH, f"{scope}/output")


def _heads(graph: GraphBuilder, x: str, scope: str, order: list[int]) -> str:
    """[batch, tokens, width] with an axis of heads, in the order of axes that is asked for."""
    apart = graph.weight("apart", np.array([0, 0, HEADS, HEAD_WIDTH], np.int64))
    y = graph.node("Reshape", [graph.linear(x, WIDTH, WIDTH, scope), apart], scope)
    return graph.node("Transpose", [y], scope, perm=order)


def _rms_norm(graph: GraphBuilder, x: str, scope: str) -> str:
    """x / √(mean of x²) · weight."""
    square = graph.node("Pow", [x, graph.weight("two", np.float32(2))], scope)
    mean = graph.node("ReduceMean", [square], scope, axes=[-1])
    mean = graph.node("Add", [mean, graph.weight("epsilon", np.float32(1e-6))], scope)
    root = graph.node("Sqrt", [mean], scope)
    y = graph.node("Mul", [x, graph.node("Reciprocal", [root], scope)], scope)
    weight = graph.weight(f"{scope}.weight", np.ones(WIDTH, np.float32))
    return graph.node("Mul", [y, weight], scope)
