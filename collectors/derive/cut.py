"""The cut: a graph as pieces that run one after the other, groups of nodes apart from the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import onnx

from fusescope.collectors.kernels.group import Group


@dataclass(frozen=True)
class Piece:
    """Nodes that run together, in their order; `group` when they are one of the groups."""

    nodes: tuple[onnx.NodeProto, ...]
    group: Group | None = None


def node_by_node(graph: onnx.GraphProto) -> list[Piece]:
    """A piece for every node."""
    return [Piece((node,)) for node in graph.node]


def around(graph: onnx.GraphProto, groups: Sequence[Group]) -> list[Piece]:
    """A piece for every group, and as few as possible for the nodes between.

    Nodes of the graph are in topological order, and so are the pieces: everything that can run
    does before it is the groups' turn, and every group that can run does before the next piece of
    other nodes. Of the two ways to begin the one with fewer pieces is taken.
    """
    units = _Units(graph, groups)
    ways = [list(units.scheduled(groups_first=first)) for first in (False, True)]
    return min(ways, key=len)


def reads(node: onnx.NodeProto) -> Iterator[str]:
    """What a node reads, in order: its inputs, and what its subgraphs take from outside."""
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        bodies = [attribute.g] if attribute.HasField("g") else []
        for body in (*bodies, *attribute.graphs):
            made = {value.name for value in body.input}
            made.update(tensor.name for tensor in body.initializer)
            for inner in body.node:
                yield from (name for name in reads(inner) if name not in made)
                made.update(inner.output)
            yield from (value.name for value in body.output if value.name not in made)


class _Units:
    """What is scheduled as a whole: a group, or a node that is in none."""

    def __init__(self, graph: onnx.GraphProto, groups: Sequence[Group]) -> None:
        member = {node.name: group for group in groups for node in group.nodes}
        self._nodes: list[list[onnx.NodeProto]] = []
        self._group: list[Group | None] = []
        place_of: dict[str, int] = {}  # group's output -> its unit
        maker: dict[str, int] = {}
        for node in graph.node:
            group = member.get(node.name)
            unit = place_of.get(group.output) if group is not None else None
            if unit is None:
                unit = len(self._nodes)
                self._nodes.append([])
                self._group.append(group)
                if group is not None:
                    place_of[group.output] = unit
            self._nodes[unit].append(node)
            maker.update((name, unit) for name in node.output if name)
        self._readers: list[set[int]] = [set() for _ in self._nodes]
        for unit, nodes in enumerate(self._nodes):
            for node in nodes:
                for name in reads(node):
                    if name in maker and maker[name] != unit:
                        self._readers[maker[name]].add(unit)

    def scheduled(self, *, groups_first: bool) -> Iterator[Piece]:
        waits_for = [0] * len(self._nodes)
        for readers in self._readers:
            for reader in readers:
                waits_for[reader] += 1
        ready = {unit for unit, count in enumerate(waits_for) if not count}
        turn = groups_first
        while ready:
            taken = []
            # A unit may make the next one ready, and both belong into this turn.
            while mine := sorted(u for u in ready if (self._group[u] is not None) == turn):
                taken += mine
                ready.difference_update(mine)
                for unit in mine:
                    for reader in self._readers[unit]:
                        waits_for[reader] -= 1
                        if not waits_for[reader]:
                            ready.add(reader)
            if turn:
                yield from (Piece(tuple(self._nodes[unit]), self._group[unit]) for unit in taken)
            elif taken:
                yield Piece(tuple(node for unit in taken for node in self._nodes[unit]))
            turn = not turn
