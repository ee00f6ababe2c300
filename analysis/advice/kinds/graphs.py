"""What the executed graph has that the model does not, and what is computed twice."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.settings import is_of_engine, is_other_model
from fusescope.analysis.advice.subject import MAX_NAMES, Answer, Subject, shown
from fusescope.analysis.compare.groups.equivalence import duplicates, in_order
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph
from fusescope.analysis.operators.classes import CONVERSIONS, op_class

_MIN_GROWTH = 1.1  # nodes of the executed graph / nodes of the model
_MAX_TYPES = 4  # of operators that were added
_WITHOUT_WORK = frozenset(("Constant", "Identity"))
REPEATED = "recomputed_operators"  # the setting that says how many
_MIN_TENSORS = 32 * 1024**2  # bytes of activations below which their peak is nobody's problem


def graph_growth(subject: Subject) -> Answer:
    """The optimised graph has a tenth more operators than the model, and those that were added take
    2 % of the run; operators that only change the layout are not counted, `reorders` has them."""
    side = subject.side
    model = side.experiment.model_graph if side.experiment else None
    if model is None or side.graph is None:
        return "no_graph"
    if is_other_model(side):
        return "other_model"
    if not is_of_engine(side):  # kernels of a compiler have other types than the model's operators
        return ()
    before, after = _types(model), _types(side.graph)
    if after.total() < _MIN_GROWTH * before.total():
        return ()
    types = subject.texts["op_type"]
    times_ns = {
        op_type: subject.time_of((types == op_type).to_numpy()) * count / after[op_type]
        for op_type, count in (after - before).items()
    }
    time_ns = sum(times_ns.values())
    if not times_ns or not subject.matters(time_ns):
        return ()
    largest = sorted(times_ns, key=lambda op_type: -times_ns[op_type])[:_MAX_TYPES]
    return (
        Finding(
            "graph_growth",
            values={
                "before": before.total(),
                "after": after.total(),
                "op_types": shown(", ".join(largest)),
                "time_ns": time_ns,
                "share": subject.share(time_ns),
            },
            at_most_ns=time_ns,
            share=subject.share(time_ns),
            where="op_types",
            names=tuple(map(shown, largest)),
            confidence="low",
        ),
    )


def recomputed(subject: Subject) -> Answer:
    """Operators that compute, from the same tensors, what another one has computed; or fused ones
    of which every original operator is in another one, too. Of a compiler that counts what it
    repeats, the number: which part of a kernel's time that is, nothing tells."""
    graph, variant = subject.side.graph, subject.side.variant
    again = variant.settings.get(REPEATED, 0) if variant is not None else 0
    if isinstance(again, int) and again > 0:
        engine = subject.side.engine.name if subject.side.engine is not None else ""
        return (Finding("recomputed", values={"operators": again, "engine": engine}),)
    if graph is None:
        return _in_several(subject)
    try:
        twins = duplicates(graph, in_order(graph))
    except FuseScopeError:
        return "no_graph"
    repeated = {
        graph.producer[tensor].name
        for tensor, first in twins.items()
        if tensor in graph.producer and first != tensor
    }
    mask = subject.texts["name"].isin(repeated).to_numpy()
    return subject.wasted("recomputed", mask, {"operators": int(mask.sum())})


def _in_several(subject: Subject) -> Answer:
    table = subject.operators
    sources = table["members_source"].astype("object")
    named = (sources == "names").to_numpy()
    if not named.any():
        return "no_whole_members" if (sources == "parts").any() else "no_members"
    inside: dict[str, set[str]] = {}
    # A compiler's map tells what several kernels compute, and what they only share.
    once = {one.name for one in subject.trace.originals if not one.recomputed}
    again = np.zeros(len(table), dtype=bool)
    columns = (subject.texts["name"], table["members"].astype("object"))
    for place, (name, members) in enumerate(zip(*columns, strict=True)):
        own = str(members).split(" + ") if named[place] and members else []
        own = [] if once & set(own) else own
        again[place] = bool(own) and all(inside.get(member, set()) - {name} for member in own)
        for member in own:
            inside.setdefault(member, set()).add(name)
    return subject.wasted("recomputed", again, {"operators": int(again.sum())})


def checkpointing(subject: Subject) -> Answer:
    """Kernels of the forward pass that run again for the backward pass take 2 % of the unit of
    work, as the calls of the host around their launches say."""
    if subject.trace.host is None or subject.side.experiment is not None:
        return ()
    from fusescope.analysis.advice.explanation import explain_trace

    found = explain_trace(subject.trace)
    again = (
        next((one for one in found.savings if one.code == "recomputed"), None) if found else None
    )
    if found is None or again is None:
        return ()
    of_ns = float(found.unit.wall_ns)
    names = tuple(dict.fromkeys(shown(one.name) for one in again.before))
    return (
        Finding(
            "checkpointing",
            values={
                "executions": again.repeats,
                "time_ns": float(again.ns),
                "share": again.ns / of_ns,
            },
            at_most_ns=float(again.ns),
            share=again.ns / of_ns,
            of_ns=of_ns,
            where="operators",
            names=names[:MAX_NAMES],
        ),
    )


def large_tensors(subject: Subject) -> Answer:
    """The tensors that are alive at once, at their peak, are larger than all weights together.

    A tensor lives from the operator that writes it to the last one that reads it. Modelled: what an
    engine keeps, pads or writes in place is not known.
    """
    graph = subject.side.graph
    if graph is None:
        return "no_graph"
    sizes = {tensor.name: tensor.bytes for tensor in graph.tensors}
    produced = [name for node in graph.nodes for name in node.outputs if name]
    if any(sizes.get(name) is None for name in produced):
        return "no_sizes"
    place, peak = _peak(graph, sizes)
    weights = sum(tensor.bytes or 0 for tensor in graph.tensors if tensor.constant)
    if place is None or peak < max(weights, _MIN_TENSORS):
        return ()
    node = graph.nodes[place]
    return (
        Finding(
            "large_tensors",
            values={
                "peak": peak,
                "weights": weights,
                "operator": shown(node.name),
                "op_type": shown(node.op_type),
            },
            basis="modelled",
            where="operators",
            names=(shown(node.name),),
        ),
    )


def _peak(graph: Graph, sizes: dict[str, int | None]) -> tuple[int | None, int]:
    last = {name: place for place, node in enumerate(graph.nodes) for name in node.inputs if name}
    for place, node in enumerate(graph.nodes):
        last |= {name: max(place, last.get(name, 0)) for name in node.captured if name}
    constant = {tensor.name for tensor in graph.tensors if tensor.constant}
    ends: dict[int, int] = {}
    live = 0
    for name in graph.inputs:
        if name not in constant:
            live += sizes.get(name) or 0
            ends[last.get(name, 0)] = ends.get(last.get(name, 0), 0) + (sizes.get(name) or 0)
    at, most = None, 0
    for place, node in enumerate(graph.nodes):
        for name in filter(None, node.outputs):
            live += sizes.get(name) or 0
            until = len(graph.nodes) if name in graph.returned else last.get(name, place)
            ends[until] = ends.get(until, 0) + (sizes.get(name) or 0)
        if live > most:
            at, most = place, live
        live -= ends.get(place, 0)
    return at, most


def _types(graph: Graph) -> Counter[str]:
    return Counter(
        node.op_type
        for node in graph.nodes
        if node.op_type not in _WITHOUT_WORK and op_class(node.op_type) not in CONVERSIONS
    )
