"""Lineage: a model and one optimised graph of it, partitioned into fusion groups.

A fusion group is the smallest set of original and optimised nodes with the same boundary tensors.
Tensors of known identity are where both graphs can be cut; everything between two cuts belongs
together. Every group is then verified: what it reads and what others read of it must be the same
tensors on both sides. Where it is not, the group is joined with its neighbours until it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from fusescope.analysis.compare.groups.disjoint import DisjointSets
from fusescope.analysis.compare.groups.equivalence import (
    SHAPE_READERS,
    constants,
    duplicates,
    in_order,
    passed_through,
    read_by,
)
from fusescope.analysis.compare.groups.fate import Fate, fates, reads_only_a_shape
from fusescope.analysis.compare.groups.fixed import Fixed
from fusescope.analysis.compare.groups.frontier import Frontier, Mismatch
from fusescope.analysis.compare.groups.identity import identities, only_changes_layout, only_repeats
from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph, Node

GroupKnownBy = Literal["name", "value", "structure", "merged"]

# How sure a group is, surest first; one of several pieces is as sure as its weakest.
WEAKEST: tuple[GroupKnownBy, ...] = ("name", "value", "structure", "merged")


class LineageGroup(msgspec.Struct, frozen=True):
    """Names of the nodes of one group in graph order, and of the model's tensors at its boundary.

    `fate` is runs for a group with optimised nodes; folded: computed on load; removed: its result
    is its input, or nobody needs it; loaded: a Constant, which is a weight. Weights and what is
    folded into them are not boundaries.
    """

    original: tuple[str, ...]
    optimised: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    known_by: GroupKnownBy
    fate: Fate = "runs"


class Lineage(msgspec.Struct, frozen=True):
    """Groups in model order: every original node is in exactly one. Every optimised node is in
    exactly one or in `inserted`; `unexplained` are groups of optimised nodes alone. `weights` are
    the model's constant tensors and what was folded into them, `shape_readers` nodes that took
    no more than a shape and that the engine did without: neither makes a boundary. The group of a
    mismatch is its place in `groups`, -1 for one of optimised nodes alone."""

    groups: tuple[LineageGroup, ...]
    weights: frozenset[str]
    shape_readers: frozenset[str]
    inserted: tuple[str, ...]
    unexplained: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]
    original_nodes: int
    optimised_nodes: int

    @property
    def largest(self) -> int:
        """Original nodes of the largest group."""
        return max((len(group.original) for group in self.groups), default=0)


def lineage(model: Graph, optimised: Graph, matches: Sequence[TensorMatch] = ()) -> Lineage:
    """The fusion groups of `optimised`. Raises FuseScopeError for a graph with a cycle."""
    return _Partition(model, optimised, matches).lineage()


def boundary(
    model: Graph,
    nodes: Sequence[Node],
    weights: Collection[str] = (),
    shape_readers: Collection[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tensors that these nodes read from outside, and those of theirs that others read.

    In the order of use and by the model's names, without `weights` and without what the nodes
    named in `shape_readers` read; a result of the whole model counts as read by others.
    """
    inside = {node.name for node in nodes}
    made = {name for node in nodes for name in node.outputs if name}
    inputs = dict.fromkeys(
        name
        for node in nodes
        if node.name not in shape_readers
        for name in read_by(node)
        if name not in made and name not in weights
    )
    outputs = dict.fromkeys(
        name
        for node in nodes
        for name in node.outputs
        if name
        and name not in weights
        and (
            name in model.returned
            or any(
                reader.name not in inside and reader.name not in shape_readers
                for reader in model.consumers.get(name, ())
            )
        )
    )
    return tuple(inputs), tuple(outputs)


class _Partition:
    """Nodes by number: the model's first, in order, then the optimised ones."""

    def __init__(self, model: Graph, optimised: Graph, matches: Sequence[TensorMatch]) -> None:
        self._model, self._optimised = model, optimised
        self._old, self._new = in_order(model), in_order(optimised)
        self._nodes = [*self._old, *self._new]
        self._first_new = len(self._old)
        same = duplicates(model, self._old)
        self._identity = identities(model, optimised, self._new, same, matches)
        made = {name for node in self._new for name in node.outputs if name in self._identity}
        anchored = {self._identity[name].tensor for name in made}
        constant = constants(model, self._old)
        self._fate = fates(model, self._old, optimised, anchored, constant)
        self._weights = self._folded(constant)
        self._fixed = Fixed(model, self._nodes, self._first_new)
        folded = [index for index, fate in enumerate(self._fate) if fate == "folded"]
        for index in self._fixed.running(folded):
            self._fate[index] = "runs"
        # A shape that the engine knew in advance is handed out without a look at its tensor.
        fixed = constants(optimised, self._new)
        looked_at = {
            self._identity[name].tensor
            for name in made
            if name not in fixed or optimised.producer[name].op_type in SHAPE_READERS
        }
        self._shape_readers = {
            index for index in self._running() if reads_only_a_shape(self._nodes[index], looked_at)
        }
        # A value is one tensor, or several of which the engine made one; equal are all that
        # hold the same numbers, whether the engine knew it or not.
        self._values: DisjointSets[str] = DisjointSets()
        self._equal: DisjointSets[str] = DisjointSets()
        self._join_tensors(same)
        self._inserted = {
            index
            for index in range(self._first_new, len(self._nodes))
            if self._is_inserted(self._nodes[index])
        }
        self._inserted |= self._repeats()
        self._constant = {
            index
            for index in range(self._first_new, len(self._nodes))
            if index not in self._inserted and self._makes_constants(self._nodes[index])
        }
        self._sets: DisjointSets[int] = DisjointSets()
        self._merged: set[int] = set()

    def lineage(self) -> Lineage:
        self._connect()
        self._repair()
        self._fixed.join(self._sets, self._readers)
        self._place_constants()
        return self._result()

    # Which tensors are one value.

    def _join_tensors(self, same: Mapping[str, str]) -> None:
        """Twins are equal; they are one value when the engine no longer makes and reads both."""
        used = {
            identity.tensor
            for name, identity in self._identity.items()
            if name in self._optimised.consumers or name in self._optimised.returned
        }
        alike: dict[str, list[str]] = {}
        for name, first in same.items():
            self._equal.join(first, name)
            alike.setdefault(first, [first]).append(name)
        for names in alike.values():
            kept = [name for name in names if name in used]
            if kept:
                self._values.join_all([kept[0], *(name for name in names if name not in used)])
        for index, node in enumerate(self._old):
            given = passed_through(node, self._model)
            if self._fate[index] == "removed" and given is not None:
                for values in (self._values, self._equal):
                    values.join(given, node.outputs[0])

    def _folded(self, constant: set[str]) -> frozenset[str]:
        """Constant tensors, except those that a node still makes in every run."""
        made = {name for index in self._running() for name in self._nodes[index].outputs}
        return frozenset(constant - made)

    def _value(self, index: int, name: str) -> str | None:
        """The value behind a tensor of a node; None for a weight or without a known identity."""
        if index < self._first_new:
            return None if name in self._weights else self._values.find(name)
        identity = self._identity.get(name)
        return None if identity is None else self._values.find(identity.tensor)

    def _is_inserted(self, node: Node) -> bool:
        """Whether a node only hands a tensor on in another layout, shape or dtype."""
        if not only_changes_layout(node, self._model) or not node.inputs:
            return False
        index = self._first_new
        source = self._value(index, node.inputs[0])
        results = [self._value(index, name) for name in node.outputs if name]
        return source is not None and all(result == source for result in results)

    def _makes_constants(self, node: Node) -> bool:
        """Whether a node of the engine's makes values that depend on no input, such as a number as
        often as a tensor has elements: engines share those between operators that have nothing
        else in common."""
        tensors = self._optimised.tensor
        return bool(node.outputs) and all(
            name in tensors and tensors[name].constant and name not in self._identity
            for name in node.outputs
        )

    def _repeats(self) -> set[int]:
        """Nodes that make a value out of itself: engines repeat pairs of QuantizeLinear and
        DequantizeLinear along a path, which changes nothing."""
        repeated = self._quantised_for_nothing()
        makers: dict[str, list[int]] = {}
        for index in range(self._first_new, len(self._nodes)):
            for name in filter(None, self._nodes[index].outputs):
                value = self._value(index, name)
                if value is not None and index not in self._inserted | repeated:
                    makers.setdefault(value, []).append(index)
        given = {self._values.find(name) for name in self._model.inputs}
        for value, indices in makers.items():
            again = [
                index
                for index in (indices if value in given else indices[1:])
                if only_repeats(self._nodes[index], self._model)
                and all(self._value(index, o) == value for o in self._nodes[index].outputs if o)
            ]
            if again and value in given:
                repeated.update(again)  # a quantised input stands for the input
            elif again:
                repeated.update(self._after(indices[0], again[-1]).intersection(again))
        return repeated

    def _quantised_for_nothing(self) -> set[int]:
        """Pairs of the engine's own that end up at the value they started from."""
        place_of = {name: p for p in range(self._first_new, len(self._nodes))
                    for name in self._nodes[p].outputs if name}  # fmt: skip
        ends, starts = set(), set()
        for index in range(self._first_new, len(self._nodes)):
            node = self._nodes[index]
            start = place_of.get(node.inputs[0]) if node.inputs else None
            if node.op_type != "DequantizeLinear" or start is None:
                continue
            first = self._nodes[start]
            own = all(only_repeats(n, self._model) and n.inputs for n in (node, first))
            if own and first.op_type == "QuantizeLinear" and node.outputs:
                values = (self._value(start, first.inputs[0]), self._value(index, node.outputs[0]))
                equal = {value and self._equal.find(value) for value in values}
                if None not in equal and len(equal) == 1:
                    ends.add(index)
                    starts.add(start)
        read_elsewhere = {
            name
            for index in range(self._first_new, len(self._nodes))
            if index not in ends
            for name in read_by(self._nodes[index])
        }
        kept = {p for p in starts if not read_elsewhere.isdisjoint(self._nodes[p].outputs)}
        return ends | (starts - kept)

    def _after(self, index: int, last: int) -> set[int]:
        """Optimised nodes up to `last` that depend on this one."""
        reached = {name for name in self._nodes[index].outputs if name}
        found = set()
        for later in range(index + 1, last + 1):  # they are in order
            if any(name in reached for name in read_by(self._nodes[later])):
                reached.update(filter(None, self._nodes[later].outputs))
                found.add(later)
        return found

    # Which nodes belong together.

    def _connect(self) -> None:
        makers: dict[str, list[int]] = {}
        readers: dict[str, list[int]] = {}
        new_makers: dict[str, list[int]] = {}
        loose: dict[str, int] = {}
        for index in self._placed():
            for name in filter(None, self._nodes[index].outputs):
                value = self._value(index, name)
                if index < self._first_new and name in self._weights:
                    continue  # it runs, but no group ends there
                if index < self._first_new:
                    makers.setdefault(self._values.find(name), []).append(index)
                elif value is None and index not in self._constant:
                    loose[name] = index
                elif value is None:
                    continue
                else:
                    new_makers.setdefault(value, []).append(index)
            for name in self._reads(index) if index < self._first_new else ():
                value = self._value(index, name)
                if value is not None:
                    readers.setdefault(value, []).append(index)
        for value, indices in makers.items():
            belongs = new_makers.get(value) or readers.get(value, [])
            self._sets.join_all(sorted([*indices, *belongs]))
        between = set(self._running())
        for index in range(self._first_new - 1, -1, -1):
            # Gone like what it stood between: both sides of it are in one group.
            made = [name for name in self._nodes[index].outputs[:1] if name]
            values = [self._values.find(name) for name in made]
            if self._fate[index] != "removed" or not made or values[0] in new_makers:
                continue
            if values[0] in makers and any(p in between for p in self._readers.get(made[0], ())):
                self._sets.join(makers[values[0]][0], index)
                between.add(index)
        for index in range(self._first_new, len(self._nodes)):
            for name in read_by(self._nodes[index]):
                if name in loose:
                    self._sets.join(loose[name], index)

    @cached_property
    def _readers(self) -> dict[str, list[int]]:
        """The model's tensor -> nodes that read it."""
        found: dict[str, list[int]] = {}
        for index, node in enumerate(self._old):
            for name in read_by(node):
                found.setdefault(name, []).append(index)
        return found

    def _reads(self, index: int) -> Iterable[str]:
        return () if index in self._shape_readers else read_by(self._nodes[index])

    def _running(self) -> Iterable[int]:
        return (index for index in range(self._first_new) if self._fate[index] == "runs")

    def _placed(self) -> Iterable[int]:
        """Nodes that other nodes can be grouped with."""
        yield from self._running()
        yield from (p for p in range(self._first_new, len(self._nodes)) if p not in self._inserted)

    # Verification: the same boundary on both sides.

    def _repair(self) -> None:
        """Joins groups with neighbours until every boundary is the same on both sides."""
        joined = True
        while joined:
            joined = False
            frontier = self._frontier()
            for mismatch in frontier.mismatches():
                group = mismatch.group
                if self._sets.find(group) != group:
                    continue  # joined in this pass
                for neighbour in frontier.neighbours(mismatch):
                    joined |= self._sets.join(group, neighbour)
                    self._merged.add(group)

    def _place_constants(self) -> None:
        """What makes constants belongs to the group that alone reads them; else it is inserted."""
        readers: dict[str, list[int]] = {}
        for index in range(self._first_new, len(self._nodes)):
            for name in read_by(self._nodes[index]):
                readers.setdefault(name, []).append(index)
        if not self._constant:
            return
        settled = {self._sets.find(place) for place in range(self._first_new)}
        for index in sorted(self._constant, reverse=True):
            if self._sets.find(index) in settled:
                continue
            reading = [at for name in self._nodes[index].outputs for at in readers.get(name, ())]
            groups = {-1 if at in self._inserted else self._sets.find(at) for at in reading}
            if len(groups) == 1 and -1 not in groups:
                self._sets.join(groups.pop(), index)
            else:
                self._inserted.add(index)

    def _frontier(self) -> Frontier:
        outputs = map(self._values.find, self._model.outputs)
        frontier = Frontier(outputs, self._equal.find)
        for index in self._placed():
            side, group = int(index >= self._first_new), self._sets.find(index)
            for name in filter(None, self._nodes[index].outputs):
                value = self._value(index, name)
                if value is not None:
                    frontier.add_made(side, value, group)
            for name in self._reads(index):
                value = self._value(index, name)
                if value is not None:
                    frontier.add_read(side, value, group)
        return frontier

    # The result.

    def _result(self) -> Lineage:
        members: dict[int, list[int]] = {}
        for index in range(len(self._nodes)):
            if index not in self._inserted:
                members.setdefault(self._sets.find(index), []).append(index)
        merged = {self._sets.find(group) for group in self._merged}
        groups: list[LineageGroup] = []
        shape_readers = self._names(self._shape_readers)
        number: dict[int, int] = {}
        unexplained: list[str] = []
        for root, indices in sorted(members.items(), key=lambda item: item[1][0]):
            old = [index for index in indices if index < self._first_new]
            if not old:
                unexplained += [self._nodes[index].name for index in indices]
                continue
            number[root] = len(groups)
            groups.append(self._group(old, indices[len(old) :], root in merged, shape_readers))
        return Lineage(
            groups=tuple(groups),
            weights=self._weights,
            shape_readers=shape_readers,
            inserted=tuple(self._nodes[index].name for index in sorted(self._inserted)),
            unexplained=tuple(unexplained),
            mismatches=tuple(
                Mismatch(number.get(found.group, -1), found.reads, found.writes)
                for found in self._frontier().mismatches()
            ),
            original_nodes=len(self._old),
            optimised_nodes=len(self._new),
        )

    def _group(
        self, old: list[int], new: list[int], merged: bool, shape_readers: frozenset[str]
    ) -> LineageGroup:
        nodes = [self._nodes[index] for index in old]
        inputs, outputs = boundary(self._model, nodes, self._weights, shape_readers)
        fates_here = {self._fate[index] for index in old}
        fate = "runs" if "runs" in fates_here else self._fate[old[0]]
        known: GroupKnownBy = "structure" if fate == "removed" else "name"
        if fate == "runs" and not self._fixed.holders.keys().isdisjoint(old):
            known = "value"
        for index in new:
            for name in filter(None, self._nodes[index].outputs):
                identity = self._identity.get(name)
                if identity is not None:
                    known = max(known, identity.evidence, key=WEAKEST.index)
        return LineageGroup(
            original=tuple(node.name for node in nodes),
            optimised=tuple(self._nodes[index].name for index in new),
            inputs=inputs,
            outputs=outputs,
            known_by="merged" if merged else known,
            fate=fate,
        )

    def _names(self, indices: set[int]) -> frozenset[str]:
        return frozenset(self._nodes[index].name for index in indices)
