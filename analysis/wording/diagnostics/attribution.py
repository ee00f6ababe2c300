"""Sentences for what changed beside the operators that compute, where these explain little."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.messages import Message, listed, say
from analysis.trace import Value
from analysis.wording.fusion.terms import TERMS, Term

MEAN_RUN_CHANGED = Message("The mean run changed by {delta_ns:signed_duration}.")
FILE_CHANGED = Message("The time of the file changed by {delta_ns:signed_duration}.")
BESIDE_OPERATORS = Message("Beside the operators that compute: {terms}.")
_BESIDE: tuple[Term, ...] = ("communication_ns", "slow_ns", "dispatch_ns", "profiler_bias_ns")


def terms_beside_operators(values: Mapping[str, Value]) -> str:
    """Return 'idle time -38.3 ms (109.1 % of the change) and slow executions +1.20 ms': the terms
    of the sum that changed, largest first, with their shares where the ledger has shares."""
    changes = {
        term: value for term in _BESIDE if isinstance(value := values.get(term), int | float)
    }
    whole = values["delta_ns"] if values.get("has_shares") else None
    told = []
    for term in sorted(changes, key=lambda term: -abs(changes[term])):
        change = changes[term]
        if not change:
            continue
        if isinstance(whole, int | float) and whole:
            told.append(
                say(
                    "{term} {change:signed_duration} ({share:percent} of the change)",
                    term=TERMS[term],
                    change=change,
                    share=change / whole,
                )
            )
        else:
            told.append(say("{term} {change:signed_duration}", term=TERMS[term], change=change))
    return listed(told)
