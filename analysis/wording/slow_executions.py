"""Sentences on slow executions, the ledger's term for single ones far above their median."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import units
from analysis.compare.timing.slow_executions import SlowExecution, SlowExecutions
from analysis.messages import Part
from analysis.wording.phrases import plural

if TYPE_CHECKING:
    from analysis.compare.ledger import Ledger

_SIDES = ("baseline", "candidate")


def slow_parts(ledger: Ledger) -> tuple[Part, ...]:
    """What slow executions there are and what they add; () without any.

    The operator's name comes from a trace: a part with the role `name`.
    """
    largest = _largest(ledger)
    if largest is None:
        return ()
    added = " and ".join(
        _added(slow, side) for slow, side in zip(ledger.slow, _SIDES, strict=True) if slow.count
    )
    took = f" took {units.duration(largest.dur_ns)}, its median is {_median(largest)}."
    return (
        Part(f"Slow executions, more than three times their operator's median, add {added}. "),
        Part("The largest: "),
        Part(largest.name, "name"),
        Part(took),
    )


def slow_note(ledger: Ledger) -> str:
    """'largest: Unsqueeze_12, 20.0 ms, median 3.00 µs'; '' without any."""
    largest = _largest(ledger)
    if largest is None:
        return ""
    took = units.duration(largest.dur_ns)
    return f"largest: {units.middle_cut(largest.name, 40)}, {took}, median {_median(largest)}"


def _largest(ledger: Ledger) -> SlowExecution | None:
    found = [slow.largest for slow in ledger.slow if slow.largest is not None]
    return max(found, key=lambda one: one.dur_ns - one.median_ns, default=None)


def _added(slow: SlowExecutions, side: str) -> str:
    added = units.duration(slow.per_run_ns)
    return f"{added} to the {side}'s mean profiled run ({plural(slow.count, 'execution')})"


def _median(one: SlowExecution) -> str:
    return units.duration(one.median_ns)
