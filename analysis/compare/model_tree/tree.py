"""The tree: what each module, operator and shape takes on both sides, exact in ns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fusescope.analysis.compare.graphs.names_by_order import count_by_order
from fusescope.analysis.compare.joining.agreement import without_out_tensors
from fusescope.analysis.compare.model_tree.paths import (
    BACKWARD,
    NO_SHAPES,
    OUTSIDE_LAYERS,
    OUTSIDE_MODULES,
    UNPLACED,
    Kind,
    Levels,
    Located,
    Places,
    Step,
    operator_steps,
)
from fusescope.analysis.operators.short_names import library_kernel, short_names
from fusescope.analysis.work_units import UnitKind, common_units, same_work, steady_units
from fusescope.analysis.work_units.units import OUTSIDE, Units

MAX_CHILDREN = 50  # of one node; those of smaller changes are one node together
MAX_PARTS = 1000  # of a tree with the largest changes, which it shows with what holds them
_SHORT_CHARS = 40  # of the type of kernels of a library
_CANCELLED = 2  # times the whole change, in parts of both signs, beyond which there are no shares


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
    """The parts of the model of two traces, or of one, which is then the baseline.

    `unit_counts` are the units of work of each side, of `unit_kind`, which the profiler calls
    `unit_name`, over which times are means;
    without `has_changes` the two sides do not compare, and where no change `stands_out` they differ
    by as much as their repetitions do. `by_order` counts the kernels of each side
    whose operators and modules are known by their order alone. It `communicates` where times have
    communication in them.
    """

    roots: tuple[Node, ...]
    levels: Levels
    unit_kind: UnitKind
    unit_counts: tuple[int, int]
    has_changes: bool
    by_order: tuple[int, int] = (0, 0)
    unit_name: str = ""
    stands_out: bool = True
    communicates: bool = False

    def times_ns(self, node: Node) -> tuple[float, float]:
        """Return the time of a node per unit of work on both sides, in ns."""
        before, after = node.total_ns
        return before / self.unit_counts[0], after / self.unit_counts[1]

    def executions(self, node: Node) -> tuple[float, float]:
        """Return how many kernels of a node run per unit of work on both sides."""
        before, after = node.executions
        return before / self.unit_counts[0], after / self.unit_counts[1]

    def change_row(self, node: Node) -> tuple[float | None, float | None, float | None]:
        """Return the times of a node on both sides, None where one lacks it, and their change, None
        where the tree has no changes."""
        (before, after), (first, second) = self.times_ns(node), self.executions(node)
        change = self.change_ns(node) if self.has_changes else None
        return before if first else None, after if second else None, change

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

    @cached_property
    def has_shares(self) -> bool:
        """Return True where a change stands out, and parts that got faster and slower do not cancel
        each other out: minus 335 % of a change says less than nothing."""
        if not (self.has_changes and self.stands_out):
            return False
        apart_ns = sum(abs(self.change_ns(leaf)) for leaf in self.leaves())
        return 0 < apart_ns <= _CANCELLED * abs(self.whole_change_ns)

    def share(self, node: Node) -> float | None:
        """Return the part of the whole change that a node has; None without `has_shares`."""
        return self.change_ns(node) / self.whole_change_ns if self.has_shares else None

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

    @cached_property
    def kernel_types(self) -> Mapping[str, str]:
        """Return a short form of each type of a library's kernels, whose own names are codes."""
        types = (
            name for _, _, node in self.walk() for kind, name in node.steps if kind == "op_type"
        )
        return short_names(sorted({name for name in types if library_kernel(name)}), _SHORT_CHARS)

    def leaves(self) -> Iterator[Node]:
        """Yield the nodes without children, which add up to the whole."""
        return (node for _, _, node in self.walk() if not node.children)


def tree_of(
    before: Located,
    after: Located,
    levels: Levels,
    *,
    has_changes: bool,
    stands_out: bool = True,
) -> ModelTree:
    """Return the tree of two traces, the largest change of each level first; where the two sides do
    not compare, the longest time. What the file does not place in the model is last."""
    common = same_work(*common_units(before.trace, after.trace))
    units = [
        steady_units(side.trace, mine)[0]
        for side, mine in zip((before, after), common, strict=True)
    ]
    sides = ((before, units[0]), (after, units[1]))
    whole = _whole(sides, levels)
    counts = (units[0].count, units[1].count)

    def rank(node: Node) -> tuple[bool, float, float]:
        change = abs(_change(node.total_ns, counts)) if has_changes else 0.0
        times = (ns / count for ns, count in zip(node.total_ns, counts, strict=True))
        return node.steps[0] == UNPLACED, -change, -max(times)

    roots = _largest(whole.nodes(rank), rank)
    by_order = (count_by_order(before.trace), count_by_order(after.trace))
    kind, name = units[0].kind, units[0].name
    talks = any(_communicates(*side) for side in sides)
    return ModelTree(roots, levels, kind, counts, has_changes, by_order, name, stands_out, talks)


def tree_of_one(located: Located, units: Units, levels: Levels) -> ModelTree:
    """Return the tree of one trace by these units, the longest time of each level first. It has the
    side of the baseline alone."""
    whole = _whole(((located, units),), levels)

    def rank(node: Node) -> tuple[bool, float, float]:
        return node.steps[0] == UNPLACED, 0.0, -node.total_ns[0]

    roots = _largest(whole.nodes(rank), rank)
    counts, by_order = (units.count, units.count), (count_by_order(located.trace), 0)
    kind, name = units.kind, units.name
    talks = _communicates(located, units)
    return ModelTree(
        roots, levels, kind, counts, False, by_order, unit_name=name, communicates=talks
    )


def _communicates(located: Located, units: Units) -> bool:
    """Return True where communication is among the calls of these units."""
    trace = located.trace
    operators = trace.calls["operator"].to_numpy()[units.unit_of != OUTSIDE]
    return bool(trace.operators["is_communication"].to_numpy(dtype=bool)[operators].any())


def _whole(sides: Sequence[tuple[Located, Units]], levels: Levels) -> _Part:
    """Return the calls of the units of all sides, by their place."""
    whole = _Part()
    steps = [operator_steps(side.trace, levels) for side, _ in sides]
    if levels.shapes:
        steps = [
            _without_out_tensors(own, other) for own, other in zip(steps, steps[::-1], strict=True)
        ]
    for number, ((side, units), below) in enumerate(zip(sides, steps, strict=True)):
        _add(whole, number, side, units.unit_of != OUTSIDE, levels, below)
    whole.add_up()
    return whole


def _without_out_tensors(
    own: Sequence[tuple[Step, ...]], others: Sequence[tuple[Step, ...]]
) -> list[tuple[Step, ...]]:
    """Return the steps of one side's operators, which end with shapes, those of an operator that
    the other side runs without its last tensor without that one."""
    texts, other_texts = (
        ["\0".join(name for _, name in of) for of in side] for side in (own, others)
    )
    return [
        (*of[:-1], ("shapes", text.rpartition("\0")[2]))
        for of, text in zip(own, without_out_tensors(texts, other_texts), strict=True)
    ]


_Rank = Callable[[Node], tuple[bool, float, float]]


@dataclass(slots=True)
class _Part:
    """A node while its calls are added, by step, of both sides."""

    parts: dict[Step, _Part] = field(default_factory=dict)
    numbered: tuple[set[tuple[str, ...]], set[tuple[str, ...]]] = field(
        default_factory=lambda: (set(), set())
    )
    executions: list[int] = field(default_factory=lambda: [0, 0])
    total_ns: list[int] = field(default_factory=lambda: [0, 0])

    def part(self, step: Step) -> _Part:
        """Return the part below at this step."""
        found = self.parts.get(step)
        if found is None:
            found = self.parts[step] = _Part()
        return found

    def add_up(self) -> None:
        """Give this part the sums of those below, which have theirs then."""
        for part in self.parts.values():
            part.add_up()
            for side in (0, 1):
                self.executions[side] += part.executions[side]
                self.total_ns[side] += part.total_ns[side]

    def nodes(self, rank: _Rank) -> tuple[Node, ...]:
        """Return the parts below as nodes, those of smaller changes as one."""
        found = sorted((part.node(step, rank) for step, part in self.parts.items()), key=rank)
        if len(found) <= MAX_CHILDREN:
            return tuple(found)
        return (*found[: MAX_CHILDREN - 1], _together(found[MAX_CHILDREN - 1 :]))

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


def _together(rest: Sequence[Node]) -> Node:
    """Return several parts as one node of kind `more`."""
    count = sum(node.instances[0] if node.kind == "more" else 1 for node in rest)
    return Node(
        (("more", ""),),
        (count, count),
        _sum(node.executions for node in rest),
        _sum(node.total_ns for node in rest),
    )


def _largest(roots: tuple[Node, ...], rank: _Rank) -> tuple[Node, ...]:
    """Return the nodes of the largest changes with what holds them; of each node the others are one
    together."""
    nodes = list(roots)
    for node in nodes:  # which grows meanwhile
        nodes += node.children
    if len(nodes) <= MAX_PARTS:
        return roots
    return _cut(roots, {id(node) for node in sorted(nodes, key=rank)[:MAX_PARTS]})


def _cut(nodes: tuple[Node, ...], chosen: set[int]) -> tuple[Node, ...]:
    """Return the nodes that are chosen or hold a chosen one, with the others as one; none where
    there is no such node."""
    kept, rest = [], []
    for node in nodes:
        children = _cut(node.children, chosen)
        if node.kind != "more" and (children or id(node) in chosen):
            kept.append(replace(node, children=children))
        else:
            rest.append(node)
    return (*kept, _together(rest)) if kept and rest else tuple(kept)


def _add(
    whole: _Part,
    side: int,
    located: Located,
    chosen: np.ndarray,
    levels: Levels,
    below: Sequence[tuple[Step, ...]],
) -> None:
    """Add the chosen calls of one side, those of one operator at one place together, to the parts
    that hold no others. `below` has the steps of each operator below its place."""
    calls, places = located.trace.calls, located.places
    pairs = places.of[chosen] * max(1, len(below)) + calls["operator"].to_numpy()[chosen]
    order = np.argsort(pairs, kind="stable")
    distinct, firsts = np.unique(pairs[order], return_index=True)
    if not len(distinct):
        return
    times = np.add.reduceat(calls["dur_ns"].to_numpy()[chosen][order], firsts)
    counts = np.add.reduceat(calls["n"].to_numpy()[chosen][order], firsts)
    modules: dict[int, _Part] = {}
    for pair, total_ns, count in zip(
        distinct.tolist(), times.tolist(), counts.tolist(), strict=True
    ):
        place, operator = divmod(pair, len(below))
        part = modules.get(place)
        if part is None:
            part = modules[place] = _module(whole, side, places, place, levels)
        for step in below[operator]:
            part = part.part(step)
        part.executions[side] += count
        part.total_ns[side] += total_ns


def _module(whole: _Part, side: int, places: Places, place: int, levels: Levels) -> _Part:
    """Return the part that stands for the innermost module of a place, with one more instance of
    each of its modules."""
    part = whole
    kind: Kind = "repeat" if levels.modules == "repeat" else "module"
    for depth, name in enumerate(places.modules[place]):
        part = part.part((kind, name))
        part.numbered[side].add(places.instances[place][: depth + 1])
    if places.is_backward(place):
        part = part.part(BACKWARD)
    for step in _outside(places, place, levels):
        part = part.part(step)
    return part


def _outside(places: Places, place: int, levels: Levels) -> tuple[Step, ...]:
    """Return the step that stands for a place in no module; none in a tree without modules."""
    if levels.modules is None or places.modules[place]:
        return ()
    if levels.modules == "repeat":
        return (OUTSIDE_LAYERS,)
    return (UNPLACED if place == places.unknown else OUTSIDE_MODULES,)


def _sum(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    before, after = 0, 0
    for first, second in pairs:
        before, after = before + first, after + second
    return before, after


def _change(total_ns: tuple[int, int], counts: tuple[int, int]) -> float:
    return total_ns[1] / counts[1] - total_ns[0] / counts[0]
