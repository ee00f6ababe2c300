"""Sentences for what changed beside the operators that compute, where these explain little."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message, listed, say
from fusescope.analysis.trace import Value
from fusescope.analysis.wording.fusion.terms import Term, term_label

MEAN_RUN_CHANGED = Message("The mean run changed by {delta_ns:signed_duration}.")
FILE_CHANGED = Message("The time of the file changed by {delta_ns:signed_duration}.")
BESIDE_OPERATORS = Message("Beside the operators that compute: {terms}.")
_BESIDE: tuple[Term, ...] = ("communication_ns", "slow_ns", "dispatch_ns", "profiler_bias_ns")


def terms_beside_operators(values: Mapping[str, Value]) -> str:
    """Return 'idle time -8.30 ms (83.0 % of the change) and slow executions -1.20 ms (12.0 % of the
    change)': the terms of the sum that changed, largest first, with their shares where the ledger
    has shares and each is a part of the change."""
    changes = {term: change for term, change in _changes(values).items() if change}
    whole = values["delta_ns"] if values.get("has_shares") else None
    are_parts = (
        isinstance(whole, int | float)
        and whole
        and all(0 <= change / whole <= 1 for change in changes.values())
    )
    has_starts = values.get("has_starts") is not False
    told = []
    for term in sorted(changes, key=lambda term: -abs(changes[term])):
        change, label = changes[term], term_label(term, has_starts=has_starts)
        if are_parts and isinstance(whole, int | float):
            told.append(
                say(
                    "{term} {change:signed_duration} ({share:percent} of the change)",
                    term=label,
                    change=change,
                    share=change / whole,
                )
            )
        else:
            told.append(say("{term} {change:signed_duration}", term=label, change=change))
    return listed(told)


def share_of_change(values: Mapping[str, Value]) -> float:
    """Return what the terms leave to the operators that compute, as a share of the change: above 1
    where terms take part of it back, below 0 in the other direction; 0 where it is not known. Of
    the mean run and the typical one, `whole_ns`, the lesser share where these change in two
    directions."""
    delta = values.get("delta_ns")
    if not isinstance(delta, int | float) or not delta:
        return 0.0
    own = delta - sum(_changes(values).values())
    whole = values.get("whole_ns")
    if isinstance(whole, int | float) and whole * delta < 0:
        return min(own / whole, own / delta)
    return own / delta


def _changes(values: Mapping[str, Value]) -> dict[Term, float]:
    return {term: value for term in _BESIDE if isinstance(value := values.get(term), int | float)}
