"""Idle time: between all operators, where starting them is the limit, or before one of them."""

from __future__ import annotations

import numpy as np

from analysis.advice.finding import Finding, Unknown
from analysis.advice.subject import Answer, Subject, shown
from analysis.metrics.step import StepParts

MAX_BUSY = 0.4  # of the run: with less, what starts the operators is the limit, not they
_MOST = 0.5  # of all idle time, from which one operator explains it
_MIN_SHARE = 0.1  # of the run, before one operator
_MIN_IDLE = 0.05  # of the run, before any


def dispatch_bound(subject: Subject) -> Answer:
    """Nothing runs in more than 60 % of the median run, and no single operator explains that."""
    step = subject.step
    if step is None:
        return why_no_step(subject)
    if step.span_ns - step.idle_ns >= MAX_BUSY * step.span_ns or len(subject.operators) < 2:
        return ()
    if _before_one(subject, step) is not None:
        return ()
    executions = float(subject.operators["count"].sum())
    share = step.idle_ns / step.span_ns
    return (
        Finding(
            "dispatch_bound",
            values={
                "share": share,
                "idle_ns": step.idle_ns,
                "span_ns": step.span_ns,
                "executions": round(executions),
                "each_ns": step.idle_ns / executions,
            },
            at_most_ns=float(step.idle_ns),
            share=share,
            of_ns=float(step.span_ns),
        ),
    )


def idle_before(subject: Subject) -> Answer:
    """Before one operator nothing runs for 10 % of the run or more, and that is most of all idle
    time."""
    step = subject.step
    if step is None:
        return why_no_step(subject)
    place = _before_one(subject, step)
    if place is None:
        return ()
    gap_ns = min(float(subject.gaps_ns[place]), float(step.idle_ns))
    row = subject.operators.iloc[place]
    name = shown(str(row["name"]))
    return (
        Finding(
            "idle_before",
            values={
                "operator": name,
                "gap_ns": gap_ns,
                "share": gap_ns / step.span_ns,
                "executions": round(float(row["count"])),
            },
            at_most_ns=gap_ns,
            share=gap_ns / step.span_ns,
            of_ns=float(step.span_ns),
            where="operators",
            names=(name,),
            confidence="low",
        ),
    )


def idle_time(subject: Subject) -> Answer:
    """Nothing runs in 5 % of the median run or more, and neither dispatch nor one operator
    explains it; named is the operator that most of it comes before."""
    step = subject.step
    if step is None:
        return why_no_step(subject)
    share = step.idle_ns / step.span_ns
    if share < _MIN_IDLE or dispatch_bound(subject) or idle_before(subject):
        return ()
    place = int(np.argmax(subject.gaps_ns))
    name = shown(str(subject.operators["name"].iloc[place]))
    return (
        Finding(
            "idle_time",
            values={
                "idle_ns": step.idle_ns,
                "share": share,
                "operator": name,
                "gap_ns": min(float(subject.gaps_ns[place]), float(step.idle_ns)),
            },
            at_most_ns=float(step.idle_ns),
            share=share,
            of_ns=float(step.span_ns),
            where="operators",
            names=(name,),
            confidence="low",
        ),
    )


def _before_one(subject: Subject, step: StepParts) -> int | None:
    """The row of the operator that most idle time comes before; None where there is none."""
    gaps = subject.gaps_ns
    place = int(np.argmax(gaps)) if len(gaps) > 1 else None
    if place is None or gaps[place] < max(_MOST * step.idle_ns, _MIN_SHARE * step.span_ns):
        return None
    return place


def why_no_step(subject: Subject) -> Unknown:
    """What keeps the parts of a run unknown."""
    on_device = (subject.trace.operators["level"] == "device_kernel").to_numpy()
    if on_device.any() != on_device.all():
        return "mixed_levels"
    if subject.run_ns is None:
        return "no_times"
    return "no_start_times" if subject.trace.has_runs else "runs_unknown"
