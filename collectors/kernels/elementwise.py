"""Chains of elementwise operators as one loop: every value is read once and written once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.patterns import chains
from fusescope.collectors.kernels import Kernel, compiled, formulas
from fusescope.collectors.kernels.formulas import Formula
from fusescope.collectors.kernels.group import STANDARD, Program, parts, shape_of, size
from fusescope.collectors.kernels.naming import unique

MAX_ARRAYS = 8  # beyond, the compiler no longer proves that they do not overlap

Kind = Literal["full", "scalar", "row"]
Rows = tuple[int, int, int]  # outer, mid, inner: a row operand has one value for each of mid


def groups(graph: Graph, kernel: Kernel) -> list[Chain]:
    """Every maximal chain of two or more operators that one loop can compute, in graph order.

    All tensors are float32 and of known size. Operands have the shape of the result, one value,
    or values along one range of its axes, the same range for all of a chain.
    """
    allowed = kernel.op_types or tuple(sorted(formulas.OP_TYPES))
    known = {
        node.name
        for node in graph.nodes
        if node.op_type in allowed and node.domain in STANDARD and _Builder(graph).add(node)
    }
    found: list[Chain] = []
    taken = {node.name for node in graph.nodes}
    for run in chains(graph, known):
        for builder in _pieces(run.nodes, graph):
            types = {node.op_type for node in builder.nodes}
            if len(builder.nodes) > 1 and types.issuperset(kernel.op_types):
                name = unique(builder.nodes[-1], "FusedElementwise", len(found), taken)
                found.append(builder.chain(name))
    return found


@dataclass(frozen=True)
class Chain:
    """A Group (collectors/kernels/group.py). `steps` are the formulas with their arguments: the
    number of an operand, or -1 - n for the result of step n. `kinds` are those of the operands."""

    nodes: tuple[Node, ...]
    name: str
    operands: tuple[str, ...]
    kinds: tuple[Kind, ...]
    replaceable: tuple[str, ...]
    shape: tuple[int, ...]
    steps: tuple[tuple[Formula, tuple[int, ...]], ...]
    rows: Rows | None
    op_name: str = "FusedElementwise"

    @property
    def output(self) -> str:
        return self.nodes[-1].outputs[0]

    def program(self, *, over: str, threads: int, grain_bytes: int = 0) -> Program:
        """One pass over all values, cut into as many parts as there are threads."""
        target = f"a{self.operands.index(over)}" if over else "y"
        arrays = [*([] if over else ["y"]), *(f"a{n}" for n in range(len(self.operands)))]
        full = sum(kind == "full" for kind in self.kinds)
        cut = parts(size(self.shape), full, threads, grain_bytes)
        more: tuple[int, ...] = ()
        if self.rows is None:
            extent, loop = size(self.shape), self._flat(target)
        elif self.rows[2] > 1:
            more = self.rows[1:]
            extent, loop = self.rows[0] * self.rows[1], self._by_row(target)
        else:
            more = self.rows[1:2]
            extent, loop = self.rows[0], self._along_row(target)
        cut = min(cut, extent)
        names = ("mid", "inner")[: len(more)]
        source = _source(arrays, names, loop, is_parallel=cut > 1)
        return Program(source, (extent, *more, *((cut,) if cut > 1 else ())))

    # Slices start every loop at 0: else each index is checked for being negative.

    def _flat(self, target: str) -> list[str]:
        return [
            *self._single("scalar", "0"),
            *self._slices(target, "first", "last"),
            "for i in range(last - first):",
            *_indented(self._body(target)),
        ]

    def _by_row(self, target: str) -> list[str]:
        return [
            *self._single("scalar", "0"),
            "for row in range(first, last):",
            *_indented(self._single("row", "row % mid")),
            *_indented(self._slices(target, "row * inner", "(row + 1) * inner")),
            "    for i in range(inner):",
            *_indented(_indented(self._body(target))),
        ]

    def _along_row(self, target: str) -> list[str]:
        return [
            *self._single("scalar", "0"),
            "for row in range(first, last):",
            *_indented(self._slices(target, "row * mid", "(row + 1) * mid")),
            "    for i in range(mid):",
            *_indented(_indented([*self._single("row", "i"), *self._body(target)])),
        ]

    def _slices(self, target: str, start: str, end: str) -> list[str]:
        arrays = [f"a{n}" for n, kind in enumerate(self.kinds) if kind == "full"]
        if target not in arrays:
            arrays.append(target)
        return [f"x{name} = {name}[{start}:{end}]" for name in arrays]

    def _single(self, kind: Kind, at: str) -> list[str]:
        return [f"v{n} = a{n}[{at}]" for n, of in enumerate(self.kinds) if of == kind]

    def _body(self, target: str) -> list[str]:
        lines = [
            f"t{index} = {formula([f'v{n}' if n >= 0 else f't{-1 - n}' for n in arguments])}"
            for index, (formula, arguments) in enumerate(self.steps)
        ]
        full = [f"v{n} = xa{n}[i]" for n, kind in enumerate(self.kinds) if kind == "full"]
        return [*full, *lines, f"x{target}[i] = t{len(self.steps) - 1}"]


@dataclass
class _Builder:
    """A chain that grows node by node."""

    graph: Graph
    nodes: list[Node] = field(default_factory=list)
    operands: dict[str, Kind] = field(default_factory=dict)
    steps: list[tuple[Formula, tuple[int, ...]]] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    rows: Rows | None = None

    def add(self, node: Node) -> bool:
        """Takes the node, which reads the last one's result; False where one loop cannot."""
        told = formulas.formula_of(node, self.graph)
        shape = shape_of(self.graph, node.outputs[0]) if len(node.outputs) == 1 else None
        if told is None or shape is None or (self.nodes and shape != self.shape):
            return False
        reads, formula = told
        before = self.nodes[-1].outputs[0] if self.nodes else None
        operands, rows = dict(self.operands), self.rows
        for name in reads:
            if name == before:
                continue
            known = shape_of(self.graph, name)
            kind = None if known is None else _kind(known, shape)
            if kind is None or (kind[1] is not None and rows not in (None, kind[1])):
                return False
            operands[name] = kind[0]
            rows = kind[1] or rows
        if before is not None and before not in reads:
            return False
        if list(operands.values()).count("full") + 1 > MAX_ARRAYS:
            return False
        number = {name: index for index, name in enumerate(operands)}
        own = -len(self.steps)  # of the step before: -1 - n
        arguments = tuple(own if name == before else number[name] for name in reads)
        self.nodes.append(node)
        self.steps.append((formula, arguments))
        self.operands, self.rows, self.shape = operands, rows, shape
        return True

    def chain(self, name: str) -> Chain:
        kinds = self.operands
        return Chain(
            nodes=tuple(self.nodes),
            name=name,
            operands=tuple(kinds),
            kinds=tuple(kinds.values()),
            replaceable=tuple(
                name
                for name, kind in kinds.items()
                if kind == "full" and shape_of(self.graph, name) == self.shape
            ),
            shape=self.shape,
            steps=tuple(self.steps),
            rows=self.rows,
        )


def _pieces(nodes: Iterable[Node], graph: Graph) -> list[_Builder]:
    """A run of operators cut where one loop cannot go on."""
    found = [_Builder(graph)]
    for node in nodes:
        if not found[-1].add(node):
            found.append(_Builder(graph))
            found[-1].add(node)
    return found


def _kind(shape: Sequence[int], whole: Sequence[int]) -> tuple[Kind, Rows | None] | None:
    """How an operand of this shape is read for a result of the shape `whole`."""
    if size(shape) == 1:
        return "scalar", None
    if len(shape) > len(whole):
        return None
    aligned = (*(1,) * (len(whole) - len(shape)), *shape)
    if aligned == tuple(whole):
        return "full", None
    varying = [axis for axis, length in enumerate(aligned) if length > 1]
    first, last = varying[0], varying[-1] + 1
    if aligned[first:last] != tuple(whole[first:last]):
        return None
    return "row", (size(whole[:first]), size(whole[first:last]), size(whole[last:]))


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _source(
    arrays: Sequence[str], more: Sequence[str], loop: Sequence[str], *, is_parallel: bool
) -> str:
    """The module: the loop over a part of the values, and the entry that runs all parts."""
    told = ", ".join([*arrays, "first", "last", *more])
    entry = ", ".join([*arrays, "extent", *more, *(["parts"] if is_parallel else [])])
    numbers = 1 + len(more) + is_parallel
    signature = ", ".join([*["float32[::1]"] * len(arrays), *["intp"] * numbers])
    passed = ", ".join([*arrays, "{}", "{}", *more])
    if is_parallel:
        bounds = passed.format("part * extent // parts", "(part + 1) * extent // parts")
        calls = ["for place in prange(parts):", "    part = np.intp(place)", f"    run({bounds})"]
    else:
        calls = [f"run({passed.format('0', 'extent')})"]
    return "\n".join(
        [
            "# Made by FuseScope; it is made again when it is missing.",
            "import numpy as np",
            "from numba import njit, prange",
            formulas.HELPERS,
            "",
            '@njit(error_model="numpy", fastmath={"contract"})',
            f"def run({told}):",
            *_indented(loop),
            "",
            "",
            f'@njit(["void({signature})"], cache=True, parallel={is_parallel})',
            f"def {compiled.ENTRY}({entry}):",
            *_indented(calls),
            "",
        ]
    )
