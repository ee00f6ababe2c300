"""Expected fusions: what an engine would fuse that optimises nothing yet, and what that saves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.finding import Gain
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.operators.classes import is_heavy, op_class
from fusescope.analysis.patterns import PATTERNS, SKIP_LAYER_NORM, Conditions, Match, View, find


@dataclass(frozen=True)
class Expected:
    """A pattern of the model that meets all conditions of the engine: its operators that ran, those
    of them that would go, what all of them take per run, and what fusing them would save."""

    pattern: str
    nodes: tuple[Node, ...]
    going: tuple[Node, ...]
    spent_ns: float
    gain: Gain


def expected_fusions(
    subject: Subject, graph: Graph, told: Conditions, times: Mapping[str, float]
) -> tuple[Expected, ...]:
    """One for each place that the highest level of the engine fuses, in the order of the graph.

    `times` are ns per run by the name of an operator that ran. Patterns that share operators, as
    Conv + BatchNormalization and Conv + BatchNormalization + Clip, are one: the larger.
    """
    joined: dict[str, _Place] = {}
    for match, going in _matches(graph, replace(told, level="all", blocked_layout=True), times):
        nodes = {node.name: node for node in match.nodes if node.name in times}
        values = _values(graph, match) if match.name == SKIP_LAYER_NORM.title else 0
        place = _Place(match.name, nodes, {node.name: node for node in going}, values)
        known = {id(joined[name]): joined[name] for name in nodes if name in joined}
        for other in known.values():
            place = place.with_(other)
        for name in place.nodes:
            joined[name] = place
    places = {id(place): place for place in joined.values()}.values()
    index = graph.index
    found = [_expected(subject, place, times) for place in places]
    return tuple(sorted(found, key=lambda one: min(index[node.name] for node in one.nodes)))


@dataclass(frozen=True)
class _Place:
    pattern: str
    nodes: dict[str, Node]
    going: dict[str, Node]
    normalised: int = 0  # values of a normalisation that takes in the addition before it

    def with_(self, other: _Place) -> _Place:
        """Both as one; its name is that of the pattern with more operators."""
        name = max((self, other), key=lambda place: len(place.pattern.split(" + "))).pattern
        normalised = max(self.normalised, other.normalised)
        return _Place(name, self.nodes | other.nodes, self.going | other.going, normalised)


def _values(graph: Graph, match: Match) -> int:
    """Values of what a match writes; 0 where its size is not known."""
    tensor = graph.tensor.get(match.nodes[-1].outputs[0])
    shape = tensor.shape if tensor else None
    return 0 if shape is None or min(shape, default=0) < 0 else math.prod(shape)


def _matches(
    graph: Graph, told: Conditions, times: Mapping[str, float]
) -> Iterator[tuple[Match, list[Node]]]:
    """Those that an engine fuses under these conditions, with the operators that ran and that
    would go; an operator goes with the first pattern that has it."""
    view, claimed = View(graph), set[str]()
    for pattern in PATTERNS:
        for match in find(view, pattern, told):
            both = {node.name: node for node in (*match.absorbed, *match.folded)}
            nodes = [both[name] for name in both if name in times and name not in claimed]
            if match.complete and nodes:
                claimed.update(both)
                yield match, nodes


def _expected(subject: Subject, place: _Place, times: Mapping[str, float]) -> Expected:
    spent_ns = sum(times[name] for name in place.nodes)
    heavy = [node for node in place.nodes.values() if is_heavy(op_class(node.op_type))]
    if not heavy:
        longest_ns = max(times[name] for name in place.nodes)
        gain = prediction.chained(spent_ns - longest_ns, "engine")
        if place.normalised:
            gain = prediction.skip_normalised(spent_ns, place.normalised, gain)
    elif not any(node.op_type == "Conv" for node in heavy):
        heavy_ns = sum(times[node.name] for node in heavy)
        gain = prediction.absorbed(spent_ns - heavy_ns, heavy_ns)
    else:
        gain = prediction.optimised(spent_ns)
        after = _after(subject, heavy[0]) if len(heavy) == 1 else None
        if after is not None and after.value < spent_ns:  # else the model does not hold here
            gain = prediction.saved(spent_ns, after)
    return Expected(
        place.pattern,
        tuple(place.nodes.values()),
        tuple(place.going.values()),
        spent_ns,
        gain,
    )


def _after(subject: Subject, node: Node) -> Gain | None:
    """The time of a convolution with all that is fused into it; None where it is not known."""
    work = fused_work(subject, node)
    if work is None:
        return None
    *parts, is_depthwise = work
    return prediction.convolution(*parts, is_depthwise=is_depthwise)


def fused_work(subject: Subject, node: Node) -> tuple[float, float, float, bool] | None:
    """Of a convolution the time of its operations at the arithmetic peak, that of its bytes at the
    bandwidth of main memory, that which it takes now, in ns per run, and whether it is in groups.
    None where operations, bytes or the peaks of the machine are not known, and for other
    operators."""
    work = subject.work.get(node.name)
    roofs = subject.under.roofs
    peak, bandwidth = roofs.peak.value, roofs.bandwidth.value
    if node.op_type != "Conv" or work is None or peak is None or bandwidth is None:
        return None
    group = node.attributes.get("group", 1)
    is_depthwise = isinstance(group, int) and group > 1
    now_ns = subject.times[node.name]
    return work.flops / peak * 1e9, work.bytes / bandwidth * 1e9, now_ns, is_depthwise
