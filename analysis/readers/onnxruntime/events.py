"""Events of an ONNX Runtime profile: runs of the model, its nodes, and kernels on a device."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.messages.places import event_of
from fusescope.analysis.readers.input.json_events import decode_events
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Example, Value

KERNEL_TIME = "_kernel_time"
_ROUNDED_NS = 1000
EventT = TypeVar("EventT")


class Args(msgspec.Struct, gc=False):
    """What an event says of its operator; numbers are strings in most versions."""

    op_name: str | None = None
    provider: str | None = None
    node_index: str | int | float | None = None
    graph_index: str | int | float | None = None  # until 2022 in place of node_index
    activation_size: str | int | float | None = None
    parameter_size: str | int | float | None = None
    output_size: str | int | float | None = None
    input_type_shape: msgspec.Raw = msgspec.Raw(b"")
    output_type_shape: msgspec.Raw = msgspec.Raw(b"")
    parent_name: str | int | float | None = None
    stream: str | int | float | None = None


class Event(msgspec.Struct, gc=False):
    """One event as it stands in the file."""

    cat: str = ""
    name: str = ""
    ph: str = ""
    pid: int | float | str | None = 0
    tid: int | float | str | None = 0
    ts: int | float | str | None = None
    dur: int | float | str | None = None
    args: Args | None = None


Run = tuple[int, int, object]  # start_ns, dur_ns, thread
Node = tuple[int, int, int, Event]  # start_ns, dur_ns, place in the file, event


class Kernel(msgspec.Struct, frozen=True):
    """A kernel on the device of an execution provider."""

    start_ns: int
    dur_ns: int
    row: int
    event: Event
    parent: Event | None


class Profile(msgspec.Struct, frozen=True):
    """Events of one file: runs in file order, nodes by start with the longer first, kernels."""

    runs: list[Run]
    nodes: list[Node]
    kernels: list[Kernel]
    notes: list[Diagnostic]  # of what decoding repaired
    bad_times: int
    bad_example: Example
    others: int  # events that are not one of these, those of the session not among them


_MOST_RECORDED = 1_000_000  # kMaxNumEvents of onnxruntime/core/common/profiler.h


def stopped_early(events: int) -> list[Diagnostic]:
    """Return a note for a file of as many events as the profiler records at most."""
    return [Diagnostic("warning", "event_cap", events)] if events == _MOST_RECORDED else []


def read_profile(data: bytes, where: str, limits: Limits) -> Profile:
    """The events of one file.

    Raises FuseScopeError when it is not readable or holds no node and no kernel.
    """
    events, notes = decode_events(data, Event, where, limits)
    notes += stopped_early(len(events))
    runs: list[Run] = []
    nodes: list[Node] = []
    kernels: list[Kernel] = []
    before = None
    bad_example: Example = ""
    bad_times, others = 0, 0
    for row, event in enumerate(events):
        is_run = event.cat == "Session" and event.name == "model_run"
        is_node = event.cat == "Node" and event.name.endswith(KERNEL_TIME)
        is_kernel = event.cat == "Kernel"
        if not (is_run or is_node or is_kernel):
            others += event.cat != "Session"
            continue
        start, dur = exact_ns(event.ts, "us"), exact_ns(event.dur, "us")
        if start is None or dur is None or dur < 0:
            bad_times += 1
            bad_example = bad_example or event_of(row, clean_text(event.name, 80))
        elif is_node:
            nodes.append((start, dur, row, event))
            before = event
        elif is_kernel:
            kernels.append(Kernel(start, dur, row, event, before))
        else:
            runs.append((start, dur, event.tid))
    if not nodes and not kernels:
        raise empty(where, notes, bad_times)
    copies = copies_of(runs)
    if copies > 1:
        first, whole = nodes[0][3].name if nodes else "", len(nodes) + len(kernels)
        runs = _once(runs, runs, copies)
        nodes = _once(nodes, [(s, d, e.tid, e.name) for s, d, _, e in nodes], copies)
        kernels = _once(kernels, [(k.start_ns, k.dur_ns, k.event.name) for k in kernels], copies)
        lost = whole - len(nodes) - len(kernels)
        notes.append(Diagnostic("warning", "rows_twice", lost, clean_text(first, 80)))
    nodes.sort(key=lambda item: (item[0], -item[1]))
    notes += _before_launch(kernels)
    return Profile(runs, nodes, _launched(kernels, nodes), notes, bad_times, bad_example, others)


def copies_of(runs: list[Run]) -> int:
    """How often every run stands in the file: more than once where it was joined with itself."""
    counts = set(Counter(run for run in runs if run[1] > 0).values())
    return counts.pop() if len(counts) == 1 else 1


def _once(events: list[EventT], keys: Sequence[object], copies: int) -> list[EventT]:
    """One of `copies` equal events; a node may well run twice in the same microsecond."""
    totals, seen = Counter(keys), Counter[object]()
    kept = []
    for event, key in zip(events, keys, strict=True):
        seen[key] += 1
        if seen[key] * copies <= totals[key] or totals[key] < copies:
            kept.append(event)
    return kept


def empty(where: str, notes: list[Diagnostic], bad_times: int) -> FuseScopeError:
    """Why a profile has neither nodes nor kernels."""
    if any(note.code == "cut_short" for note in notes):
        return FuseScopeError("cut_before_operators", where=where)
    if bad_times:
        return FuseScopeError("no_valid_times", where=where)
    return FuseScopeError("onnxruntime_profile_empty", where=where)


def _launched(kernels: list[Kernel], nodes: list[Node]) -> list[Kernel]:
    """The kernels, which come with the node before each in the file, with the one that launched it.

    That is the node before where it has the name that the kernel tells, else the last of that name
    to start before the kernel did. Where no kernel tells a name it is the node before, if that did
    not start later than the kernel.
    """
    tell = any(_told(kernel.event) is not None for kernel in kernels)
    named: dict[str, list[Node]] = {}
    for node in nodes if tell else ():
        named.setdefault(node[3].name.removesuffix(KERNEL_TIME), []).append(node)
    found = []
    for kernel in kernels:
        told, parent = _told(kernel.event), kernel.parent
        start = exact_ns(parent.ts, "us") if parent is not None else None
        is_later = start is None or start > kernel.start_ns
        if told is None:
            parent = None if tell or is_later else parent
        else:
            is_named = parent is not None and parent.name.removesuffix(KERNEL_TIME) == told
            if is_later or not is_named:
                same = named.get(told, [])
                index = bisect_right(same, kernel.start_ns, key=lambda node: node[0])
                parent = same[index - 1][3] if index else parent if is_named else None
        found.append(msgspec.structs.replace(kernel, parent=parent))
    return found


def _before_launch(kernels: Sequence[Kernel]) -> list[Diagnostic]:
    """A note on kernels that begin before the node in front of them, whose name they tell: clocks
    of host and device disagree. Times are whole µs."""
    early = []
    for kernel in kernels:
        before = kernel.parent
        told = _told(kernel.event)
        if before is None or told is None or before.name.removesuffix(KERNEL_TIME) != told:
            continue
        start = exact_ns(before.ts, "us")
        if start is not None and start - kernel.start_ns > _ROUNDED_NS:
            early.append(start - kernel.start_ns)
    values: dict[str, Value] = {"by_ns": max(early, default=0)}
    code: DiagnosticCode = "kernels_before_launch"
    return [Diagnostic("warning", code, len(early), "", values)] if early else []


def _told(kernel: Event) -> str | None:
    """The name of the node that a kernel tells."""
    told = kernel.args.parent_name if kernel.args else None
    return told.removesuffix(KERNEL_TIME) if isinstance(told, str) and told else None
