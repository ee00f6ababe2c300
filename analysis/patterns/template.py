"""Template: the operators of a pattern and how they are wired, written as lines of text.

    c = Conv(x, w, *)
    y = Relu|Clip(c, *)

Each line is a step. An argument is an earlier step (its first output), a free name for a tensor
(the same name is the same tensor) or `*` for whatever inputs remain, absent ones included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from fusescope.analysis.graph import Node
from fusescope.analysis.patterns.view import STANDARD, View

_LINE = re.compile(r"(\w+) = ([\w|]+)\(([\w, *]*)\)")
_COMMUTATIVE = frozenset(("Add", "Mul", "Sum"))


class Step(msgspec.Struct, frozen=True):
    """One operator: its op types, its arguments, and whether further inputs may follow."""

    name: str
    op_types: tuple[str, ...]
    arguments: tuple[str, ...]
    open_end: bool


class Found(msgspec.Struct, frozen=True):
    """One place where a template fits: nodes by step and tensors by free name."""

    nodes: Mapping[str, Node]
    tensors: Mapping[str, str]


class Template(msgspec.Struct, frozen=True):
    """Steps in topological order; the last one is where matching starts."""

    steps: tuple[Step, ...]

    def matches(self, view: View) -> Iterator[Found]:
        """Every way in which it fits, in graph order of the last step's nodes. The same nodes may
        come more than once: x + y fits both ways."""
        last = self.steps[-1]
        for node in sorted_nodes(view, last.op_types):
            for found in self._at(view, last, node, Found({}, {})):
                in_order = {step.name: found.nodes[step.name] for step in self.steps}
                yield Found(in_order, found.tensors)

    def _at(self, view: View, step: Step, node: Node, known: Found) -> Iterator[Found]:
        inputs = list(node.inputs)
        wanted = len(step.arguments)
        if len(inputs) < wanted or (len(inputs) > wanted and not step.open_end):
            return
        found = Found({**known.nodes, step.name: node}, known.tensors)
        orders = [inputs[:wanted]]
        if node.op_type in _COMMUTATIVE and wanted == 2 and inputs[0] != inputs[1]:
            orders.append(inputs[1::-1])
        for order in orders:
            yield from self._solve(view, list(zip(step.arguments, order, strict=True)), found)

    def _solve(self, view: View, goals: list[tuple[str, str]], known: Found) -> Iterator[Found]:
        if not goals:
            yield known
            return
        (argument, tensor), rest = goals[0], goals[1:]
        if not tensor:
            return
        step = next((step for step in self.steps if step.name == argument), None)
        if step is None:
            bound = known.tensors.get(argument, tensor)
            if view.source(bound) == view.source(tensor):
                tensors = {**known.tensors, argument: bound}
                yield from self._solve(view, rest, Found(known.nodes, tensors))
            return
        node = view.producer(tensor)
        if node is None or node.outputs[0] != view.source(tensor):
            return
        taken = any(other is node for other in known.nodes.values())
        if step.name in known.nodes:
            if known.nodes[step.name] is node:
                yield from self._solve(view, rest, known)
            return
        if node.op_type in step.op_types and node.domain in STANDARD and not taken:
            for found in self._at(view, step, node, known):
                yield from self._solve(view, rest, found)


def sorted_nodes(view: View, op_types: tuple[str, ...]) -> list[Node]:
    """Nodes of these types in graph order."""
    if len(op_types) == 1:
        return view.by_type.get(op_types[0], [])
    position = {id(node): index for index, node in enumerate(view.graph.nodes)}
    nodes = [node for op_type in op_types for node in view.by_type.get(op_type, ())]
    return sorted(nodes, key=lambda node: position[id(node)])


def template(text: str) -> Template:
    """The template that a text describes. Raises ValueError for a line that is none."""
    steps: list[Step] = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise ValueError(f"not a step: {line}")
        arguments = [argument.strip() for argument in parts[3].split(",")]
        open_end = arguments[-1] == "*"
        steps.append(
            Step(
                parts[1],
                tuple(parts[2].split("|")),
                tuple(arguments[:-1] if open_end else arguments),
                open_end,
            )
        )
    return Template(tuple(steps))
