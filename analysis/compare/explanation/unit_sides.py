"""What a unit of one side consists of: parts of its time, kernels of graphs, and kernels that the
host launched before the file began."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.compare.explanation.earlier import layers_in
from fusescope.analysis.compare.explanation.explanation import HostWait, UnitOfSide, UnitParts
from fusescope.analysis.compare.explanation.idle import idle_times
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.graphs.names_by_order import replays
from fusescope.analysis.host_activity import RUNTIME
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.spans import busy_until, call_times, union_ns
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units.earlier import after_the_end_ns, launched_earlier
from fusescope.analysis.work_units.units import OUTSIDE

_LAUNCHED = 0.5  # of the kernels of a unit, whose launches a file has that shows launches


def unit_of_side(side: ExplainedSide) -> UnitOfSide:
    """Return what the units of a side consist of."""
    walls = side.units.walls_ns
    launched_ns, earlier_ns, layers = _launched(side)
    launches, kernels = _graphs(side)
    devices, alike = _devices(side.trace)
    return UnitOfSide(
        round(float(np.median(walls))),
        int(walls.min()),
        int(walls.max()),
        _parts(side),
        launched_ns,
        earlier_ns,
        layers,
        launches,
        kernels,
        devices,
        idle_times(side),
        after_the_end_ns(side.trace, side.units),
        _graph_call(side) if launches else "",
        host_waits(side.trace),
        alike,
        _at_once_ns(side),
    )


def _at_once_ns(side: ExplainedSide) -> int:
    """Return the sum of the times of a unit's kernels that compute, less the time in which any of
    them runs."""
    if not _has_starts(side):
        return 0
    trace = side.trace
    computes = ~trace.operators["is_communication"].to_numpy(dtype=bool) & ~copies_of(trace)
    chosen = computes[trace.calls["operator"].to_numpy()] & (side.units.unit_of != OUTSIDE)
    starts, lasts = (times[chosen] for times in call_times(trace.calls))
    return round((float(lasts.sum()) - union_ns(starts, lasts)) / side.units.count)


def _has_starts(side: ExplainedSide) -> bool:
    has_calls = bool(side.trace.calls["start_ns"].notna().all())
    return has_calls and bool((side.units.starts_ns >= 0).all())


def _parts(side: ExplainedSide) -> UnitParts | None:
    if not _has_starts(side):
        return None
    trace, units = side.trace, side.units
    talks = trace.operators["is_communication"].to_numpy(dtype=bool)
    copies = copies_of(trace) & ~talks
    of = trace.calls["operator"].to_numpy()
    starts, lasts = call_times(trace.calls)
    edges = units.starts_ns, units.starts_ns + units.walls_ns
    means = []
    for chosen in (~talks[of] & ~copies[of], ~copies[of], np.ones(len(of), dtype=bool)):
        until = busy_until(starts[chosen], lasts[chosen])
        means.append(round(float((until(edges[1]) - until(edges[0])).mean())))
    computing, talking, busy = means
    wall = round(units.mean_ns)
    return UnitParts(computing, talking - computing, busy - talking, wall - busy)


def _launched(side: ExplainedSide) -> tuple[int | None, int | None, int]:
    """Return the time of the kernels of a unit that were launched in the file, of those that run
    in a unit, or before one that begins behind them, and were not, and how many layers these are:
    0 of several units."""
    trace, units = side.trace, side.units
    if trace.host is None or not _has_starts(side):
        return None, None, 0
    calls = trace.calls
    lanes, _ = trace.host.launches_of(calls["source_row"].to_numpy("int64", na_value=-1))
    is_known = lanes >= 0
    is_mine = units.unit_of != OUTSIDE
    on_device = (trace.operators["level"] == "device_kernel").to_numpy(dtype=bool)
    mine = on_device[calls["operator"].to_numpy()]
    if not (is_mine & mine).any() or is_known[is_mine & mine].mean() < _LAUNCHED:
        return None, None, 0
    earlier = np.flatnonzero(mine & ~is_known & _counts(side))
    dur_ns = calls["dur_ns"].to_numpy()
    launched = mine & is_mine & is_known
    return (
        round(float(dur_ns[launched].sum()) / units.count),
        round(float(dur_ns[earlier].sum()) / units.count),
        layers_in(trace, earlier) if units.count == 1 else 0,
    )


def _counts(side: ExplainedSide) -> np.ndarray:
    """Return which calls start in a unit; of a unit that begins behind earlier kernels these."""
    trace, units = side.trace, side.units
    if units.is_behind:
        return launched_earlier(trace)
    starts, _ = call_times(trace.calls)
    at = np.searchsorted(units.starts_ns, starts, side="right") - 1
    inside: np.ndarray = (at >= 0) & (
        starts < (units.starts_ns + units.walls_ns)[np.maximum(at, 0)]
    )
    return inside


def _graphs(side: ExplainedSide) -> tuple[float, float]:
    """Return how many graphs a unit launches, and how many kernels of them run in it."""
    units = side.units
    inside = [rows for rows in replays(side.trace) if (units.unit_of[rows] != OUTSIDE).any()]
    kernels = sum(int((units.unit_of[rows] != OUTSIDE).sum()) for rows in inside)
    return len(inside) / units.count, kernels / units.count


def _graph_call(side: ExplainedSide) -> str:
    """Return the call of the host that launches graphs; '' where the file does not name it."""
    host = side.trace.host
    names = () if host is None else host.names
    return next((name for name in names if name.endswith("GraphLaunch")), "")


def _devices(trace: Trace) -> tuple[int, int]:
    """Return how many devices the file of a trace holds, and how many of these run kernels that the
    one of this trace runs, with itself: 1 where the file does not hold several devices."""
    note = next((note for note in trace.diagnostics if note.code == "one_of_devices"), None)
    if note is None:
        return 1, 1
    alike = note.values.get("alike")
    return note.count, alike if isinstance(alike, int) else 1


def host_waits(trace: Trace) -> tuple[HostWait, ...]:
    """Return how long the host waits for the device in a file, by the call to the runtime that
    waits, else by the operator around it; the longest first."""
    waits = trace.host_waits
    if waits is None:
        return ()
    calls = _calls_by_start(trace)
    totals: dict[str, list[int]] = {}
    for of, start, end in zip(
        waits.name_of.tolist(), waits.starts_ns.tolist(), waits.ends_ns.tolist(), strict=True
    ):
        entry = totals.setdefault(calls.get(start, waits.names[of]), [0, 0])
        entry[0] += 1
        entry[1] += end - start
    by_call = [HostWait(name, count, ns) for name, (count, ns) in totals.items() if ns > 0]
    return tuple(sorted(by_call, key=lambda each: -each.ns))


def _calls_by_start(trace: Trace) -> dict[int, str]:
    """Return the names of the calls to the runtime by when they begin."""
    host = trace.host
    if host is None:
        return {}
    chosen = np.flatnonzero(host.kind_of == RUNTIME)
    names = (host.names[at] for at in host.name_of[chosen].tolist())
    return dict(zip(host.starts_ns[chosen].tolist(), names, strict=True))
