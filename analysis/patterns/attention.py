"""Attention as exporters write it: a matrix product of scores, Softmax, a matrix product."""

from __future__ import annotations

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.patterns.view import View

# What may stand between the scores and Softmax, and between Softmax and the second product.
_BETWEEN = frozenset(("Mul", "Div", "Add", "Sub", "Where", "Cast", "Reshape", "Transpose"))
_PRODUCTS = frozenset(("MatMul", "FusedMatMul", "Gemm", "Einsum"))
_MAX = 6  # operators between two of the three


def attentions(graph: Graph | View) -> list[tuple[Node, ...]]:
    """Operators of every attention, from the product of the scores to that with the values."""
    view = graph if isinstance(graph, View) else View(graph)
    found = []
    for softmax in view.by_type.get("Softmax", []):
        before, after = _scores(view, softmax), _values(view, softmax)
        if before and after:
            found.append((*before, softmax, *after))
    return found


def _scores(view: View, softmax: Node) -> list[Node]:
    """From the product of the scores up to Softmax; empty where there is none."""
    path: list[Node] = []
    node = view.producer(softmax.inputs[0])
    while node is not None and len(path) <= _MAX:
        path.insert(0, node)
        if node.op_type in _PRODUCTS:
            return path
        if node.op_type not in _BETWEEN:
            return []
        makers = [view.producer(name) for name in node.inputs if name]
        made = [maker for maker in makers if maker is not None]
        # A mask is computed, too: follow the operand that comes from a product.
        ahead = [maker for maker in made if maker.op_type in _PRODUCTS | _BETWEEN]
        node = min(ahead, key=lambda maker: maker.op_type not in _PRODUCTS, default=None)
    return []


def _values(view: View, softmax: Node) -> list[Node]:
    """From behind Softmax to the product with the values; empty where there is none."""
    path: list[Node] = []
    node = softmax
    while len(path) <= _MAX:
        readers = view.consumers(node.outputs[0])
        if not readers:
            return []
        node = readers[0]
        path.append(node)
        if node.op_type in _PRODUCTS:
            return path
        if node.op_type not in _BETWEEN | {"Dropout"}:
            return []
    return []
