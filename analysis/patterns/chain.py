"""Chains of elementwise operators: ONNX Runtime has no kernel that runs one as a whole."""

from __future__ import annotations

from collections.abc import Collection

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.operators.classes import POINTWISE, op_class
from fusescope.analysis.patterns.pattern import Block, Match
from fusescope.analysis.patterns.view import STANDARD, View

_SHOWN = 6  # op types in the name of a chain
_NOT_ELEMENTWISE = frozenset(("Softmax", "LogSoftmax", "Hardmax", "Identity", "Dropout"))


def chains(graph: Graph | View, among: Collection[str] | None = None) -> list[Match]:
    """Maximal runs of two or more elementwise operators, each the only reader of the one before.

    `among` are the names of the nodes that may take part; all when None.
    """
    view = graph if isinstance(graph, View) else View(graph)
    after: dict[str, Node] = {}
    heads: dict[str, Node] = {}
    for node in view.graph.nodes:
        if is_elementwise(node, view, among):
            heads[node.name] = node
    inner: set[str] = set()
    for node in heads.values():
        readers = {reader.name: reader for reader in view.consumers(node.outputs[0])}
        if len(readers) != 1 or node.outputs[0] in view.outputs:
            continue
        [(name, reader)] = readers.items()
        if name in heads and name not in inner:  # a chain takes one of an operator's inputs
            after[node.name] = reader
            inner.add(name)
    found = []
    for name, node in heads.items():
        if name in after and name not in inner:
            run = [node]
            while run[-1].name in after:
                run.append(after[run[-1].name])
            found.append(left_over(tuple(run)))
    return found


def is_elementwise(node: Node, view: View, among: Collection[str] | None) -> bool:
    """Whether a node of these (any when None) computes each value from those at its place."""
    if among is not None and node.name not in among:
        return False
    if node.domain not in STANDARD or len(node.outputs) != 1 or node.op_type in _NOT_ELEMENTWISE:
        return False
    if op_class(node.op_type) not in POINTWISE:
        return False
    return not view.is_constant(node.outputs[0])


def left_over(nodes: tuple[Node, ...]) -> Match:
    """Operators that no kernel of the engine runs as one."""
    joined = " + ".join(node.op_type for node in nodes[:_SHOWN])
    if len(nodes) > _SHOWN:
        joined += f" + … ({len(nodes)})"
    block = Block("no_kernel", values={"operators": joined, "known": ""})
    return Match(joined, nodes, nodes, (), "", (block,))
