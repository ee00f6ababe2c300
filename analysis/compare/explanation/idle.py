"""Idle time by what the host did: what the device waits for on each side, and the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fusescope.analysis.compare.explanation.explanation import Change, IdleTime, KernelTime
from fusescope.analysis.compare.explanation.host_calls import calls_behind
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.timing.statistics import student_t
from fusescope.analysis.host.causes import Cause, CauseKind, Frame, waits_if_long
from fusescope.analysis.host.idle import LONG_NS, HostIdle, IdleCause
from fusescope.analysis.host.uncached import uncached_memory
from fusescope.analysis.host_activity import RUNTIME
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.some_units import in_some_units
from fusescope.analysis.metrics.step import shown_run
from fusescope.analysis.metrics.stretch import Stretch, longest_idle
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units import Units

# What the host waits for by a call that says so: it is no noise of launching.
WAITS: tuple[CauseKind, ...] = (
    "data_loading", "synchronisation", "allocation", "copy_waits", "compilation",
    "garbage_collection",
)  # fmt: skip
_FEWEST = 3  # units, from which their idle time has a spread
_SURE = 0.975  # of Student's t, which differences unit by unit exceed by chance once in 20 times
_BESIDE = 0.1  # of a change, which may lie beside the operator under which nearly all of it lies
_PART = 0.1  # of a change, from which on a single gap is said to be a part of it
_BEYOND = 10.0  # times the other gaps under the same call, which vary more than kernels
_FEWEST_GAPS = 6
_PATH = 12  # frames of the host that are told
_NO_CALLS: tuple[CauseKind, ...] = ("queued", "unknown")
_NONE = (0.0, 0)  # intervals and ns of a call under which a side has no idle time

Key = tuple[CauseKind, str]


def idle_changes(sides: tuple[ExplainedSide, ExplainedSide], least_ns: float) -> list[Change]:
    """Return what the device waits at least `least_ns` a unit longer or shorter for, where units
    take the same time only beyond noise. Where a file does not show the host, or has no device that
    the host could keep waiting, all idle time is one change. None where a file does not say when
    each call began."""
    if not all(side.has_starts for side in sides):
        return []
    is_same = are_the_same_time(sides)
    before, after = (_causes(side) if _has_device(side) else None for side in sides)
    if before is None or after is None:
        idle = [side.units.walls_ns - side.busy_of_units for side in sides]
        change = _change(float(idle[0].mean()), float(idle[1].mean()), None)
        longest = (longest_idle(sides[0].trace), longest_idle(sides[1].trace))
        change = replace(change, longest=longest)
        unknown = [known is None for known in (before, after)]
        if unknown.count(True) == 1 and all(map(_has_device, sides)):
            change = replace(change, values={**change.values, "unknown_side": unknown.index(True)})
        noise_ns = _chance_ns(idle[0], idle[1]) if is_same else 0.0
        return [change] if abs(change.change_ns) >= max(least_ns, noise_ns) else []
    changes = []
    for key in dict.fromkeys((*before, *after)):
        took, takes = (side.get(key) for side in (before, after))
        larger = max((each for each in (took, takes) if each), key=lambda each: each.mean_ns)
        change = _change(
            took.mean_ns if took else 0.0, takes.mean_ns if takes else 0.0, larger.cause
        )
        change = replace(change, values={**change.values, **_some_units(took, takes)})
        noise_ns = _noise_ns(key, took, takes) if is_same else 0.0
        longest = (took.longest if took else None, takes.longest if takes else None)
        change = replace(change, longest=longest)
        if abs(change.change_ns) >= max(least_ns, noise_ns):
            changes.append(_with_calls(change, sides, (took, takes), key, least_ns))
    changes = [_with_uncached(change, sides) for change in changes]
    return _without_other_moments(changes, least_ns)


def _has_device(side: ExplainedSide) -> bool:
    return bool((side.trace.operators["level"] == "device_kernel").any())


def idle_times(side: ExplainedSide) -> tuple[IdleTime, ...]:
    """Return what the device waits for in a unit, the longest first; nothing where the file does
    not show the host."""
    causes = _causes(side) or {}
    times = [IdleTime(kind, name, round(each.mean_ns)) for (kind, name), each in causes.items()]
    return tuple(sorted((each for each in times if each.ns > 0), key=lambda each: -each.ns))


def _without_other_moments(changes: list[Change], least_ns: float) -> list[Change]:
    """Return the changes without those of what the host runs anyway, its code and its launches,
    where they cancel: the device waits as long as before, at other moments of the same work."""
    waits = [change for change in changes if change.values.get("kind") in WAITS]
    others_ns = sum(change.change_ns for change in changes) - sum(c.change_ns for c in waits)
    return waits if abs(others_ns) < least_ns else changes


def _some_units(took: _Waited | None, takes: _Waited | None) -> dict[str, int]:
    """Return the units that hold nearly all of what the side waits that waits longer, or half of
    what it waits longer."""
    side = int((takes.mean_ns if takes else 0.0) > (took.mean_ns if took else 0.0))
    longer, other = (took, takes)[side], (took, takes)[1 - side]
    if longer is None:
        return {}
    few_units = in_some_units(longer.of_units)
    if not few_units and other:
        few_units = in_some_units(longer.of_units, without_ns=other.mean_ns)
    return {**few_units, "some_side": side} if few_units else {}


def _with_calls(
    change: Change,
    sides: tuple[ExplainedSide, ExplainedSide],
    waited: tuple[_Waited | None, _Waited | None],
    key: Key,
    least_ns: float,
) -> Change:
    """Return a change with the calls of the host under which its idle time lies, those of either
    side on both, 0 where a side has none under it; how often and how long both make its calls,
    also a side without idle time under them; and a single long gap that costs at least `least_ns`
    a unit. What no call of the host is behind stays as it is."""
    if key[0] in _NO_CALLS:
        return change
    gaps = [_gaps_by_call(side, key) for side in sides]
    times = [_by_call(each, side.units.count) for each, side in zip(gaps, sides, strict=True)]
    names = sorted(
        dict.fromkeys((*times[0], *times[1])),
        key=lambda name: -max(each.get(name, _NONE)[1] for each in times),
    )
    before, after = (
        tuple(
            KernelTime(name, each.get(name, _NONE)[0], each.get(name, _NONE)[1]) for name in names
        )
        for each in times
    )
    either = next(each for each in waited if each)
    calls = [
        calls_behind(side, (each or either).cause) for side, each in zip(sides, waited, strict=True)
    ]
    launch = calls[1].name if calls[1] else ""
    values = {
        **change.values,
        **_inside(change, before, after, launch),
        **_long_gap(change, gaps, (sides[0].units.count, sides[1].units.count), least_ns),
    }
    if calls[0] is not None and calls[1] is not None:
        is_launch = key[0] == "launching"
        was, each_ns = (one.ns / one.count if is_launch else one.ns for one in (calls[0], calls[1]))
        values |= {"call": calls[1].name, "was_ns": was, "each_ns": each_ns}
        values |= {"call_before": calls[0].name} if calls[0].name != calls[1].name else {}
        values |= {
            "call_before_ns": calls[0].ns,
            "call_before_count": calls[0].count,
            "call_after_ns": calls[1].ns,
            "call_after_count": calls[1].count,
        }
    return replace(change, before=before, after=after, values=values)


def _inside(
    change: Change, before: tuple[KernelTime, ...], after: tuple[KernelTime, ...], launch: str
) -> dict[str, str]:
    """Return the operator of the host under which nearly all of a change of launching lies; nothing
    where it is spread over several, or lies under the calls named `launch` themselves."""
    if change.values.get("kind") != "launching":
        return {}
    longer = {one.name: after_one.ns - one.ns for one, after_one in zip(before, after, strict=True)}
    name = max(longer, key=lambda each: abs(longer[each]), default="")
    if name in ("", launch):
        return {}
    beside_ns = abs(change.change_ns - longer[name])  # of others, which may cancel
    return {"inside": name} if beside_ns <= _BESIDE * abs(change.change_ns) else {}


def _with_uncached(change: Change, sides: tuple[ExplainedSide, ExplainedSide]) -> Change:
    """Return a change of what frees memory with how often that is called in a unit of each side
    whose allocator keeps none."""
    if change.values.get("kind") != "allocation":
        return change
    values = dict(change.values)
    for number, side in enumerate(sides):
        starts, host, count = side.units.starts_ns, side.trace.host, side.units.count
        uncached = uncached_memory(host, starts, starts + side.units.walls_ns) if host else None
        if uncached is not None and uncached.name == values["cause"]:
            values |= {
                "freed_by": uncached.name,
                f"frees_{number}": round(uncached.frees / count),
                f"freeing_{number}_ns": round(uncached.freeing_ns / count),
            }
    return replace(change, values=values)


def _long_gap(
    change: Change,
    gaps: Sequence[Mapping[str, np.ndarray]],
    counts: tuple[int, int],
    least_ns: float,
) -> dict[str, str | int | float]:
    """Return the one gap under a call of the host that is far longer than all others under it, and
    what it costs beyond them, in ns a unit, - on the baseline: of several the one that costs most.
    Nothing where the sentence has it as that of one of the units."""
    found: dict[str, str | int | float] = {}
    most_ns = max(least_ns, _PART * abs(change.change_ns))
    for side in (0, 1):
        if change.values.get("some_units") == 1 and change.values.get("some_side") == side:
            continue
        for name, ns in gaps[side].items():
            longest = int(ns.max())
            others = (float(ns.sum()) - longest) / max(1, len(ns) - 1)
            more_ns = (longest - others) / counts[side]
            if (
                name
                and len(ns) >= _FEWEST_GAPS
                and longest > _BEYOND * others
                and more_ns >= most_ns
            ):
                most_ns = more_ns
                found = {
                    "long_side": side,
                    "long_call": name,
                    "long_of": len(ns),
                    "long_ns": longest,
                    "long_usual_ns": round(others),
                    "long_more_ns": round(more_ns if side else -more_ns),
                }
    return found


def _by_call(gaps: Mapping[str, np.ndarray], count: int) -> dict[str, tuple[float, int]]:
    """Return in how many gaps of a unit, and for how many ns, the device is idle by the call of the
    host; `count` is that of the units."""
    return {name: (len(ns) / count, round(float(ns.sum()) / count)) for name, ns in gaps.items()}


def _gaps_by_call(side: ExplainedSide, key: Key) -> dict[str, np.ndarray]:
    """Return for how many ns the device is idle for a cause in each interval, by the call of the
    host under which that lies, each time once: of launching the innermost one, '' from a launch to
    its start, else what the cause is called."""
    idle = side.idle
    if idle is None:
        return {}
    causes, of = idle.piece_causes
    mine = np.array([_key(cause) == key for cause in causes], dtype=bool)[of]
    pairs, of_piece = np.unique(np.stack((of, idle.nodes))[:, mine], axis=1, return_inverse=True)
    names = [_call_name(idle, causes[cause], node) for cause, node in pairs.T.tolist()]
    numbers = {name: at for at, name in enumerate(dict.fromkeys(names))}
    named = np.array([numbers[name] for name in names], dtype="int64")[of_piece.ravel()]
    gaps, of_gap = np.unique(np.stack((named, idle.intervals[mine])), axis=1, return_inverse=True)
    ns = np.bincount(of_gap.ravel(), (idle.ends_ns - idle.starts_ns)[mine], gaps.shape[1])
    return {name: ns[gaps[0] == at] for name, at in numbers.items()}


def _call_name(idle: HostIdle, cause: Cause, node: int) -> str:
    if cause.kind != "launching" and cause.name:
        return cause.name
    return _launched_by(idle.frames[node]) if node >= 0 else ""


def _launched_by(frame: Frame) -> str:
    """Return the name of a call under which launching lies. A short copy launches something, a long
    one of the same name waits, and is so called elsewhere."""
    is_copy = frame.kind == RUNTIME and waits_if_long(frame.name)
    return f"{frame.name} (< {LONG_NS // 1000} µs)" if is_copy else frame.name


def are_the_same_time(sides: tuple[ExplainedSide, ExplainedSide]) -> bool:
    """Return whether the units of both sides take the same time within the noise of their mean."""
    walls = [side.units.walls_ns for side in sides]
    return abs(float(walls[1].mean() - walls[0].mean())) <= _spread_ns(*walls)


@dataclass(frozen=True, eq=False)
class _Waited:
    """What the device waited for on one side, and for how long in each unit, in ns; `longest` is
    the longest interval in the run that timelines show."""

    cause: IdleCause
    of_units: np.ndarray
    longest: Stretch | None = None

    @property
    def mean_ns(self) -> float:
        return float(self.of_units.mean())


def _noise_ns(key: Key, took: _Waited | None, takes: _Waited | None) -> float:
    """Return by how much what two sides wait for differs by chance; 0 for what the host waits for
    on one side alone, or there in few units for longer than in all others."""
    one = took or takes
    assert one is not None
    is_stall = took is None or takes is None or _has_few(took) != _has_few(takes)
    if is_stall and key[0] in (*WAITS, "python"):
        return 0.0
    none = np.zeros(len(one.of_units))
    return _chance_ns(took.of_units if took else none, takes.of_units if takes else none)


def _has_few(waited: _Waited) -> bool:
    return bool(in_some_units(waited.of_units))


def _chance_ns(before: np.ndarray, after: np.ndarray) -> float:
    """Return by how much the means over units differ by chance: by their spread, or, where that is
    less, by the spread of the differences unit by unit, since units in the same order often wait
    for the same data. 0 for fewer than three units."""
    noise_ns = _spread_ns(before, after)
    if len(before) != len(after) or len(before) < _FEWEST:
        return noise_ns
    error_ns = float((after - before).std(ddof=1)) / math.sqrt(len(before))
    return min(noise_ns, student_t(_SURE, len(before) - 1) * error_ns)


def _spread_ns(before: np.ndarray, after: np.ndarray) -> float:
    """Return twice the standard error of the difference of two means; 0 of fewer than three."""
    if min(len(before), len(after)) < _FEWEST:
        return 0.0
    return 2 * float(np.sqrt(sum(each.var(ddof=1) / len(each) for each in (before, after))))


@once
def _causes(side: ExplainedSide) -> dict[Key, _Waited] | None:
    """Return the causes of idle time with their time in each unit; None where the file does not
    show the host, or has no start of its units. Launching and the code of one file are one cause
    each."""
    units, idle = side.units, side.idle
    if idle is None:
        return None
    causes: dict[Key, _Waited] = {}
    by_unit = idle.by_window(units.count)
    longest: dict[Key, Stretch] = {}
    shown = are_shown(side.trace, units)
    for cause in idle.causes if shown.all() else idle.causes_of(shown[idle.windows]):
        longest.setdefault(_key(cause), Stretch(*cause.longest_ns))
    for cause in idle.causes:
        key = _key(cause)
        new = _Waited(cause, np.zeros(units.count), longest.get(key))
        known = causes.setdefault(key, new)
        known.of_units[:] += by_unit[Cause(cause.kind, cause.name)]
    return causes


def are_shown(trace: Trace, units: Units) -> np.ndarray:
    """Return which units lie in the run that timelines show; all where the file marks no runs."""
    runs = trace.profiled_runs
    shown = runs[runs["run"] == shown_run(trace)]
    if shown.empty or pd.isna(shown["start_ns"].iloc[0]):
        return np.ones(units.count, dtype=bool)
    begin = int(shown["start_ns"].iloc[0])
    end = begin + int(shown["dur_ns"].iloc[0])
    overlaps: np.ndarray = (units.starts_ns < end) & (units.starts_ns + units.walls_ns > begin)
    return overlaps


def _key(cause: IdleCause | Cause) -> Key:
    """Return what counts as one cause: launching whatever is launched, code of one file."""
    if cause.kind == "launching":
        return cause.kind, ""
    return cause.kind, cause.name.split("(")[0] if cause.kind == "python" else cause.name


def _change(before_ns: float, after_ns: float, cause: IdleCause | None) -> Change:
    took, takes = round(before_ns), round(after_ns)
    ns = takes - took
    values: dict[str, str | int | float] = {"before_ns": took, "after_ns": takes}
    if cause is None or cause.kind == "unknown":
        values |= {} if cause is None else {"kind": cause.kind}
        return Change("idle", ns, evidence="ordered", values=values)
    host = (*cause.path[-_PATH:], *(() if cause.name in cause.path else (cause.name,)))
    named = tuple(filter(None, host))
    values |= {"kind": cause.kind, "cause": _key(cause)[1] or (named[-1] if named else "")}
    return Change("idle", ns, host=named, evidence="ordered", values=values)
