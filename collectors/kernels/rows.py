"""Softmax and normalisations over the last axis with the elementwise operators around them: a row
is read, reduced and written while it stays in the first cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.patterns import rows
from fusescope.collectors.kernels import Kernel, formulas
from fusescope.collectors.kernels.formulas import Formula, number
from fusescope.collectors.kernels.group import STANDARD, Program, parts, shape_of, size
from fusescope.collectors.kernels.naming import unique
from fusescope.collectors.kernels.row_program import LONGEST, Operand, Step, source

MAX_ARRAYS = 8  # beyond, the compiler no longer proves that they do not overlap
_NAMES = {"softmax": "FusedSoftmax", "layer_norm": "FusedLayerNormalization"}


def groups(graph: Graph, kernel: Kernel) -> list[Row]:
    """Every Softmax (`kernel.op_types` says which) or normalisation with its neighbours that rows
    by themselves can compute, in graph order.

    All tensors are float32 and of known size; operands broadcast to the result.
    """
    known = {node.name for node in graph.nodes if _is_known(node, graph)}
    found: list[Row] = []
    taken = {node.name for node in graph.nodes}
    for match in rows(graph, known):
        if not any(node.op_type in kernel.op_types for node in match.nodes):
            continue
        builder = _Builder(graph, shape_of(graph, match.nodes[-1].outputs[0]) or ())
        if all(builder.add(node) for node in match.nodes) and builder.fits():
            op_name = _NAMES[kernel.name]
            name = unique(match.nodes[-1], op_name, len(found), taken)
            found.append(builder.row(name, op_name))
    return found


@dataclass(frozen=True)
class Row:
    """A Group (collectors/kernels/group.py) whose last axis is computed at once."""

    nodes: tuple[Node, ...]
    name: str
    op_name: str
    operands: tuple[str, ...]
    reads: tuple[Operand, ...]
    replaceable: tuple[str, ...]
    shape: tuple[int, ...]
    steps: tuple[Step, ...]

    @property
    def output(self) -> str:
        return self.nodes[-1].outputs[0]

    def program(self, *, over: str, threads: int, grain_bytes: int = 0) -> Program:
        """Rows in as many parts as there are threads, with scratch memory for each part."""
        full = sum(operand.is_full for operand in self.reads)
        count, length = size(self.shape[:-1]), self.shape[-1]
        cut = min(count, parts(size(self.shape), full, threads, grain_bytes))
        target = self.operands.index(over) if over else None
        text, lines = source(self.steps, self.reads, length, target, is_parallel=cut > 1)
        return Program(text, (count, *((cut,) if cut > 1 else ())), lines * length * cut)


def _is_known(node: Node, graph: Graph) -> bool:
    if node.domain not in STANDARD:
        return False
    return node.op_type in _EXPANDED or formulas.formula_of(node, graph) is not None


@dataclass
class _Builder:
    """The steps of operators, taken in graph order. `made` are the numbers of the tensors that
    they write: -1 - n for the result of step n."""

    graph: Graph
    shape: tuple[int, ...]
    nodes: list[Node] = field(default_factory=list)
    operands: dict[str, Operand] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def add(self, node: Node) -> bool:
        """False where rows by themselves cannot compute it."""
        shape = shape_of(self.graph, node.outputs[0])
        if shape is None or len(self.shape) < 1 or shape[:-1] != self.shape[:-1]:
            return False
        expand = _EXPANDED.get(node.op_type)
        if expand is not None:
            result = expand(self, node)
        else:
            told = formulas.formula_of(node, self.graph)
            reads = [] if told is None else [self.read(name) for name in told[0]]
            result = None if told is None or None in reads else self.step("map", told[1], *reads)
        if result is None:
            return False
        is_full = self.is_full(result)
        if shape[-1] != (self.shape[-1] if is_full else 1):
            return False
        self.nodes.append(node)
        self.made[node.outputs[0]] = result
        return True

    def read(self, name: str) -> int | None:
        """The number of a tensor; None where it does not broadcast to the rows."""
        if name in self.made:
            return self.made[name]
        if name not in self.operands:
            known = shape_of(self.graph, name)
            operand = None if known is None else Operand.of(known, self.shape)
            if operand is None:
                return None
            self.operands[name] = operand
        return list(self.operands).index(name)

    def step(self, kind: Literal["map", "sum", "max"], formula: Formula, *reads: int | None) -> int:
        arguments = tuple(n for n in reads if n is not None)
        is_full = kind == "map" and any(map(self.is_full, arguments))
        self.steps.append(Step(kind, formula, arguments, is_full))
        return -len(self.steps)

    def is_full(self, at: int) -> bool:
        """Whether a tensor has a value for each of the last axis."""
        if at >= 0:
            return list(self.operands.values())[at].varies
        return self.steps[-1 - at].is_full

    def fits(self) -> bool:
        """Whether the result is a row, with a reduction in it, of few arrays."""
        arrays = sum(operand.varies for operand in self.operands.values())
        reduces = any(step.kind != "map" for step in self.steps)
        whole = self.steps[-1].is_full and 1 < self.shape[-1] <= LONGEST
        return whole and reduces and arrays + 1 < MAX_ARRAYS

    def row(self, name: str, op_name: str) -> Row:
        return Row(
            nodes=tuple(self.nodes),
            name=name,
            op_name=op_name,
            operands=tuple(self.operands),
            reads=tuple(self.operands.values()),
            replaceable=tuple(
                name for name in self.operands if shape_of(self.graph, name) == self.shape
            ),
            shape=self.shape,
            steps=tuple(self.steps),
        )

    def mean(self, at: int) -> int:
        """The mean of a row: its sum divided by its length."""
        total = self.step("sum", lambda n: n[0], at)
        length = self.shape[-1]
        return self.step("map", lambda n: f"{n[0]} / {number(length)}", total)


def _softmax(builder: _Builder, node: Node) -> int | None:
    """exp(x - max) / sum, so that nothing overflows."""
    if not _is_last(node, builder):
        return None
    x = builder.read(node.inputs[0])
    if x is None or not builder.is_full(x):
        return None
    top = builder.step("max", lambda n: n[0], x)
    power = builder.step("map", lambda n: f"exp({n[0]} - {n[1]})", x, top)
    total = builder.step("sum", lambda n: n[0], power)
    inverse = builder.step("map", lambda n: f"F(1.0) / {n[0]}", total)
    return builder.step("map", lambda n: f"{n[0]} * {n[1]}", power, inverse)


def _layer_norm(builder: _Builder, node: Node) -> int | None:
    """(x - mean) / sqrt(variance + epsilon) · scale + shift, the variance of what is centred."""
    epsilon = node.attributes.get("epsilon", 1e-5)
    if not _is_last(node, builder) or not isinstance(epsilon, int | float):
        return None
    x, *affine = (builder.read(name) for name in node.inputs if name)
    if x is None or None in affine or not affine or not builder.is_full(x):
        return None
    mean = builder.mean(x)
    centred = builder.step("map", lambda n: f"{n[0]} - {n[1]}", x, mean)
    variance = builder.mean(builder.step("map", lambda n: f"{n[0]} * {n[0]}", centred))
    text = number(epsilon)
    inverse = builder.step("map", lambda n: f"F(1.0) / np.sqrt({n[0]} + {text})", variance)
    result = builder.step("map", lambda n: f"{n[0]} * {n[1]}", centred, inverse)
    for sign, operand in zip("*+", affine, strict=False):
        result = builder.step("map", _join(sign), result, operand)
    return result


def _join(sign: str) -> Formula:
    return lambda n: f"{n[0]} {sign} {n[1]}"


def _mean(builder: _Builder, node: Node) -> int | None:
    """ReduceMean over the last axis that keeps it."""
    axes = node.attributes.get("axes")
    if len(node.inputs) > 1 and node.inputs[1]:
        tensor = builder.graph.tensor.get(node.inputs[1])
        is_fixed = tensor is not None and tensor.constant and not tensor.overridable
        axes = list(tensor.values) if tensor is not None and is_fixed and tensor.values else None
    x = builder.read(node.inputs[0])
    if x is None or not builder.is_full(x) or node.attributes.get("keepdims", 1) != 1:
        return None
    if not isinstance(axes, list) or len(axes) != 1:
        return None
    return builder.mean(x) if axes[0] in (-1, len(builder.shape) - 1) else None


def _is_last(node: Node, builder: _Builder) -> bool:
    """Whether the operator goes over the last axis, in every opset."""
    axis = node.attributes.get("axis")
    if axis is None:  # the default of Softmax was 1 before opset 13
        return node.op_type != "Softmax" or len(builder.shape) == 2
    return axis in (-1, len(builder.shape) - 1)


_EXPANDED: dict[str, Callable[[_Builder, Node], int | None]] = {
    "Softmax": _softmax,
    "LayerNormalization": _layer_norm,
    "ReduceMean": _mean,
}
