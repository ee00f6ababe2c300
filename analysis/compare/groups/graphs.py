"""Fusion groups of two optimised graphs of one model, the model as their common ancestor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from fusescope.analysis.compare.groups.fused import fused_operators, kind
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Kind, KnownBy, Operator, Part
from fusescope.analysis.compare.groups.lineage import (
    WEAKEST,
    Lineage,
    LineageGroup,
    boundary,
    lineage,
)
from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Value


class Optimised(msgspec.Struct, frozen=True, eq=False):
    """A graph that an engine made of the model, None where it ran the model as it is, and which of
    its tensors hold the values of which of the model's."""

    graph: Graph | None
    matches: tuple[TensorMatch, ...] = ()


Sides = tuple[Optimised, Optimised]
_RESULTS = frozenset(("Output",))  # nodes of OpenVINO that stand for a result, and do not run


def group_graphs(model: Graph, baseline: Optimised, candidate: Optimised) -> Fusion:
    """Joins the groups of either side that share an original operator. Raises FuseScopeError for a
    graph with a cycle."""
    sides = (baseline, candidate)
    lineages = tuple(lineage(model, side.graph or model, side.matches) for side in sides)
    weights = lineages[0].weights | lineages[1].weights
    shape_readers = lineages[0].shape_readers | lineages[1].shape_readers
    joined = _joined(lineages, model.index)
    copies = (_copies(baseline.graph), _copies(candidate.graph))
    groups = tuple(
        _group(number, model, sides, parts, (weights, shape_readers), copies)
        for number, parts in enumerate(joined, start=1)
    )
    inserted = tuple(
        _operators(
            node for node in _nodes(side.graph, made.inserted) if node.op_type not in _RESULTS
        )
        for side, made in zip(sides, lineages, strict=True)
    )
    fused = tuple(
        fused_operators(model, side.graph or model, made)
        for side, made in zip(sides, lineages, strict=True)
    )
    return Fusion(
        source="graphs",
        groups=groups,
        original_nodes=len(model.nodes),
        mapped_nodes=sum(len(group.original) for group in groups),
        optimised_nodes=lineages[1].optimised_nodes,
        inserted=(inserted[0], inserted[1]),
        boundary_mismatches=sum(len(made.mismatches) for made in lineages),
        diagnostics=tuple(_doubts(lineages)),
        fused=(fused[0], fused[1]),
    )


def note(code: DiagnosticCode, count: int = 1, example: str = "", **values: Value) -> Diagnostic:
    """Names in a graph are as foreign as those of a trace, and not cleaned when it is read."""
    shown = {key: clean_text(v) if isinstance(v, str) else v for key, v in values.items()}
    return Diagnostic("warning", code, count, clean_text(example), shown)


def _doubts(lineages: tuple[Lineage, ...]) -> Iterator[Diagnostic]:
    for name, made in zip(("baseline", "candidate"), lineages, strict=True):
        if made.mismatches:
            values = [v for pair in (made.mismatches[0].reads, made.mismatches[0].writes)
                      for part in pair for v in part]  # fmt: skip
            yield note(
                "boundary_mismatch", len(made.mismatches), values[0] if values else "", side=name
            )
        if made.unexplained:
            yield note(
                "unexplained_operators", len(made.unexplained), made.unexplained[0], side=name
            )


Parts = tuple[list[LineageGroup], list[LineageGroup]]


def _joined(lineages: tuple[Lineage, ...], index: dict[str, int]) -> list[Parts]:
    """Groups of both sides, joined where they share originals, in model order."""
    owner: dict[str, int] = {}
    parts: dict[int, Parts] = {}
    for side, made in enumerate(lineages):
        for group in made.groups:
            shared = sorted({owner[name] for name in group.original if name in owner})
            kept = shared[0] if shared else len(owner) + 1
            whole = parts.setdefault(kept, ([], []))
            for other in shared[1:]:
                for mine, theirs in zip(whole, parts.pop(other), strict=True):
                    mine.extend(theirs)
            whole[side].append(group)
            for name in {name for part in whole for one in part for name in one.original}:
                owner[name] = kept
    return sorted(parts.values(), key=lambda pair: min(index[g.original[0]] for g in pair[0]))


def _group(
    number: int,
    model: Graph,
    sides: Sides,
    parts: Parts,
    no_boundary: tuple[frozenset[str], frozenset[str]],
    copies: tuple[frozenset[str], frozenset[str]],
) -> Group:
    original = _nodes(model, {name for group in parts[0] for name in group.original})
    ran = [
        _nodes(side.graph, {name for group in part for name in group.optimised})
        for side, part in zip(sides, parts, strict=True)
    ]
    inputs, outputs = boundary(model, original, *no_boundary)
    known: KnownBy = max((group.known_by for part in parts for group in part), key=WEAKEST.index)
    return Group(
        id=number,
        kind=_kind(ran[0], ran[1], {group.fate for part in parts for group in part}),
        known_by=known,
        original=_operators(original),
        baseline=_operators(ran[0]),
        candidate=_operators(ran[1]),
        inputs=inputs,
        outputs=outputs,
        bytes_inside=(
            _bytes_inside(sides[0].graph, ran[0], copies[0]),
            _bytes_inside(sides[1].graph, ran[1], copies[1]),
        ),
        difference=_difference(sides[1], outputs),
        parts=_own_parts(model, sides, parts),
    )


def _own_parts(
    model: Graph, sides: Sides, parts: Parts
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """The groups of either side; none where one of them has it all in one."""
    if min(map(len, parts)) < 2:
        return (), ()
    before, after = (
        tuple(
            Part(
                _operators(_nodes(model, group.original)),
                _operators(_nodes(side.graph, group.optimised)),
            )
            for group in sorted(own, key=lambda group: model.index[group.original[0]])
        )
        for side, own in zip(sides, parts, strict=True)
    )
    return before, after


def _kind(before: list[Node], after: list[Node], fates: set[str]) -> Kind:
    """Operators of torch that only show memory in another shape compute nothing: they do not count
    beside others."""
    if not after:
        if "loaded" in fates and not before:
            return "loaded"
        return "folded" if "folded" in fates else "removed"
    computing = [
        [node for node in nodes if "view" not in node.attributes] for nodes in (before, after)
    ]
    if all(computing):
        before, after = computing
    elif any(computing):
        return "replaced"
    if len(after) != len(before):
        return "fused" if len(after) < len(before) else "split"
    kinds = [sorted(map(kind, nodes)) for nodes in (before, after)]
    return "kept" if kinds[0] == kinds[1] else "replaced"


def _copies(graph: Graph | None) -> frozenset[str]:
    """Nodes whose results leave the model without being among its own: what shows a tensor to
    whoever watches the run."""
    found: set[str] = set()
    if graph is None:
        return frozenset()
    for node in reversed(graph.nodes):
        is_own = any(name in graph.returned for name in node.outputs)
        readers = (one for name in node.outputs for one in graph.consumers.get(name, ()))
        if not is_own and all(reader.name in found for reader in readers):
            found.add(node.name)
    return frozenset(found)


def _bytes_inside(
    graph: Graph | None, nodes: list[Node], copies: frozenset[str] = frozenset()
) -> int | None:
    """Bytes of what these nodes write for one another alone, `copies` of it aside; None where a
    size is unknown. A view writes nothing."""
    if graph is None:
        return None
    _, outputs = boundary(graph, nodes, shape_readers=copies)
    sizes = [
        graph.bytes_of(name)
        for node in nodes
        if "view" not in node.attributes
        for name in node.outputs
        if name and name not in outputs and name in graph.consumers
    ]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _difference(
    candidate: Optimised, outputs: tuple[str, ...]
) -> tuple[float | None, float | None] | None:
    """The largest difference that was measured at any of these tensors."""
    found = [
        row
        for row in candidate.matches
        if row.original in outputs and row.by != "refuted" and row.absolute is not None
    ]
    if not found:
        return None
    relative = [row.relative for row in found if row.relative is not None]
    return (
        max(row.absolute for row in found if row.absolute is not None),
        max(relative, default=None),
    )


def _nodes(graph: Graph | None, names: Iterable[str]) -> list[Node]:
    """These nodes in the order of the graph."""
    if graph is None:
        return []
    return [graph.node[name] for name in sorted(set(names), key=graph.index.__getitem__)]


def _operators(nodes: Iterable[Node]) -> tuple[Operator, ...]:
    return tuple(
        Operator(node.name, node.op_type, node.scope, place=_place(node)) for node in nodes
    )


def _place(node: Node) -> str:
    told = node.attributes.get("source")
    return clean_text(told) if isinstance(told, str) else ""
