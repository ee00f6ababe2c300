"""Sentences on slow executions, the ledger's term for single ones far above their median."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fusescope.analysis import units
from fusescope.analysis.compare.timing.slow_executions import SlowExecution
from fusescope.analysis.messages import Message, Part, say

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.compare.ledger import Ledger

SLOW_IS_TOLD = 0.01  # of a mean, from which it is said that slow executions are in it or not
_BOTH = Message(
    "Slow executions, more than three times their operator's median, add {before:duration} to the "
    "baseline's mean ({of_before:executions}) and {after:duration} to the candidate's "
    "({of_after:executions}). The largest: {operator:name} took {took:duration}, its median is "
    "{median:duration}."
)
_BASELINE = Message(
    "Slow executions, more than three times their operator's median, add {before:duration} to the "
    "baseline's mean ({of_before:executions}). The largest: {operator:name} took "
    "{took:duration}, its median is {median:duration}."
)
_CANDIDATE = Message(
    "Slow executions, more than three times their operator's median, add {after:duration} to the "
    "candidate's mean ({of_after:executions}). The largest: {operator:name} took "
    "{took:duration}, its median is {median:duration}."
)


def slow_parts(ledger: Ledger) -> tuple[Part, ...]:
    """What slow executions there are and what they add; () without any.

    The operator's name comes from a trace: a part with the role `name`.
    """
    largest = _largest(ledger)
    if largest is None:
        return ()
    before, after = ledger.slow
    message = _BOTH if before.count and after.count else _BASELINE if before.count else _CANDIDATE
    return message.parts(
        before=before.per_run_ns,
        of_before=before.count,
        after=after.per_run_ns,
        of_after=after.count,
        operator=largest.name,
        took=largest.dur_ns,
        median=largest.median_ns,
    )


def slow_in_means(comparison: Comparison) -> str:
    """Return how much of the mean times of a recording slow executions are, which its groups and
    findings leave out; '' without any, and of other files."""
    if comparison.baseline.variant is None or comparison.candidate.variant is None:
        return ""
    slow = tuple(side.per_run_ns for side in comparison.ledger.slow)
    if not any(slow):
        return ""
    return say(
        "Slow executions account for {before:duration} and {after:duration} of these means; groups "
        "and findings leave them out.",
        before=slow[0],
        after=slow[1],
    )


def slow_note(ledger: Ledger) -> str:
    """'largest: Unsqueeze_12, 20.0 ms, median 3.00 µs'; '' without any."""
    largest = _largest(ledger)
    if largest is None:
        return ""
    return say(
        "largest: {operator:name}, {took:duration}, median {median:duration}",
        operator=units.middle_cut(largest.name, 40),
        took=largest.dur_ns,
        median=largest.median_ns,
    )


def _largest(ledger: Ledger) -> SlowExecution | None:
    found = [slow.largest for slow in ledger.slow if slow.largest is not None]
    return max(found, key=lambda one: one.dur_ns - one.median_ns, default=None)
