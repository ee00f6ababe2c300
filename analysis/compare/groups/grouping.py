"""The fusion groups of a comparison, from the best source that both sides have."""

from __future__ import annotations

from collections.abc import Iterator

from fusescope.analysis.compare.groups.compiled import group_by_compiler
from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.groups.graphs import Optimised, group_graphs, note
from fusescope.analysis.compare.groups.inferred import infer_groups
from fusescope.analysis.compare.groups.launched import join_by_launcher
from fusescope.analysis.compare.groups.members import group_by_members
from fusescope.analysis.compare.side import Side
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph
from fusescope.analysis.limits import MOST_DISTINCT
from fusescope.analysis.trace import Diagnostic

UNRUN, WHY_UNRUN = "instructions_without_values", "instruction_problem"  # settings of a variant


def group_operators(baseline: Side, candidate: Side) -> Fusion:
    """Groups from the graphs of one model; else from a compiler's map; else from members; else
    inferred, then by launcher, of at most MOST_DISTINCT operators a side."""
    model, problem = _model(baseline, candidate)
    notes: tuple[Diagnostic, ...] = (problem,) if problem else ()
    if model is not None and baseline.graph is not None and candidate.graph is not None:
        try:
            return _from_graphs(model, baseline, candidate)
        except FuseScopeError as error:
            notes = (note("graph_unusable", reason=error.said),)
    fusion = group_by_compiler(baseline, candidate) or group_by_members(baseline, candidate)
    if fusion is None and max(map(_distinct, (baseline, candidate))) > MOST_DISTINCT:
        beyond = Diagnostic("info", "groups_not_formed", MOST_DISTINCT)
        fusion = Fusion("none", diagnostics=(beyond,))
    elif fusion is None:
        inferred = infer_groups(baseline, candidate)
        fusion = join_by_launcher(inferred, baseline, candidate)
    return Fusion(**{**vars(fusion), "diagnostics": (*notes, *fusion.diagnostics)})


def _distinct(side: Side) -> int:
    return len(side.trace.operators)


def _model(baseline: Side, candidate: Side) -> tuple[Graph | None, Diagnostic | None]:
    """The model that both sides ran, or why their graphs cannot be set beside each other."""
    sides = (("baseline", baseline), ("candidate", candidate))
    if not all(side.has_model for _, side in sides):
        return None, None
    if all(_names_originals(side) for _, side in sides):
        return None, None  # as with jax: the profiles have the programs
    for name, side in sides:
        if side.graph is None:
            return None, _no_graph(name, side)
    first, second = (side.experiment for _, side in sides)
    if first is None or second is None:
        return None, None
    if first.record.model.sha256 != second.record.model.sha256:
        return None, note("graphs_of_two_models")
    model = first.model_graph or second.model_graph
    if model is None:
        return None, note("graph_missing", side="model")
    for name, side in sides:
        if side.graph is not None and not _belongs(side.graph, model):
            return None, note("graph_foreign", side=name)
    for name, graph in (("model", model), *((n, s.graph) for n, s in sides)):
        if graph is not None and not _names_one_each(graph):
            return None, note("graph_ambiguous", side=name)
    return model, None


def _no_graph(name: str, side: Side) -> Diagnostic:
    variants = side.experiment.record.variants if side.experiment is not None else ()
    why = next((one.why_no_graph for one in variants if one.name == side.trace.meta.variant), "")
    return (
        note("graph_not_shown", side=name, reason=why) if why else note("graph_missing", side=name)
    )


def _names_originals(side: Side) -> bool:
    sources = side.trace.operators["members_source"]
    return side.graph is None and bool((sources.astype("object") == "parts").any())


def _belongs(graph: Graph, model: Graph) -> bool:
    """Optimisation keeps what goes into a model and what comes out."""
    return set(graph.outputs) == set(model.outputs) and set(graph.inputs) <= set(model.inputs)


def _names_one_each(graph: Graph) -> bool:
    """Whether each operator has a name of its own, and each tensor one writer."""
    written = sum(1 for node in graph.nodes for name in node.outputs if name)
    return len(graph.node) == len(graph.nodes) and len(graph.producer) == written


def _from_graphs(model: Graph, baseline: Side, candidate: Side) -> Fusion:
    fusion = group_graphs(model, _optimised(baseline), _optimised(candidate))
    unrun = tuple(_unrun((baseline, candidate)))
    return Fusion(**{**vars(fusion), "diagnostics": (*fusion.diagnostics, *unrun)})


def _optimised(side: Side) -> Optimised:
    matches = side.experiment.matches.get(side.label, ()) if side.experiment else ()
    return Optimised(side.graph, tuple(matches))


def _unrun(sides: tuple[Side, Side]) -> Iterator[Diagnostic]:
    """Instructions that could not be run by themselves when the recording compared values."""
    for name, side in zip(("baseline", "candidate"), sides, strict=True):
        settings = side.variant.settings if side.variant is not None else {}
        count = settings.get(UNRUN, 0)
        if isinstance(count, int) and count > 0:
            yield note("values_missing", count, str(settings.get(WHY_UNRUN, "")), side=name)
