"""Rows of a Kineto trace without a device: operators of the host with their own time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.operators.classes import is_heavy, op_class
from analysis.operators.members import inductor, members_text
from analysis.readers.pytorch.aten_flops import Count
from analysis.readers.pytorch.dispatch import HostOps
from analysis.readers.pytorch.inputs import Inputs
from analysis.readers.pytorch.kernels import HOST_COMMUNICATION
from analysis.readers.pytorch.steps import Steps


def op_rows(host: HostOps, steps: Steps) -> dict[str, list[object]]:
    """The columns of a trace, one entry an operator, with the time of no operator inside it.

    FLOPs stand with the innermost operator that does the work: aten::conv2d, aten::convolution and
    aten::mkldnn_convolution are one convolution.
    """
    inputs = Inputs()
    ops, names = host.ops, host.names
    counts = _counts(host, inputs)
    members = [inductor(op.name) for op in ops]
    return {
        "name": list(names),
        "op_type": list(names),
        "op_class": [
            "communication"
            if name.startswith(HOST_COMMUNICATION) or op_class(name) == "communication"
            else None
            for name in names
        ],
        "provider": ["CPU"] * len(ops),
        "level": ["framework_op"] * len(ops),
        "inputs": [inputs.text(op.args) for op in ops],
        "bytes_in": [None] * len(ops),
        "flops": [c.total if (c := counts.get(p)) is not None else None for p in range(len(ops))],
        "flops_source": [
            c.source if (c := counts.get(p)) is not None else None for p in range(len(ops))
        ],
        "members": [members_text(m) if m is not None else None for m in members],
        "members_source": [m.kind if m is not None else None for m in members],
        "run": [steps.at(op.start_ns) for op in ops],
        "device": ["CPU"] * len(ops),
        "stream": [f"thread {op.lane[1].decode('utf-8', 'replace')}" for op in ops],
        "start_ns": [op.start_ns for op in ops],
        "dur_ns": list(host.self_ns),
        "span_ns": [
            op.dur_ns if op.dur_ns != own else None
            for op, own in zip(ops, host.self_ns, strict=True)
        ],
        "source_row": [op.row for op in ops],
    }


def _counts(host: HostOps, inputs: Inputs) -> dict[int, Count]:
    """FLOPs by operator, each counted once.

    The innermost operator whose FLOPs are known has them, or the one heavy operator that calls no
    other heavy one inside it, since the time is there; none where several are.
    """
    ops, parents = host.ops, host.parents
    known: dict[int, Count] = {}
    heavy: list[int] = []
    for position, op in enumerate(ops):
        count = inputs.flops(op.name, op.args)
        if count is not None and count.total is not None:
            known[position] = count
        if count is not None or is_heavy(op_class(op.name)):
            heavy.append(position)
    holds_known = _around(known, parents)
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
    return {leaves[0]: known[at] for at, leaves in found.items() if len(leaves) == 1}


def _around(positions: Iterable[int], parents: Sequence[int]) -> set[int]:
    """Every operator around one of these."""
    around: set[int] = set()
    for position in positions:
        at = parents[position]
        while at >= 0 and at not in around:
            around.add(at)
            at = parents[at]
    return around
