"""Host waits: calls of the host that wait for the device, after which it has nothing to do."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.kinds.idle import no_step
from fusescope.analysis.advice.subject import MIN_SHARE, Answer, Subject, shown
from fusescope.analysis.metrics.step import timed_run
from fusescope.analysis.metrics.stretch import Stretch, merged


def host_waits(subject: Subject) -> Answer:
    """The host began to wait while the device worked, and when it could go on nothing ran until
    the next operator started, for 2 % of the run that timelines show or more in total.

    At most the time between what was waited for and the next operator can be saved. What follows
    the last operator is not counted.
    """
    waits, timed = subject.trace.host_waits, timed_run(subject.trace)
    if waits is None:
        if subject.side.variant is not None and not subject.side.is_on_device:
            return ()  # it ran on the processor: there is no device to wait for
        return "no_host_calls" if subject.trace.host is None else "no_host_waits"
    if isinstance(timed, str) or subject.step is None:
        return no_step(subject)
    starts, ends = merged(timed.starts_ns, timed.ends_ns)
    if len(starts) < 2:
        return ()
    gap_starts, gap_ends = ends[:-1], starts[1:]
    # The gap in which each wait ends: it has to have begun before that.
    gap = np.searchsorted(gap_starts, waits.ends_ns, side="right") - 1
    place = np.maximum(gap, 0)
    is_cause = (
        (gap >= 0)
        & (waits.ends_ns < gap_ends[place])
        & (waits.starts_ns < gap_starts[place])
        & (waits.ends_ns > waits.starts_ns)
    )
    if not is_cause.any():
        return ()
    found = np.unique(gap[is_cause])
    lengths = gap_ends[found] - gap_starts[found]
    idle_ns, span_ns = int(lengths.sum()), subject.step.span_ns
    if idle_ns < MIN_SHARE * span_ns:
        return ()
    longest = int(found[np.argmax(lengths)])
    # The host can begin to wait before what it has started begins on the device.
    in_run = (waits.ends_ns > starts[0]) & (waits.starts_ns < ends[-1])
    name = waits.names[int(waits.name_of[is_cause & (gap == longest)][-1])]
    return (
        Finding(
            "host_waits",
            values={
                "waits": int(in_run.sum()),
                "places": len(found),
                "idle_ns": idle_ns,
                "share": idle_ns / span_ns,
                "call": shown(name),
            },
            at_most_ns=float(idle_ns),
            share=idle_ns / span_ns,
            of_ns=float(span_ns),
            stretch=Stretch(int(gap_starts[longest]), int(gap_ends[longest])),
        ),
    )
