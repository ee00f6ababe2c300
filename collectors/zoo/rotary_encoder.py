"""Three small encoder layers (width and heads of BERT-tiny, Turc et al. 2019) with rotary positions
(Su et al. 2021), whose angles every layer computes again, as exports of several libraries do."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import TensorProto, helper

from fusescope.collectors.zoo.builder import BATCH, GraphBuilder
from fusescope.collectors.zoo.transformer_encoder import gelu

LAYERS = 3
TOKENS = 128
WIDTH = 128
HEADS = 2
HEAD_WIDTH = WIDTH // HEADS
INNER = 512
POSITIONS = "position_ids"


def build() -> onnx.ModelProto:
    """162 nodes, 54 a layer. The inputs are embedded tokens and their positions."""
    graph = GraphBuilder("rotary_encoder")
    x = "input"
    for layer in range(LAYERS):
        scope = f"layer{layer}"
        y = graph.node("Add", [_attention(graph, x, f"{scope}/attention"), x], f"{scope}/attention")
        x = _layer_norm(graph, y, f"{scope}/attention/norm")
        y = graph.dense(x, WIDTH, INNER, f"{scope}/inner")
        y = graph.dense(gelu(graph, y, f"{scope}/inner/gelu"), INNER, WIDTH, f"{scope}/output")
        y = graph.node("Add", [y, x], f"{scope}/output/residual")
        x = _layer_norm(graph, y, f"{scope}/output/norm")
    model = graph.model(x, (TOKENS, WIDTH), (TOKENS, WIDTH))
    positions = helper.make_tensor_value_info(POSITIONS, TensorProto.INT64, [BATCH, TOKENS])
    model.graph.input.append(positions)
    return model


def _attention(graph: GraphBuilder, x: str, scope: str) -> str:
    cos, sin = _angles(graph, f"{scope}/rotary")
    query = _rotated(graph, _heads(graph, x, f"{scope}/query"), cos, sin, f"{scope}/query/rotary")
    key = _rotated(graph, _heads(graph, x, f"{scope}/key"), cos, sin, f"{scope}/key/rotary")
    key = graph.node("Transpose", [key], f"{scope}/key", perm=[0, 1, 3, 2])
    scores = graph.node("MatMul", [query, key], scope)
    root = graph.weight("root", np.float32(math.sqrt(HEAD_WIDTH)))
    weights = graph.node("Softmax", [graph.node("Div", [scores, root], scope)], scope, axis=-1)
    mixed = graph.node("MatMul", [weights, _heads(graph, x, f"{scope}/value")], scope)
    mixed = graph.node("Transpose", [mixed], scope, perm=[0, 2, 1, 3])
    together = graph.weight("together", np.array([0, 0, WIDTH], np.int64))
    mixed = graph.node("Reshape", [mixed, together], scope)
    return graph.dense(mixed, WIDTH, WIDTH, f"{scope}/output")


def _angles(graph: GraphBuilder, scope: str) -> tuple[str, str]:
    """Cosine and sine of position times frequency, [batch, 1, tokens, head width]."""
    position = graph.node("Cast", [POSITIONS], scope, to=TensorProto.FLOAT)
    axes = graph.weight("apart_axes", np.array([1, 3], np.int64))
    position = graph.node("Unsqueeze", [position, axes], scope)
    exponents = -np.arange(0, HEAD_WIDTH, 2) / HEAD_WIDTH
    frequencies = np.power(10_000.0, exponents).astype(np.float32).reshape(1, 1, 1, -1)
    angle = graph.node("MatMul", [position, graph.weight("frequencies", frequencies)], scope)
    angle = graph.node("Concat", [angle, angle], scope, axis=-1)
    return graph.node("Cos", [angle], scope), graph.node("Sin", [angle], scope)


def _rotated(graph: GraphBuilder, x: str, cos: str, sin: str, scope: str) -> str:
    """x · cos + (-second half, first half) · sin."""
    middle = graph.weight("middle", np.array([HEAD_WIDTH // 2], np.int64))
    start, end = (
        graph.weight(name, np.array([at], np.int64)) for name, at in (("start", 0), ("end", 2**62))
    )
    axis = graph.weight("last_axis", np.array([3], np.int64))
    first = graph.node("Slice", [x, start, middle, axis], scope)
    second = graph.node("Slice", [x, middle, end, axis], scope)
    turned = graph.node("Concat", [graph.node("Neg", [second], scope), first], scope, axis=-1)
    kept = graph.node("Mul", [x, cos], scope)
    return graph.node("Add", [kept, graph.node("Mul", [turned, sin], scope)], scope)


def _heads(graph: GraphBuilder, x: str, scope: str) -> str:
    """[batch, tokens, width] as [batch, heads, tokens, head width]."""
    apart = graph.weight("apart", np.array([0, 0, HEADS, HEAD_WIDTH], np.int64))
    y = graph.node("Reshape", [graph.dense(x, WIDTH, WIDTH, scope), apart], scope)
    return graph.node("Transpose", [y], scope, perm=[0, 2, 1, 3])


def _layer_norm(graph: GraphBuilder, x: str, scope: str) -> str:
    """One operator, as exporters write it since opset 17."""
    gamma = graph.weight(f"{scope}.gamma", np.ones(WIDTH, np.float32))
    beta = graph.weight(f"{scope}.beta", np.zeros(WIDTH, np.float32))
    return graph.node("LayerNormalization", [x, gamma, beta], scope, axis=-1, epsilon=1e-5)
