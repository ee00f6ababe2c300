"""Calls of a recording of ours joined to the graph of the variant that ran.

A compiled variant is one program, and its calls have the names of its instructions, as its graph
has. In an eager run each operator is a program of its own: an execution of it is one call, with all
that ran in it. JAX starts programs one after the other, but some are run while others still
are, so executions are joined by their program: its n-th execution in a run, by the numbers that
XLA gives them, is the n-th operator of the graph that uses it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.operators import flops
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.trace_tables import shape_text

Row = dict[str, object]
_Key = tuple[object, object]  # a program, and which of its executions
_MODULE = "jit_"


def joined(columns: Columns, graph: Graph) -> tuple[Columns, int]:
    """The calls of one file with the operators of the graph in place of their names, as far as they
    are joined; in how many runs some were not. Takes `execution` and `module` out."""
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    programs = [node for node in graph.nodes if "programs" in node.attributes]
    if not programs:
        apart = {row["run"] for row in rows if row["name"] not in graph.node}
        made = rows
    else:
        made, apart = _Eager(graph, programs).joined(rows)
    found = Columns(*(name for name in columns if name not in ("execution", "module")))
    for row in made:
        found.add(**{name: row.get(name) for name in found})
    return found, len(apart - {None})


@dataclass
class _Execution:
    """One run of a program: what ran in it."""

    key: _Key
    run: object
    module: str
    rows: list[Row] = field(default_factory=list)

    @property
    def start_ns(self) -> int:
        starts = [row["start_ns"] for row in self.rows]
        return min((start for start in starts if isinstance(start, int)), default=0)

    @property
    def sizes(self) -> set[int]:
        """How many elements the tensors have that are written in it."""
        return {
            math.prod(shape)
            for row in self.rows
            for shape in flops.parse_shapes(str(row.get("outputs") or ""))
        }


class _Eager:
    """Operators of the graph by program: 'mul:2' is the third program for a multiplication."""

    def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
        self._graph = graph
        self._nodes: dict[str, list[Node]] = {}
        for node in nodes:
            told = node.attributes["programs"]
            for program in told if isinstance(told, list) else [told]:
                self._nodes.setdefault(str(program), []).append(node)

    def joined(self, rows: Sequence[Row]) -> tuple[list[Row], set[object]]:
        executions: dict[_Key, _Execution] = {}
        made: list[Row] = []
        for row in rows:
            key = row.get("execution")
            if not isinstance(key, tuple) or row["run"] is None:
                made.append(row)
                continue
            module = str(row.get("module") or "")
            executions.setdefault(key, _Execution(key, row["run"], module)).rows.append(row)
        order = sorted(executions.values(), key=lambda one: one.start_ns)
        programs = self._programs(order)
        apart = set()
        runs: dict[object, dict[object, list[_Execution]]] = {}
        for one in order:
            runs.setdefault(one.run, {}).setdefault(one.key[0], []).append(one)
        for run, by_program in runs.items():
            for program, found in by_program.items():
                nodes = self._nodes.get(programs.get(program, ""), [])
                found.sort(key=_number)
                if len(nodes) == len(found):
                    made += [self._call(one, node) for one, node in zip(found, nodes, strict=True)]
                else:
                    apart.add(run)
                    made += [row for one in found for row in one.rows]
        return made, apart

    def _programs(self, order: Sequence[_Execution]) -> dict[object, str]:
        """The program in the graph of each program of the file: of one name in the order in which
        they first ran, each with as many executions in a run and as many elements."""
        first: dict[object, _Execution] = {}
        counts: dict[tuple[object, object], int] = {}
        for one in order:
            first.setdefault(one.key[0], one)
            counts[one.key[0], one.run] = counts.get((one.key[0], one.run), 0) + 1
        waiting: dict[str, list[str]] = {}
        for name in self._nodes:
            waiting.setdefault(_MODULE + name.rpartition(":")[0], []).append(name)
        found: dict[object, str] = {}
        for program, one in first.items():
            own = {n for (which, _), n in counts.items() if which == program}
            names = waiting.get(one.module, [])
            for place, name in enumerate(names):
                nodes = self._nodes[name]
                if len(nodes) in own and self._sizes(nodes[0]) & one.sizes:
                    found[program] = name
                    del names[: place + 1]
                    break
        return found

    def _sizes(self, node: Node) -> set[int]:
        tensors = (self._graph.tensor.get(name) for name in node.outputs)
        return {math.prod(t.shape) for t in tensors if t is not None and t.shape is not None}

    def _call(self, one: _Execution, node: Node) -> Row:
        """The execution as one call of the operator."""
        longest = max(one.rows, key=lambda row: _whole(row["dur_ns"]))
        ends = [_whole(row["start_ns"]) + _whole(row["dur_ns"]) for row in one.rows]
        span = max(ends) - one.start_ns
        return {
            **longest,
            "name": node.name,
            "op_type": node.op_type,
            "op_class": None,
            "inputs": self._shapes(node.inputs),
            "outputs": self._shapes(node.outputs),
            "members": None,
            "members_source": None,
            "launched_by": node.scope or None,
            "start_ns": one.start_ns,
            "dur_ns": min(sum(_whole(row["dur_ns"]) for row in one.rows), span),
            "span_ns": None,
        }

    def _shapes(self, names: Sequence[str]) -> str:
        tensors = [self._graph.tensor[name] for name in names if name in self._graph.tensor]
        known = [
            (t.dtype or "", ",".join(map(str, t.shape))) for t in tensors if t.shape is not None
        ]
        return shape_text([dtype for dtype, _ in known], [shape for _, shape in known])


def _number(one: _Execution) -> int:
    return _whole(one.key[1])


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
