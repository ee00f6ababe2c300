"""Iterations: spans of time that a profiler marks, and which task begins in which."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.trace import runs_frame


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


def run_of(
    starts: Sequence[object], spans: Sequence[Span], pids: Sequence[object] | None = None
) -> list[int | None]:
    """The span in which each start in ns lies, of its own process where that has spans.

    `spans` are in order of time; of several around a start it is the last one to begin.
    """
    every = list(range(len(spans)))
    of_pid: dict[object, list[int]] = {}
    for run, span in enumerate(spans):
        of_pid.setdefault(span.pid, []).append(run)
    begins = {pid: [spans[run].start_ns for run in runs] for pid, runs in of_pid.items()}
    begins_all = [span.start_ns for span in spans]
    found: list[int | None] = []
    for index, start in enumerate(starts):
        if not isinstance(start, int):
            found.append(None)
            continue
        own = pids[index] if pids is not None and pids[index] in of_pid else None
        runs = every if own is None else of_pid[own]
        before = bisect_right(begins_all if own is None else begins[own], start) - 1
        last = spans[runs[before]] if before >= 0 else None
        inside = last is not None and start <= last.start_ns + last.dur_ns
        found.append(runs[before] if inside else None)
    return found
