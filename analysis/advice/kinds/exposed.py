"""Exposed: communication and copies that run while nothing is computed."""

from __future__ import annotations

from analysis.advice.finding import Finding
from analysis.advice.kinds.idle import no_step
from analysis.advice.subject import MIN_SHARE, Answer, Subject
from analysis.metrics.device import copies_of
from analysis.trace import Value


def communication(subject: Subject) -> Answer:
    """Communication that no computing hides takes 2 % of the median run, or more."""
    mask = subject.operators["is_communication"].to_numpy(dtype=bool)
    step = subject.step
    if not mask.any():
        return ()
    if step is None:
        return no_step(subject)
    if step.communication_ns < MIN_SHARE * step.span_ns:
        return ()
    values: dict[str, Value] = {
        "exposed_ns": step.communication_ns,
        "share": step.communication_ns / step.span_ns,
        "operator": subject.names(mask)[0],
    }
    return (
        Finding(
            "communication",
            values=values,
            at_most_ns=float(step.communication_ns),
            share=step.communication_ns / step.span_ns,
            of_ns=float(step.span_ns),
            where="operators",
            names=subject.names(mask),
        ),
    )


def copies(subject: Subject) -> Answer:
    """Copies between host and device that nothing hides take 2 % of the median run, or more."""
    trace = subject.trace
    mask = copies_of(trace)[subject.operators["operator"].to_numpy()]
    step = subject.step
    if not mask.any():
        return ()
    if step is None:
        return no_step(subject)
    if step.copies_ns < MIN_SHARE * step.span_ns:
        return ()
    return (
        Finding(
            "copies",
            values={
                "exposed_ns": step.copies_ns,
                "share": step.copies_ns / step.span_ns,
                "executions": subject.executions(mask),
                "operator": subject.names(mask)[0],
            },
            at_most_ns=float(step.copies_ns),
            share=step.copies_ns / step.span_ns,
            of_ns=float(step.span_ns),
            where="operators",
            names=subject.names(mask),
        ),
    )
