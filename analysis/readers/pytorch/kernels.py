"""Rows of a Kineto trace that ran on a device: kernels, copies and fills of memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from analysis.operators.classes import kernel_class, op_class
from analysis.operators.kernel_names import kernel_type, memory_type
from analysis.operators.members import inductor, members_text
from analysis.readers.building.columns import Columns
from analysis.readers.input.json_value import decode
from analysis.readers.pytorch.events import Args, Sorted, Span, number, plain
from analysis.readers.pytorch.inputs import Inputs
from analysis.readers.pytorch.kernel_flops import kernel_flops
from analysis.readers.pytorch.launches import Launch, Launches
from analysis.readers.pytorch.steps import Steps

HOST_COMMUNICATION = ("c10d::", "nccl:", "gloo:", "ucc:", "mpi:", "record_param_comms")

_NUMBERS = {
    "registers per thread": "registers",
    "shared memory": "shared_memory",
    "blocks per SM": "blocks_per_sm",
    "warps per SM": "warps_per_sm",
    "bytes": "moved",
    "memory bandwidth (GB/s)": "bandwidth",
}
_OCCUPANCY = "est. achieved occupancy"
_SIZES = {"grid size": "grid", "block size": "block"}
# Kernels that only bring data into the form that the heavy one of their operator wants.
_PREPARES = ("layout", "data_movement", "communication")
_MAX_SIZE = 2**53


def kernel_rows(
    events: Sorted,
    steps: Steps,
    devices: Mapping[str, str],
    launches: Launches,
    found: Sequence[Launch],
) -> dict[str, list[object]]:
    """The columns of a trace, one entry a kernel, copy or fill, with the launch of each.

    `inputs` are those of the launching operator. `op_class` is its class, except that a kernel
    whose name says that it moves or lays out data is that, and a fused kernel is what it fused.
    Bytes of inputs are left out: a kernel of several may read but a part of them.
    """
    inputs = Inputs()
    names = {kernel.name for kernel in events.kernels}
    classes = {name: kernel_class(name) for name in names}
    types = {name: kernel_type(name) for name in names}
    fused = {name: inductor(name) for name in names}
    counts = kernel_flops(events, found, launches, inputs, classes)
    rows = Columns()
    for position, (kernel, launch) in enumerate(zip(events.kernels, found, strict=True)):
        args = kernel.args
        op = events.ops[launch.op] if launch.op is not None else None
        members = fused[kernel.name]
        device = plain(args.device) or kernel.lane[0]
        label = device.decode("utf-8", "replace")
        count = counts.get(position)
        rows.add(
            name=kernel.name or kernel.kind,
            op_type=types[kernel.name] or kernel.kind,
            op_class=_class(kernel, classes[kernel.name], op.name if op is not None else None),
            provider=devices.get(label) or devices.get("") or "device",
            level="device_kernel",
            launched_by=op.name if op is not None else None,
            inputs=inputs.text(op.args) if op is not None else None,
            bytes_in=None,
            flops=count.flops if count is not None else None,
            flops_source=count.source if count is not None else None,
            members=members_text(members) if members is not None else None,
            members_source=members.kind if members is not None else None,
            run=steps.of(kernel, launch.time_ns),
            device=label,
            stream=(plain(args.stream) or kernel.lane[1]).decode("utf-8", "replace"),
            start_ns=kernel.start_ns,
            dur_ns=kernel.dur_ns,
            source_row=kernel.row,
            **{head: number(getattr(args, name)) for head, name in _NUMBERS.items()},
            **{_OCCUPANCY: _share(args)},
            **{head: _size(getattr(args, name)) for head, name in _SIZES.items()},
        )
    return rows


def _class(kernel: Span, own: str, launched_by: str | None) -> str | None:
    """The operator class, `own` by the kernel's name; None where the launching one is unknown."""
    if own == "communication" or (launched_by or "").startswith(HOST_COMMUNICATION):
        return "communication"
    if kernel.kind != "kernel" or memory_type(kernel.name):
        return "data_movement"
    if own in _PREPARES or (own != "unknown" and "_fused" in kernel.name):
        return own
    by = op_class(launched_by)
    return by if by not in ("unknown", "communication") else None


def _share(args: Args) -> float | None:
    """Occupancy as 0..1."""
    percent = number(args.occupancy)
    return percent / 100 if percent is not None else None


def _size(raw: msgspec.Raw) -> float | None:
    """The product of a launch's dimensions: [564, 1, 1] -> 564."""
    dims = decode(raw, list[int], [])
    size = math.prod(dims) if 0 < len(dims) <= 3 else -1
    return float(size) if 0 <= size < _MAX_SIZE else None
