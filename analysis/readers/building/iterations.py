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


def iteration_runs(spans: Sequence[Span]) -> pd.DataFrame:
    """The spans as runs 0, 1, 2, … of kind iteration."""
    return runs_frame(
        run=range(len(spans)),
        kind=["iteration"] * len(spans),
        start_ns=[span.start_ns for span in spans],
        dur_ns=[span.dur_ns for span in spans],
        profiled=[True] * len(spans),
    )


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
    for place, start in enumerate(starts):
        if not isinstance(start, int):
            found.append(None)
            continue
        own = pids[place] if pids is not None and pids[place] in of_pid else None
        runs = every if own is None else of_pid[own]
        before = bisect_right(begins_all if own is None else begins[own], start) - 1
        last = spans[runs[before]] if before >= 0 else None
        inside = last is not None and start <= last.start_ns + last.dur_ns
        found.append(runs[before] if inside else None)
    return found
