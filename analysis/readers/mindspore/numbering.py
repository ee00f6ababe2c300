"""Numbering: MindSpore numbers what has the same name over all graphs of a process, so the numbers
of a profile begin elsewhere than those of the graph, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from fusescope.analysis.graph import Graph, Node


def nodes_of(names: Sequence[str], graph: Graph) -> list[Node | None]:
    """The node of the graph that each execution of a run is, in the order in which they began.

    Of a name that ran less often than the graph has it (a Reshape that need not copy is left out),
    an execution is the node whose producers ran before it and whose consumers ran after it, and
    None where that leaves a choice.
    """
    known, ran = numbers_of(graph.node), numbers_of(names)
    found: dict[str, Node] = {}
    for base, numbers in ran.items():
        if len(numbers) == len(known.get(base, ())):
            found |= _joined(base, numbers, known[base], graph)
    at: dict[str, int] = {}
    for place, name in enumerate(names):
        at.setdefault(name, place)
    of_node = {node.name: at[name] for name, node in found.items()}
    for base, numbers in ran.items():
        if len(numbers) < len(known.get(base, ())):
            places = [at[f"{base}-op{number}"] for number in numbers]
            spans = [_span(graph.node[f"{base}-op{own}"], graph, of_node) for own in known[base]]
            if (chosen := _only_choice(places, spans)) is not None:
                found |= _joined(base, numbers, [known[base][one] for one in chosen], graph)
    return [found.get(name) for name in names]


def numbers_of(names: Iterable[str]) -> dict[str, list[int]]:
    """Name without its number -> the numbers that it has, in order."""
    found: dict[str, set[int]] = {}
    for name in names:
        base, mark, number = name.rpartition("-op")
        if mark and number.isdecimal() and len(number) < 10 and str(int(number)) == number:
            found.setdefault(base, set()).add(int(number))
    return {base: sorted(numbers) for base, numbers in found.items()}


def _joined(base: str, ran: Sequence[int], own: Sequence[int], graph: Graph) -> dict[str, Node]:
    pairs = zip(ran, own, strict=True)
    return {f"{base}-op{number}": graph.node[f"{base}-op{node}"] for number, node in pairs}


def _span(node: Node, graph: Graph, of_node: Mapping[str, int]) -> tuple[float, float]:
    """Between which executions, as far as they are known, that of a node lies."""

    def before(one: Node) -> list[Node]:
        return [graph.producer[name] for name in one.inputs if name in graph.producer]

    def after(one: Node) -> list[Node]:
        return [other for name in one.outputs for other in graph.consumers.get(name, ())]

    return (
        max(_nearest(node, before, of_node), default=-1),
        min(_nearest(node, after, of_node), default=float("inf")),
    )


def _nearest(
    node: Node, around: Callable[[Node], list[Node]], of_node: Mapping[str, int]
) -> Iterator[int]:
    """Executions of the nodes around a node; where one has none that is known, of those around
    that."""
    left, seen = around(node), {node.name}
    while left:
        one = left.pop()
        if one.name in of_node:
            yield of_node[one.name]
        elif one.name not in seen:
            left += around(one)
        seen.add(one.name)


def _only_choice(
    places: Sequence[int], spans: Sequence[tuple[float, float]]
) -> tuple[int, ...] | None:
    """Which span each place lies in, in order, no span twice; None where that can be done in no way
    or in several: then the first way from the front is not the first one from the back."""
    front = _first_choice(places, spans)
    last = len(spans) - 1
    back = _first_choice(places[::-1], spans[::-1])
    if front is None or back is None:
        return None
    return front if front == tuple(last - one for one in reversed(back)) else None


def _first_choice(
    places: Sequence[int], spans: Sequence[tuple[float, float]]
) -> tuple[int, ...] | None:
    chosen: list[int] = []
    nexts = iter(range(len(spans)))
    for place in places:
        one = next((at for at in nexts if spans[at][0] < place < spans[at][1]), None)
        if one is None:
            return None
        chosen.append(one)
    return tuple(chosen)
