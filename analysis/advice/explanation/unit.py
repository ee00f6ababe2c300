"""The unit of a trace: how long it takes, how far the host is ahead, and whether all are alike."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.advice.explanation.explanation import TracedUnit, Uneven
from fusescope.analysis.advice.explanation.traced import Traced
from fusescope.analysis.compare.explanation.earlier import layers_in
from fusescope.analysis.compare.timing.latency import leading_ns
from fusescope.analysis.host.latency import launch_latency
from fusescope.analysis.metrics.spans import call_times, union_ns
from fusescope.analysis.work_units.earlier import after_the_end_ns, launched_earlier

_FEWEST = 3  # units, of which some take longer than the others
_APART = 1.4  # by which the shortest slow unit is longer than the longest of the others


def unit_of(traced: Traced) -> TracedUnit:
    """Return the unit of work of a trace, with its mean time in parts."""
    units, trace = traced.units, traced.trace
    latency = launch_latency(trace)
    kernels = traced.side.profile
    return TracedUnit(
        units.kind,
        units.name,
        units.evidence,
        units.count,
        units.work[0],
        traced.wall_ns,
        (int(units.walls_ns.min()), int(units.walls_ns.max())),
        traced.parts,
        len(kernels.operators) + round(sum(n for n, _ in traced.side.communication.values())),
        bool((trace.operators["level"] == "device_kernel").any()),
        traced.others,
        traced.set_aside,
        units.host_ns,
        latency.median_ns if latency is not None and latency.host_is_ahead else None,
        _earlier_ns(traced),
        uneven(units.walls_ns, traced.parts_of_units[:, 2]),
        traced.has_starts,
        traced.side.others,
        after_the_end_ns(trace, units),
        *_behind(traced),
        int(launched_earlier(trace).sum()),
        round(leading_ns(trace, "unprofiled_wall") or 0.0),
        _last_kernel_ns(traced),
        units.end_with_kernels,
    )


def uneven(walls_ns: np.ndarray, busy_ns: np.ndarray) -> Uneven | None:
    """Return the units that take long and those that do not, parted where the times of two that
    follow one another by length are furthest apart; None where no two are far apart."""
    order = np.argsort(walls_ns, kind="stable")
    lengths = walls_ns[order].astype(float)
    if len(lengths) < _FEWEST or lengths[0] <= 0:
        return None
    ratios = lengths[1:] / lengths[:-1]
    at = int(np.argmax(ratios))
    if ratios[at] < _APART:
        return None
    fast, slow = order[: at + 1], np.sort(order[at + 1 :])
    return Uneven(
        tuple((slow + 1).tolist()),
        len(walls_ns),
        (int(walls_ns[slow].min()), int(walls_ns[slow].max())),
        (int(walls_ns[fast].min()), int(walls_ns[fast].max())),
        (round(float(busy_ns[slow].mean())), round(float(busy_ns[fast].mean()))),
    )


def _last_kernel_ns(traced: Traced) -> int | None:
    """Return the mean time from the start of a repeat to the end of its last kernel; None of other
    units."""
    units = traced.units
    if units.kind != "repeat" or not traced.has_starts:
        return None
    starts, lasts = call_times(traced.trace.calls)
    inside = units.unit_of >= 0
    ends = units.starts_ns.copy()
    np.maximum.at(ends, units.unit_of[inside], (starts + lasts)[inside])
    return round(float(np.minimum(ends - units.starts_ns, units.walls_ns).mean()))


def _behind(traced: Traced) -> tuple[int, int]:
    """Return how long the device ran what was launched before the file began, before a single unit
    that begins behind it, and how many layers that is; 0 of other units."""
    if not traced.units.is_behind:
        return 0, 0
    earlier = launched_earlier(traced.trace)
    starts, lasts = call_times(traced.trace.calls)
    begin = int(traced.units.starts_ns[0])
    before = earlier & (starts < begin)
    layers = layers_in(traced.trace, np.flatnonzero(before))
    ends = np.minimum(starts + lasts, begin)[before]
    return union_ns(starts[before], ends - starts[before]), layers


def _earlier_ns(traced: Traced) -> int:
    """Return the mean time of a unit in which kernels run that were launched before the file
    begins; 0 where the file does not say when units begin."""
    earlier = launched_earlier(traced.trace) & traced.trace.calls["run"].isna().to_numpy()
    if not traced.has_starts or not earlier.any():
        return 0
    return round(float(traced.busy(earlier).mean()))
