"""What holds for every recording, whatever the engine: each operator of the model is in one group,
and the terms of a ledger add up."""

from __future__ import annotations

from collections import Counter

from fusescope.analysis.compare import Comparison
from fusescope.analysis.compare.groups.lineage import Lineage, lineage
from fusescope.analysis.experiment import Experiment


def verified_lineage(experiment: Experiment, variant: str) -> Lineage:
    """The lineage of a variant, in which every operator of the model is in one group, every
    operator that ran is in one group or inserted, and no boundary differs."""
    model, graph = experiment.model_graph, experiment.graphs[variant]
    assert model is not None
    found = lineage(model, graph, experiment.matches.get(variant, ()))
    owned = Counter(node for group in found.groups for node in group.original)
    assert owned == Counter(node.name for node in model.nodes), variant
    ran = [node for group in found.groups for node in group.optimised]
    assert Counter([*ran, *found.inserted]) == Counter(node.name for node in graph.nodes), variant
    assert found.unexplained == () and found.mismatches == (), variant
    return found


def check_ledger(comparison: Comparison) -> None:
    """The terms of the ledger add up to the change, to the ns."""
    total = comparison.ledger.reconciliation
    terms = (
        total.groups_ns, total.ungrouped_ns, total.communication_ns, total.slow_ns,
        total.overlap_ns, total.dispatch_ns, total.profiler_bias_ns, total.rounding_ns,
    )  # fmt: skip
    assert total.delta_ns == sum(term or 0 for term in terms)
