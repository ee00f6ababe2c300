"""What the device waits for: the host, other devices, copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fusescope.analysis.advice.explanation.explanation import Collective, Saving
from fusescope.analysis.advice.explanation.gaps import long_gap
from fusescope.analysis.advice.explanation.traced import Traced
from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.compare.explanation.idle import are_shown
from fusescope.analysis.host.causes import CauseKind
from fusescope.analysis.host.idle import IdleCause, idle_by_host
from fusescope.analysis.host.uncached import uncached_memory
from fusescope.analysis.host_activity import RUNTIME
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.some_units import in_some_units
from fusescope.analysis.metrics.stretch import Stretch, longest_idle
from fusescope.analysis.ranks.waits import waiting

_PATH = 12  # frames of the host that are told
_NAMELESS: tuple[CauseKind, ...] = ("launching", "queued")
_CALLS: tuple[CauseKind, ...] = ("allocation", "synchronisation", "copy_waits")


def idle(traced: Traced, least_ns: float) -> list[Saving]:
    """Return what the host does in idle time of the device, by kind, where that is at least
    `least_ns` a unit. Of a file that does not show the host, or no
    device, all idle time is one."""
    has_device = bool((traced.trace.operators["level"] == "device_kernel").any())
    is_known = traced.has_starts and has_device
    found = idle_by_host(traced.trace, *traced.edges) if is_known else None
    if found is None:
        ns = traced.parts.idle_ns if traced.has_starts else 0
        longest = longest_idle(traced.trace)
        gap = long_gap(traced, ns * traced.units.count) if has_device else None
        saving = Saving("idle", ns, evidence="ordered", longest=longest)
        if gap is not None:
            saving = replace(
                saving, values={"gap_ns": gap.ns, "before": gap.kernel, "unit": gap.unit}
            )
        return [saving] if ns >= max(1, least_ns) else []
    causes: dict[CauseKind, list[IdleCause]] = {}
    for cause in found.causes:
        causes.setdefault(cause.kind, []).append(cause)
    by_unit = found.by_window(traced.units.count)
    savings = [
        _idle(
            traced,
            group,
            found.count_of(kind),
            np.sum([ns for cause, ns in by_unit.items() if cause.kind == kind], axis=0),
        )
        for kind, group in causes.items()
    ]
    intervals: dict[CauseKind, Stretch] = {}
    for cause in found.causes_of(are_shown(traced.trace, traced.units)[found.windows]):
        known, new = intervals.get(cause.kind), Stretch(*cause.longest_ns)
        if known is None or new.end_ns - new.start_ns > known.end_ns - known.start_ns:
            intervals[cause.kind] = new
    return [
        replace(each, longest=intervals.get(kind))
        for kind, each in zip(causes, savings, strict=True)
        if each.ns >= max(1, least_ns)
    ]


def _idle(traced: Traced, causes: list[IdleCause], intervals: int, of_units: np.ndarray) -> Saving:
    """Return the idle time of one kind, of which the cause of most is named; `of_units` is that of
    each unit."""
    count, most = traced.units.count, causes[0]
    ns = round(sum(cause.idle_ns for cause in causes) / count)
    places = max(1, round(intervals / count))
    some = in_some_units(of_units)
    if most.kind == "unknown":
        return Saving("idle", ns, places, evidence="ordered", values=some)
    is_named = most.name and most.name not in most.path
    named = tuple(filter(None, (*most.path[-_PATH:], *((most.name,) if is_named else ()))))
    values: dict[str, str | int | float] = {
        "kind": most.kind,
        "all_ns": sum(cause.idle_ns for cause in causes),
        **some,
    }
    if most.kind not in _NAMELESS:
        values["cause"] = most.name or (named[-1] if named else "")
        values["cause_ns"] = round(most.idle_ns / count)
    calls = _calls(traced, most.name) if most.kind in _CALLS else 0
    if calls:
        values |= {"calls": round(calls / count), "all_calls": calls}
    if most.kind == "allocation":
        values |= _uncached(traced)
    return Saving("idle", ns, places, host=named, values=values)


def _uncached(traced: Traced) -> dict[str, str | int | float]:
    """Return the calls of a unit that free memory, where the allocator keeps none."""
    host, count = traced.trace.host, traced.units.count
    freeing = uncached_memory(host, *traced.edges) if host is not None else None
    if freeing is None:
        return {}
    return {
        "freed_by": freeing.name,
        "frees": round(freeing.frees / count),
        "freeing_ns": round(freeing.freeing_ns / count),
        "least_free_ns": freeing.each_ns[0],
        "most_free_ns": freeing.each_ns[1],
    }


def _calls(traced: Traced, name: str) -> int:
    """Return how often the host makes this call to the runtime in all units."""
    host = traced.trace.host
    if host is None or name not in host.names:
        return 0
    mine = (host.name_of == host.names.index(name)) & (host.kind_of == RUNTIME)
    begins, ends = traced.edges
    at = np.searchsorted(begins, host.starts_ns[mine], side="right") - 1
    return int(((at >= 0) & (host.starts_ns[mine] < ends[np.maximum(at, 0)])).sum())


def communication(
    traced: Traced, collectives: tuple[Collective, ...], least_ns: float
) -> list[Saving]:
    """Return communication beside no computing, with the collectives of most time."""
    ns = traced.parts.communication_ns
    if ns < max(1, least_ns) or not collectives:
        return []
    before = tuple(
        KernelTime(
            each.name,
            each.count,
            round(each.count * each.each_ns),
            "communication",
            is_uneven=not each.are_alike,
        )
        for each in collectives
    )
    repeats = max(1, round(sum(each.count for each in collectives)))
    values = _waits(traced)
    if collectives[0].longest_ns is not None:
        values = {**values, "longest_ns": collectives[0].longest_ns}
    where = (collectives[0].name,)
    talks = traced.trace.operators["is_communication"].to_numpy(dtype=bool)
    of = traced.trace.calls["operator"].to_numpy()
    calls = np.flatnonzero(talks[of] & (traced.units.unit_of >= 0))
    return [Saving("communication", ns, repeats, where, before, values=values, calls=calls)]


def _waits(traced: Traced) -> dict[str, str | int | float]:
    """Return what the collectives of a unit wait for other ranks, of how much time, in ns, and the
    basis of that; nothing where nothing says it, or where it is hardly any."""
    units = traced.side.units
    talks = traced.trace.operators["is_communication"].to_numpy(dtype=bool)
    of = traced.trace.calls["operator"].to_numpy()
    calls = np.flatnonzero(talks[of] & (units.unit_of >= 0))
    found = waiting(traced.trace, calls)
    if found is None:
        return {}
    wait_ns, all_ns = (round(ns / units.count) for ns in (found.ns, found.of_ns))
    return {"wait_ns": wait_ns, "wait_of_ns": all_ns, "wait_basis": found.basis}


def copies(traced: Traced, least_ns: float) -> list[Saving]:
    """Return copies and fills of memory beside neither computing nor communication; none where
    those in the time of units belong to no unit."""
    ns = traced.parts.copies_ns
    if ns < max(1, least_ns):
        return []
    mine = np.flatnonzero(copies_of(traced.trace))
    of = traced.trace.calls["operator"].to_numpy()
    dur_ns, count = traced.trace.calls["dur_ns"].to_numpy(), traced.units.count
    chosen = np.flatnonzero(np.isin(of, mine) & (traced.side.units.unit_of >= 0))
    totals: dict[int, list[float]] = {}
    for call in chosen.tolist():
        entry = totals.setdefault(int(of[call]), [0.0, 0.0])
        entry[0] += 1 / count
        entry[1] += float(dur_ns[call]) / count
    if not totals:
        return []
    before = traced.side.named_times(totals)
    places = max(1, round(len(chosen) / count))
    return [Saving("copies", ns, places, before=before, calls=chosen)]
