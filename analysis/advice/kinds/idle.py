"""Idle time: between all operators, where starting them is the limit, or at one place.

Where the file says what the host did meanwhile, host_idle.py names that instead.
"""

from __future__ import annotations

import numpy as np

from fusescope.analysis.advice.finding import Finding, Unknown
from fusescope.analysis.advice.settings import is_of_engine
from fusescope.analysis.advice.subject import Answer, Subject, shown
from fusescope.analysis.metrics.step import StepParts, why_no_step
from fusescope.analysis.metrics.stretch import Stretch, after_last, longest_gap, most_idle
from fusescope.analysis.trace import Trace

# Variants of our own that hand tensors from session to session.
_IN_PIECES = frozenset(("eager", "segments", "custom"))
MAX_BUSY = 0.4  # of the run: with less, what starts the operators is the limit, not they
_MOST = 0.5  # of all idle time, from which one place explains it
MIN_IDLE = 0.05  # of the run
_LAUNCHING = 0.2  # of all idle time: with less, Python code is the limit, not launching


def dispatch_bound(subject: Subject) -> Answer:
    """Nothing runs for more than 60 % of the median un-profiled run, and no single place explains
    that: operators take no longer there than as profiled."""
    step = subject.step
    if step is None:
        return no_step(subject)
    whole_ns = min(step.span_ns, _unprofiled_ns(subject, step))
    if step.span_ns - step.idle_ns >= MAX_BUSY * whole_ns:
        return ()
    if len(subject.operators) < 2 or _in_pieces(subject):
        return ()
    if is_explained(subject) and not _is_launching(subject):
        return ()
    if _before_one(subject, step) is not None or _is_most(subject.idle_after_ns, step):
        return ()
    idle_ns = step.idle_ns - subject.idle_after_ns
    executions = float(subject.operators["count"].sum())
    share = idle_ns / step.span_ns
    most_ns, of_ns = _saving(subject, step, idle_ns)
    return (
        Finding(
            "dispatch_bound",
            values={
                "share": share,
                "idle_ns": idle_ns,
                "executions": subject.executions(np.ones(len(subject.operators), dtype=bool)),
                "each_ns": idle_ns / executions,
                **in_graphs(subject.trace),
            },
            at_most_ns=most_ns,
            share=share,
            of_ns=of_ns,
            stretch=most_idle(subject.trace),
            confidence="medium" if most_ns < of_ns else "low",  # all of a run is no estimate
        ),
    )


def in_graphs(trace: Trace) -> dict[str, float]:
    """Return the part of the time of kernels that graphs launch, where that is most of it: to start
    the run as a graph is what was done."""
    notes = (note for note in trace.diagnostics if note.code == "graphs_launched")
    share = next((note.values["share"] for note in notes), None)
    return {"of_graphs": share} if isinstance(share, float) and share > _MOST else {}


def idle_before(subject: Subject) -> Answer:
    """Before one operator nothing runs for 5 % of the run or more, and that is most of all idle
    time."""
    step = subject.step
    if step is None:
        return no_step(subject)
    place = _before_one(subject, step)
    if place is None or _in_pieces(subject) or is_of_profiler(subject, step):
        return ()
    if is_explained(subject):
        return ()
    gap_ns = float(subject.gaps_ns[place])
    name = shown(subject.operators["name"].iloc[place])
    most_ns, of_ns = _saving(subject, step, gap_ns)
    return (
        Finding(
            "idle_before",
            values={
                "operator": name,
                "gap_ns": gap_ns,
                "share": gap_ns / step.span_ns,
            },
            at_most_ns=most_ns,
            share=gap_ns / step.span_ns,
            of_ns=of_ns,
            stretch=_gap(subject, place),
            where="operators",
            names=(name,),
            confidence="low",
        ),
    )


def idle_after(subject: Subject) -> Answer:
    """After the last operator the run goes on for 5 % of its time or more, and that is most of all
    idle time."""
    step = subject.step
    if step is None:
        return no_step(subject)
    if not _is_most(subject.idle_after_ns, step) or _in_pieces(subject):
        return ()
    if is_of_profiler(subject, step) or is_explained(subject):
        return ()
    share = subject.idle_after_ns / step.span_ns
    most_ns, of_ns = _saving(subject, step, subject.idle_after_ns)
    return (
        Finding(
            "idle_after",
            values={"gap_ns": subject.idle_after_ns, "share": share},
            at_most_ns=most_ns,
            share=share,
            of_ns=of_ns,
            stretch=after_last(subject.trace),
            confidence="low",
        ),
    )


def idle_time(subject: Subject) -> Answer:
    """Nothing runs in 5 % of the mean run or more, and neither dispatch nor one place explains
    it, nor the time that the profiler adds; named is the operator that most of it comes before,
    where any does."""
    step = subject.step
    if step is None:
        return no_step(subject)
    if is_of_profiler(subject, step) or _in_pieces(subject) or is_explained(subject):
        return ()
    if dispatch_bound(subject) or idle_before(subject) or idle_after(subject):
        return ()
    share = step.idle_ns / step.span_ns
    place = int(np.argmax(subject.gaps_ns))
    name = shown(subject.operators["name"].iloc[place])
    gap_ns = float(subject.gaps_ns[place])
    most_ns, of_ns = _saving(subject, step, step.idle_ns)
    return (
        Finding(
            "idle_time",
            values={
                "idle_ns": step.idle_ns,
                "share": share,
                "operator": name,
                "gap_ns": gap_ns,
                "is_alone": len(subject.operators) == 1,
                "has_host": subject.trace.host is not None,
                "compiled_ns": sum(
                    int(str(note.values["own_ns"]))
                    for note in subject.trace.diagnostics
                    if note.code == "compiled_dispatch"
                ),
            },
            at_most_ns=most_ns,
            share=share,
            of_ns=of_ns,
            stretch=_gap(subject, place) if gap_ns else None,
            where="operators",
            names=(name,) if gap_ns else (),
            confidence="low",
        ),
    )


def pieces(subject: Subject) -> Answer:
    """A variant that runs the model piece by piece spends 5 % of the mean run or more between
    them."""
    step = subject.step
    if step is None:
        return no_step(subject)
    if not _in_pieces(subject) or step.idle_ns < MIN_IDLE * step.span_ns:
        return ()
    share = step.idle_ns / step.span_ns
    most_ns, of_ns = _saving(subject, step, step.idle_ns)
    return (
        Finding(
            "pieces",
            values={"idle_ns": step.idle_ns, "share": share},
            at_most_ns=most_ns,
            share=share,
            of_ns=of_ns,
            stretch=_gap(subject, int(np.argmax(subject.gaps_ns))),
        ),
    )


def no_step(subject: Subject) -> Unknown:
    """What keeps the parts of a run unknown."""
    return why_no_step(subject.trace) or "no_times"


def _in_pieces(subject: Subject) -> bool:
    side = subject.side
    return is_of_engine(side) and side.own_name.partition(":")[0] in _IN_PIECES


def is_explained(subject: Subject) -> bool:
    """True where the file says what the host did in at least half of the idle time."""
    found = subject.host_idle
    if found is None or not found.idle.idle_ns:
        return False
    unknown_ns = sum(one.idle_ns for one in found.idle.causes if one.kind == "unknown")
    return 2 * unknown_ns <= found.idle.idle_ns


def _is_launching(subject: Subject) -> bool:
    """True where launching is what most idle time goes to, with the Python code between launches,
    and is a part of it that counts by itself."""
    found = subject.host_idle
    if found is None:
        return False
    launching_ns, python_ns = (
        sum(one.idle_ns for one in found.idle.causes if one.kind == kind)
        for kind in ("launching", "python")
    )
    idle_ns = found.idle.idle_ns
    return launching_ns >= _LAUNCHING * idle_ns and 2 * (launching_ns + python_ns) >= idle_ns


def is_of_profiler(subject: Subject, step: StepParts) -> bool:
    """Whether less than 5 % of the run is idle that the profiler need not have made."""
    return _idle_ns(subject, step) < MIN_IDLE * step.span_ns


def _idle_ns(subject: Subject, step: StepParts) -> float:
    """The idle time of the run without what the profiler adds: it writes between operators, so as
    much as the run is longer than the median of un-profiled ones need not be idle without it."""
    return step.idle_ns - max(0.0, step.span_ns - _unprofiled_ns(subject, step))


def _saving(subject: Subject, step: StepParts, idle_ns: float) -> tuple[float, float]:
    """The most that can be saved of so much idle time, and the run that it is of: an un-profiled
    one, where there are any. The profiler makes nothing longer that runs on a device, so there all
    that it adds is idle time; of what it adds on a processor, part is in the operators."""
    whole_ns = _unprofiled_ns(subject, step)
    left_ns = _idle_ns(subject, step) if subject.side.is_on_device else whole_ns
    return min(float(idle_ns), max(0.0, left_ns)), whole_ns


def _unprofiled_ns(subject: Subject, step: StepParts) -> float:
    """The median of un-profiled runs; the run as profiled where there are none."""
    median_ns = subject.median_unprofiled_ns
    return float(step.span_ns) if median_ns is None else median_ns


def _before_one(subject: Subject, step: StepParts) -> int | None:
    """The row of the operator that most idle time comes before; None where there is none."""
    gaps = subject.gaps_ns
    place = int(np.argmax(gaps)) if len(gaps) > 1 else None
    return place if place is not None and _is_most(float(gaps[place]), step) else None


def _gap(subject: Subject, place: int) -> Stretch | None:
    """The longest of the gaps before the operator of a row."""
    return longest_gap(subject.trace, int(subject.operators["operator"].iloc[place]))


def _is_most(gap_ns: float, step: StepParts) -> bool:
    return gap_ns >= max(_MOST * step.idle_ns, MIN_IDLE * step.span_ns)
