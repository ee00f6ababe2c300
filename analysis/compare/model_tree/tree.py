"""The tree: what each module, operator and shape takes on both sides, exact in ns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.compare.model_tree.paths import (
    NO_SHAPES,
    OUTSIDE_MODULES,
    UNPLACED,
    Kind,
    Levels,
    Located,
    Places,
    Step,
    operator_steps,
)
from analysis.work_units import UnitKind, common_units, same_work
from analysis.work_units.units import OUTSIDE

MAX_CHILDREN = 50  # of one node; those of smaller changes are one node together


@dataclass(frozen=True)
class Node:
    """A part of the model on both sides, baseline first.

    `steps` are its place below its parent: one, or several where each holds the next one alone.
    `instances` are the distinct modules of this type, 0 of what is no module; `executions` those
    of kernels in all units, and `total_ns` their time in all units. Of kind `more` are the parts of
    smaller changes together, `instances` of them.
    """

    steps: tuple[Step, ...]
    instances: tuple[int, int]
    executions: tuple[int, int]
    total_ns: tuple[int, int]
    children: tuple[Node, ...] = ()

    @property
    def kind(self) -> Kind:
        """Return what the node is: the kind of its last step."""
        return self.steps[-1][0]


@dataclass(frozen=True, eq=False)
class ModelTree:
    """The parts of the model of two traces. `unit_counts` are the units of work of each side, of
    `unit_kind`, over which times are means; without `has_changes` the two sides do not compare."""

    roots: tuple[Node, ...]
    levels: Levels
    unit_kind: UnitKind
    unit_counts: tuple[int, int]
    has_changes: bool

    def times_ns(self, node: Node) -> tuple[float, float]:
        """Return the time of a node per unit of work on both sides, in ns."""
        before, after = node.total_ns
        return before / self.unit_counts[0], after / self.unit_counts[1]

    def executions(self, node: Node) -> tuple[float, float]:
        """Return how many kernels of a node run per unit of work on both sides."""
        before, after = node.executions
        return before / self.unit_counts[0], after / self.unit_counts[1]

    def change_ns(self, node: Node) -> float:
        """Return the change of a node per unit of work in ns, candidate - baseline."""
        return _change(node.total_ns, self.unit_counts)

    @property
    def total_ns(self) -> tuple[int, int]:
        """Return the time of all kernels in all units of each side, in ns."""
        return _sum(root.total_ns for root in self.roots)

    @property
    def whole_change_ns(self) -> float:
        """Return the change of the time of all kernels per unit of work in ns."""
        return _change(self.total_ns, self.unit_counts)

    def share(self, node: Node) -> float | None:
        """Return the part of the whole change that a node has; None without a change."""
        whole_ns = self.whole_change_ns
        return self.change_ns(node) / whole_ns if self.has_changes and whole_ns else None

    def walk(self) -> Iterator[tuple[int, tuple[Step, ...], Node]]:
        """Yield each node below its parent, with its depth, and the steps of its parents."""
        waiting: list[tuple[int, tuple[Step, ...], Node]] = [
            (0, (), root) for root in reversed(self.roots)
        ]
        while waiting:
            depth, above, node = waiting.pop()
            yield depth, above, node
            below = (*above, *node.steps)
            waiting += [(depth + 1, below, child) for child in reversed(node.children)]

    def leaves(self) -> Iterator[Node]:
        """Yield the nodes without children, which add up to the whole."""
        return (node for _, _, node in self.walk() if not node.children)


def tree_of(before: Located, after: Located, levels: Levels, *, has_changes: bool) -> ModelTree:
    """Return the tree of two traces, the largest change of each level first; where the two sides do
    not compare, the longest time."""
    whole = _Part()
    sides = (before, after)
    units = same_work(*common_units(before.trace, after.trace))
    for number, (side, of) in enumerate(zip(sides, units, strict=True)):
        _add(whole, number, side, of.unit_of != OUTSIDE, levels)
    counts = (units[0].count, units[1].count)

    def rank(node: Node) -> tuple[float, float]:
        change = abs(_change(node.total_ns, counts)) if has_changes else 0.0
        times = (ns / count for ns, count in zip(node.total_ns, counts, strict=True))
        return -change, -max(times)

    return ModelTree(whole.nodes(rank), levels, units[0].kind, counts, has_changes)


_Rank = Callable[[Node], tuple[float, float]]


@dataclass
class _Part:
    """A node while its calls are added, by step, of both sides."""

    parts: dict[Step, _Part] = field(default_factory=dict)
    numbered: tuple[set[tuple[str, ...]], set[tuple[str, ...]]] = field(
        default_factory=lambda: (set(), set())
    )
    executions: list[int] = field(default_factory=lambda: [0, 0])
    total_ns: list[int] = field(default_factory=lambda: [0, 0])

    def nodes(self, rank: _Rank) -> tuple[Node, ...]:
        """Return the parts below as nodes, those of smaller changes as one."""
        found = sorted((part.node(step, rank) for step, part in self.parts.items()), key=rank)
        if len(found) <= MAX_CHILDREN:
            return tuple(found)
        kept, rest = found[: MAX_CHILDREN - 1], found[MAX_CHILDREN - 1 :]
        counts = [sum(any(node.executions) for node in rest)] * 2
        more = Node(
            (("more", ""),),
            (counts[0], counts[1]),
            _sum(node.executions for node in rest),
            _sum(node.total_ns for node in rest),
        )
        return (*kept, more)

    def node(self, step: Step, rank: _Rank) -> Node:
        """Return this part as a node; one that holds a single other one is one with it."""
        children = () if self._shapes_differ() else self.nodes(rank)
        before, after = self.numbered
        node = Node(
            (step,),
            (len(before), len(after)),
            (self.executions[0], self.executions[1]),
            (self.total_ns[0], self.total_ns[1]),
            children,
        )
        if len(children) != 1:
            return node
        only = children[0]
        if only.steps == (NO_SHAPES,):
            return replace(node, children=())
        return replace(only, steps=(step, *only.steps))

    def _shapes_differ(self) -> bool:
        """Return True where one side has the shapes of this operator, and the other one none."""
        unknown = self.parts.get(NO_SHAPES)
        return unknown is not None and any(
            unknown.executions[side] == self.executions[side] > 0 for side in (0, 1)
        )


def _add(whole: _Part, side: int, located: Located, chosen: np.ndarray, levels: Levels) -> None:
    """Add the chosen calls of one side, those of one operator at one place together."""
    calls, places = located.trace.calls, located.places
    below = operator_steps(located.trace, levels)
    pairs = places.of[chosen] * max(1, len(below)) + calls["operator"].to_numpy()[chosen]
    order = np.argsort(pairs, kind="stable")
    distinct, firsts = np.unique(pairs[order], return_index=True)
    if not len(distinct):
        return
    times = np.add.reduceat(calls["dur_ns"].to_numpy()[chosen][order], firsts)
    counts = np.add.reduceat(calls["n"].to_numpy()[chosen][order], firsts)
    for pair, total_ns, count in zip(
        distinct.tolist(), times.tolist(), counts.tolist(), strict=True
    ):
        place, operator = divmod(pair, len(below))
        names = places.modules[place]
        part = whole
        for depth, name in enumerate(names):
            part = part.parts.setdefault(("module", name), _Part())
            part.numbered[side].add(places.instances[place][: depth + 1])
            _count(part, side, count, total_ns)
        for step in (*_outside(places, place, levels), *below[operator]):
            part = part.parts.setdefault(step, _Part())
            _count(part, side, count, total_ns)


def _outside(places: Places, place: int, levels: Levels) -> tuple[Step, ...]:
    """Return the step that stands for a place in no module; none in a tree without modules."""
    if levels.modules is None or places.modules[place]:
        return ()
    return (UNPLACED if place == places.unknown else OUTSIDE_MODULES,)


def _count(part: _Part, side: int, executions: int, total_ns: int) -> None:
    part.executions[side] += executions
    part.total_ns[side] += total_ns


def _sum(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    before, after = 0, 0
    for first, second in pairs:
        before, after = before + first, after + second
    return before, after


def _change(total_ns: tuple[int, int], counts: tuple[int, int]) -> float:
    return total_ns[1] / counts[1] - total_ns[0] / counts[0]
