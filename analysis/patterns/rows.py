"""Rows: a Softmax or a normalisation over the last axis, and the elementwise operators around it.

ONNX Runtime's CPU provider has a kernel for some of these with some neighbours (an addition before
a LayerNormalization); for what is left it has none.
"""

from __future__ import annotations

from collections.abc import Collection

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.patterns.chain import is_elementwise, left_over
from fusescope.analysis.patterns.normalisation import (
    LAYER_NORM,
    LAYER_NORM_OTHER_FORM,
    RMS_NORM,
    RMS_NORM_OTHER_FORM,
)
from fusescope.analysis.patterns.pattern import Match, find
from fusescope.analysis.patterns.view import STANDARD, View

_WHOLE = ("Softmax", "LayerNormalization")
_WRITTEN_OUT = (LAYER_NORM, LAYER_NORM_OTHER_FORM, RMS_NORM, RMS_NORM_OTHER_FORM)


def rows(graph: Graph | View, among: Collection[str] | None = None) -> list[Match]:
    """Two or more operators of which one is a Softmax or a normalisation, or several that are a
    normalisation together; only the last one's result is read by others. In graph order, no
    operator in two of them.

    `among` are the names of the nodes that may take part; all when None.
    """
    view = graph if isinstance(graph, View) else View(graph)
    taken: set[str] = set()
    found = []
    for core in _cores(view):
        names = {node.name for node in core}
        if not names.isdisjoint(taken) or (among is not None and not names.issubset(among)):
            continue
        if not _is_closed(core, view):
            continue
        nodes = _with_neighbours(core, view, among, taken)
        if len(nodes) > 1:
            taken.update(node.name for node in nodes)
            found.append(left_over(nodes))
    return sorted(found, key=lambda match: view.graph.index[match.nodes[0].name])


def _cores(view: View) -> list[tuple[Node, ...]]:
    """Larger ones first: a normalisation that is written out contains smaller forms."""
    found = [match.nodes for pattern in _WRITTEN_OUT for match in find(view, pattern)]
    found += [(node,) for op_type in _WHOLE for node in view.by_type.get(op_type, [])]
    return sorted(found, key=lambda nodes: -len(nodes))


def _is_closed(nodes: tuple[Node, ...], view: View) -> bool:
    """Whether nobody else reads what any but the last of them writes."""
    names = {node.name for node in nodes}
    if any(len([name for name in node.outputs if name]) != 1 for node in nodes):
        return False
    return all(_is_inner(node, names, view) for node in nodes[:-1])


def _is_inner(node: Node, names: Collection[str], view: View) -> bool:
    tensor = node.outputs[0]
    return tensor not in view.outputs and all(r.name in names for r in view.consumers(tensor))


def _with_neighbours(
    core: tuple[Node, ...], view: View, among: Collection[str] | None, taken: Collection[str]
) -> tuple[Node, ...]:
    """The core with the elementwise operators that only it reads, those that only they read, and so
    on, and with those that follow it one by one."""
    nodes = {node.name: node for node in core}

    def fits(node: Node | None) -> bool:
        return (
            node is not None
            and node.name not in nodes
            and node.name not in taken
            and node.domain in STANDARD
            and is_elementwise(node, view, among)
        )

    waiting = list(core)
    while waiting:
        for name in waiting.pop().inputs:
            made = view.producer(name) if name else None
            if made is not None and fits(made) and _is_inner(made, nodes, view):
                nodes[made.name] = made
                waiting.append(made)
    last = core[-1]
    while last.outputs[0] not in view.outputs:
        readers = {reader.name: reader for reader in view.consumers(last.outputs[0])}
        if len(readers) != 1 or not fits(next(iter(readers.values()))):
            break
        [last] = readers.values()
        nodes[last.name] = last
    index = view.graph.index
    return tuple(sorted(nodes.values(), key=lambda node: index[node.name]))
