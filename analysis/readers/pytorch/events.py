"""Events of a Kineto trace, of every generation: what kind each is, and the arguments it carries.

2021 wrote `Operator`, `Kernel`, `Runtime` and `external id`, later versions `cpu_op`, `kernel`,
`cuda_runtime` and `External id`. Fields stay undecoded until somebody needs them: most events of
a file are Python calls, of which only name and time are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from analysis.messages.places import event_of
from analysis.readers.building.call_stacks import Frames
from analysis.readers.input.json_value import decode
from analysis.readers.input.times import LATEST_NS, exact_ns
from analysis.text import clean_text
from analysis.trace import Diagnostic, Example, noted

Kind = Literal["op", "kernel", "memcpy", "memset", "launch", "annotation", "flow", "frame"]

_KINDS: dict[str, Kind] = {
    "cpu_op": "op", "operator": "op",
    "kernel": "kernel", "concurrent_kernel": "kernel", "mtia_ccp_events": "kernel",
    "hpu_op": "kernel",
    "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset",
    "runtime": "launch", "driver": "launch", "gcu_runtime": "launch",
    "cuda_runtime": "launch", "cuda_driver": "launch",
    "hip_runtime": "launch", "mtia_runtime": "launch", "xpu_runtime": "launch",
    "xpu_driver": "launch", "privateuse1_runtime": "launch", "privateuse1_driver": "launch",
    "user_annotation": "annotation", "gpu_user_annotation": "annotation",
    "python_function": "frame",
    "ac2g": "flow", "async": "flow", "async_gpu": "flow", "async_cpu_to_gpu": "flow",
}  # fmt: skip
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d{1,18})")
_MEMORY = "[memory]"
_CALL = "## Call CompiledFxGraph "
_NONE = msgspec.Raw()
_EMPTY = (b"", b"null", b'""')


class Event(msgspec.Struct, gc=False):
    """One event, most of it undecoded."""

    cat: str | None = None
    name: str | None = None
    ph: str | None = None
    pid: msgspec.Raw = _NONE
    tid: msgspec.Raw = _NONE
    ts: msgspec.Raw = _NONE
    dur: msgspec.Raw = _NONE
    id: msgspec.Raw = _NONE
    args: msgspec.Raw = _NONE


class Args(msgspec.Struct, gc=False):
    """What an operator, a launch or a kernel says about itself."""

    external_id: msgspec.Raw = msgspec.field(default=_NONE, name="External id")
    external_id_2021: msgspec.Raw = msgspec.field(default=_NONE, name="external id")
    correlation: msgspec.Raw = _NONE
    device: msgspec.Raw = _NONE
    stream: msgspec.Raw = _NONE
    input_dims: msgspec.Raw = msgspec.field(default=_NONE, name="Input Dims")
    input_dims_2021: msgspec.Raw = msgspec.field(default=_NONE, name="Input dims")
    input_types: msgspec.Raw = msgspec.field(default=_NONE, name="Input type")
    concrete_inputs: msgspec.Raw = msgspec.field(default=_NONE, name="Concrete Inputs")
    flops: msgspec.Raw = _NONE
    moved: msgspec.Raw = msgspec.field(default=_NONE, name="bytes")
    bandwidth: msgspec.Raw = msgspec.field(default=_NONE, name="memory bandwidth (GB/s)")
    registers: msgspec.Raw = msgspec.field(default=_NONE, name="registers per thread")
    shared_memory: msgspec.Raw = msgspec.field(default=_NONE, name="shared memory")
    blocks_per_sm: msgspec.Raw = msgspec.field(default=_NONE, name="blocks per SM")
    warps_per_sm: msgspec.Raw = msgspec.field(default=_NONE, name="warps per SM")
    occupancy: msgspec.Raw = msgspec.field(default=_NONE, name="est. achieved occupancy %")
    grid: msgspec.Raw = _NONE
    block: msgspec.Raw = _NONE

    @property
    def external(self) -> bytes:
        """The external id as text; b'' for none and for 0, which stands for none."""
        text = plain(self.external_id) or plain(self.external_id_2021)
        return b"" if text == b"0" else text

    @property
    def dims(self) -> bytes:
        """The shapes of the inputs, as JSON."""
        return bytes(self.input_dims) or bytes(self.input_dims_2021)


_NO_ARGS = Args()
_MAX_BYTES = 2**60


@dataclass(frozen=True, slots=True)
class Span:
    """A timed event of a kind that a reader needs. `lane` is process and thread."""

    row: int
    kind: Kind
    name: str
    lane: tuple[bytes, bytes]
    start_ns: int
    dur_ns: int
    args: Args

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.dur_ns


class MemoryArgs(msgspec.Struct, gc=False):
    """What an allocation says of the device's memory afterwards."""

    allocated: int | None = msgspec.field(default=None, name="Total Allocated")
    reserved: int | None = msgspec.field(default=None, name="Total Reserved")
    device_type: int | None = msgspec.field(default=None, name="Device Type")
    device: int | None = msgspec.field(default=None, name="Device Id")


@dataclass(frozen=True, slots=True)
class Allocation:
    """Memory of a device after something was allocated or freed, and where on the host."""

    lane: tuple[bytes, bytes]
    time_ns: int
    args: MemoryArgs


@dataclass
class Sorted:
    """The events of a file by what they are."""

    ops: list[Span] = field(default_factory=list)
    calls: list[Span] = field(default_factory=list)  # of compiled graphs, on the host
    kernels: list[Span] = field(default_factory=list)  # with copies and fills
    launches: list[Span] = field(default_factory=list)
    steps: list[tuple[int, Span]] = field(default_factory=list)  # on the host, with their number
    device_steps: list[tuple[int, Span]] = field(default_factory=list)
    # Where an arrow from host to device begins, by its id.
    flows: dict[bytes, tuple[tuple[bytes, bytes], int]] = field(default_factory=dict)
    frames: Frames = field(default_factory=Frames)  # Python calls and operators of the host
    memory: list[Allocation] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)


def sort_events(events: list[Event]) -> Sorted:
    """Events by kind; those without a valid time and those of other kinds are counted."""
    found = Sorted()
    kinds: dict[str | None, Kind | None] = {}
    bad = 0
    bad_example: Example = ""
    other: dict[str, int] = {}
    for row, event in enumerate(events):
        cat = event.cat
        if cat not in kinds:
            kinds[cat] = _KINDS.get(cat.strip().lower()) if cat else None
        kind = kinds[cat]
        if event.ph == "s" and kind == "flow":
            time = exact_ns(event.ts)
            if time is not None:
                lane = (plain(event.pid), plain(event.tid))
                found.flows.setdefault(plain(event.id), (lane, time))
            continue
        if event.ph in ("i", "I") and event.name == _MEMORY:
            found.memory += _allocation(event)
            continue
        if event.ph not in ("X", None, ""):
            continue
        if kind is None or kind == "flow":
            if cat and event.ph:
                other[cat] = other.get(cat, 0) + 1
            continue
        name = event.name or ""
        if kind == "frame":
            times = _times(event)
            if times is not None and name:
                found.frames.add((plain(event.pid), plain(event.tid)), name, *times)
            continue
        step = _STEP.match(name) if kind in ("annotation", "op") else None
        is_call = kind == "annotation" and name.startswith(_CALL) and not _on_device(cat)
        if kind == "annotation" and step is None and not is_call:
            other[cat or ""] = other.get(cat or "", 0) + 1
            continue
        span = _span(row, event, kind)
        if span is None:
            bad += 1
            bad_example = bad_example or event_of(row, clean_text(name, 80))
        elif step is not None:
            (found.device_steps if _on_device(cat) else found.steps).append((int(step[1]), span))
        elif is_call:
            found.calls.append(span)
        elif kind == "op":
            found.ops.append(span)
            found.frames.add(span.lane, name or "unnamed", span.start_ns, span.dur_ns)
        elif kind == "launch":
            found.launches.append(span)
        else:
            found.kernels.append(span)
    found.notes += noted("warning", "bad_time", bad, bad_example)
    if other:
        maximum = max(other, key=lambda name: other[name])
        found.notes.append(
            Diagnostic("info", "other_events", sum(other.values()), clean_text(maximum, 40))
        )
    return found


def _on_device(cat: str | None) -> bool:
    return (cat or "").strip().lower().startswith("gpu")


def _span(row: int, event: Event, kind: Kind) -> Span | None:
    """The event with its time; None where that is not valid."""
    times = _times(event)
    if times is None:
        return None
    lane = (plain(event.pid), plain(event.tid))
    return Span(row, kind, event.name or "", lane, *times, _args(event.args))


def _allocation(event: Event) -> list[Allocation]:
    """The event where it says how much is allocated, at a valid time."""
    time_ns = exact_ns(event.ts)
    args = decode(event.args, MemoryArgs, MemoryArgs())
    if time_ns is None or abs(time_ns) >= LATEST_NS:
        return []
    if args.allocated is None or not 0 <= args.allocated < _MAX_BYTES:
        return []
    return [Allocation((plain(event.pid), plain(event.tid)), time_ns, args)]


def _times(event: Event) -> tuple[int, int] | None:
    """Start and duration in ns; None where they are not valid."""
    start, dur = exact_ns(event.ts), exact_ns(event.dur)
    if start is None or dur is None or not 0 <= dur < LATEST_NS or abs(start) >= LATEST_NS:
        return None
    return start, dur


def plain(raw: msgspec.Raw) -> bytes:
    """An id as text, whether the file writes it as a number or in quotes; b'' for none."""
    text = bytes(raw)
    return b"" if text in _EMPTY else text.strip(b'"')


def number(raw: msgspec.Raw) -> float | None:
    """A number, also in quotes; None for anything else."""
    text = plain(raw)
    if not text or len(text) > 40 or text[:1] not in b"0123456789-+.":
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _args(raw: msgspec.Raw) -> Args:
    return decode(raw, Args, _NO_ARGS) if bytes(raw) not in _EMPTY else _NO_ARGS
