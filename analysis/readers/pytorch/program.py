"""The program of an eager recording with a device: what the host called, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.limits import Limits
from analysis.program import MAX_PROGRAM, Program
from analysis.readers.pytorch.dispatch import is_dispatch
from analysis.readers.pytorch.events import Sorted
from analysis.readers.pytorch.launches import Launch, Launches
from analysis.readers.pytorch.steps import Steps
from analysis.text import clean_text

_NO_STEP = -1


def program_of(
    found: Sorted, launches: Launches, launched: Sequence[Launch], steps: Steps, limits: Limits
) -> Program | None:
    """The operators of the framework in order; None where a compiled graph ran them instead, where
    no launch tells its operator, and of a program longer than MAX_PROGRAM.

    Autograd's nodes and ranges that a user marked are no operators: those inside them are.
    """
    ops = found.ops
    if found.calls or all(launch.op is None for launch in launched):
        return None
    if any(map(is_dispatch, dict.fromkeys(op.name for op in ops))):
        return None
    cleaned = {name: clean_text(name, limits.text_chars) for name in {op.name for op in ops}}
    code: dict[str, int] = {}
    codes = np.array([code.setdefault(cleaned[op.name], len(code)) for op in ops], dtype="int64")
    names = tuple(code)
    is_operator = np.array([_is_operator(name) for name in names], dtype=bool)[codes]
    top = _outermost(np.asarray(launches.parents, dtype="int64"), is_operator)
    roots = np.flatnonzero(top == np.arange(len(ops)))
    if len(roots) > MAX_PROGRAM:
        return None
    starts = np.array([ops[at].start_ns for at in roots], dtype="int64")
    roots = roots[np.argsort(starts, kind="stable")]
    place = np.full(len(ops) + 1, -1, dtype="int64")  # the last one stands for no operator
    place[roots] = np.arange(len(roots))
    of_op = place[top]
    rows = np.array([kernel.row for kernel in found.kernels], dtype="int64")
    by = np.array([-1 if each.op is None else of_op[each.op] for each in launched], dtype="int64")
    order = np.argsort(rows, kind="stable")
    return Program(
        names=names,
        name_of=codes[roots],
        runs=np.array([_run(steps, ops[at].start_ns) for at in roots], dtype="int64"),
        rows=rows[order],
        launched_by=by[order],
    )


def _is_operator(name: str) -> bool:
    return "::" in name and not name.startswith("autograd::")


def _outermost(parents: np.ndarray, is_operator: np.ndarray) -> np.ndarray:
    """The outermost operator around each event of the host, or itself; -1 for none."""
    at = np.arange(len(parents))
    top = np.where(is_operator, at, -1)
    while (at >= 0).any():
        at = np.where(at >= 0, parents[at], -1)
        top = np.where((at >= 0) & is_operator[at], at, top)
    return top


def _run(steps: Steps, start_ns: int) -> int:
    """The run of a moment; without steps all are one."""
    if not steps.spans:
        return 0
    run = steps.at(start_ns)
    return _NO_STEP if run is None else run
