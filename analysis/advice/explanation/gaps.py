"""The longest gap of the device in the units of a trace, and what runs behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.advice.explanation.traced import Traced
from fusescope.analysis.metrics.spans import call_times

_MUCH = 0.25  # of all idle time, from which one gap says more than their sum


@dataclass(frozen=True)
class Gap:
    """Time in which nothing runs, in ns, the name of the kernel that ends it, '' of one behind
    the last kernel of a unit, and the number of that unit, from 0."""

    ns: int
    kernel: str
    unit: int


def long_gap(traced: Traced, idle_ns: float) -> Gap | None:
    """Return the longest gap in the units, from their begin to their end, where it is much of the
    `idle_ns` of all; None where many share it, and of a file without starts."""
    if not traced.has_starts:
        return None
    starts, lasts = call_times(traced.trace.calls)
    operators = traced.trace.calls["operator"].to_numpy()
    mine = np.flatnonzero(traced.on_device[operators])
    order = mine[np.argsort(starts[mine], kind="stable")]
    gaps = (
        (*_in_unit(order, starts, starts + lasts, int(begin), int(end)), unit)
        for unit, (begin, end) in enumerate(zip(*traced.edges, strict=True))
    )
    ns, call, unit = max(gaps, default=(0, -1, 0))
    if ns < max(1.0, _MUCH * idle_ns):
        return None
    return Gap(ns, traced.side.names[operators[call]] if call >= 0 else "", unit)


def _in_unit(
    order: np.ndarray, starts: np.ndarray, ends: np.ndarray, begin: int, end: int
) -> tuple[int, int]:
    """Return the longest gap of one unit in ns, and the call behind it, -1 for none."""
    inside = order[(starts[order] < end) & (ends[order] > begin)]
    until = np.maximum.accumulate(np.r_[begin, ends[inside]])
    gaps = np.r_[starts[inside], end] - until
    at = int(np.argmax(gaps))
    return int(gaps[at]), int(inside[at]) if at < len(inside) else -1
