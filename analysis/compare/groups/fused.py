"""Fused operators of an optimised graph, and which of them a group has lost or won."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fusescope.analysis.compare.groups.fusion import Group, Names
from fusescope.analysis.compare.groups.lineage import Lineage, LineageGroup
from fusescope.analysis.graph import Graph, Node

BLOCKED = "com.microsoft.nchwc"
_MOVES = {
    "Cast", "Concat", "Expand", "Flatten", "Gather", "Identity", "MemcpyFromHost", "MemcpyToHost",
    "ReorderInput", "ReorderOutput", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze",
}  # fmt: skip


def fused_operators(model: Graph, graph: Graph, made: Lineage) -> frozenset[str]:
    """Names of the nodes that stand for several of the model's operators, or run in the blocked
    layout; what only moves data is none."""
    return frozenset(name for group in made.groups for name in _in_group(model, graph, group))


def lost_and_won(group: Group, fused: tuple[Names, Names]) -> tuple[Counter[str], Counter[str]]:
    """Fused operators that only the baseline, or only the candidate runs in a group, by op type;
    `fused` are the names of those of either side.

    What is gone where fewer operators run is in a larger one, or was there twice; what has come
    where more run, and nothing was lost, is a part of what one operator was. One that stands for
    all that one of another type stood for is neither lost nor won.
    """
    before, after = (
        Counter(one.op_type for one in side if one.name in names)
        for side, names in zip((group.baseline, group.candidate), fused, strict=True)
    )
    if before and after and len(group.baseline) == len(group.candidate) == 1:
        return Counter(), Counter()
    lost, won = before - after, after - before
    more = len(group.candidate) - len(group.baseline)
    if more < 0:
        lost.clear()
    elif more > 0 and not lost:
        won.clear()
    return lost, won


def kind(node: Node) -> tuple[str, str]:
    """Domain and op type."""
    return "" if node.domain == "ai.onnx" else node.domain, node.op_type


def _in_group(model: Graph, graph: Graph, group: LineageGroup) -> Iterable[str]:
    """Nodes of a kind that the model has not in the group; where there is none and fewer operators
    run, those that do. A single operator of the model is fused with nothing."""
    before = {kind(model.node[name]) for name in group.original}
    nodes = [graph.node[name] for name in group.optimised]
    working = [node for node in nodes if node.op_type not in _MOVES]
    new = [node for node in working if kind(node) not in before]
    if len(group.original) == 1:
        new = [node for node in new if node.domain == BLOCKED]
    elif not new and 0 < len(nodes) < len(group.original):
        new = working
    return (node.name for node in new)
