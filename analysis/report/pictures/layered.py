"""Where the vertices of a small graph are drawn: in layers from top to bottom, few crossings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 4
_ALIGNMENTS = 24
_THREAD = 14.0  # width kept free for an edge that passes a layer

Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """Centre of the upper edge of every vertex, the points each edge runs through, and the size.

    An edge that goes past a layer has two points there, above and below it; its two ends are not
    among the points. `edges` are None where an edge is not a forward edge and is not drawn.
    """

    vertices: tuple[Point, ...]
    edges: tuple[tuple[Point, ...] | None, ...]
    width: float
    height: float


def lay_out(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    late: Collection[int] = (),
    *,
    gap: float = 34.0,
    beside: float = 18.0,
) -> Layout:
    """Vertices (width, height) in topological order and edges between them, as pixels.

    A vertex stands one layer below the lowest of those before it; one in `late` has none before
    it and stands just above the first that follows. `gap` parts layers, `beside` neighbours.
    """
    drawn = [k for k, (start, end) in enumerate(edges) if start < end]
    ranks = _ranks(len(sizes), [edges[k] for k in drawn], late)
    widths = [width for width, _ in sizes]
    layer_of = list(ranks)
    links: list[tuple[int, int]] = []  # between neighbouring layers only
    threads: dict[int, list[int]] = {}
    for k in drawn:
        start, end = edges[k]
        chain = []
        for layer in range(ranks[start] + 1, ranks[end]):
            chain.append(len(layer_of))
            layer_of.append(layer)
            widths.append(_THREAD)
        threads[k] = chain
        stops = [start, *chain, end]
        links += list(pairwise(stops))
    layers: list[list[int]] = [[] for _ in range(max(layer_of, default=-1) + 1)]
    for vertex, layer in enumerate(layer_of):
        layers[layer].append(vertex)
    above, below = _neighbours(len(layer_of), links)
    _order(layers, above, below)
    xs = _across(layers, widths, above, below, beside)
    tops, heights = _down(layers, sizes, gap)
    paths: list[tuple[Point, ...] | None] = [None] * len(edges)
    for k, chain in threads.items():
        points: list[Point] = []
        for thread in chain:
            layer = layer_of[thread]
            points += [(xs[thread], tops[layer]), (xs[thread], tops[layer] + heights[layer])]
        paths[k] = tuple(points)
    right = max((x + w / 2 for x, w in zip(xs, widths, strict=True)), default=0.0)
    places = []
    for vertex, (_, height) in enumerate(sizes):
        layer = layer_of[vertex]
        places.append((xs[vertex], tops[layer] + (heights[layer] - height) / 2))
    height = tops[-1] + heights[-1] if tops else 0.0
    return Layout(tuple(places), tuple(paths), right, height)


def _ranks(count: int, edges: Sequence[tuple[int, int]], late: Collection[int]) -> list[int]:
    ranks = [0] * count
    for start, end in sorted(edges, key=lambda edge: edge[1]):
        ranks[end] = max(ranks[end], ranks[start] + 1)
    for vertex in late:
        following = [ranks[end] for start, end in edges if start == vertex]
        ranks[vertex] = min(following, default=1) - 1
    return ranks


def _neighbours(count: int, links: Sequence[tuple[int, int]]) -> tuple[list[list[int]], ...]:
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for start, end in links:
        above[end].append(start)
        below[start].append(end)
    return above, below


def _order(layers: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Each vertex near the mean position of its neighbours, down and up in turn (barycentre)."""
    for sweep in range(_SWEEPS):
        near, order = (above, layers) if sweep % 2 == 0 else (below, layers[::-1])
        at: dict[int, float] = {}
        for layer in order:
            index = {vertex: position for position, vertex in enumerate(layer)}
            for vertex in layer:
                known = [at[other] for other in near[vertex] if other in at]
                at[vertex] = sum(known) / len(known) if known else float(index[vertex])
            layer.sort(key=lambda vertex: (at[vertex], index[vertex]))
            at.update((vertex, float(position)) for position, vertex in enumerate(layer))


def _across(
    layers: list[list[int]],
    widths: Sequence[float],
    above: list[list[int]],
    below: list[list[int]],
    beside: float,
) -> list[float]:
    """x of each centre, from 0 at the left: near its neighbours, in order, `beside` apart."""
    xs = [0.0] * len(widths)
    for layer in layers:
        _place(layer, [0.0] * len(layer), widths, beside, xs)
    for sweep in range(_ALIGNMENTS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            wanted = []
            for vertex in layer:
                near = [xs[other] for other in above[vertex] + below[vertex]]
                wanted.append(sum(near) / len(near) if near else xs[vertex])
            _place(layer, wanted, widths, beside, xs)
    _straighten(layers, widths, above, below, beside, xs)
    left = min((x - w / 2 for x, w in zip(xs, widths, strict=True)), default=0.0)
    return [x - left for x in xs]


def _straighten(
    layers: list[list[int]],
    widths: Sequence[float],
    above: list[list[int]],
    below: list[list[int]],
    beside: float,
    xs: list[float],
) -> None:
    """Chains upright: a vertex stands below the only one before it whose only follower it is."""
    for order, near, back in ((layers, above, below), (layers[::-1], below, above)):
        for layer in order:
            wanted = [
                xs[near[vertex][0]]
                if len(near[vertex]) == 1 and len(back[near[vertex][0]]) == 1
                else xs[vertex]
                for vertex in layer
            ]
            _place(layer, wanted, widths, beside, xs)


def _place(
    layer: Sequence[int],
    wanted: Sequence[float],
    widths: Sequence[float],
    beside: float,
    xs: list[float],
) -> None:
    """The positions nearest to `wanted` in the sense of least squares that keep the distances."""
    offsets, offset = [], 0.0
    for position, vertex in enumerate(layer):
        if position:
            offset += (widths[layer[position - 1]] + widths[vertex]) / 2 + beside
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []  # (mean, members): pool adjacent violators
    for want, shift in zip(wanted, offsets, strict=True):
        mean, members = want - shift, 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean = (mean * members + other * count) / (members + count)
            members += count
        blocks.append((mean, members))
    flat = [mean for mean, members in blocks for _ in range(members)]
    for vertex, start, shift in zip(layer, flat, offsets, strict=True):
        xs[vertex] = start + shift


def _down(
    layers: list[list[int]], sizes: Sequence[tuple[float, float]], gap: float
) -> tuple[list[float], list[float]]:
    tops, heights, top = [], [], 0.0
    for layer in layers:
        height = max((sizes[vertex][1] for vertex in layer if vertex < len(sizes)), default=0.0)
        tops.append(top)
        heights.append(height)
        top += height + gap
    return tops, heights
