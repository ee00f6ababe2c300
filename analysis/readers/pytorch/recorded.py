"""Profiles of recordings of ours with torch: the calls of each run, joined to the variant's graph.

A generated kernel's name serves unrelated operators (equal source is compiled once), so calls are
joined by their order: the n-th call of a run is the n-th node of the graph, where the names of all
of them agree. A call is an operator of the host that no other is around; what it dispatches
is part of it. The compiler's wrappers are dispatch, and no operators.

On a device a call has the time of the kernels that it launched. Kernels that no call launched, such
as those of a graph of the device, are operators of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.operators.devices import runs_on_device
from fusescope.analysis.operators.members import inductor, members_text
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.nesting import Nesting
from fusescope.analysis.readers.building.trace_tables import build_trace, shape_text
from fusescope.analysis.readers.input.json_events import EventFile, decode_file
from fusescope.analysis.readers.pytorch.dispatch import is_dispatch
from fusescope.analysis.readers.pytorch.event import Event, Span
from fusescope.analysis.readers.pytorch.events import sort_events
from fusescope.analysis.readers.pytorch.inputs import Inputs
from fusescope.analysis.readers.pytorch.recorded_kernels import (
    LaunchedKernels,
    kernel_row,
    kernel_times,
)
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Meta, Trace, noted, runs_frame

# A reshape is another operator to its gradient where a dispatch mode watches it.
_SAME = {
    "autograd::engine::evaluate_function: ReshapeAliasBackward0": (
        "autograd::engine::evaluate_function: ViewBackward0"
    )
}
_GRAPH_NUMBER = re.compile(r"^graph_\d{1,9}_")
_NO_TENSORS = dict.fromkeys(
    ("inputs", "outputs", "bytes_in", "bytes_param", "bytes_out", "flops", "flops_source")
    + ("members", "members_source")
)
_NO_BYTES = dict.fromkeys(("bytes_in", "bytes_param", "bytes_out"))


@dataclass
class RecordedCalls:
    """Collects the profiles of one variant, one a block, into one Trace. `graph` is the variant's,
    None where it is not known: calls then keep the profiler's names. `provider` ran it, on
    `device`."""

    graph: Graph | None
    limits: Limits = DEFAULT_LIMITS
    provider: str = "CPU"
    device: str = "CPU"
    _rows: Columns = field(default_factory=Columns)
    _runs: Columns = field(default_factory=Columns)
    _notes: list[Diagnostic] = field(default_factory=list)
    _unjoined: int = 0
    _by_kernels: int = 0
    _without_kernels: int = 0
    _strays: int = 0  # kernels that no call launched

    def add(self, data: bytes, where: str, *, block: int | None, warmup_runs: int) -> None:
        """Add the runs of one file; the first `warmup_runs` are marked. Raises FuseScopeError for a
        file that cannot be read."""
        events, _, notes = decode_file(data, Event, EventFile, where, self.limits)
        found = sort_events(events)
        self._notes += [note for note in (*notes, *found.notes) if note.code != "other_events"]
        steps = sorted(found.steps, key=lambda step: step[1].start_ns)
        ops = sorted(
            (op for op in found.ops if not is_dispatch(op.name)),
            key=lambda op: (op.start_ns, -op.dur_ns),
        )
        inputs = Inputs()
        launched = LaunchedKernels(found) if self._is_on_device else None
        place = 0
        for number, (_, step) in enumerate(steps):
            run = self._runs.count
            self._runs.add(
                run=run,
                kind="step",
                start_ns=step.start_ns,
                dur_ns=step.dur_ns,
                warmup=number < warmup_runs,
                block=block,
            )
            inside = []
            while place < len(ops) and ops[place].start_ns < step.end_ns:
                if ops[place].start_ns >= step.start_ns:
                    inside.append(ops[place])
                place += 1
            self._add_run(run, inside, inputs, launched, step)

    def trace(self, meta: Meta) -> Trace:
        """The Trace of everything added so far. Raises FuseScopeError where there is no call."""
        notes = list(dict.fromkeys(self._notes))
        if self.graph is not None:
            notes += noted("warning", "calls_not_of_graph", self._unjoined)
        if self._is_on_device and not self._by_kernels and not self._strays:
            notes += noted("warning", "launch_times", 1)
        else:
            notes += noted("info", "nodes_by_kernels", self._by_kernels)
            notes += noted("info", "nodes_without_kernels", self._without_kernels)
        runs = runs_frame(**self._runs, profiled=[True] * self._runs.count)
        return build_trace(meta, self._rows, runs=runs, notes=notes, limits=self.limits)

    @property
    def _is_on_device(self) -> bool:
        return runs_on_device(self.provider)

    def _add_run(
        self,
        run: int,
        ops: Sequence[Span],
        inputs: Inputs,
        launched: LaunchedKernels | None,
        step: Span,
    ) -> None:
        calls = list(_outermost(ops))
        nodes = self._nodes([call for call, _ in calls])
        self._unjoined += nodes is None and self.graph is not None
        for place, (call, inner) in enumerate(calls):
            node = nodes[place] if nodes is not None else None
            row = _row(call, inner, node, self.graph, inputs)
            row |= {"provider": self.provider, "device": self.device}
            if launched is not None and launched.kernels:
                kernels = launched.of([op.row for op in (call, *inner)])
                row |= kernel_times(kernels, call.start_ns)
                self._by_kernels += bool(kernels)
                self._without_kernels += not kernels and "view" not in _attributes(node)
            self._rows.add(**row, run=run)
        for kernel in launched.left(step) if launched is not None else ():
            self._strays += 1
            row = kernel_row(kernel, self.provider, self.device)
            self._rows.add(**row, **_NO_TENSORS, run=run)

    def _nodes(self, calls: Sequence[Span]) -> list[Node | None] | None:
        """The node of each call, None for calls that dispatch nothing and are in no graph; None
        where the calls are not those of the graph."""
        if self.graph is None:
            return None
        waiting = list(self.graph.nodes)
        waiting.reverse()
        found: list[Node | None] = []
        for call in calls:
            expected = waiting[-1].attributes.get("event") if waiting else None
            name = _GRAPH_NUMBER.sub("", call.name)
            is_it = expected in (name, _SAME.get(name, name))
            found.append(waiting.pop() if is_it else None)
        return found if not waiting else None


def _attributes(node: Node | None) -> Mapping[str, object]:
    return {} if node is None else node.attributes


def _outermost(ops: Sequence[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """Operators that no other on their thread is around, with those inside; `ops` by start."""
    nesting = Nesting(
        [op.lane for op in ops], [op.start_ns for op in ops], [op.dur_ns for op in ops]
    )
    inside: dict[int, list[Span]] = {}
    roots: list[int] = []
    root_of: dict[int, int] = {}
    for place, parent in enumerate(nesting.parents):
        if parent < 0:
            roots.append(place)
            root_of[place] = place
        else:
            root_of[place] = root_of[parent]
            inside.setdefault(root_of[place], []).append(ops[place])
    for place in roots:
        yield ops[place], inside.get(place, [])


def _row(
    call: Span, inner: Sequence[Span], node: Node | None, graph: Graph | None, inputs: Inputs
) -> dict[str, object]:
    name = _GRAPH_NUMBER.sub("", call.name) or "unnamed"
    counts = [inputs.flops(op.name, op.args) for op in (call, *inner)]
    known = [count for count in counts if count is not None and count.total is not None]
    members = inductor(call.name)
    return {
        "name": node.name if node is not None else name,
        "op_type": node.op_type if node is not None else name,
        "provider": "CPU",
        "level": "framework_op",
        **_tensors(graph, node, inputs.text(call.args)),
        "flops": known[0].total if known else None,
        "flops_source": known[0].source if known else None,
        "members": members_text(members) if members is not None else None,
        "members_source": members.kind if members is not None else None,
        "device": "CPU",
        "stream": clean_text(f"thread {call.lane[1].decode('utf-8', 'replace')}", 40),
        "start_ns": call.start_ns,
        "dur_ns": call.dur_ns,
        "source_row": call.row,
    }


def _tensors(graph: Graph | None, node: Node | None, recorded: str) -> dict[str, object]:
    """Shapes and bytes of what a node of the graph reads and writes; else the recorded inputs."""
    if graph is None or node is None:
        return {"inputs": recorded, "outputs": None, **_NO_BYTES}
    weights = [name for name in node.inputs if graph.tensor[name].constant]
    others = [name for name in node.inputs if name not in weights]
    return {
        "inputs": _shapes(graph, node.inputs),
        "outputs": _shapes(graph, node.outputs),
        "bytes_in": _bytes(graph, others),
        "bytes_param": _bytes(graph, weights),
        "bytes_out": _bytes(graph, node.outputs),
    }


def _shapes(graph: Graph, names: Sequence[str]) -> str:
    tensors = [graph.tensor[name] for name in names]
    known = [(t.dtype or "", ",".join(map(str, t.shape))) for t in tensors if t.shape is not None]
    return shape_text([dtype for dtype, _ in known], [shape for _, shape in known])


def _bytes(graph: Graph, names: Sequence[str]) -> int | None:
    sizes = [graph.bytes_of(name) for name in names]
    return None if None in sizes else sum(size for size in sizes if size is not None)
