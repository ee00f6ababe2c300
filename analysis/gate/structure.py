"""Structure: what an engine makes of a model, kept without a time, to judge another model by."""

from __future__ import annotations

from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.groups.graphs import Optimised, group_graphs
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.gate.fusion_changes import FusionChanges, fusion_changes
from fusescope.analysis.releases.history import SCHEMA_VERSION, History, Made, Release


def structure_of(experiment: Experiment, variant: str) -> History:
    """The graph that a variant of a recording ran, as a history of one release.

    Raises FuseScopeError where the recording has no graph of the model, or none of the variant.
    """
    record, model = experiment.record, experiment.model_graph
    engine = record.engine_of(variant)
    graph = experiment.graphs.get(variant)
    if model is None or graph is None:
        raise FuseScopeError("gate_no_structure", where=experiment.file_name, variant=variant[:60])
    return History(
        schema_version=SCHEMA_VERSION,
        created=record.created,
        engine=engine.name,
        model=record.model,
        graph=model,
        releases=(Release(engine.version, 0),),
        made=(Made(graph, experiment.matches.get(variant, ())),),
    )


def fusion_of(history: History) -> Fusion:
    """What the newest release of a history fuses in its model: from the model as it is to the graph
    of that release. Raises FuseScopeError for a graph with a cycle, and where no release has one.
    """
    if not history.compared:
        raise FuseScopeError("release_none_compared", n=0)
    made = history.made_by(history.compared[-1])
    model = history.graph
    return group_graphs(model, Optimised(model), Optimised(made.graph, made.matches))


def changes_of_variants(baseline: History, candidate: History) -> FusionChanges | None:
    """What the newest release of one history makes different of the model that both are of. Raises
    FuseScopeError for a graph with a cycle."""
    model = baseline.graph
    sides = [one.made_by(one.compared[-1]) for one in (baseline, candidate)]
    before, after = (Optimised(made.graph, made.matches) for made in sides)
    return fusion_changes(group_graphs(model, before, after))
