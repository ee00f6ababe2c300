"""One event of a Kineto trace, of every generation: what kind it is, and what it carries.

2021 wrote `Operator`, `Kernel`, `Runtime` and `external id`, later versions `cpu_op`, `kernel`,
`cuda_runtime` and `External id`. Fields stay undecoded until somebody needs them: most events of
a file are Python calls, of which only name and time are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from fusescope.analysis.readers.input.json_value import decode

Kind = Literal["op", "kernel", "memcpy", "memset", "launch", "annotation", "flow", "frame", "range"]

KINDS: dict[str, Kind] = {
    "cpu_op": "op", "operator": "op",
    "kernel": "kernel", "concurrent_kernel": "kernel", "mtia_ccp_events": "kernel",
    "hpu_op": "kernel",
    "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset",
    "runtime": "launch", "driver": "launch", "gcu_runtime": "launch",
    "cuda_runtime": "launch", "cuda_driver": "launch",
    "hip_runtime": "launch", "mtia_runtime": "launch", "xpu_runtime": "launch",
    "xpu_driver": "launch", "privateuse1_runtime": "launch", "privateuse1_driver": "launch",
    "user_annotation": "annotation", "gpu_user_annotation": "annotation",
    "python_function": "frame", "cuda_profiler_range": "range",
    "ac2g": "flow", "async": "flow", "async_gpu": "flow", "async_cpu_to_gpu": "flow",
}  # fmt: skip
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
    kernel: msgspec.Raw = _NONE  # that a launch launches
    sent: msgspec.Raw = msgspec.field(default=_NONE, name="In msg nelems")
    received: msgspec.Raw = msgspec.field(default=_NONE, name="Out msg nelems")
    dtype: msgspec.Raw = _NONE
    collective: msgspec.Raw = msgspec.field(default=_NONE, name="Collective name")
    group_size: msgspec.Raw = msgspec.field(default=_NONE, name="Group size")
    group: msgspec.Raw = msgspec.field(default=_NONE, name="Process Group Name")
    group_ranks: msgspec.Raw = msgspec.field(default=_NONE, name="Process Group Ranks")
    sequence: msgspec.Raw = msgspec.field(default=_NONE, name="Seq")
    autograd_number: msgspec.Raw = msgspec.field(default=_NONE, name="Sequence number")
    forward_thread: msgspec.Raw = msgspec.field(default=_NONE, name="Fwd thread id")
    source: msgspec.Raw = msgspec.field(default=_NONE, name="Src Rank")
    target: msgspec.Raw = msgspec.field(default=_NONE, name="Dst Rank")

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


@dataclass(frozen=True, slots=True)
class CounterRange:
    """What CUPTI counted in a range of kernels, in the order in which they ran: by kernel, the
    name is that of the kernel. Its times are shares of the whole recording, and say nothing.

    `device` is the process of the event, `counters` are undecoded.
    """

    row: int
    name: str
    device: bytes
    start_ns: int
    counters: msgspec.Raw


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


def args_of(raw: msgspec.Raw) -> Args:
    return decode(raw, Args, _NO_ARGS) if bytes(raw) not in _EMPTY else _NO_ARGS
