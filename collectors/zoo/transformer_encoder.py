"""Two encoder layers of BERT-base (Devlin et al. 2018), with LayerNorm, Gelu and attention
decomposed into the operators that exporters write."""

from __future__ import annotations

import math

import numpy as np
import onnx

from fusescope.collectors.zoo.builder import GraphBuilder

LAYERS = 2
TOKENS = 128
WIDTH = 768
HEADS = 12
HEAD_WIDTH = WIDTH // HEADS
INNER = 3072


def build() -> onnx.ModelProto:
    """98 nodes, 49 a layer. The input is embedded tokens."""
    graph = GraphBuilder("transformer_encoder")
    x = "input"
    for layer in range(LAYERS):
        scope = f"layer{layer}"
        y = graph.node("Add", [_attention(graph, x, f"{scope}/attention"), x], f"{scope}/attention")
        x = graph.layer_norm(y, WIDTH, f"{scope}/attention/norm")
        y = graph.dense(x, WIDTH, INNER, f"{scope}/inner")
        y = graph.dense(gelu(graph, y, f"{scope}/inner/gelu"), INNER, WIDTH, f"{scope}/output")
        y = graph.node("Add", [y, x], f"{scope}/output/residual")
        x = graph.layer_norm(y, WIDTH, f"{scope}/output/norm")
    return graph.model(x, (TOKENS, WIDTH), (TOKENS, WIDTH))


def _attention(graph: GraphBuilder, x: str, scope: str) -> str:
    query = _heads(graph, x, f"{scope}/query", [0, 2, 1, 3])
    key = _heads(graph, x, f"{scope}/key", [0, 2, 3, 1])
    value = _heads(graph, x, f"{scope}/value", [0, 2, 1, 3])
    scores = graph.node("MatMul", [query, key], scope)
    root = graph.weight("root", np.float32(math.sqrt(HEAD_WIDTH)))
    weights = graph.node("Softmax", [graph.node("Div", [scores, root], scope)], scope, axis=-1)
    mixed = graph.node("MatMul", [weights, value], scope)
    mixed = graph.node("Transpose", [mixed], scope, perm=[0, 2, 1, 3])
    together = graph.weight("together", np.array([0, 0, WIDTH], np.int64))
    mixed = graph.node("Reshape", [mixed, together], scope)
    return graph.dense(mixed, WIDTH, WIDTH, f"{scope}/output")


def _heads(graph: GraphBuilder, x: str, scope: str, order: list[int]) -> str:
    """[batch, tokens, width] with an axis of heads, in the order of axes that is asked for."""
    apart = graph.weight("apart", np.array([0, 0, HEADS, HEAD_WIDTH], np.int64))
    y = graph.node("Reshape", [graph.dense(x, WIDTH, WIDTH, scope), apart], scope)
    return graph.node("Transpose", [y], scope, perm=order)


def gelu(graph: GraphBuilder, x: str, scope: str) -> str:
    """x · (1 + erf(x / √2)) · 0.5."""
    root = graph.weight("root_of_two", np.float32(math.sqrt(2)))
    y = graph.node("Erf", [graph.node("Div", [x, root], scope)], scope)
    y = graph.node("Add", [y, graph.weight("one", np.float32(1))], scope)
    y = graph.node("Mul", [x, y], scope)
    return graph.node("Mul", [y, graph.weight("half", np.float32(0.5))], scope)
