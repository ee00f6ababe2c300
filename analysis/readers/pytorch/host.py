"""Rows of a Kineto trace without a device: operators of the host with their own time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fusescope.analysis.operators.classes import is_heavy, op_class
from fusescope.analysis.operators.members import inductor, members_text
from fusescope.analysis.readers.building.coded import Coded, Whole, coded, distinct_rows
from fusescope.analysis.readers.pytorch.dispatch import HostOps
from fusescope.analysis.readers.pytorch.inputs import Inputs
from fusescope.analysis.readers.pytorch.kernels import HOST_COMMUNICATION
from fusescope.analysis.readers.pytorch.steps import Steps


def op_rows(host: HostOps, steps: Steps) -> dict[str, Any]:
    """The columns of a trace, one entry an operator, with the time of no operator inside it.

    FLOPs stand with the innermost operator that does the work: aten::conv2d, aten::convolution and
    aten::mkldnn_convolution are one convolution.
    """
    inputs = Inputs()
    ops, names = host.ops, host.names
    total, source = _counts(host, inputs)
    texts = Coded(ops.more["inputs"], ops.tables.inputs)
    members = [inductor(name) for name in ops.distinct_names()]
    known = np.unique(ops.names, return_inverse=True)[1]
    threads = Coded(ops.lanes, [thread for _, thread in ops.tables.lanes])
    return {
        "name": names,
        "op_type": names,
        "op_class": names.mapped(communication),
        "provider": Coded.same("CPU", len(ops)),
        "level": Coded.same("framework_op", len(ops)),
        "inputs": texts.mapped(inputs.text_of),
        "bytes_in": Coded.same(None, len(ops)),
        "flops": total,
        "flops_source": source,
        "members": coded(known, [members_text(m) if m is not None else None for m in members]),
        "members_source": coded(known, [m.kind if m is not None else None for m in members]),
        "run": steps.all_at(ops.starts),
        "device": Coded.same("CPU", len(ops)),
        "stream": threads.mapped(lambda thread: f"thread {thread.decode('utf-8', 'replace')}"),
        "start_ns": ops.starts,
        "dur_ns": host.self_ns,
        "span_ns": Whole(ops.lengths, ops.lengths != host.self_ns),
        "source_row": ops.rows,
    }


def communication(name: str) -> str | None:
    """The class of an operator of the host that communicates; None for all others."""
    is_it = name.startswith(HOST_COMMUNICATION) or op_class(name) == "communication"
    return "communication" if is_it else None


def _counts(host: HostOps, inputs: Inputs) -> tuple[Coded, Coded]:
    """FLOPs by operator, each counted once, and what was counted.

    The innermost operator whose FLOPs are known has them, or the one heavy operator that calls no
    other heavy one inside it, since the time is there; none where several are.
    """
    ops, parents = host.ops, host.parents.tolist()
    # What one operator counts, others of its name and inputs do.
    counted = Coded.of(ops.more["flops"].tolist()) if len(ops) else Coded.same(None, 0)
    numbers, first = distinct_rows(
        [ops.names, ops.more["inputs"], counted.codes],
        [len(ops.tables.names), len(ops.tables.inputs), len(counted.values)],
        len(ops),
    )
    counts = [inputs.flops(op.name, op.args) for op in (ops[at] for at in first.tolist())]
    is_known = np.array([c is not None and c.total is not None for c in counts], dtype=bool)
    is_sure = np.array([c is not None for c in counts], dtype=bool)
    heavy_name = np.array([is_heavy(op_class(ops[at].name)) for at in first.tolist()], dtype=bool)
    known_at = np.flatnonzero(is_known[numbers]).tolist()
    known = set(known_at)
    heavy = np.flatnonzero((is_sure | heavy_name)[numbers]).tolist()
    holds_known = _around(known_at, parents)
    holds_heavy = _around(heavy, parents)
    found: dict[int, list[int]] = {}
    for position in heavy:
        if position in holds_heavy:
            continue
        at = position
        while at >= 0 and at not in known:
            at = parents[at]
        if at >= 0 and at not in holds_known:
            found.setdefault(at, []).append(position)
    codes = np.full(len(ops), -1, dtype="int64")
    for at, leaves in found.items():
        if len(leaves) == 1:
            codes[leaves[0]] = numbers[at]
    total = coded(codes, [c.total if c is not None else None for c in counts])
    return total, coded(codes, [c.source if c is not None else None for c in counts])


def _around(positions: Iterable[int], parents: Sequence[int]) -> set[int]:
    """Every operator around one of these."""
    around: set[int] = set()
    for position in positions:
        at = parents[position]
        while at >= 0 and at not in around:
            around.add(at)
            at = parents[at]
    return around
