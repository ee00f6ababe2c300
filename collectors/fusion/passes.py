"""The pass: every rewrite that the rules allow, applied until nothing more fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import onnx

from fusescope.analysis.graph import Graph
from fusescope.analysis.patterns import Conditions, HeldBack, Match, find
from fusescope.collectors.fusion import registry, scopes
from fusescope.collectors.fusion.report import Value
from fusescope.collectors.fusion.rewrite import Rewrite
from fusescope.collectors.fusion.rules import Rules
from fusescope.collectors.fusion.working import Origin, Step, Working


@dataclass(frozen=True)
class Reason:
    """Why something was not done: a code ('' for nothing left undone), and its facts."""

    code: HeldBack | Literal[""]
    values: Mapping[str, Value] = field(default_factory=dict)
    tensor: str = ""


@dataclass(frozen=True)
class Fused:
    """A model after the pass. `refused` has every step whose conditions held and that the rules,
    or a ban, did not allow."""

    working: Working
    refused: Mapping[Step, Reason]

    def done(self) -> frozenset[Step]:
        """Every step that was applied and stayed."""
        groups = self.working.groups().values()
        return frozenset(step for origin in groups for step in origin.steps)


def apply(model: onnx.ModelProto, graph: Graph, rules: Rules, bans: Mapping[Step, Reason]) -> Fused:
    """The model after all that the rules allow and no ban forbids.

    A list of op types allows what leads to it; what then falls short of it is not done.
    """
    bans = dict(bans)
    while True:
        fused = _once(model, graph, rules, bans)
        short = {
            origin.steps[-1]: _unlisted(origin.op_types, rules)
            for origin in fused.working.groups().values()
            if not _is_listed(origin, rules)
        }
        if not short:
            return fused
        bans |= short


def matches(working: Working, rewrite: Rewrite) -> list[Match]:
    """Every place of the rewrite's pattern as the model is now, larger forms first, and of two
    convolutions that one addition joins the later one first: then nothing has to wait."""
    told = Conditions(opset=working.opset)
    found = [m for m in find(working.view, rewrite.own, told) if not _feeds_itself(m, working)]
    index = working.view.graph.index
    return sorted(found, key=lambda m: (-len(m.nodes), -index[m.nodes[0].name]))


def _feeds_itself(match: Match, working: Working) -> bool:
    """Whether what the match reads from outside is made inside, as in m + m with m = MatMul."""
    makers = (working.view.producer(name) for name in match.tensors.values())
    inside = {node.name for node in match.nodes}
    return any(maker is not None and maker.name in inside for maker in makers)


def joined(op_types: tuple[str, ...]) -> str:
    """'Conv + BatchNormalization + Relu'."""
    return " + ".join(op_types)


def _once(model: onnx.ModelProto, graph: Graph, rules: Rules, bans: Mapping[Step, Reason]) -> Fused:
    working = Working(model, graph)
    refused: dict[Step, Reason] = {}
    changed = True
    while changed:
        changed = False
        for rewrite in registry.REWRITES:
            gone: set[str] = set()
            for match in matches(working, rewrite):
                if not match.complete or any(node.name in gone for node in match.nodes):
                    continue
                step = Step(rewrite.name, frozenset(working.members(match)))
                reason = bans.get(step) or _ruled_out(working, rewrite, match, rules)
                if reason is None:
                    working.apply(rewrite, match)
                    gone.update(node.name for node in match.nodes)
                else:
                    refused[step] = reason
            if gone:
                working.refresh()
                changed = True
    return Fused(working, refused)


def _ruled_out(working: Working, rewrite: Rewrite, match: Match, rules: Rules) -> Reason | None:
    if not registry.at_most(rewrite.level, rules.level):
        return Reason("fusion_level", {"level": rules.level, "needs": rewrite.level})
    op_types = working.op_types(match)
    named = rules.patterns is None or rewrite.name in rules.names
    if not named and not any(registry.holds(wanted, op_types) for wanted in rules.sequences):
        return _unlisted(op_types, rules)
    members = working.members(match)
    if glob := scopes.first(rules.exclude, members):
        return Reason("excluded", {"glob": glob})
    if rules.include:
        for name in members:
            if not scopes.first(rules.include, (name,)):
                return Reason("not_included", {"operator": name})
    if rules.largest_bytes is not None:
        for name in _inner(match):
            size = working.view.tensor(name).bytes
            if size is None or size > rules.largest_bytes:
                facts = {"bytes": size, "limit": rules.largest_bytes}
                return Reason("largest_intermediate", facts, name)
    return None


def _inner(match: Match) -> Iterator[str]:
    return (node.outputs[0] for node in match.nodes[:-1])


def _unlisted(op_types: tuple[str, ...], rules: Rules) -> Reason:
    """Of operators that are not listed themselves: a part of what needs a higher level, or none."""
    for entry in rules.patterns or ():
        if not isinstance(entry, str) and registry.holds(entry, op_types):
            needs = registry.level_of(entry)
            if needs is not None and not registry.at_most(needs, rules.level):
                return Reason("fusion_level", {"level": rules.level, "needs": needs})
    return Reason("not_listed", {"pattern": joined(op_types)})


def _is_listed(origin: Origin, rules: Rules) -> bool:
    if rules.patterns is None or origin.op_types in rules.sequences:
        return True
    return all(step.rewrite in rules.names for step in origin.steps)
