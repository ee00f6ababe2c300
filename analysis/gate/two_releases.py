"""Two releases of an engine: which fusions of a model the second one has lost."""

from __future__ import annotations

from collections import Counter

from fusescope.analysis.compare.groups.graphs import Optimised, group_graphs
from fusescope.analysis.gate.fusion_changes import FusionChanges, changed_groups
from fusescope.analysis.releases.history import History, Release


def changes_of_releases(history: History, older: Release, newer: Release) -> FusionChanges:
    """What the second release makes different of the model.

    Both releases made a graph. Raises FuseScopeError for one with a cycle.
    """
    made = [history.made_by(release) for release in (older, newer)]
    before, after = (Optimised(one.graph, one.matches) for one in made)
    first, second = (Counter(node.op_type for node in one.graph.nodes) for one in made)
    fusion = group_graphs(history.graph, before, after)
    return FusionChanges(changed_groups(fusion), (first, second))
