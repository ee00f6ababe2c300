"""Not optimised: patterns that the engine fuses where it may, and here it may not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.advice import prediction
from analysis.advice.finding import Finding
from analysis.advice.settings import conditions_of
from analysis.advice.subject import MAX_NAMES, Answer, Subject, shown
from analysis.graph import Graph, Node
from analysis.operators.classes import is_heavy, op_class
from analysis.patterns import PATTERNS, Conditions, Match, View, find

# Variants of our own that keep the engine's optimisation off on purpose: their point is the rest.
_ON_PURPOSE = ("rules", "custom", "segments")
_MAX_TYPES = 4


def not_optimised(subject: Subject) -> Answer:
    """Patterns of the model that meet all conditions of the engine's highest level, where this
    variant leaves all of it off, and whose light operators take 2 % of the run or more."""
    side = subject.side
    graph = side.experiment.model_graph if side.experiment else None
    if graph is None:
        return "no_graph"
    told = conditions_of(side)
    if told is None:
        return "other_engine"
    if told.level != "none" or side.label.partition(":")[0] in _ON_PURPOSE:
        return ()
    rows = zip(subject.texts["name"], subject.operators["per_run_ns"], strict=True)
    times: dict[str, float] = {}
    for name, ns in rows:
        times[name] = times.get(name, 0.0) + float(ns)
    going: dict[str, Node] = {}
    spent: set[str] = set()
    chained_ns = 0.0
    for match, nodes in _matches(graph, replace(told, level="all", blocked_layout=True), times):
        going |= {node.name: node for node in nodes}
        if any(is_heavy(op_class(node.op_type)) for node in match.nodes):
            spent.update(node.name for node in match.nodes if node.name in times)
        else:
            chained_ns += sum(times[node.name] for node in nodes)
    light_ns = sum(times[name] for name in going)
    if not going or not subject.matters(light_ns):
        return ()
    spent_ns = sum(times[name] for name in spent)
    gain = prediction.together(prediction.optimised(spent_ns), prediction.chained(chained_ns))
    by_type: dict[str, float] = {}
    for name, node in going.items():
        by_type[node.op_type] = by_type.get(node.op_type, 0.0) + times[name]
    largest = sorted(by_type, key=lambda op_type: -by_type[op_type])
    names = sorted(going, key=lambda name: -times[name])
    return (
        Finding(
            "not_optimised",
            values={
                "op_types": shown(", ".join(largest[:_MAX_TYPES])),
                "operators": len(going),
                "light_ns": light_ns,
                "share": subject.share(light_ns),
            },
            at_most_ns=max(light_ns, gain.high),
            share=subject.share(light_ns),
            gain=gain,
            where="operators",
            names=tuple(dict.fromkeys(map(shown, names)))[:MAX_NAMES],
        ),
    )


def _matches(
    graph: Graph, told: Conditions, times: dict[str, float]
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
