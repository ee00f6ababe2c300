"""Launch calls: how often the host had a device run kernels, and how long it was at that."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from analysis.trace import Trace

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


def with_launches(trace: Trace, calls: Sequence[LaunchCall]) -> Trace:
    """`trace` with the launches of each profiled run and the host's time in them.

    A call inside another one on the same thread is part of it. Unchanged without calls: a file
    that holds none of them was recorded without them. The time is null where a length lacks.
    """
    outer = _outermost(calls)
    if not outer:
        return trace
    counts: dict[int | None, int] = {}
    times: dict[int | None, int] = {}
    for call in outer:
        counts[call.run] = counts.get(call.run, 0) + 1
        times[call.run] = times.get(call.run, 0) + (call.dur_ns or 0)
    timed = all(call.dur_ns is not None for call in outer)
    told = list(zip(trace.runs["run"], trace.runs["profiled"], strict=True))
    launches = [counts.get(run, 0) if profiled else None for run, profiled in told]
    spent = [times.get(run, 0) if profiled and timed else None for run, profiled in told]
    runs = trace.runs.assign(
        launches=pd.array(launches, dtype="Int64"), launch_ns=pd.array(spent, dtype="Int64")
    )
    return replace(trace, runs=runs)


def _outermost(calls: Sequence[LaunchCall]) -> list[LaunchCall]:
    ends: dict[Hashable, int] = {}
    found = []
    for call in sorted(calls, key=lambda call: (call.start_ns, -(call.dur_ns or 0))):
        length = call.dur_ns or 0
        if length and call.start_ns + length <= ends.get(call.thread, call.start_ns):
            continue
        ends[call.thread] = max(ends.get(call.thread, 0), call.start_ns + length)
        found.append(call)
    return found
