"""Units that the file names: runs of the profiler, and annotations of the host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.host_activity import ANNOTATION, HostActivity
from fusescope.analysis.metrics.spans import busy_until, call_times
from fusescope.analysis.trace import UNIT_RUNS, Trace
from fusescope.analysis.work_units.device_period import device_windows, launch_times
from fusescope.analysis.work_units.earlier import behind_earlier
from fusescope.analysis.work_units.units import NUMBER, OUTSIDE, UnitKind, Units, title_of

_COVERED = 0.5  # of the launches, which annotations must hold to be units of work
_UNSEEN = 0.5  # of a unit, in which its first kernel waits for what the file does not show
_HARDLY = 0.01  # of that time, in which the file shows the device at work
# Annotations that stand for a step, the best first: serving engines, inference, a user's own.
# Engines name each phase in its own way, so all of one engine are units together.
_ENGINES = 2
_STEPS = (
    re.compile(r"step\["),
    re.compile(r"execute_(?:\d+_)?context_"),
    re.compile(r"execute_model|execute_diffusion|model_inference"),
    re.compile(r"(?:train(?:ing)?|eval)?_?(?:step|iteration|iter|batch)\b", re.IGNORECASE),
)
_KINDS: dict[str, UnitKind] = {kind: kind for kind in UNIT_RUNS}
_ENDS_STEP = re.compile(r"Optimizer\.step#")


def units_of_runs(trace: Trace) -> Units | None:
    """Return the runs of a trace as units, without those marked as warm-up; None where it has none.
    Where the host is more than a step ahead, the device's own period is the unit."""
    if not trace.has_runs:
        return None
    runs = trace.told_runs[~trace.told_runs["warmup"].to_numpy()]
    runs = runs if len(runs) else trace.told_runs
    units = _units(trace, runs)
    if units.kind == "step" and units.host_ns is None:
        return behind_earlier(trace, _by_device(trace, units))
    return units


def _units(trace: Trace, runs: pd.DataFrame) -> Units:
    """Return these runs as units."""
    kind = str(runs["kind"].iloc[0])
    names = _names(runs)
    is_period = "host_ns" in runs
    return Units(
        _KINDS.get(kind, "step"),
        title_of(names) if kind in _KINDS else kind,
        "ordered" if kind == "repeat" else "named",
        _places(trace.calls["run"], runs["run"]),
        runs["start_ns"].to_numpy("int64", na_value=-1),
        runs["dur_ns"].to_numpy(),
        names,
        int(runs["host_ns"].iloc[0]) if is_period else None,
        is_period and bool(runs["is_behind"].any()),
    )


def _names(runs: pd.DataFrame) -> tuple[str, ...]:
    """Return the annotations that runs are, '' of those that the profiler marks itself."""
    return tuple(map(str, runs["name"])) if "name" in runs else ("",) * len(runs)


def _places(run_of_call: pd.Series, numbers: pd.Series) -> np.ndarray:
    """Return the place of the run of each call among these numbers, OUTSIDE for none."""
    found: np.ndarray = pd.Index(numbers).get_indexer(run_of_call.to_numpy("int64", na_value=-1))
    return found


def units_of_annotations(trace: Trace) -> Units | None:
    """Return annotations of one name as units if they hold most launches; None without any.

    A kernel belongs to the annotation that was open when it was launched, on whatever thread.
    """
    host = trace.host
    if host is None or not len(host.launch_rows):
        return None
    launched_ns = launch_times(trace)
    for marks in _candidates(host):
        unit_of = marks.at(launched_ns)
        timed = launched_ns >= 0
        if timed.any() and (unit_of[timed] >= 0).mean() > _COVERED:
            units = Units(
                "annotation",
                marks.stem,
                "named",
                unit_of,
                marks.starts,
                marks.ends - marks.starts,
                marks.names,
            )
            units = behind_earlier(trace, _by_device(trace, units))
            return units if units.is_behind else _until_last_kernel(trace, units)
    return None


class _Marks(msgspec.Struct, frozen=True, eq=False):
    """Spans of the host that follow one another, their names, and what stands for all of them."""

    stem: str
    starts: np.ndarray
    ends: np.ndarray
    names: tuple[str, ...]

    def at(self, times_ns: np.ndarray) -> np.ndarray:
        """Return the span that holds each of these times, OUTSIDE for none."""
        places = np.searchsorted(self.starts, times_ns, side="right") - 1
        inside = (places >= 0) & (times_ns < self.ends[np.maximum(places, 0)])
        return np.where(inside, places, OUTSIDE)


def _candidates(host: HostActivity) -> list[_Marks]:
    """Return the annotations that may be units: by how well their name says it, then by number."""
    chosen = np.flatnonzero(host.kind_of == ANNOTATION)
    by_stem: dict[str, list[int]] = {}
    for at in chosen.tolist():
        name = host.names[host.name_of[at]]
        by_stem.setdefault(NUMBER.sub("N", name), []).append(at)
    ranked = []
    engines: list[list[int]] = [[] for _ in range(_ENGINES)]
    for stem, places in by_stem.items():
        rank = next((at for at, form in enumerate(_STEPS) if form.match(stem)), None)
        if rank is not None:
            ranked.append((rank, -len(places), stem, places))
        if rank is not None and rank < _ENGINES:
            engines[rank] += places
    marks = [_marks(host, places) for places in engines if places]
    marks += [_marks(host, places) for _, _, _, places in sorted(ranked)]
    ending = [at for stem, at in sorted(by_stem.items()) if _ENDS_STEP.match(stem)]
    marks += [_between(host, places) for places in ending if len(places) > 1]
    return [each for each in marks if each is not None]


def _marks(host: HostActivity, places: Sequence[int]) -> _Marks | None:
    """Return these spans in order of time; None where they overlap."""
    order = np.array(sorted(places, key=lambda at: int(host.starts_ns[at])), dtype="int64")
    starts, ends = host.starts_ns[order], host.ends_ns[order]
    if (ends[:-1] > starts[1:]).any():
        return None
    names = [host.names[host.name_of[at]] for at in order.tolist()]
    return _Marks(title_of(names), starts, ends, tuple(names))


def _between(host: HostActivity, places: Sequence[int]) -> _Marks:
    """Return steps that end where these spans end, the first from the first event of the host."""
    ends = np.sort(host.ends_ns[np.array(places)])
    first = min(int(host.starts_ns.min()), int(host.launch_ns.min()))
    starts = np.concatenate(([first], ends[:-1]))
    return _Marks("Optimizer.step", starts, ends, ("Optimizer.step",) * len(ends))


def _until_last_kernel(trace: Trace, units: Units) -> Units:
    """Return one unit whose end is that of the last kernel that it launched: the host may have gone
    on without waiting for it. It begins with its first kernel where that waits after its launch
    for more than half of the unit, in which the file shows nothing: what the device ran meanwhile
    is not in it. Several units end where the next begins, and stay as they are."""
    if units.count != 1:
        return units
    starts, lasts = call_times(trace.calls)
    mine = units.unit_of == 0
    begin = int(units.starts_ns[0])
    end = max(int((starts + lasts)[mine].max()), begin + int(units.walls_ns[0]))
    first = np.flatnonzero(mine)[np.argmin(starts[mine])]
    started, launched = int(starts[first]), int(launch_times(trace)[first])
    if launched >= 0 and started - launched > _UNSEEN * (end - begin):
        busy_ns = np.diff(busy_until(starts, lasts)(np.array([launched, started])))
        begin = started if busy_ns <= _HARDLY * (started - launched) else begin
    return replace(units, starts_ns=np.array([begin]), walls_ns=np.array([end - begin]))


def _by_device(trace: Trace, units: Units) -> Units:
    """Return units whose walls are the device's, from first kernel to first kernel, where that has
    a period of its own. Kernels without a launch in the file belong to the unit in which they
    start, those before the first one to none."""
    windows = device_windows(trace, units.unit_of, units.walls_ns)
    if windows is None:
        return units
    starts, _ = call_times(trace.calls)
    in_time = np.searchsorted(windows.begins, starts, side="right") - 1
    is_after = starts >= windows.begins[-1] + windows.walls[-1]
    in_time = np.where(is_after, OUTSIDE, in_time)
    return Units(
        units.kind,
        units.name,
        units.evidence,
        np.where(launch_times(trace) >= 0, units.unit_of, in_time),
        windows.begins,
        windows.walls,
        units.names,
        round(float(units.walls_ns.mean())),
    )
