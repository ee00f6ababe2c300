"""Fate: what becomes of a model's nodes that an optimised graph does without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fusescope.analysis.compare.groups.disjoint import DisjointSets
from fusescope.analysis.compare.groups.equivalence import SHAPE_READERS, passed_through, read_by
from fusescope.analysis.graph import Graph, Node

Fate = Literal["runs", "folded", "removed", "loaded"]


def fates(
    model: Graph,
    nodes: Sequence[Node],
    optimised: Graph,
    anchored: set[str],
    constant: set[str],
) -> list[Fate]:
    """One fate a node, in their order.

    runs: it, or what it was fused into, is still there. loaded: a Constant, which the engine
    reads as a weight. folded: its result is constant and no longer made. removed: it hands on its
    input, or nobody needs it. `anchored` are the model's tensors that the optimised graph makes,
    `constant` those that do not depend on the model's inputs.
    """
    found: list[Fate] = ["runs"] * len(nodes)
    for index, node in enumerate(nodes):
        made = [name for name in node.outputs if name]
        if any(name in anchored for name in made):
            continue
        if node.op_type == "Constant":
            found[index] = "loaded"
        elif made and all(name in constant for name in made):
            found[index] = "folded"
    sources = _remove_handed_on(model, nodes, optimised, anchored, constant, found)
    needed = {*model.outputs, *anchored}
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if found[index] not in ("runs", "removed"):
            continue
        if not any(name in needed for name in node.outputs):
            found[index] = "removed"
        elif index in sources:
            needed.add(sources[index])
        elif not reads_only_a_shape(node, anchored):
            needed.update(read_by(node))
    return found


def reads_only_a_shape(node: Node, anchored: set[str]) -> bool:
    """Whether a node took no more than a shape, and the engine now does without it."""
    return node.op_type in SHAPE_READERS and not anchored.intersection(node.outputs)


def _remove_handed_on(
    model: Graph,
    nodes: Sequence[Node],
    optimised: Graph,
    anchored: set[str],
    constant: set[str],
    found: list[Fate],
) -> dict[int, str]:
    """Marks nodes that hand on a tensor and are gone; place -> that tensor."""
    same: DisjointSets[str] = DisjointSets()
    sources: dict[int, str] = {}
    for index, node in enumerate(nodes):
        kept = optimised.node.get(node.name)
        if found[index] != "runs" or (kept is not None and kept.op_type == node.op_type):
            continue
        given = passed_through(node, model)
        if given is not None:
            source, result = same.find(given), node.outputs[0]
            lost = source in model.producer and source not in anchored
            if lost and result not in anchored and given != node.inputs[0]:
                continue  # neither end of a chain is left, but its middle may be
            if result not in anchored or (lost and source not in constant):
                found[index] = "removed"
                sources[index] = given
                same.join(source, result)
    return sources
