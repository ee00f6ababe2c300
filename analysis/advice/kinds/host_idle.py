"""Idle time of the device by what the host did meanwhile: data, waits, allocation, launching."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.kinds.host_waits import host_waits
from fusescope.analysis.advice.kinds.idle import (
    MIN_IDLE,
    dispatch_bound,
    in_graphs,
    is_of_profiler,
    no_step,
)
from fusescope.analysis.advice.subject import MIN_SHARE, Answer, Subject, shown
from fusescope.analysis.compare.graphs.captured import captures_of
from fusescope.analysis.metrics.some_units import in_some_units
from fusescope.analysis.metrics.step import shown_run
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.trace import Value
from fusescope.analysis.work_units import run_word

if TYPE_CHECKING:
    from fusescope.analysis.host.causes import CauseKind
    from fusescope.analysis.host.idle import IdleCause
    from fusescope.analysis.host.runs import IdleOfRuns

_OF_DEVICE = frozenset(("synchronisation", "allocation", "copy_waits"))
_PROFILER = re.compile(r"(?:^|/)(?:torch|torch_npu|jax)/.{0,80}profiler")  # a path of its code
_LARGE = 0.1  # of the idle time while operators are launched, from which one gap is named
_ALL = 0.995  # of the idle time of a call, from which one operator is named with all of it


def idle_by_host(subject: Subject) -> Answer:
    """Nothing runs on the device in 5 % of the time or more, and while the host does one kind of
    thing in 2 %, unless what the profiler adds explains it, or another finding has it: that the run
    is bound by dispatch, or that the host waits.

    Nothing is said of a file that captures graphs instead of running them. The time is that of the
    runs that count, or of a file that marks none, from the first call to
    the last. Of several names of one kind the one with most idle time is named.
    """
    if not subject.has_kernels or captures_of(subject.trace) is not None:
        return ()
    found = subject.host_idle
    if found is None:
        return no_step(subject) if subject.trace.host is not None else "no_host_calls"
    if found.share < MIN_IDLE or (subject.step and is_of_profiler(subject, subject.step)):
        return ()
    by_kind: dict[CauseKind, list[IdleCause]] = {}
    for cause in found.idle.causes:
        by_kind.setdefault(cause.kind, []).append(cause)
    left_out: set[CauseKind] = {"unknown"}
    left_out |= {"launching", "python"} if _is_found(dispatch_bound(subject)) else set()
    left_out |= {"synchronisation"} if _is_found(host_waits(subject)) else set()
    return tuple(
        _finding(subject, found, kind, causes)
        for kind, causes in by_kind.items()
        if kind not in left_out and sum(one.idle_ns for one in causes) >= MIN_SHARE * found.wall_ns
    )


def _is_found(answer: Answer) -> bool:
    return not isinstance(answer, str) and bool(answer)


def _finding(
    subject: Subject, found: IdleOfRuns, kind: CauseKind, causes: list[IdleCause]
) -> Finding:
    idle_ns, most = sum(one.idle_ns for one in causes), causes[0]
    share = idle_ns / found.wall_ns
    return Finding(
        "idle_by_host",
        values={
            "cause": kind,
            "idle_ns": idle_ns / found.count,
            "share": share,
            "places": max(1, round(found.idle.count_of(kind) / found.count)),
            **_place(found, most),
            "place_ns": most.idle_ns / found.count,
            **(_latency(subject) if kind == "launching" else {}),
            **(_longest(found, causes) if kind == "launching" else {}),
            **(in_graphs(subject.trace) if kind == "launching" else {}),
            **({"is_profiler": True} if _PROFILER.search(most.name) else {}),
            **_some_runs(subject, found, kind),
        },
        at_most_ns=idle_ns / found.count,
        share=share,
        of_ns=None if found.runs else float(found.wall_ns),
        stretch=_stretch(subject, found, most),
    )


def _some_runs(subject: Subject, found: IdleOfRuns, kind: CauseKind) -> dict[str, Value]:
    """The runs that hold nearly all idle time of this kind, where those are few, and what the file
    calls them."""
    if not found.runs:
        return {}
    by_run = found.idle.by_window(len(found.runs))
    of_kind = [ns for cause, ns in by_run.items() if cause.kind == kind]
    some = in_some_units(np.sum(of_kind, axis=0)) if of_kind else {}
    return {**some, "some_of": run_word(subject.trace)} if some else {}


def _latency(subject: Subject) -> dict[str, Value]:
    """How long after their launch kernels start, and whether that is ahead; nothing where no launch
    is known."""
    from fusescope.analysis.host.latency import launch_latency

    found = launch_latency(subject.trace)
    if found is None:
        return {}
    return {"latency_ns": float(found.median_ns), "is_ahead": found.host_is_ahead}


def _longest(found: IdleOfRuns, causes: list[IdleCause]) -> dict[str, Value]:
    """Return the longest gap of one run where it is a large part of the idle time of all causes:
    what shortens it is not to launch fewer operators."""
    starts, ends = zip(*(one.longest_ns for one in causes), strict=True)
    longest_ns = max(end - start for start, end in zip(starts, ends, strict=True))
    idle_ns = sum(one.idle_ns for one in causes)
    is_large = found.count == 1 and found.idle.count_of("launching") > 1
    return {"longest_ns": longest_ns} if is_large and longest_ns >= _LARGE * idle_ns else {}


def _place(found: IdleOfRuns, cause: IdleCause) -> dict[str, Value]:
    """Return the name of a cause; of a call to the runtime behind the operator of the host that
    makes it, 'aten::to › cudaMemcpyAsync', and where several operators make it the one with most of
    its time in ns a run apart."""
    if cause.kind not in _OF_DEVICE or "::" in cause.name or not cause.name:
        return {"place": shown(cause.name) if cause.name else ""}
    callers: dict[str | None, int] = {}
    for path, ns in found.idle.stacks_of(cause).items():
        caller = _caller(path)
        callers[caller] = callers.get(caller, 0) + ns
    by, by_ns = max(
        ((name, ns) for name, ns in callers.items() if name is not None),
        key=lambda entry: entry[1],
        default=("", 0),
    )
    if not by:
        return {"place": shown(cause.name)}
    if by_ns >= _ALL * cause.idle_ns:
        return {"place": shown(f"{by} › {cause.name}")}
    return {"place": shown(cause.name), "by": shown(by), "by_ns": by_ns / found.count}


def _caller(path: Sequence[str]) -> str | None:
    """Return the outermost operator of a stack; None where it has none."""
    operators = (name for name in path if "::" in name and not name.startswith("autograd::"))
    return next(operators, None)


def _stretch(subject: Subject, found: IdleOfRuns, cause: IdleCause) -> Stretch | None:
    """The longest time that the cause explains in the run that timelines show."""
    if not found.runs:
        return Stretch(*cause.longest_ns)
    run = shown_run(subject.trace)
    if run not in found.runs:
        return None
    chosen = found.idle.windows == found.runs.index(run)
    for one in found.idle.causes_of(np.asarray(chosen)):
        if (one.kind, one.name) == (cause.kind, cause.name):
            return Stretch(*one.longest_ns)
    return None
