"""Checkpointing: a forward pass that runs again, since its results were not kept."""

from __future__ import annotations

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.subject import MAX_NAMES, Answer, Subject, shown


def checkpointing(subject: Subject) -> Answer:
    """Kernels of the forward pass that run again for the backward pass take 2 % of the unit of
    work, as the calls of the host around their launches say."""
    if subject.trace.host is None or subject.side.experiment is not None:
        return ()
    from fusescope.analysis.advice.explanation import explain_trace

    found = explain_trace(subject.trace)
    again = (
        next((one for one in found.savings if one.code == "recomputed"), None) if found else None
    )
    if found is None or again is None:
        return ()
    of_ns = float(found.unit.wall_ns)
    names = tuple(dict.fromkeys(shown(one.name) for one in again.before))
    return (
        Finding(
            "checkpointing",
            values={
                "executions": again.repeats,
                "time_ns": float(again.ns),
                "share": again.ns / of_ns,
            },
            at_most_ns=float(again.ns),
            share=again.ns / of_ns,
            of_ns=of_ns,
            where="operators",
            names=names[:MAX_NAMES],
        ),
    )
