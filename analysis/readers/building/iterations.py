"""Iterations: spans of time that a profiler marks, and which task begins in which."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.readers.building.coded import Coded, Whole
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.trace import Diagnostic, runs_frame

_MOST_LAUNCHES = 0.5  # of a file's activities


@dataclass(frozen=True)
class Span:
    """A step or an iteration: its label, time in ns, and the process that it is of."""

    label: str
    start_ns: int
    dur_ns: int
    pid: object = None


def profiled_runs(
    kind: str,
    start_ns: Sequence[int | None],
    dur_ns: Sequence[int],
    numbers: Sequence[int] | None = None,
) -> pd.DataFrame:
    """Runs under a profiler: 0, 1, 2, …, or as the file numbers them."""
    count = len(dur_ns)
    return runs_frame(
        run=range(count) if numbers is None else numbers,
        kind=[kind] * count,
        start_ns=pd.array(start_ns, dtype="Int64"),
        dur_ns=dur_ns,
        profiled=[True] * count,
    )


def iteration_runs(spans: Sequence[Span]) -> pd.DataFrame:
    """The spans as runs 0, 1, 2, … of kind iteration."""
    starts = [span.start_ns for span in spans]
    return profiled_runs("iteration", starts, [span.dur_ns for span in spans])


def span_at(begins: Sequence[int], lasts: Sequence[int], at: object) -> int | None:
    """The last span to begin until then, where `at` lies in it; `lasts` are the last ns of each.

    `begins` are in order. None outside of it, and for a time that is not known.
    """
    if not isinstance(at, int):
        return None
    index = bisect_right(begins, at) - 1
    return index if index >= 0 and at <= lasts[index] else None


def spans_at(spans: Sequence[Span], times: Whole) -> Ints:
    """The last span to begin until each time, where that lies in it, its end included; -1 outside
    of it, and for a time that is not known. `spans` are in order of time."""
    begins = np.array([span.start_ns for span in spans], dtype="int64")
    ends = begins + np.array([span.dur_ns for span in spans], dtype="int64")
    at = np.searchsorted(begins, times.numbers, side="right") - 1
    is_inside = times.known & (at >= 0)
    is_inside[is_inside] = times.numbers[is_inside] <= ends[at[is_inside]]
    return np.where(is_inside, at, -1)


def run_of(starts: Sequence[object], spans: Sequence[Span], pids: Coded | None = None) -> Whole:
    """The span in which each start in ns lies, of its own process where that has spans.

    `spans` are in order of time; of several around a start it is the last one to begin.
    """
    none = np.full(len(starts), -1, dtype="int64")
    times = Whole.of(starts) or Whole(none, none >= 0)
    if pids is None:
        found = spans_at(spans, times)
        return Whole(np.where(found >= 0, found, 0), found >= 0)
    of_pid: dict[object, list[int]] = {}
    for run, span in enumerate(spans):
        of_pid.setdefault(span.pid, []).append(run)
    found = none
    of_value = [tuple(of_pid.get(pid, ())) for pid in [*pids.values, None]]
    chosen = Coded.of(of_value)
    of_row = chosen.codes[pids.codes]
    order = np.argsort(of_row, kind="stable")
    bounds = np.searchsorted(of_row[order], np.arange(len(chosen.values) + 1))
    for number, runs in enumerate(chosen.values):
        rows = order[bounds[number] : bounds[number + 1]]
        own = list(runs) or list(range(len(spans)))  # type: ignore[call-overload]
        at = spans_at([spans[run] for run in own], times.take(rows))
        found[rows] = np.where(at >= 0, np.array([*own, -1])[at], -1)
    return Whole(np.where(found >= 0, found, 0), found >= 0)


def launched_before(streams: Ints, starts: Ints, is_known: np.ndarray) -> np.ndarray:
    """Return which activities of a device were launched before the file begins: those without a
    known launch that start before all others of their stream. Where fewer than half of the launches
    are in the file, it does not say that of any.

    A run has what it launched. The device runs these while the first runs are launched, so with
    them those would have more than one run has.
    """
    earlier = np.zeros(len(is_known), dtype=bool)
    if not len(is_known) or is_known.all() or is_known.mean() < _MOST_LAUNCHES:
        return earlier
    first = np.full(int(streams.max()) + 1, np.iinfo("int64").min)
    first[streams[is_known]] = np.iinfo("int64").max
    np.minimum.at(first, streams[is_known], starts[is_known])
    earlier[~is_known] = starts[~is_known] < first[streams[~is_known]]
    return earlier


def before_file_notes(earlier: np.ndarray, lengths: Ints) -> list[Diagnostic]:
    """A note of how many activities were launched before the file begins, and what they took."""
    values = {"ns": int(np.maximum(lengths[earlier], 0).sum())}
    count = int(earlier.sum())
    return [Diagnostic("info", "launched_before", count, values=values)] if count else []
