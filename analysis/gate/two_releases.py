"""Two releases of an engine: which fusions of a model the second one has lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from analysis.gate.fusion_changes import FusionChange, FusionChanges, What
from analysis.graph import Graph
from analysis.releases import changes
from analysis.releases.history import History, Release

_WHAT: Mapping[changes.What, What] = MappingProxyType(
    {"lost": "lost", "split": "lost", "won": "won", "joined": "won", "changed": "changed"}
)


def changes_of_releases(history: History, older: Release, newer: Release) -> FusionChanges:
    """What the second release makes different of the model. A group that has lost a fused operator
    counts as lost, also where as many operators run in it; one that runs as more counts likewise.

    Both releases made a graph. Raises FuseScopeError for one with a cycle.
    """
    found = changes.between(history, older, newer)
    groups = () if found is None else found.groups
    graphs = (history.made_by(older).graph, history.made_by(newer).graph)
    return FusionChanges(
        tuple(FusionChange(_WHAT[one.what], one.group) for one in groups),
        (_types(graphs[0]), _types(graphs[1])),
    )


def _types(graph: Graph) -> Counter[str]:
    return Counter(node.op_type for node in graph.nodes)
