"""What a figure rests on, and why one is not shown."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.messages import Message
from analysis.quantity import Basis

BASES: Mapping[Basis, Message] = {
    "measured": Message("measured"),
    "counter": Message("counter"),
    "modelled": Message("modelled"),
    "assumed": Message("assumed"),
}
# `figures` are labels.
MISSING = Message("Not known: {figures}. Reason: {reason}.")
ONE_SIDED = Message("Not compared: {figures}. Reason: {reason}.")
