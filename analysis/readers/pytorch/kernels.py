"""Rows of a Kineto trace that ran on a device: kernels, copies and fills of memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from fusescope.analysis.operators.classes import CONVERSIONS, kernel_class, op_class
from fusescope.analysis.operators.kernel_names import kernel_type, memory_type
from fusescope.analysis.operators.members import inductor, members_text
from fusescope.analysis.readers.building.coded import Coded, coded, distinct_rows
from fusescope.analysis.readers.building.pointwise_bytes import pointwise_bytes
from fusescope.analysis.readers.building.timetable import distinct
from fusescope.analysis.readers.building.trace_tables import dtype_bytes, tensor_bytes
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.pytorch.arguments import KERNEL_NUMBERS
from fusescope.analysis.readers.pytorch.event import Kind, plain
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.flops.aten_flops import Count
from fusescope.analysis.readers.pytorch.flops.kernel_flops import kernel_flops
from fusescope.analysis.readers.pytorch.inputs import Inputs
from fusescope.analysis.readers.pytorch.launches import Launched, Launches, launching_names
from fusescope.analysis.readers.pytorch.spans import KINDS, NONE, Spans
from fusescope.analysis.readers.pytorch.steps import Steps

HOST_COMMUNICATION = ("c10d::", "nccl:", "gloo:", "ucc:", "mpi:", "record_param_comms")

_OCCUPANCY = "est. achieved occupancy"
_SIZES = {"grid size": "grid", "block size": "block"}
# Kernels whose names say more than the operator that launched them: those that only bring data into
# the form that the heavy one of their operator wants, and steps of an engine's large operators.
_PREPARES = (
    *CONVERSIONS, "data_movement", "copy", "communication", "kv_cache", "rotary", "routing",
    "sampling", "optimizer", "grouped_product",
)  # fmt: skip
_MAX_SIZE = 2**53


def kernel_rows(
    events: Sorted,
    steps: Steps,
    devices: Mapping[str, str],
    launches: Launches,
    found: Launched,
) -> dict[str, Any]:
    """The columns of a trace, one entry a kernel, copy or fill, with the launch of each.

    `inputs` are those of the launching operator. `op_class` is its class, except that a kernel
    whose name says that it moves or lays out data is that, and a fused kernel is what it fused.
    Bytes are left out but of kernels that do the whole work of an operator, a heavy one or one on
    single values: one of several may read but a part of its inputs.
    """
    inputs = Inputs()
    kernels, ops, tables = events.kernels, events.ops, events.tables
    count = len(kernels)
    known = [tables.names[at] for at in distinct(kernels.names).tolist()]
    classes = {name: kernel_class(name) for name in known}
    types = {name: kernel_type(name) for name in known}
    fused = {name: inductor(name) for name in known}
    counts = kernel_flops(events, found, launches, inputs, classes)
    by = launching_names(ops, found.ops)
    of_op = np.where(found.ops >= 0, ops.more["inputs"][found.ops], NONE) if len(ops) else by.codes
    device = device_labels(events)
    stream = _labels(events, "stream", [thread for _, thread in tables.lanes])
    # What follows from name, kind and launching operator, once for each of these.
    numbers, first = distinct_rows(
        [kernels.names, kernels.kinds, by.codes],
        [len(tables.names), len(KINDS), len(tables.names)],
        count,
    )
    kinds = [KINDS[at] for at in kernels.kinds[first].tolist()]
    names = [tables.names[at] for at in kernels.names[first].tolist()]
    members = [fused[name] for name in names]
    told = zip(names, kinds, by.take(first), strict=True)
    columns: dict[str, list[object]] = {
        "name": [name or kind for name, kind in zip(names, kinds, strict=True)],
        "op_type": [types[name] or kind for name, kind in zip(names, kinds, strict=True)],
        "op_class": [
            _class(name, kind, classes[name], str(op) if op is not None else None)
            for name, kind, op in told
        ],
        "members": [members_text(each) if each is not None else None for each in members],
        "members_source": [each.kind if each is not None else None for each in members],
    }
    flops = [counts.get(at) for at in range(count)] if counts else []
    used = distinct(of_op[of_op >= 0]).tolist()
    texts = {at: inputs.text_of(tables.inputs[at]) for at in used}
    read, written = _bytes_moved(flops, of_op.tolist(), texts, count)
    if len(ops):
        is_kernel = kernels.kinds == KINDS.index("kernel")
        single = np.flatnonzero(_alone(found.ops, len(ops)) & is_kernel)
        moved = _pointwise(single, by, of_op, texts)
        read, written = _either(moved[0], read), _either(moved[1], written)
        if "sent" in ops.more:
            sent, received = _messages(found.ops, of_op, ops, texts, by)
            read, written = _either(sent, read), _either(received, written)
    rows: dict[str, Any] = {
        "name": Coded(numbers, columns["name"]),
        "op_type": Coded(numbers, columns["op_type"]),
        "op_class": coded(numbers, columns["op_class"]),
        "provider": device.mapped(lambda label: devices.get(label) or devices.get("") or "device"),
        "level": Coded.same("device_kernel", count),
        "launched_by": by,
        "inputs": Coded(of_op, list(range(len(tables.inputs)))).mapped(texts.get),
        "bytes_in": read,
        "bytes_out": written,
        "flops": Coded.of(each.flops if each else None for each in flops)
        if flops
        else Coded.same(None, count),
        "flops_source": Coded.of(each.source if each else None for each in flops)
        if flops
        else Coded.same(None, count),
        "members": coded(numbers, columns["members"]),
        "members_source": coded(numbers, columns["members_source"]),
        "run": steps.of(kernels, found),
        "device": device,
        "stream": stream,
        "start_ns": kernels.starts,
        "dur_ns": kernels.lengths,
        "source_row": kernels.rows,
    }
    for head, name in KERNEL_NUMBERS.items():
        if name == "occupancy":
            rows[_OCCUPANCY] = kernels.more[name] / 100
        else:
            rows[head] = kernels.more[name]
    for head, name in _SIZES.items():
        sizes = Coded(kernels.more[name], tables.labels).mapped(_size)
        rows[head] = np.array([*map(_or_nan, sizes.values), math.nan])[sizes.codes]
    return rows


def _bytes_moved(
    flops: list[Count | None], of_op: list[int], texts: dict[int, str], count: int
) -> tuple[Coded, Coded]:
    """Bytes that each kernel reads and writes: of those that do the whole work of an operator all
    its inputs, and what it writes, in the type of its first input; None of all others."""
    if not flops:
        return Coded.same(None, count), Coded.same(None, count)
    each = [
        _bytes(texts[at], counted.written)
        if counted is not None and counted.parts == 1 and counted.written and at >= 0
        else (None, None)
        for counted, at in zip(flops, of_op, strict=True)
    ]
    return Coded.of(read for read, _ in each), Coded.of(written for _, written in each)


def _alone(of_kernel: np.ndarray, ops: int) -> np.ndarray:
    """Whether each kernel is the only one that its operator launched."""
    launched = of_kernel >= 0
    counts = np.bincount(of_kernel[launched], minlength=ops)
    found = launched.copy()
    found[launched] = counts[of_kernel[launched]] == 1
    return found


def _pointwise(
    places: np.ndarray, by: Coded, of_op: np.ndarray, texts: dict[int, str]
) -> tuple[list[int | None], list[int | None]]:
    """Bytes that the kernels at these places read and write; None of those that are no whole
    operator on single values, and of all others."""
    pairs = np.stack([by.codes[places], of_op[places]], axis=1).astype("int64")
    distinct_pairs, place = np.unique(pairs, axis=0, return_inverse=True)
    sizes = [
        pointwise_bytes(str(by.values[name]), texts.get(inputs, "")) if name >= 0 else None
        for name, inputs in distinct_pairs.tolist()
    ]
    columns = []
    for at in range(2):
        of_pair = np.array([None if one is None else one[at] for one in sizes], dtype=object)
        column = np.full(len(of_op), None, dtype=object)
        column[places] = of_pair[place.reshape(-1)]
        columns.append(column.tolist())
    return columns[0], columns[1]


def _messages(
    of_kernel: np.ndarray, of_op: np.ndarray, ops: Spans, texts: dict[int, str], by: Coded
) -> tuple[list[int | None], list[int | None]]:
    """Bytes that each rank gives and gets in the collective of each kernel that is the only one of
    it; None of all others."""
    talks = np.array([str(name).startswith(HOST_COMMUNICATION) for name in [*by.values]], bool)
    of_talk = np.append(talks, False)[by.codes] & _alone(of_kernel, len(ops))
    columns = []
    for name in ("sent", "received"):
        sizes: list[int | None] = [None] * len(of_kernel)
        for at in np.flatnonzero(of_talk).tolist():
            elements = float(ops.more[name][of_kernel[at]])
            size = dtype_bytes(texts.get(int(of_op[at]), "").partition("[")[0])
            if size is not None and 0 < elements < _MAX_SIZE:
                sizes[at] = int(elements * size)
        columns.append(sizes)
    return columns[0], columns[1]


def _either(first: list[int | None], second: Coded) -> Coded:
    """The first where it has a value, else the second."""
    if not any(value is not None for value in first):
        return second
    if (second.codes < 0).all():
        return Coded.of(first)
    return Coded.of(
        value if value is not None else other for value, other in zip(first, second, strict=True)
    )


@lru_cache(maxsize=4096)
def _bytes(inputs: str, written: int) -> tuple[int | None, int | None]:
    first = inputs.partition("[")[0]
    # 8-bit products are summed up, and written, in another type, which the inputs do not tell.
    size = None if first.endswith("int8") or first.startswith("float8") else dtype_bytes(first)
    return tensor_bytes(inputs), None if size is None else int(size * written)


def device_labels(events: Sorted) -> Coded:
    """The device of each kernel, copy and fill."""
    return _labels(events, "device", [process for process, _ in events.tables.lanes])


def _labels(events: Sorted, name: str, of_lanes: list[bytes]) -> Coded:
    """Ids of devices or streams as text: as the arguments tell them, else as the lane does."""
    kernels, labels = events.kernels, events.tables.labels
    told = [plain(msgspec.Raw(label)) for label in labels]
    is_told = np.array([bool(label) for label in told], dtype=bool)[kernels.more[name]]
    codes = np.where(is_told, kernels.more[name], len(labels) + kernels.lanes)
    return Coded(codes, [*told, *of_lanes]).mapped(_as_text)


def _as_text(label: bytes) -> str:
    return label.decode("utf-8", "replace")


def _or_nan(value: object) -> float:
    return value if isinstance(value, float) else math.nan


def _class(name: str, kind: Kind, own: str, launched_by: str | None) -> str | None:
    """The operator class, `own` by the kernel's name; None where the launching one is unknown."""
    if own == "communication" or (launched_by or "").startswith(HOST_COMMUNICATION):
        return "communication"
    if kind != "kernel" or memory_type(name):
        return "copy"
    if own in _PREPARES or (own != "unknown" and "_fused" in name):
        return own
    by = op_class(launched_by)
    return by if by not in ("unknown", "communication") else None


def _size(label: bytes) -> float | None:
    """The product of a launch's dimensions: [564, 1, 1] -> 564."""
    dims = decode(label, list[int], [])
    size = math.prod(dims) if 0 < len(dims) <= 3 else -1
    return float(size) if 0 <= size < _MAX_SIZE else None
