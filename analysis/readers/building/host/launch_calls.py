"""Launch calls: how often the host had a device run kernels, and how long it was at that."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fusescope.analysis.readers.building.coded import Coded, Whole
from fusescope.analysis.readers.building.timetable import Ints, Timetable, ended_before
from fusescope.analysis.trace import Trace

# cudaLaunchKernel_v7000, cuLaunchKernelEx, hipExtModuleLaunchKernel, hipGraphLaunch; no
# hipLaunchHostFunc, which runs on the host.
_LAUNCH = re.compile(
    r"(?:cuda|cu|hip)(?:Graph|(?:Ext|Hcc)?Module|Ext|Drv)?Launch(?!Host)[A-Za-z]{0,40}"
    r"(?:_\w{1,20})?"
)


@dataclass(frozen=True, slots=True)
class LaunchCall:
    """One call of the host; `run` is None outside every run, `dur_ns` where no end is known."""

    thread: Hashable
    start_ns: int
    dur_ns: int | None
    run: int | None = 0


def is_launch(name: str | None) -> bool:
    """True for the name of a call of CUDA or HIP that launches a kernel or a graph."""
    return name is not None and _LAUNCH.fullmatch(name) is not None


@dataclass(frozen=True)
class LaunchCalls:
    """Such calls as columns: numbers of threads, times in ns, and the run of each."""

    threads: Ints
    starts: Ints
    lengths: Ints
    runs: Whole
    timed: bool = True  # whether every length is known


def launch_calls(calls: Sequence[LaunchCall]) -> LaunchCalls:
    """These calls as columns."""
    lengths = [call.dur_ns for call in calls]
    runs = np.array([call.run or 0 for call in calls], dtype="int64")
    return LaunchCalls(
        Coded.of(call.thread for call in calls).codes,
        np.array([call.start_ns for call in calls], dtype="int64"),
        np.array([length or 0 for length in lengths], dtype="int64"),
        Whole(runs, np.array([call.run is not None for call in calls], dtype=bool)),
        None not in lengths,
    )


def with_launches(trace: Trace, calls: LaunchCalls) -> Trace:
    """`trace` with the launches of each profiled run and the host's time in them.

    A call inside another one on the same thread is part of it. Unchanged without calls: a file
    that holds none of them was recorded without them. The time is null where a length lacks.
    """
    outer = _outermost(calls)
    if not len(outer):
        return trace
    places = {run: at for at, run in enumerate(trace.runs["run"].tolist())}
    known = outer[calls.runs.known[outer]]
    labels, found = pd.factorize(calls.runs.numbers[known])
    of = np.array([places.get(run, -1) for run in found.tolist()], dtype="int64")[labels]
    count, is_in = len(places), of >= 0
    launches = np.bincount(of[is_in], minlength=count)
    spent = np.zeros(count, dtype="int64")
    np.add.at(spent, of[is_in], calls.lengths[known][is_in])
    is_told = trace.runs["profiled"].to_numpy(dtype=bool)
    is_timed = is_told & calls.timed
    runs = trace.runs.assign(
        launches=Whole(np.where(is_told, launches, 1), is_told).array,
        launch_ns=Whole(np.where(is_timed, spent, 1), is_timed).array,
    )
    return replace(trace, runs=runs)


def _outermost(calls: LaunchCalls) -> Ints:
    """Positions of calls that are not inside another one of their thread."""
    table = Timetable(calls.threads, calls.starts, calls.lengths)
    lengths = calls.lengths[table.order]
    ends = table.times + lengths
    before = np.maximum(ended_before(table.starts_group, ends), 0)
    is_inside = (lengths > 0) & (ends <= before) & ~table.starts_group
    return table.order[~is_inside]
