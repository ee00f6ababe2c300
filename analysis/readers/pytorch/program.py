"""The program of an eager recording with a device: what the host called, one after the other."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.limits import Limits
from fusescope.analysis.program import MAX_PROGRAM, Program
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.pytorch.dispatch import is_dispatch
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.launches import Launched, Launches
from fusescope.analysis.readers.pytorch.steps import Steps
from fusescope.analysis.text import clean_text

_NO_STEP = -1


def program_of(
    found: Sorted, launches: Launches, launched: Launched, steps: Steps, limits: Limits
) -> Program | None:
    """The operators of the framework in order; None where a compiled graph ran them instead, where
    no launch tells its operator, and of a program longer than MAX_PROGRAM.

    Autograd's nodes and ranges that a user marked are not operators: those inside them are.
    """
    ops = found.ops
    if found.calls or (launched.ops < 0).all():
        return None
    if any(map(is_dispatch, ops.distinct_names())):
        return None
    cleaned = ops.coded_names().mapped(lambda name: clean_text(name, limits.text_chars))
    names, codes = tuple(map(str, cleaned.values)), cleaned.codes
    is_operator = np.array([_is_operator(name) for name in names], dtype=bool)[codes]
    top = _outermost(launches.around_ops, is_operator)
    roots = np.flatnonzero(top == np.arange(len(ops)))
    if len(roots) > MAX_PROGRAM:
        return None
    roots = roots[np.argsort(ops.starts[roots], kind="stable")]
    place = np.full(len(ops) + 1, -1, dtype="int64")  # the last one stands for no operator
    place[roots] = np.arange(len(roots))
    of_op = place[top]
    rows = found.kernels.rows
    by = of_op[launched.ops] if len(ops) else launched.ops
    by = np.where(launched.ops < 0, -1, by)
    order = np.argsort(rows, kind="stable")
    return Program(
        names=names,
        name_of=codes[roots],
        runs=_runs(steps, ops.starts[roots]),
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


def _runs(steps: Steps, starts: Ints) -> Ints:
    """The run of each moment; without steps all are one."""
    if not steps.spans:
        return np.zeros(len(starts), dtype="int64")
    runs = steps.all_at(starts)
    return np.where(runs.known, runs.numbers, _NO_STEP)
