"""Kernels of one's own: what they would save inside the session, and with a cut around them."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.finding import Gain
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare.choice import side_of
from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.graph import Graph
from fusescope.analysis.operators.classes import POINTWISE, op_class
from fusescope.analysis.patterns import Match, chains, rows

_LIGHT = frozenset(POINTWISE)
_UNFUSED, _FUSED = "unfused", "fused"


def kernel_for(op_types: Sequence[str]) -> str:
    """The name of the kernel that runs these operators as one; '' where there is none."""
    if "Where" in op_types:  # its condition is not a float
        return ""
    classes = {op_class(op_type) for op_type in op_types}
    if "Softmax" in op_types:
        return "softmax" if classes <= _LIGHT | {"softmax"} else ""
    if classes & {"normalisation", "reduction"}:
        return "layer_norm" if classes <= _LIGHT | {"normalisation", "reduction"} else ""
    return "elementwise" if classes <= _LIGHT else ""


def own_kernel(subject: Subject, kernel: str) -> Gain | None:
    """What an un-profiled run of the variant saves against the subject; None where the experiment
    has no unfused variant, no graph of the model, or no un-profiled runs.

    The kernel saves a part of all but the longest operator of each place, as measured unfused; each
    piece that the model is cut into costs time, and nothing else is optimised in them.
    """
    experiment = subject.side.experiment
    graph = experiment.model_graph if experiment else None
    if experiment is None or graph is None or _UNFUSED not in experiment.record.names:
        return None
    unfused = Subject(side_of(experiment, _UNFUSED))
    measured = saved_by(subject, _UNFUSED)
    if measured is None:
        return None
    places = _places(graph, kernel)
    gone_ns = 0.0
    for match in places:
        times = [unfused.times.get(node.name, 0.0) for node in match.nodes]
        gone_ns += sum(times) - max(times)
    gone_ns *= unfused.unprofiled_part
    return prediction.together(
        prediction.in_pieces(gone_ns, pieces_of(graph, places)),
        measured,
    )


def inside_session(subject: Subject, gain: Gain) -> Gain:
    """What an un-profiled run of `inside:<kernel>` saves against the subject, where the kernel
    saves `gain`: it runs in the graph of `fused`, so what that brings counts with it."""
    ahead = saved_by(subject, _FUSED) if _is_recorded(subject, _FUSED) else None
    return gain if ahead is None else prediction.together(gain, ahead)


def _is_recorded(subject: Subject, variant: str) -> bool:
    """Whether the subject's recording has another variant of that name."""
    side = subject.side
    if side.experiment is None or side.variant is None or side.variant.name == variant:
        return False
    return variant in side.experiment.record.names


def saved_by(subject: Subject, variant: str) -> Gain | None:
    """What another variant of the subject's recording saves of its un-profiled run, paired inside
    blocks, with the interval of the speedup; None without un-profiled runs of both."""
    side, whole_ns = subject.side, subject.unprofiled_ns
    if side.experiment is None or side.variant is None or whole_ns is None:
        return None
    if variant == side.variant.name:
        return Gain(0.0, 0.0, 0.0, "measured")
    verdict = paired_verdict(side.experiment.record, side.variant.name, variant)
    if verdict.speedup is None:
        return None
    ends = verdict.interval
    ratios = (verdict.speedup, ends.low if ends else verdict.speedup,
              ends.high if ends else verdict.speedup)  # fmt: skip
    value, low, high = (whole_ns * (1 - 1 / ratio) for ratio in ratios)
    return Gain(value, min(low, value), max(high, value), "measured")


def pieces_of(graph: Graph, places: Sequence[Match]) -> int:
    """Into how many pieces a model is cut around these places: one for each, and one for other
    operators wherever they stand before, between or after them on the longest way."""
    place_of = {node.name: at for at, match in enumerate(places) for node in match.nodes}
    rank: dict[str, int] = {}  # how often a way to the node enters or leaves a place
    ranks: set[int] = set()
    for node in graph.nodes:
        mine = place_of.get(node.name)
        found = 0 if mine is None else 1
        for name in (*node.inputs, *node.captured):
            made = graph.producer.get(name)
            if made is None or made.name not in rank:
                continue
            theirs = place_of.get(made.name)
            crosses = theirs != mine
            found = max(found, rank[made.name] + (crosses and (theirs is None or mine is None)))
        rank[node.name] = found
        if mine is None:
            ranks.add(found)
    return len(places) + len(ranks)


def _places(graph: Graph, kernel: str) -> list[Match]:
    if kernel == "elementwise":
        return chains(graph)
    found = rows(graph)
    return [m for m in found if kernel_for([node.op_type for node in m.nodes]) == kernel]
