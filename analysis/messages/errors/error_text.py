"""ErrorText: the two sentences of an error."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.messages.message import Message


@dataclass(frozen=True)
class ErrorText:
    """What is wrong, without a full stop, since where it is may follow, and what to do next."""

    what: Message
    hint: Message
