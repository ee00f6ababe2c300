"""ONNX Runtime profiles: the JSON that `enable_profiling` writes, from 2023 to 1.31.

A list of events: `Session` events mark `model_run`; one `Node` event `<node>_kernel_time` per
node and run. Times are whole µs after the start of profiling, all numbers in `args` are strings.
Node events are written before the `model_run` that holds them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from analysis import flops
from analysis.errors import FuseScopeError
from analysis.limits import DEFAULT_LIMITS, Limits
from analysis.op_classes import op_class
from analysis.readers.events import decode_events, microseconds, utf8
from analysis.readers.source import Source, clean_text
from analysis.trace import (
    Diagnostic,
    Meta,
    Severity,
    Trace,
    calls_frame,
    operators_frame,
    runs_frame,
)

_KERNEL = "_kernel_time"
_SIGN = re.compile(rb'"cat"\s*:\s*"(Session|Node)"')
_CALL_FIELDS = (
    "operator", "run", "stream", "start_ns", "dur_ns", "span_ns", "wait_ns", "source_row",
)  # fmt: skip
_DTYPES = {"float": "float32", "double": "float64"}
# The host does not wait for these: kernel_time is then the launch, not the kernel.
_ASYNC_PROVIDERS = ("CUDA", "ROCM", "MIGraphX", "Tensorrt", "TensorRT", "NvTensorRTRTX", "Dml")


class _Args(msgspec.Struct, gc=False):
    op_name: str | None = None
    provider: str | None = None
    node_index: str | int | None = None
    activation_size: str | int | None = None
    parameter_size: str | int | None = None
    output_size: str | int | None = None
    input_type_shape: msgspec.Raw = msgspec.Raw(b"")
    output_type_shape: msgspec.Raw = msgspec.Raw(b"")


class _Event(msgspec.Struct, gc=False):
    cat: str = ""
    name: str = ""
    ph: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: int | float | str | None = None
    dur: int | float | str | None = None
    args: _Args | None = None


@dataclass
class _Span:
    start_ns: int
    end_ns: int
    run: int


class OnnxRuntimeReader:
    """One profile file, one Trace."""

    name = "onnxruntime"

    def sniff(self, head: bytes) -> bool:
        """A JSON array whose first events are of ONNX Runtime's categories."""
        text = utf8(head).lstrip()
        return text.startswith(b"[") and _SIGN.search(text) is not None

    def read(self, source: Source) -> Trace:
        """The trace; every `model_run` is a run, none is dropped."""
        tables = ProfileTables(source.limits)
        tables.add(source.content, source.name)
        return tables.trace(
            Meta(
                format=self.name,
                tool="ONNX Runtime",
                file_name=source.name,
                sha256=source.sha256,
            )
        )


@dataclass
class ProfileTables:
    """Collects one or more profile files of the same model into the tables of one Trace."""

    limits: Limits = DEFAULT_LIMITS
    _operators: dict[tuple[object, ...], int] = field(default_factory=dict)
    _operator_rows: list[tuple[object, ...]] = field(default_factory=list)
    _shape_text: dict[bytes, str] = field(default_factory=dict)
    _calls: dict[str, list[object]] = field(
        default_factory=lambda: {name: [] for name in _CALL_FIELDS}
    )
    _runs: dict[str, list[object]] = field(
        default_factory=lambda: {
            name: [] for name in ("run", "kind", "start_ns", "dur_ns", "warmup", "block")
        }
    )
    _notes: list[Diagnostic] = field(default_factory=list)

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
        events, notes = decode_events(data, _Event, where, self.limits)
        self._notes.extend(notes)
        runs: list[tuple[int, int, object]] = []
        nodes: list[tuple[int, int, int, _Event]] = []
        bad_times, bad_example, other = 0, "", 0
        for row, event in enumerate(events):
            is_run = event.cat == "Session" and event.name == "model_run"
            is_node = event.cat == "Node" and event.name.endswith(_KERNEL)
            if not (is_run or is_node):
                other += event.cat != "Session"
                continue
            start, dur = microseconds(event.ts), microseconds(event.dur)
            if start is None or dur is None or dur < 0:
                bad_times += 1
                bad_example = bad_example or f"event {row}: {clean_text(event.name, 80)}"
            elif is_node:
                nodes.append((start, dur, row, event))
            else:
                runs.append((start, dur, event.tid))
        if bad_times:
            self._note("warning", "bad_time", bad_times, bad_example)
        if other:
            self._note("info", "other_events", other)
        if not nodes and any(note.code == "cut_short" for note in notes):
            raise FuseScopeError(
                "This ONNX Runtime profile is cut short before its first operator",
                where=where,
                hint="Copy or record the file again.",
            )
        if not nodes and bad_times:
            raise FuseScopeError(
                "No operator event of this ONNX Runtime profile has a valid time",
                where=where,
                hint="Copy or record the file again.",
            )
        if not nodes:
            raise FuseScopeError(
                "This ONNX Runtime profile has no operator events",
                where=where,
                hint="Run the session at least once before end_profiling().",
            )
        nodes.sort(key=lambda item: (item[0], -item[1]))
        if spans is not None:
            runs = [(start, dur, None) for start, dur in spans]
        self._add_runs(sorted(runs, key=lambda item: item[0]), nodes, block, warmup_runs)

    def trace(self, meta: Meta, extra: Sequence[Diagnostic] = ()) -> Trace:
        """The Trace of everything added so far."""
        columns = list(zip(*self._operator_rows, strict=True))
        names, types, providers, inputs, outputs, bytes_in, bytes_param, bytes_out = columns
        flop_counts = [
            flops.from_shapes(str(kind), flops.parse_shapes(ins), flops.parse_shapes(outs))
            for kind, ins, outs in zip(types, inputs, outputs, strict=True)
        ]
        device = sorted({str(p) for p in providers if p})
        for provider in device:
            if provider.startswith(_ASYNC_PROVIDERS):
                self._note("warning", "launch_times", 1, provider)
        runs = self._runs
        return Trace(
            meta=meta,
            runs=runs_frame(**runs, profiled=[True] * len(runs["run"])),
            operators=operators_frame(
                operator=range(len(self._operator_rows)),
                name=names,
                op_type=types,
                op_class=[op_class(kind) for kind in types],
                provider=providers,
                level=["graph_layer"] * len(names),
                inputs=inputs,
                outputs=outputs,
                bytes_in=bytes_in,
                bytes_param=bytes_param,
                bytes_out=bytes_out,
                flops=_nullable(flop_counts),
                flops_source=[flops.FROM_SHAPES if f is not None else None for f in flop_counts],
            ),
            calls=calls_frame(**self._calls, device=["CPU"] * len(self._calls["operator"])),
            diagnostics=(*self._notes, *extra),
        )

    def _add_runs(
        self,
        runs: list[tuple[int, int, object]],
        nodes: list[tuple[int, int, int, _Event]],
        block: int | None,
        warmup_runs: int,
    ) -> None:
        first = len(self._runs["run"])
        if not runs:
            # Without model_run events the file is all that can be told apart.
            start = nodes[0][0]
            runs = [(start, max(s + d for s, d, _, _ in nodes) - start, None)]
            kind = "file"
            self._note("warning", "no_runs")
        else:
            kind = "model_run"
        for position, (start, dur, _) in enumerate(runs):
            for name, value in (
                ("run", first + position),
                ("kind", kind),
                ("start_ns", start),
                ("dur_ns", dur),
                ("warmup", position < warmup_runs),
                ("block", block),
            ):
                self._runs[name].append(value)
        locate = _Locator(runs, first)
        self_ns = _self_times(nodes)
        if self_ns.nested:
            self._note("info", "nested_operators", self_ns.nested)
        outside = 0
        ended: dict[object, int] = {}  # (run, thread) -> when its last operator ended
        calls = self._calls
        for (start, span, row, event), dur in zip(nodes, self_ns.dur_ns, strict=True):
            run = locate(start, event.tid)
            outside += run is None
            calls["operator"].append(self._operator(event))
            calls["run"].append(run)
            calls["stream"].append(f"thread {event.tid}"[:40])
            calls["start_ns"].append(start)
            calls["dur_ns"].append(dur)
            calls["span_ns"].append(span if span != dur else None)
            previous = ended.get((run, event.tid))
            calls["wait_ns"].append(None if previous is None else max(0, start - previous))
            ended[run, event.tid] = max(start + span, previous or 0)
            calls["source_row"].append(row)
        if outside:
            self._note("warning", "outside_runs", outside)

    def _operator(self, event: _Event) -> int:
        args = event.args or _Args()
        name = event.name[: -len(_KERNEL)]
        ins, outs = bytes(args.input_type_shape), bytes(args.output_type_shape)
        # Only unnamed nodes need their index: it differs between optimisation levels.
        key = (name, args.op_name, args.provider, ins, outs, None if name else args.node_index)
        known = self._operators.get(key)
        if known is not None:
            return known
        number = self._operators[key] = len(self._operator_rows)
        op_type = clean_text(args.op_name) if args.op_name else None
        self._operator_rows.append(
            (
                clean_text(name)
                if name
                else f"{op_type or 'operator'}#{args.node_index or number}",
                op_type,
                clean_text(args.provider) if args.provider else None,
                self._shapes(ins),
                self._shapes(outs),
                _size(args.activation_size),
                _size(args.parameter_size),
                _size(args.output_size),
            )
        )
        return number

    def _shapes(self, raw: bytes) -> str:
        """[{"float":[1,3]},…] as 'float32[1,3]; …'; '' when it is not of that form."""
        text = self._shape_text.get(raw)
        if text is None:
            try:
                listed = msgspec.json.decode(raw, type=list[dict[str, list[int]]]) if raw else []
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                listed = []
            text = "; ".join(
                f"{_DTYPES.get(dtype, clean_text(dtype, 20))}[{','.join(map(str, dims))}]"
                for tensor in listed
                for dtype, dims in tensor.items()
            )
            text = self._shape_text[raw] = text[: self.limits.text_chars]
        return text

    def _note(self, severity: Severity, code: str, count: int = 1, example: str = "") -> None:
        for position, note in enumerate(self._notes):
            if note.code == code:
                self._notes[position] = Diagnostic(
                    note.severity, code, note.count + count, note.example or example, note.values
                )
                return
        self._notes.append(Diagnostic(severity, code, count, example))


class _Locator:
    """Which run a node belongs to: by time, and by thread where runs overlap."""

    def __init__(self, runs: list[tuple[int, int, object]], first: int) -> None:
        ends = [start + dur for start, dur, _ in runs]
        self._overlap = any(end > start for end, (start, _, _) in zip(ends, runs[1:], strict=False))
        self._spans: dict[object, list[_Span]] = {}
        for position, (start, _, tid) in enumerate(runs):
            key = tid if self._overlap else None
            self._spans.setdefault(key, []).append(_Span(start, ends[position], first + position))
        self._starts = {key: [s.start_ns for s in spans] for key, spans in self._spans.items()}

    def __call__(self, start_ns: int, tid: object) -> int | None:
        key = tid if self._overlap and tid in self._spans else None
        candidates = [key] if key in self._spans else list(self._spans)
        for name in candidates:
            position = bisect_right(self._starts[name], start_ns) - 1
            if position >= 0 and start_ns <= self._spans[name][position].end_ns:
                return self._spans[name][position].run
        return None


@dataclass
class _SelfTimes:
    dur_ns: list[int]
    nested: int


def _self_times(nodes: list[tuple[int, int, int, _Event]]) -> _SelfTimes:
    """Durations without the time of nodes inside (Loop, If, Scan), on the same thread.

    `nodes` are sorted by start, longer first. Files truncate start and duration to whole µs, so
    neighbours never overlap by rounding.
    """
    dur_ns = [dur for _, dur, _, _ in nodes]
    open_nodes: dict[object, list[tuple[int, int]]] = {}
    nested = 0
    for position, (start, dur, _, event) in enumerate(nodes):
        stack = open_nodes.setdefault(event.tid, [])
        while stack and stack[-1][0] <= start:
            stack.pop()
        if stack and start + dur <= stack[-1][0]:
            dur_ns[stack[-1][1]] -= dur
            nested += 1
        # Types of a known class have no body: what starts inside one only overlaps it.
        if op_class(event.args.op_name if event.args else None) == "unknown":
            stack.append((start + dur, position))
    return _SelfTimes([max(0, dur) for dur in dur_ns], nested)


def _size(value: str | int | None) -> int | None:
    try:
        size = int(value) if value is not None else None
    except ValueError:
        return None
    return size if size is not None and 0 <= size < 2**62 else None


def _nullable(values: Sequence[int | None]) -> list[int | None]:
    return [value if value is not None and value < 2**62 else None for value in values]
