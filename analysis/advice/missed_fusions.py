"""Near misses: operators that could have become one and did not, with what blocked it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.advice.settings import conditions_of, is_dynamic
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Fusion, Group
from fusescope.analysis.compare.ledger import candidate_times
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.experiment import OwnFusion
from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.operators.classes import CONVERSIONS, is_heavy, op_class
from fusescope.analysis.patterns import (
    CHECKED_WITH,
    PATTERNS,
    Block,
    Blocker,
    Conditions,
    Fact,
    Match,
    View,
    attentions,
    chains,
    find,
    rows,
)
from fusescope.analysis.quantity import Basis
from fusescope.analysis.text import clean_text

_SHOWN = 120  # characters of a name that comes from the model
# Facts that differ from place to place and do not make it another finding.
_OF_ONE_PLACE = frozenset(("consumer_name", "shape", "have", "needs"))


@dataclass(frozen=True)
class MissedFusion:
    """A pattern that the candidate did not fuse, at one place or several alike.

    `nodes` and `op_types` are the model's operators at the first place, the one with the most
    time; `places` are the nodes of all. `blocked_by` is the condition that does not hold, `tensor`
    where (of the first place, '' for none), `values` its facts, both fit to be shown. `stake_ns`
    is the time per run of the operators that fusion would have absorbed, summed over all places:
    at most that can be saved. It is None, and `basis` not measured, where none was timed. Times are
    those of the ledger: means without what slow executions took beyond their medians.
    `spent_ns` is the time per run of all that the candidate runs for these places, heavy operators
    that stay included. `own_places` counts the places that FuseScope's own pass was seen to fuse
    in this model, None where it was not tried. `gone_ns` is `stake_ns` without the longest operator
    of each place, which one kernel for all of them takes at least.
    `bytes_saved` are the bytes, modelled from shapes, of the tensors that would no longer be
    written and read back; None where a size is not known.
    """

    pattern: str
    nodes: tuple[str, ...]
    op_types: tuple[str, ...]
    tensor: str
    blocked_by: Blocker
    values: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))
    side: Literal["candidate"] = "candidate"
    basis: Basis = "modelled"
    places: tuple[tuple[str, ...], ...] = ()
    stake_ns: float | None = None
    bytes_saved: int | None = None
    spent_ns: float | None = None
    own_places: int | None = None
    gone_ns: float | None = None

    @property
    def count(self) -> int:
        """How many places miss alike."""
        return len(self.places)


@once
def missed_fusions(comparison: Comparison) -> tuple[MissedFusion, ...]:
    """Patterns of the model that the candidate left unfused, largest stake first.

    What was fused is read from the groups, not predicted. Without the model's graph or groups
    that rest on it nothing is known, and an engine whose conditions are not known is not judged.
    """
    side = comparison.candidate
    told = conditions_of(side)
    graph = side.experiment.model_graph if side.experiment else None
    if told is None or graph is None or comparison.fusion.source != "graphs":
        return ()
    values: dict[str, Fact] = {"variant": clean_text(side.label, _SHOWN)}
    if told.level == "none":
        return (_without_engine(side, values),)
    if side.is_quantised:
        return (MissedFusion("every pattern", (), (), "", "quantised", values),)
    survey = _Survey(graph, comparison.fusion, told, _version(side), side, _usual_ns(comparison))
    misses = _folded(list(survey.misses()))
    return tuple(replace(miss, values={**miss.values, **_recorded(side, miss)}) for miss in misses)


def _recorded(side: Side, miss: MissedFusion) -> Mapping[str, Fact]:
    """Return the variant of the recording that runs these operators as one kernel of one's own, by
    its name, and its un-profiled time in that of the side; {} where there is none."""
    own = f"custom:{'_'.join(miss.op_types).lower()}"
    if miss.blocked_by != "no_kernel" or side.experiment is None or side.variant is None:
        return {}
    record = side.experiment.record
    if own not in record.names:
        return {}
    speedup = paired_verdict(record, side.variant.name, own).speedup
    names = {"own_variant": clean_text(own, _SHOWN), "of_variant": clean_text(side.label, _SHOWN)}
    return {} if speedup is None else {**names, "own_times": 1 / speedup}


def missed_untimed(
    graph: Graph, fusion: Fusion, told: Conditions, engine: str
) -> tuple[MissedFusion, ...]:
    """The same of a model that a release of the engine optimised, and nobody timed: `fusion` from
    the model to what was made of it. No stake is known, so they are in model order."""
    if told.level == "none" or fusion.source != "graphs":
        return ()
    return _folded(list(_Survey(graph, fusion, told, engine).misses()))


def _version(side: Side) -> str:
    return side.engine.version if side.engine else ""


def unjudged_attention(comparison: Comparison) -> Unjudged | None:
    """The attention that the candidate runs as operators of their own, and that our own pass was
    not seen to fuse; None where there is none.

    The engine's fusions of it depend on more than the graph says (masks, heads, past keys), so it
    is named and not judged.
    """
    side = comparison.candidate
    told = conditions_of(side)
    graph = side.experiment.model_graph if side.experiment else None
    if told is None or told.level == "none" or graph is None:
        return None
    if comparison.fusion.source != "graphs" or side.is_quantised:
        return None
    survey = _Survey(graph, comparison.fusion, told, _version(side), side, _usual_ns(comparison))
    places = [
        tuple(node.name for node in nodes)
        for nodes in attentions(survey.view)
        if any(
            survey.survives(node) and not survey.own_places((node.name,))
            for node in nodes
            if node.op_type == "Softmax"
        )
    ]
    if not places:
        return None
    return Unjudged(tuple(places), survey.whole_time(name for place in places for name in place))


def _without_engine(side: Side, values: dict[str, Fact]) -> MissedFusion:
    """The finding for a variant in which the engine optimises nothing: what fused in its place."""
    settings = side.variant.settings if side.variant else {}
    kind, _, kernel = side.own_name.partition(":")
    if "fusion_level" in settings:
        told = settings.get("fused_groups")
        values["fused"] = told is None or told != "none"
        return MissedFusion("every pattern", (), (), "", "own_pass", values)
    if kind == "custom":
        groups = settings.get("groups")
        values["groups"] = groups if type(groups) is int else None
        return MissedFusion("every other pattern", (), (), "", "own_kernel", values)
    if kind == "segments":
        values["twin"] = clean_text(f"custom:{kernel}", _SHOWN)
        return MissedFusion("every pattern", (), (), "", "same_cut", values)
    return MissedFusion("every pattern", (), (), "", "optimisation_off", values)


@once
def _usual_ns(comparison: Comparison) -> dict[str, float]:
    """Return ns per run of the candidate by the name of an operator that ran, as in the ledger."""
    times = candidate_times(comparison.baseline, comparison.candidate)
    codes, names = pd.factorize(np.array(comparison.candidate.trace.texts("name"), dtype=object))
    mean_ns, executions = times.means_by_label(codes, len(names))
    return {str(names[at]): float(mean_ns[at]) for at in np.flatnonzero(executions > 0)}


class Unjudged(msgspec.Struct, frozen=True):
    """Places of the model, as names of their operators, that are known and not judged; `spent_ns`
    is what the candidate runs for them per run, None where none was timed."""

    places: tuple[tuple[str, ...], ...]
    spent_ns: float | None


@dataclass(frozen=True, eq=False)
class _Survey:
    """One candidate: its model, its groups, and the time of what ran; without a side nothing was
    timed."""

    graph: Graph
    fusion: Fusion
    told: Conditions
    engine: str
    side: Side | None = None
    times: Mapping[str, float] = field(default_factory=dict)  # ns per run by name of what ran

    @cached_property
    def view(self) -> View:
        return View(self.graph)

    @cached_property
    def group_of(self) -> dict[str, Group]:
        """Group by the name of an original operator."""
        return {op.name: group for group in self.fusion.groups for op in group.original}

    @cached_property
    def providers(self) -> dict[str, str]:
        """Execution provider by the name of an operator that ran, where the trace says."""
        if self.side is None:
            return {}
        table = self.side.trace.operators
        known = table[table["provider"].notna()]
        names, providers = known["name"].astype(str), known["provider"].astype(str)
        return dict(zip(names, providers, strict=True))

    def misses(self) -> Iterator[MissedFusion]:
        """Every place by itself; an operator belongs to the first pattern that could use it."""
        claimed: set[str] = set()
        for pattern in PATTERNS:
            found: dict[tuple[str, ...], Match] = {}
            for match in find(self.view, pattern, self.told):
                left = tuple(node.name for node in match.absorbed if self.survives(node))
                if not left or claimed.issuperset(left):
                    continue
                if any(self.survives(node) for node in match.folded if node.name not in left):
                    continue
                known = found.get(left)
                if known is None or len(match.blocks) < len(known.blocks):
                    found[left] = match  # an addition of two convolutions: the nearer one
            for left, match in found.items():
                if not claimed.issuperset(left):
                    claimed.update(left)
                    yield self.miss(match, left)
        for own in self.own_only(claimed):
            left = tuple(node.name for node in own.absorbed)
            claimed.update(left)
            yield self.miss(own, left)
        for kind in (rows, chains):
            alone = {n.name for n in self.graph.nodes if n.name not in claimed and self.survives(n)}
            for match in kind(self.view, alone):
                names = tuple(node.name for node in match.nodes)
                claimed.update(names)
                yield self.miss(match, names)

    def own_only(self, claimed: Collection[str]) -> Iterator[Match]:
        """What our own pass makes one operator around a heavy one, and no pattern of the engine
        does, with the light operators of it that the candidate still runs."""
        for own in self.own_pass or ():
            nodes = [self.graph.node[name] for name in own.operators if name in self.graph.node]
            light = [node for node in nodes if not is_heavy(op_class(node.op_type))]
            left = [n for n in light if self.survives(n) and n.name not in claimed]
            if len(left) < 2 or len(light) == len(nodes) or len(nodes) < len(own.operators):
                continue
            facts: dict[str, Fact] = {
                "makes": own.makes or own.pattern,
                "rewrites": ", ".join(own.rewrites) or own.pattern,
            }
            block = Block("own_only", values=facts)
            yield Match(own.pattern, tuple(nodes), tuple(left), (), "", (block,))

    def survives(self, node: Node) -> bool:
        """True where the candidate still runs this operator as one of its own."""
        return node.name in self.survivors

    @cached_property
    def survivors(self) -> set[str]:
        """Names of the originals that the candidate still runs as operators of their own.

        In a group of several, only those of a type of which none is missing: otherwise it may be
        the one that is gone.
        """
        found: set[str] = set()
        for group in self.fusion.groups:
            if not group.candidate:
                continue
            before = Counter(op.op_type for op in group.original)
            after = Counter(op.op_type for op in group.candidate)
            work = [op for op in group.candidate if op_class(op.op_type) not in CONVERSIONS]
            as_many = len(work) >= len(group.original)
            found.update(
                op.name
                for op in group.original
                if as_many or after[op.op_type] >= before[op.op_type]
            )
        return found

    def miss(self, match: Match, left: Sequence[str]) -> MissedFusion:
        """The finding for one place of which the operators `left` remain."""
        block = self.provider_differs(match) or next(iter(match.blocks), None)
        block = block or self.merged(match) or self.declined(match)
        names = tuple(node.name for node in match.nodes)
        stake = self.time(left)
        return MissedFusion(
            pattern=match.name,
            nodes=names,
            op_types=tuple(node.op_type for node in match.nodes),
            tensor=clean_text(block.tensor, _SHOWN),
            blocked_by=block.code,
            values={
                key: clean_text(value, _SHOWN) if isinstance(value, str) else value
                for key, value in block.values.items()
            },
            basis="modelled" if stake is None else "measured",
            places=(names,),
            stake_ns=stake,
            bytes_saved=self.bytes_between(match, left),
            spent_ns=self.whole_time(names),
            own_places=self.own_places(left),
            gone_ns=None if stake is None else stake - max(self.time((n,)) or 0.0 for n in left),
        )

    def own_places(self, left: Sequence[str]) -> int | None:
        """1 where our own pass makes these operators part of one, 0 where not."""
        if self.own_fusions is None:
            return None
        return int(any(fusion.issuperset(left) for fusion in self.own_fusions))

    @cached_property
    def own_fusions(self) -> tuple[frozenset[str], ...] | None:
        """Operators of each group that our own pass fuses; None where it was not tried."""
        known = self.own_pass
        return None if known is None else tuple(frozenset(one.operators) for one in known)

    @property
    def own_pass(self) -> tuple[OwnFusion, ...] | None:
        """What the recording says of our own pass."""
        experiment = None if self.side is None else self.side.experiment
        return None if experiment is None else experiment.own_fusions

    def provider_differs(self, match: Match) -> Block | None:
        """The Block where parts of the pattern ran on different execution providers."""
        found = list(
            dict.fromkeys(
                self.providers[op.name]
                for node in match.nodes
                if (group := self.group_of.get(node.name)) is not None
                for op in group.candidate
                if op.op_type == node.op_type and op.name in self.providers
            )
        )
        if len(found) < 2:
            return None
        return Block("other_provider", values={"one": found[0], "other": found[1]})

    def merged(self, match: Match) -> Block | None:
        """The Block where the engine computes equal operators once: the result has more readers
        than the model shows."""
        for node in match.nodes[:-1]:
            group = self.group_of.get(node.name)
            if group is not None:
                before = sum(op.op_type == node.op_type for op in group.original)
                after = sum(op.op_type == node.op_type for op in group.candidate)
                if before > after > 0:
                    facts: dict[str, Fact] = {"operator": node.op_type, "count": before}
                    return Block("merged_duplicates", node.outputs[0], facts)
        return None

    def declined(self, match: Match) -> Block:
        """The Block that says that no condition explains it; at a tensor whose shape is not
        known, if there is one. The graph has the shapes that ran: where the engine was not told
        them, that is what differs."""
        facts = {"engine": self.engine, "checked": CHECKED_WITH, "optimizer": match.optimizer}
        if self.side is not None and is_dynamic(self.side):
            return Block("dynamic_dimensions", values=facts)
        for node in match.nodes:
            for name in (*node.inputs, *node.outputs):
                shape = self.view.tensor(name).shape if name else ()
                if shape is None or any(size < 0 for size in shape):
                    return Block("engine_declined", name, facts)
        return Block("engine_declined", values=facts)

    def whole_time(self, names: Iterable[str]) -> float | None:
        """ns per run of the groups that hold these operators; None if none was timed."""
        groups = {group.id: group for name in names if (group := self.group_of.get(name))}
        ran = {op.name for group in groups.values() for op in group.candidate}
        known = [float(self.times[name]) for name in ran if name in self.times]
        return sum(known) if known else None

    def time(self, names: Sequence[str]) -> float | None:
        """ns per run of what the candidate runs for these operators; None if none was timed."""
        total, counted = None, set[str]()
        for name in names:
            group = self.group_of[name]
            node = self.graph.node[name]
            alone = len(group.original) == 1
            for op in group.candidate:
                mine = alone or op.name == name or op.op_type == node.op_type
                if mine and op.name in self.times and op.name not in counted:
                    counted.add(op.name)
                    total = (total or 0.0) + self.times[op.name]
        return total

    def bytes_between(self, match: Match, left: Sequence[str]) -> int | None:
        """Bytes of what the operators that remain write for or read from the rest of the pattern;
        None if a size is not known."""
        made = {node.outputs[0]: node.name in left for node in match.nodes[:-1]}
        read = {
            tensor
            for node in match.nodes
            for tensor in map(self.view.source, node.inputs)
            if node.name in left or made.get(tensor)
        }
        sizes = [self.graph.bytes_of(name) for name in made.keys() & read]
        return None if None in sizes else sum(size for size in sizes if size is not None)


def _folded(misses: list[MissedFusion]) -> tuple[MissedFusion, ...]:
    """Equal findings as one, largest stake first, in model order where equal or not known."""
    alike: dict[tuple[object, ...], list[MissedFusion]] = {}
    for miss in misses:
        facts = {key: v for key, v in miss.values.items() if key not in _OF_ONE_PLACE}
        alike.setdefault((miss.pattern, miss.blocked_by, *sorted(facts.items())), []).append(miss)
    rows = []
    for group in alike.values():
        group.sort(key=lambda miss: -(miss.stake_ns or 0.0))
        stakes = [miss.stake_ns for miss in group if miss.stake_ns is not None]
        sizes = [miss.bytes_saved for miss in group if miss.bytes_saved is not None]
        spent = [miss.spent_ns for miss in group if miss.spent_ns is not None]
        gone = [miss.gone_ns for miss in group if miss.gone_ns is not None]
        own = [miss.own_places for miss in group if miss.own_places is not None]
        rows.append(
            replace(
                group[0],
                places=tuple(place for miss in group for place in miss.places),
                stake_ns=sum(stakes) if stakes else None,
                bytes_saved=sum(sizes) if len(sizes) == len(group) else None,
                spent_ns=sum(spent) if spent else None,
                own_places=sum(own) if own else None,
                gone_ns=sum(gone) if gone else None,
            )
        )
    return tuple(sorted(rows, key=lambda miss: -(miss.stake_ns or 0.0)))
