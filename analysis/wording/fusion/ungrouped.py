"""Operators that ran and are in no group."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.messages import Message

# Why an operator is in no group, by the reason that the ledger gives.
REASONS: Mapping[str, Message] = {
    "inserted": Message("inserted between groups"),
    "not_in_graph": Message("not in the recorded graph"),
    "communication": Message("communication"),
    "copies": Message("copy to or from the device"),
    "unmatched": Message("not matched"),
}
