"""What a figure rests on, in a word."""

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
