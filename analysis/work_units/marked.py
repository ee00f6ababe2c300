"""Units that the file names: runs of the profiler, and annotations of the host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.host_activity import ANNOTATION, HostActivity
from analysis.metrics.device_period import device_windows, launch_times
from analysis.metrics.spans import call_times
from analysis.trace import Trace
from analysis.work_units.units import OUTSIDE, Units
from analysis.work_units.work import NO_WORK, Work, work_of

_COVERED = 0.5  # of the launches, which annotations must hold to be units of work
_NUMBER = re.compile(r"\d+")
# Annotations that stand for a step, the best first: serving engines, inference, a user's own.
_STEPS = (
    re.compile(r"step\["),
    re.compile(r"execute_(?:\d+_)?context_"),
    re.compile(r"execute_model|execute_diffusion|model_inference"),
    re.compile(r"(?:train(?:ing)?|eval)?_?(?:step|iteration|iter|batch)\b", re.IGNORECASE),
)
_ENDS_STEP = re.compile(r"Optimizer\.step#")


def units_of_runs(trace: Trace) -> Units | None:
    """Return the profiler's own runs as units, without those marked as warm-up; None where the file
    marks none. Where the host is more than a step ahead, the device's own period is the unit."""
    if not trace.has_runs:
        return None
    runs = trace.told_runs[~trace.told_runs["warmup"].to_numpy()]
    runs = runs if len(runs) else trace.told_runs
    numbers = runs["run"].to_numpy()
    places = {int(run): at for at, run in enumerate(numbers)}
    of = trace.calls["run"].to_numpy("int64", na_value=-1)
    known = np.array(sorted({*places, -1}), dtype="int64")
    units = np.array([places.get(int(run), OUTSIDE) for run in known], dtype="int64")
    at = np.minimum(np.searchsorted(known, of), len(known) - 1)
    unit_of = np.where(known[at] == of, units[at], OUTSIDE)
    kind = str(runs["kind"].iloc[0])
    is_repeat = kind == "repeat"  # a comparison has cut the file by the order of its kernels
    found = Units(
        "repeat" if is_repeat else "step",
        "" if is_repeat else kind,
        "ordered" if is_repeat else "named",
        unit_of,
        runs["start_ns"].to_numpy("int64", na_value=-1),
        runs["dur_ns"].to_numpy(),
        (NO_WORK,) * len(runs),
    )
    return found if is_repeat else _by_device(trace, found)


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
                marks.work,
            )
            return _until_last_kernel(trace, _by_device(trace, units))
    return None


@dataclass(frozen=True, eq=False)
class _Marks:
    """Spans of the host that follow one another, and the name that they share."""

    stem: str
    starts: np.ndarray
    ends: np.ndarray
    work: tuple[Work, ...]

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
        by_stem.setdefault(_NUMBER.sub("N", name), []).append(at)
    ranked = []
    for stem, places in by_stem.items():
        rank = next((at for at, form in enumerate(_STEPS) if form.match(stem)), None)
        if rank is not None:
            ranked.append((rank, -len(places), stem, places))
    marks = [_marks(host, stem, places) for _, _, stem, places in sorted(ranked)]
    ending = [at for stem, at in sorted(by_stem.items()) if _ENDS_STEP.match(stem)]
    marks += [_between(host, places) for places in ending if len(places) > 1]
    return [each for each in marks if each is not None]


def _marks(host: HostActivity, stem: str, places: Sequence[int]) -> _Marks | None:
    """Return these spans in order of time; None where they overlap."""
    order = np.array(sorted(places, key=lambda at: int(host.starts_ns[at])), dtype="int64")
    starts, ends = host.starts_ns[order], host.ends_ns[order]
    if (ends[:-1] > starts[1:]).any():
        return None
    names = [host.names[host.name_of[at]] for at in order.tolist()]
    title = names[0] if len(names) == 1 else stem.replace("N", "#", 1) if "N" in stem else stem
    return _Marks(title, starts, ends, tuple(map(work_of, names)))


def _between(host: HostActivity, places: Sequence[int]) -> _Marks:
    """Return steps that end where these spans end, the first from the first event of the host."""
    ends = np.sort(host.ends_ns[np.array(places)])
    first = min(int(host.starts_ns.min()), int(host.launch_ns.min()))
    starts = np.concatenate(([first], ends[:-1]))
    return _Marks("Optimizer.step", starts, ends, (NO_WORK,) * len(ends))


def _until_last_kernel(trace: Trace, units: Units) -> Units:
    """Return one unit whose end is that of the last kernel that it launched: the host may have gone
    on without waiting for it. Several units end where the next begins, and stay as they are."""
    if units.count != 1:
        return units
    starts, lasts = call_times(trace.calls)
    ends = (starts + lasts)[units.unit_of == 0]
    end = max(int(ends.max()), int(units.starts_ns[0] + units.walls_ns[0]))
    return replace(units, walls_ns=np.array([end - int(units.starts_ns[0])], dtype="int64"))


def _by_device(trace: Trace, units: Units) -> Units:
    """Return units whose walls are the device's, from first kernel to first kernel, where that has
    a period of its own, with those that were launched before the file began. Kernels without a
    launch in the file belong to the unit in which they start, those before the first one to
    none."""
    found = device_windows(trace, units.unit_of, units.walls_ns)
    if found is None:
        return units
    starts, _ = call_times(trace.calls)
    in_time = np.searchsorted(found.begins, starts, side="right") - 1
    is_after = starts >= found.begins[-1] + found.walls[-1]
    in_time = np.where(is_after, OUTSIDE, in_time)
    launched = np.where(units.unit_of >= 0, units.unit_of + found.earlier, OUTSIDE)
    return Units(
        units.kind,
        units.name,
        units.evidence,
        np.where(launch_times(trace) >= 0, launched, in_time),
        found.begins,
        found.walls,
        (units.work[0],) * found.earlier + units.work,
        round(float(np.median(units.walls_ns))),
        found.earlier,
    )
