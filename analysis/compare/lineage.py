"""Lineage: a model and one optimised graph of it, partitioned into fusion groups.

A fusion group is the smallest set of original and optimised nodes with the same boundary tensors.
Tensors of known identity are where both graphs can be cut; everything between two cuts belongs
together. Every group is then verified: what it reads and what others read of it must be the same
tensors on both sides. Where it is not, the group is joined with its neighbours until it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.compare.equivalence import (
    SHAPE_READERS,
    constants,
    hands_on,
    in_order,
    read_by,
    twins,
)
from analysis.compare.identity import identities, only_changes_layout
from analysis.experiment import TensorMatch
from analysis.graph import Graph, Node

GroupKnownBy = Literal["name", "value", "structure", "merged"]
Fate = Literal["runs", "folded", "removed", "loaded"]

_WEAKEST: tuple[GroupKnownBy, ...] = ("name", "value", "structure", "merged")


@dataclass(frozen=True)
class LineageGroup:
    """Names of the nodes of one group in graph order, and of the model's tensors at its boundary.

    `fate` is runs for a group with optimised nodes; folded: computed on load; removed: its result
    is its input, or nobody needs it; loaded: a Constant, which is a weight. Weights and what is
    folded into them are no boundary.
    """

    original: tuple[str, ...]
    optimised: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    known_by: GroupKnownBy
    fate: Fate = "runs"


@dataclass(frozen=True)
class Mismatch:
    """A group whose boundary differs: tensors that only one side reads or hands out."""

    group: int
    reads: tuple[tuple[str, ...], tuple[str, ...]]
    writes: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Lineage:
    """Groups in model order: every original node is in exactly one. Every optimised node is in
    exactly one or in `inserted`; `unexplained` are groups of optimised nodes alone. `weights` are
    the model's constant tensors and what was folded into them, `shape_readers` nodes that took
    no more than a shape and that the engine did without: neither makes a boundary."""

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
            name in model.outputs
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
        same = twins(model, self._old)
        self._identity = identities(model, optimised, self._new, same, matches)
        anchored = {
            self._identity[name].tensor
            for node in self._new
            for name in node.outputs
            if name in self._identity
        }
        self._constant = constants(model, self._old)
        self._fate = self._fates(anchored)
        self._values = _Values()  # one tensor, or several of which the engine made one
        self._equal = _Values()  # all that hold the same values
        self._join_twins(same)
        for name, first in same.items():
            self._equal.join(name, first)
        for place, node in enumerate(self._old):
            if self._fate[place] == "removed" and hands_on(node, model):
                for values in (self._values, self._equal):
                    values.join(node.outputs[0], node.inputs[0])
        self._inserted = {
            place
            for place in range(self._first_new, len(self._nodes))
            if self._is_inserted(self._nodes[place])
        }
        self._weights = self._folded_weights()
        self._shape_readers = {
            place
            for place, node in enumerate(self._old)
            if self._fate[place] == "runs"
            and node.op_type in SHAPE_READERS
            and not anchored.intersection(node.outputs)
        }
        self._sets = _Sets(len(self._nodes))
        self._merged: set[int] = set()

    @property
    def _vanished_shape_readers(self) -> frozenset[str]:
        return frozenset(self._nodes[place].name for place in self._shape_readers)

    def lineage(self) -> Lineage:
        self._connect()
        self._repair()
        return self._result()

    # What happens to original nodes.

    def _fates(self, anchored: set[str]) -> list[Fate]:
        """Nodes whose results the optimised graph no longer makes, although nothing fused them."""
        fates: list[Fate] = ["runs"] * len(self._old)
        for place, node in enumerate(self._old):
            made = [name for name in node.outputs if name]
            if any(name in anchored for name in made):
                continue
            if node.op_type == "Constant":
                fates[place] = "loaded"
            elif made and all(name in self._constant for name in made):
                fates[place] = "folded"
        needed = {*self._model.outputs, *anchored}
        for place in range(len(self._old) - 1, -1, -1):
            node = self._old[place]
            if fates[place] != "runs":
                continue
            if any(name in needed for name in node.outputs):
                if node.op_type not in SHAPE_READERS or anchored.intersection(node.outputs):
                    needed.update(read_by(node))
            else:
                fates[place] = "removed"
        for place, node in enumerate(self._old):
            if fates[place] == "runs" and hands_on(node, self._model):
                source, result = node.inputs[0], node.outputs[0]
                lost = source in self._model.producer and source not in anchored
                if result not in anchored or (lost and source not in self._constant):
                    fates[place] = "removed"
        return fates

    def _join_twins(self, same: Mapping[str, str]) -> None:
        """Of nodes that compute the same thing the engine may keep one: the others' results are
        then that one's. Twins that are all still made and read stay apart."""
        anchored = {
            identity.tensor
            for name, identity in self._identity.items()
            if name in self._optimised.consumers or name in self._optimised.outputs
        }
        alike: dict[str, list[str]] = {}
        for name, first in same.items():
            alike.setdefault(first, [first]).append(name)
        for names in alike.values():
            kept = [name for name in names if name in anchored]
            for name in names:
                if kept and name not in anchored:
                    self._values.join(name, kept[0])

    def _folded_weights(self) -> frozenset[str]:
        """Constant tensors, those that nodes make only while such nodes still run left out."""
        made = {
            name
            for place, node in enumerate(self._old)
            if self._fate[place] not in ("folded", "loaded")
            for name in node.outputs
        }
        return frozenset(self._constant - made)

    def _is_inserted(self, node: Node) -> bool:
        """Whether a node only hands a tensor on in another layout, shape or dtype."""
        if not only_changes_layout(node, self._model) or not node.inputs:
            return False
        source = self._value_of(node.inputs[0])
        results = [self._value_of(name) for name in node.outputs if name]
        return source is not None and all(result == source for result in results)

    def _value_of(self, name: str) -> str | None:
        """The value that an optimised tensor holds; None without a known identity."""
        identity = self._identity.get(name)
        return None if identity is None else self._values.of(identity.tensor)

    # Which nodes belong together.

    def _connect(self) -> None:
        makers: dict[str, list[int]] = {}
        readers: dict[str, list[int]] = {}
        for place in self._running():
            for name in filter(None, self._nodes[place].outputs):
                makers.setdefault(self._values.of(name), []).append(place)
            for name in self._reads(place):
                if name not in self._weights:
                    readers.setdefault(self._values.of(name), []).append(place)
        new_makers: dict[str, list[int]] = {}
        for place in self._placed_new():
            for name in filter(None, self._nodes[place].outputs):
                value = self._value_of(name)
                if value is not None:
                    new_makers.setdefault(value, []).append(place)
        for value, places in makers.items():
            belongs = new_makers.get(value)
            self._sets.join_all([*places, *(belongs or readers.get(value, []))])
        loose: dict[str, int] = {}
        for place in self._placed_new():
            for name in filter(None, self._nodes[place].outputs):
                if name not in self._identity:
                    loose[name] = place
        for place in range(self._first_new, len(self._nodes)):
            for name in read_by(self._nodes[place]):
                if name in loose:
                    self._sets.join(loose[name], place)

    def _reads(self, place: int) -> Iterable[str]:
        return () if place in self._shape_readers else read_by(self._nodes[place])

    def _running(self) -> Iterable[int]:
        return (place for place in range(self._first_new) if self._fate[place] == "runs")

    def _placed_new(self) -> Iterable[int]:
        return (p for p in range(self._first_new, len(self._nodes)) if p not in self._inserted)

    # Verification: the same boundary on both sides.

    def _repair(self) -> None:
        """Joins groups with neighbours until every boundary is the same on both sides."""
        while True:
            edges = self._edges()
            joined = False
            for root, mismatch in self._differences(edges).items():
                if self._sets.find(root) != root:
                    continue  # joined in this pass
                for neighbour in self._neighbours(root, mismatch, edges):
                    joined |= self._sets.join(neighbour, root)
                    self._merged.add(root)
            if not joined:
                return

    def _neighbours(self, root: int, mismatch: Mismatch, edges: _Edges) -> set[int]:
        """The fewest groups at the other end of what differs that settle it; else all of them."""
        made = [self._ends(edges.made, values) for values in mismatch.reads]
        read = self._ends(edges.read, (*mismatch.writes[0], *mismatch.writes[1]))
        for some in (made[0], made[1], made[0] | made[1], read):
            if some - {root} and not self._differs(edges, some | {root}):
                return some - {root}
        return (made[0] | made[1] | read) - {root}

    def _ends(self, sides: tuple[dict[str, set[int]], ...], equal: Iterable[str]) -> set[int]:
        """The groups that make or read a tensor equal to one of these."""
        wanted = set(equal)
        return {
            root
            for side in sides
            for value, roots in side.items()
            if self._equal.of(value) in wanted
            for root in roots
        }

    def _differs(self, edges: _Edges, roots: set[int]) -> bool:
        """Whether these groups, taken as one, still have two different boundaries."""
        outputs = {self._values.of(name) for name in self._model.outputs}
        bounds = []
        for side in (0, 1):
            made = {v for root in roots for v in edges.makes[side].get(root, ())}
            reads = {v for root in roots for v in edges.reads[side].get(root, ())} - made
            writes = {v for v in made if v in outputs or edges.read[side].get(v, set()) - roots}
            bounds.append([{self._equal.of(value) for value in part} for part in (reads, writes)])
        return bounds[0] != bounds[1]

    def _edges(self) -> _Edges:
        edges = _Edges()
        for place in range(len(self._nodes)):
            side = int(place >= self._first_new)
            if side == 0 and self._fate[place] != "runs" or place in self._inserted:
                continue
            root = self._sets.find(place)
            for name in filter(None, self._nodes[place].outputs):
                value = self._value_of(name) if side else self._values.of(name)
                if value is not None:
                    edges.add_made(side, value, root)
            for name in self._reads(place):
                if side:
                    value = self._value_of(name)
                else:
                    value = None if name in self._weights else self._values.of(name)
                if value is not None:
                    edges.add_read(side, value, root)
        return edges

    def _differences(self, edges: _Edges) -> dict[int, Mismatch]:
        """Group root -> how its boundary differs, for the groups where it does."""
        outputs = {self._values.of(name) for name in self._model.outputs}
        reads: tuple[dict[int, set[str]], ...] = ({}, {})
        writes: tuple[dict[int, set[str]], ...] = ({}, {})
        for side in (0, 1):
            for value, readers in edges.read[side].items():
                makers = edges.made[side].get(value, set())
                for root in readers - makers:
                    reads[side].setdefault(root, set()).add(self._equal.of(value))
            for value, makers in edges.made[side].items():
                readers = edges.read[side].get(value, set())
                for root in makers:
                    if value in outputs or readers - {root}:
                        writes[side].setdefault(root, set()).add(self._equal.of(value))
        found = {}
        for root in {*reads[0], *reads[1], *writes[0], *writes[1]}:
            sides = [
                [
                    table[0].get(root, set()) - table[1].get(root, set()),
                    table[1].get(root, set()) - table[0].get(root, set()),
                ]
                for table in (reads, writes)
            ]
            if any(part for pair in sides for part in pair):
                (r0, r1), (w0, w1) = (
                    (tuple(sorted(pair[0])), tuple(sorted(pair[1]))) for pair in sides
                )
                found[root] = Mismatch(root, (r0, r1), (w0, w1))
        return found

    # The result.

    def _result(self) -> Lineage:
        members: dict[int, list[int]] = {}
        for place in range(len(self._nodes)):
            if place not in self._inserted:
                members.setdefault(self._sets.find(place), []).append(place)
        merged = {self._sets.find(root) for root in self._merged}
        edges = self._edges()
        groups: list[LineageGroup] = []
        number: dict[int, int] = {}
        unexplained: list[str] = []
        for root, places in sorted(members.items(), key=lambda item: item[1][0]):
            old = [place for place in places if place < self._first_new]
            if not old:
                unexplained += [self._nodes[place].name for place in places]
                continue
            number[root] = len(groups)
            groups.append(self._group(old, places[len(old) :], root in merged))
        mismatches = tuple(
            Mismatch(number.get(root, -1), found.reads, found.writes)
            for root, found in self._differences(edges).items()
        )
        return Lineage(
            groups=tuple(groups),
            weights=self._weights,
            shape_readers=self._vanished_shape_readers,
            inserted=tuple(self._nodes[place].name for place in sorted(self._inserted)),
            unexplained=tuple(unexplained),
            mismatches=mismatches,
            original_nodes=len(self._old),
            optimised_nodes=len(self._new),
        )

    def _group(self, old: list[int], new: list[int], merged: bool) -> LineageGroup:
        nodes = [self._nodes[place] for place in old]
        inputs, outputs = boundary(self._model, nodes, self._weights, self._vanished_shape_readers)
        fate = self._fate[old[0]]
        known: GroupKnownBy = "structure" if fate == "removed" else "name"
        for place in new:
            for name in filter(None, self._nodes[place].outputs):
                identity = self._identity.get(name)
                if identity is not None:
                    known = max(known, identity.evidence, key=_WEAKEST.index)
        return LineageGroup(
            original=tuple(node.name for node in nodes),
            optimised=tuple(self._nodes[place].name for place in new),
            inputs=inputs,
            outputs=outputs,
            known_by="merged" if merged else known,
            fate=fate,
        )


class _Edges:
    """Per side: which groups make and read a value, and which values a group makes and reads."""

    def __init__(self) -> None:
        self.made: tuple[dict[str, set[int]], ...] = ({}, {})
        self.read: tuple[dict[str, set[int]], ...] = ({}, {})
        self.makes: tuple[dict[int, set[str]], ...] = ({}, {})
        self.reads: tuple[dict[int, set[str]], ...] = ({}, {})

    def add_made(self, side: int, value: str, root: int) -> None:
        self.made[side].setdefault(value, set()).add(root)
        self.makes[side].setdefault(root, set()).add(value)

    def add_read(self, side: int, value: str, root: int) -> None:
        self.read[side].setdefault(value, set()).add(root)
        self.reads[side].setdefault(root, set()).add(value)


class _Values:
    """Classes of tensors that hold the same value; each is known by one of them."""

    def __init__(self) -> None:
        self._same: dict[str, str] = {}

    def of(self, name: str) -> str:
        while name in self._same:
            name = self._same[name]
        return name

    def join(self, name: str, other: str) -> None:
        a, b = self.of(name), self.of(other)
        if a != b:
            self._same[a] = b


class _Sets:
    """Disjoint sets of numbers."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, item: int) -> int:
        while self._parent[item] != item:
            self._parent[item] = self._parent[self._parent[item]]
            item = self._parent[item]
        return item

    def join(self, a: int, b: int) -> bool:
        """Whether these were two sets until now."""
        first, second = sorted((self.find(a), self.find(b)))
        self._parent[second] = first
        return first != second

    def join_all(self, items: Sequence[int]) -> None:
        for item in items[1:]:
            self.join(items[0], item)
