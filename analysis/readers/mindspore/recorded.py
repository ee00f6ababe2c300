"""Profiles of recordings of ours with MindSpore: the executions of each run, several files as one.

The profile has the clock of the machine, and the recording says when each run began. A kernel of a
graph has a name of its own. In an eager run the name is only the operator's type, so there the n-th
execution of a run is the n-th operator of the variant's graph.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.trace_tables import build_trace, shape_text
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.mindspore.beside import type_of
from fusescope.analysis.readers.mindspore.executions import Executions, read_timestamps
from fusescope.analysis.readers.mindspore.numbering import nodes_of, numbers_of
from fusescope.analysis.trace import Diagnostic, Meta, Trace, merged, noted, runs_frame


@dataclass
class RecordedExecutions:
    """Collects the profiles of one variant, one a block, into one Trace. `graph` is the variant's,
    None where it is not known: executions then keep the profiler's names, with the numbers of the
    first file, as MindSpore numbers them over all that a process compiled. There no two variants
    have the same one."""

    graph: Graph | None
    limits: Limits = DEFAULT_LIMITS
    _rows: Columns = field(default_factory=lambda: Columns("name", "dur_ns"))
    _runs: Columns = field(default_factory=Columns)
    _notes: list[Diagnostic] = field(default_factory=list)
    _outside: int = 0
    _unjoined: int = 0
    _first: dict[str, list[int]] = field(default_factory=dict)  # numbers of a name in that file
    _last: tuple[Sequence[str], list[Node | None]] = ((), [])  # names of a run, and their nodes

    def add(
        self,
        data: bytes,
        where: str,
        *,
        block: int | None,
        warmup_runs: int,
        spans: Sequence[tuple[int, int]],
    ) -> None:
        """Add the executions of one file, in the runs of these (start_ns, dur_ns); the first
        `warmup_runs` are marked. Raises FuseScopeError for a file with too many executions."""
        ran, notes = read_timestamps(Source(where, data, self.limits), "HostCpuOps", "ms")
        self._notes += notes
        ordered = sorted(spans)
        first = self._runs.count
        for number, (start, dur) in enumerate(ordered):
            self._runs.add(
                run=first + number,
                kind="step",
                start_ns=start,
                dur_ns=dur,
                warmup=number < warmup_runs,
                block=block,
            )
        starts = [start for start, _ in ordered]
        of_run: dict[int, list[int]] = {}
        for at in ran.in_order():
            start = ran.start_ns[at] or 0
            run = bisect_right(starts, start) - 1
            if run < 0 or start >= ordered[run][0] + ordered[run][1]:
                self._outside += 1
            else:
                of_run.setdefault(run, []).append(at)
        self.limits.check_events(self._rows.count + len(ran.name), "more_events_than_limit", where)
        names = ran.name if self.graph is not None else self._as_first(ran.name)
        for run, executions in of_run.items():
            self._add_run(ran, names, first + run, executions)

    def trace(self, meta: Meta) -> Trace:
        """The Trace of everything added so far. Raises FuseScopeError where there is no kernel."""
        notes = [*merged(self._notes), *noted("warning", "outside_runs", self._outside)]
        notes += noted("warning", "calls_not_of_graph", self._unjoined)
        runs = runs_frame(**self._runs, profiled=[True] * self._runs.count)
        return build_trace(meta, self._rows, runs=runs, notes=notes, limits=self.limits)

    def _add_run(
        self, ran: Executions, names: Sequence[str], run: int, executions: Sequence[int]
    ) -> None:
        nodes = self._nodes([names[at] for at in executions])
        self._unjoined += self.graph is not None and None in nodes
        for at, node in zip(executions, nodes, strict=True):
            name = names[at]
            tensors = {} if node is None else self._tensors(node)
            self._rows.add(
                name=name if node is None else node.name,
                op_type=type_of(name) if node is None else node.op_type,
                run=run,
                start_ns=ran.start_ns[at],
                dur_ns=ran.dur_ns[at],
                stream=ran.stream[at],
                source_row=ran.row[at],
                provider="CPU",
                device="CPU",
                level="framework_op",
                **tensors,
            )

    def _nodes(self, names: Sequence[str]) -> list[Node | None]:
        """The node of the graph that each of a run's executions is."""
        if self.graph is None:
            return [None] * len(names)
        if not self._is_eager:
            if names != self._last[0]:  # most runs of a process are alike
                self._last = names, nodes_of(names, self.graph)
            return self._last[1]
        nodes = [node for node in self.graph.nodes if "view" not in node.attributes]
        if [node.op_type for node in nodes] != [type_of(name) for name in names]:
            return [None] * len(names)
        return list(nodes)

    def _as_first(self, names: Sequence[str]) -> list[str]:
        """'x/Mul-op7' as 'x/Mul-op4' where the first file has that in its place; a name that has
        another count of numbers there keeps its own."""
        anew = {}
        for base, numbers in numbers_of(names).items():
            first = self._first.setdefault(base, numbers)
            if len(first) == len(numbers):
                for number, own in zip(numbers, first, strict=True):
                    anew[f"{base}-op{number}"] = f"{base}-op{own}"
        return [anew.get(name, name) for name in names]

    @property
    def _is_eager(self) -> bool:
        assert self.graph is not None
        return any("event" in node.attributes for node in self.graph.nodes)

    def _tensors(self, node: Node) -> dict[str, object]:
        graph = self.graph
        assert graph is not None
        weights = [n for n in node.inputs if n in graph.tensor and graph.tensor[n].constant]
        others = [name for name in node.inputs if name not in weights]
        written = [name for name in node.outputs if name]
        return {
            "inputs": _shapes(graph, node.inputs),
            "outputs": _shapes(graph, written),
            "bytes_in": _bytes(graph, others),
            "bytes_param": _bytes(graph, weights),
            "bytes_out": _bytes(graph, written),
        }


def _shapes(graph: Graph, names: Sequence[str]) -> str:
    tensors = [graph.tensor[name] for name in names if name in graph.tensor]
    known = [(t.dtype or "", ",".join(map(str, t.shape))) for t in tensors if t.shape is not None]
    return shape_text([dtype for dtype, _ in known], [shape for _, shape in known])


def _bytes(graph: Graph, names: Sequence[str]) -> int | None:
    sizes = [graph.bytes_of(name) for name in names]
    return None if None in sizes else sum(size for size in sizes if size is not None)
