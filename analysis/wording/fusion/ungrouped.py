"""Operators that ran and are in no group."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fusescope.analysis.messages import Message, Said

# Why an operator is in no group, by the reason that the ledger gives.
REASONS: Mapping[str, Message] = {
    "inserted": Message("inserted between groups"),
    "not_in_graph": Message("not in the recorded graph"),
    "communication": Message("communication"),
    "copies": Message("copy or fill of memory"),
    "unmatched": Message("not matched"),
}
_OPERATORS = Message("{n:count} operator in no group", "{n:count} operators in no group")
_OF_COMMUNICATION = Message("{n:count} of communication", "{n:count} of communication")
_AND = Message("{operators}, and {communication}")


def ungrouped_title(reasons: Collection[str]) -> str:
    """Return how many operators are in no group, by the reason of each; those of communication
    apart, which the ledger has in a line of its own and notes do not count."""
    talking = sum(reason == "communication" for reason in reasons)
    operators: Said = _OPERATORS.of(n=len(reasons) - talking)
    if not talking:
        return str(operators)
    return _AND.text(operators=operators, communication=_OF_COMMUNICATION.of(n=talking))
