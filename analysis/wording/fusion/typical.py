"""The typical run of each side, which the verdict compares, beside the mean run of the ledger."""

from __future__ import annotations

from analysis.compare.comparison import Comparison
from analysis.messages import Message

_SAME = 0.0005  # of a run: two times that read as one
SLOW_RUNS = Message("slow runs, which the mean run counts")
TYPICAL = Message("the typical run, which the verdict compares")


def typical_ns(comparison: Comparison) -> tuple[int, int] | None:
    """The times per run of both sides that the verdict compares, in whole ns; None where it has
    none, or where the ledger adds up another kind of time. A typical run that is the mean run to
    three digits is that."""
    verdict, sum_ = comparison.verdict, comparison.ledger.reconciliation
    if verdict.times_ns is None or sum_.delta_ns is None or sum_.baseline_ns is None:
        return None
    if verdict.of != sum_.of:
        return None
    means = (sum_.baseline_ns, sum_.baseline_ns + sum_.delta_ns)
    before, after = (
        mean if abs(typical - mean) <= _SAME * mean else round(typical)
        for typical, mean in zip(verdict.times_ns, means, strict=True)
    )
    return before, after


def whole_change_ns(comparison: Comparison) -> int | None:
    """The change of the run that is told: that of the verdict's times, else that of the mean run;
    None without one."""
    times = typical_ns(comparison)
    if times is None:
        return comparison.ledger.reconciliation.delta_ns
    return times[1] - times[0]


def outlying_ns(comparison: Comparison) -> tuple[int, int]:
    """What the mean run of each side has beyond the typical one: slow runs count in the mean."""
    times, sum_ = typical_ns(comparison), comparison.ledger.reconciliation
    if times is None or sum_.baseline_ns is None or sum_.delta_ns is None:
        return 0, 0
    return sum_.baseline_ns - times[0], sum_.baseline_ns + sum_.delta_ns - times[1]


def to_typical(comparison: Comparison) -> list[tuple[Message, int]]:
    """What leads from the change of the mean run to that of the typical one, and that; nothing
    where they are the same."""
    before, after = outlying_ns(comparison)
    whole = whole_change_ns(comparison)
    if whole is None or not (before or after):
        return []
    return [(SLOW_RUNS, before - after), (TYPICAL, whole)]
