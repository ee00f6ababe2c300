"""ONNX Runtime profiles: the JSON that `enable_profiling` writes, from 2019 to 1.31.

A list of events: `Session` events mark `model_run`; one `Node` event `<node>_kernel_time` per
node and run. Times are whole µs after the start of profiling, all numbers in `args` are strings.
Node events are written before the `model_run` that holds them. Builds before 2023 add fences
around every node, leave out shapes, and may name neither nodes nor providers.

Where an execution provider records its device, `Kernel` events follow the node that launched
them. The node's own time is then the launch: its kernels stand in its place, so that nothing is
counted twice.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.messages import mark
from fusescope.analysis.operators.devices import runs_on_device
from fusescope.analysis.readers.building.coded import Whole
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.onnxruntime.events import (
    KERNEL_TIME,
    Args,
    Kernel,
    Node,
    Run,
    read_profile,
)
from fusescope.analysis.readers.onnxruntime.operators import KERNEL, NODE, OperatorTable
from fusescope.analysis.readers.onnxruntime.runs import (
    RunLocator,
    follow_each_other,
    self_times,
    time_of,
)
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import (
    Diagnostic,
    DiagnosticCode,
    Example,
    Meta,
    Severity,
    Trace,
    calls_frame,
    runs_frame,
)

if TYPE_CHECKING:
    from fusescope.analysis.readers.onnxruntime.columns import NodeColumns

# The columns of one call, as they are collected.
_CALL = (
    "operator", "run", "device", "stream", "start_ns", "dur_ns", "span_ns", "wait_ns", "source_row"
)  # fmt: skip
_Call = tuple[int, int | None, str, str, int, int, int | None, int | None, int]
_RUN = _CALL.index("run")
_SIGN = re.compile(rb'"cat"\s*:\s*"(Session|Node)"')


def _sniff(head: bytes) -> bool:
    """A JSON array whose first events are of ONNX Runtime's categories, or a table of them."""
    text = utf8(head).lstrip()
    if text.startswith(b"["):
        return _SIGN.search(text) is not None
    from fusescope.analysis.readers.onnxruntime.table import is_table

    return is_table(head)


def _read(source: Source) -> Trace:
    """The trace; every `model_run` is a run, none is dropped."""
    from fusescope.analysis.readers.onnxruntime.table import events_of_table, is_table

    notes: list[Diagnostic] = []
    if is_table(source.head):
        tables = ProfileTables(source.limits)
        data, notes = events_of_table(source)
        tables.add(data, source.name)
    else:
        tables = _tables(source)
    return tables.trace(source.meta(ONNXRUNTIME.name, "ONNX Runtime"), notes)


def _tables(source: Source) -> ProfileTables:
    """The tables of a profile, whose nodes are read as columns where they are even."""
    from fusescope.analysis.readers.onnxruntime.columns import Uneven, node_columns

    tables = ProfileTables(source.limits)
    try:
        tables.add_columns(node_columns(source))
    except Uneven:
        tables = ProfileTables(source.limits)
        tables.add(source.content, source.name)
    return tables


ONNXRUNTIME = Reader(
    name="onnxruntime",
    title=mark("ONNX Runtime profile"),
    fields={
        **dict.fromkeys(("start", "runs", "types", "stream"), ALWAYS),
        **dict.fromkeys(
            ("shapes", "dtypes", "flops", "sizes"), mark("Record with ONNX Runtime 1.14 or newer.")
        ),
    },
    recording=(
        "`options = onnxruntime.SessionOptions(); options.enable_profiling = True`, run the "
        "session at least 30 times, then `session.end_profiling()`. Better: `fusescope collect`, "
        "which also times runs without the profiler."
    ),
    sniff=_sniff,
    read=_read,
)


@dataclass
class ProfileTables:
    """Collects one or more profile files of the same model into the tables of one Trace.

    `kernel_times` is what a recording says of nodes on a device: that they have the time of their
    kernels ('device'), so that they stay what they are in the graph, or that the host waited for
    each kernel ('host'). '' says nothing.
    """

    limits: Limits = DEFAULT_LIMITS
    kernel_times: str = ""
    _calls: list[_Call] = field(default_factory=list)
    _arrays: dict[str, Any] | None = None  # calls of the only file, where it was read as columns
    _runs: Columns = field(default_factory=Columns)
    _notes: list[Diagnostic] = field(default_factory=list)
    _has_launch_times: bool = False  # of a file, where nodes ran on a device
    # (run, (device, stream)) -> when its last operator ended
    _ended: dict[tuple[int | None, tuple[str, str]], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._operators = OperatorTable(self.limits)

    def add(
        self,
        data: bytes,
        where: str,
        *,
        block: int | None = None,
        warmup_runs: int = 0,
        spans: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """Add the events of one file.

        `spans` (start_ns, dur_ns on the file's clock) replaces the file's own `model_run` events
        where one run of the model is many of the engine's; the first `warmup_runs` runs are
        marked. Raises FuseScopeError when the file is not readable or holds no operator.
        """
        profile = read_profile(data, where, self.limits)
        self._notes.extend(profile.notes)
        if profile.bad_times:
            self._note("warning", "bad_time", profile.bad_times, profile.bad_example)
        if profile.others:
            self._note("info", "other_events", profile.others)
        runs = profile.runs if spans is None else [(start, dur, None) for start, dur in spans]
        runs = sorted(runs, key=lambda run: run[0])
        self._add_runs(runs, profile.nodes, profile.kernels, block, warmup_runs)

    def add_columns(self, nodes: NodeColumns) -> None:
        """Add the nodes of one file, the only one."""
        self._has_launch_times = True
        self._notes.extend(nodes.notes)
        if nodes.bad_times:
            self._note("warning", "bad_time", nodes.bad_times, nodes.bad_example)
        if nodes.others:
            self._note("info", "other_events", nodes.others)
        runs = sorted(nodes.runs, key=lambda run: run[0])
        kind = "model_run" if runs else "file"
        if not runs:
            start, end = int(nodes.starts.min()), int((nodes.starts + nodes.lengths).max())
            runs = [(start, end - start, None)]
            self._note("warning", "no_runs")
        for run, (start, dur, _) in enumerate(runs):
            self._runs.add(run=run, kind=kind, start_ns=start, dur_ns=dur, warmup=False, block=None)
        lengths, nested = nodes.self_times()
        if nested:
            self._note("info", "nested_operators", nested)
        of_event = np.zeros(len(nodes.told), dtype="int64")
        for event in pd.unique(nodes.events).tolist():
            of_event[event] = self._operators.of_node(nodes.told[event], 0)
        located, (streams, threads) = nodes.run_of(runs), nodes.streams()
        waits = nodes.waits(located, streams)
        self._arrays = {
            "operator": of_event[nodes.events],
            "run": located.array,
            "device": _texts(np.zeros_like(streams), ["CPU"]),
            "stream": _texts(streams, threads),
            "start_ns": Whole(nodes.starts).array,
            "dur_ns": lengths,
            "span_ns": Whole(nodes.lengths, nodes.lengths != lengths).array,
            "wait_ns": waits.array,
            "source_row": Whole(nodes.rows).array,
        }
        if outside := int((~located.known).sum()):
            self._note("warning", "outside_runs", outside)

    def trace(self, meta: Meta, extra: Sequence[Diagnostic] = ()) -> Trace:
        """The Trace of everything added so far."""
        codes: dict[str, DiagnosticCode] = {
            "host": "kernels_waited_for",
            "device": "kernels_not_recorded",
        }
        code = codes.get(self.kernel_times, "launch_times")
        for provider in self._operators.launch_timed() if self._has_launch_times else ():
            self._note("warning", code, 1, provider)
        if long_names := self._operators.long_names:
            self._note("info", "long_text", len(long_names), clean_text(min(long_names), 80))
        runs = self._runs
        return Trace(
            meta=meta,
            runs=runs_frame(**runs, profiled=[True] * runs.count),
            operators=self._operators.frame(),
            calls=calls_frame(**(self._arrays or _columns_of(self._calls))),
            diagnostics=(*self._notes, *extra),
        )

    def _add_runs(
        self,
        runs: list[Run],
        nodes: list[Node],
        kernels: Sequence[Kernel],
        block: int | None,
        warmup_runs: int,
    ) -> None:
        first = self._runs.count
        if not runs:
            # Without model_run events the file is all that can be told apart.
            spans = [(s, s + d) for s, d, _, _ in nodes]
            spans += [(kernel.start_ns, kernel.start_ns + kernel.dur_ns) for kernel in kernels]
            start = min(begin for begin, _ in spans)
            runs = [(start, max(end for _, end in spans) - start, None)]
            kind = "file"
            self._note("warning", "no_runs")
        else:
            kind = "model_run"
        for position, (start, dur, _) in enumerate(runs):
            self._runs.add(
                run=first + position,
                kind=kind,
                start_ns=start,
                dur_ns=dur,
                warmup=position < warmup_runs,
                block=block,
            )
        before = len(self._calls)
        self_ns = self_times(nodes)
        if self_ns.nested:
            self._note("info", "nested_operators", self_ns.nested)
        is_plain = not kernels and follow_each_other(runs)
        if is_plain and not any(event.name == KERNEL_TIME for *_, event in nodes):
            self._has_launch_times = True
            self._add_plain(runs, nodes, self_ns.dur_ns, first)
        else:
            self._add_any(runs, nodes, self_ns.dur_ns, kernels, first)
        outside = sum(call[_RUN] is None for call in self._calls[before:])
        if outside:
            self._note("warning", "outside_runs", outside)

    def _add_plain(
        self, runs: list[Run], nodes: list[Node], dur_ns: Sequence[int], first: int
    ) -> None:
        """The calls of nodes with names, without kernels, in runs that follow each other: most
        recordings, so that nothing is looked up that the order of time says."""
        of_node, add = self._operators.of_node, self._calls.append
        lanes = {tid: f"thread {tid}"[:40] for tid in {event.tid for *_, event in nodes}}
        ended: dict[tuple[int | None, str], int] = {}
        at = -1
        following: float = runs[0][0]
        for (start, span, row, event), dur in zip(nodes, dur_ns, strict=True):
            while start >= following:
                at += 1
                following = runs[at + 1][0] if at + 1 < len(runs) else math.inf
            run = first + at if at >= 0 and start <= runs[at][0] + runs[at][1] else None
            lane = lanes[event.tid]
            previous = ended.get((run, lane))
            wait, end = None, start + span
            if previous is not None:
                wait, end = max(0, start - previous), max(end, previous)
            ended[run, lane] = end
            own_span = span if span != dur else None
            add((of_node(event, 0), run, "CPU", lane, start, dur, own_span, wait, row))

    def _add_any(
        self,
        runs: list[Run],
        nodes: list[Node],
        dur_ns: Sequence[int],
        kernels: Sequence[Kernel],
        first: int,
    ) -> None:
        """The calls of any nodes and kernels."""
        self._ended = {}
        locate = RunLocator(runs, first)
        launched: dict[int, list[Kernel]] = {}
        for kernel in kernels:
            launched.setdefault(id(kernel.parent), []).append(kernel)
        strays = deque(sorted(launched.get(id(None), ()), key=lambda one: one.start_ns))

        def add_strays(until_ns: float) -> None:
            # In the order of time: a wait is the time since the call before on the stream.
            while strays and strays[0].start_ns < until_ns:
                stray = strays.popleft()
                self._add_kernels([stray], locate(stray.start_ns, stray.event.tid))

        unnamed: Counter[object] = Counter()  # (run, op type) -> how many until now
        idle = 0  # executions on a device that launched nothing there
        of_device = self.kernel_times == "device" and bool(kernels)
        self._has_launch_times |= not of_device
        for (start, span, row, event), dur in zip(nodes, dur_ns, strict=True):
            run, occurrence = locate(start, event.tid), 0
            if event.name == KERNEL_TIME:
                told = (run, event.args.op_name if event.args else None)
                unnamed[told] += 1
                occurrence = unnamed[told]
            of_node = launched.get(id(event))
            if strays:
                add_strays(of_node[0].start_ns if of_node else start)
            if of_node and not of_device:
                self._add_kernels(of_node, run)
                continue
            times, lane = (start, dur, span), ("CPU", f"thread {event.tid}"[:40])
            if of_node:
                times, lane = time_of(of_node), _lane(of_node[0])
            elif of_device and event.args and runs_on_device(event.args.provider or ""):
                times, idle = (start, 0, 0), idle + 1
            self._add_call(self._operators.of_node(event, occurrence), run, lane, times, row)
        add_strays(math.inf)
        if timed := len(launched.keys() - {id(None)}):
            self._note("info", "nodes_by_kernels" if of_device else "kernels_of_nodes", timed)
        if idle:
            self._note("info", "nodes_without_kernels", idle)

    def _add_kernels(self, kernels: Sequence[Kernel], run: int | None) -> None:
        """The kernels of one node in its place."""
        level = NODE if self.kernel_times == "device" else KERNEL
        for kernel in kernels:
            self._add_call(
                self._operators.of_kernel(kernel, whole=len(kernels) == 1, level=level),
                run,
                _lane(kernel),
                (kernel.start_ns, kernel.dur_ns, kernel.dur_ns),
                kernel.row,
            )

    def _add_call(
        self,
        operator: int,
        run: int | None,
        lane: tuple[str, str],
        times: tuple[int, int, int],
        row: int,
    ) -> None:
        """One execution: `lane` is device and stream, `times` start, self time and span in ns."""
        start, dur, span = times
        previous = self._ended.get((run, lane))
        self._ended[run, lane] = max(start + span, previous or 0)
        own_span = span if span != dur else None
        wait = None if previous is None else max(0, start - previous)
        self._calls.append((operator, run, *lane, start, dur, own_span, wait, row))

    def _note(
        self, severity: Severity, code: DiagnosticCode, count: int = 1, example: Example = ""
    ) -> None:
        for position, note in enumerate(self._notes):
            if note.code == code:
                self._notes[position] = Diagnostic(
                    note.severity, code, note.count + count, note.example or example, note.values
                )
                return
        self._notes.append(Diagnostic(severity, code, count, example))


def _texts(codes: npt.NDArray[np.int64], values: Sequence[str]) -> pd.Categorical[str]:
    """Return a column of sorted texts."""
    return pd.Categorical.from_codes(codes, pd.Index(list(values)))


def _columns_of(calls: Sequence[_Call]) -> dict[str, list[object]]:
    """Return the calls by column; none where no call was added."""
    return dict(zip(_CALL, map(list, zip(*calls, strict=True)), strict=False))


def _lane(kernel: Kernel) -> tuple[str, str]:
    """Device and stream of a kernel."""
    args = kernel.event.args or Args()
    parent = (kernel.parent.args if kernel.parent else None) or args
    device = (parent.provider or "device").removesuffix("ExecutionProvider")
    stream = args.stream if args.stream is not None else kernel.event.tid
    return clean_text(device, 40), clean_text(f"stream {stream}", 40)
