"""NoteText: the sentences of a diagnostic."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from fusescope.analysis.messages import Message
from fusescope.analysis.trace import Diagnostic


class NoteText(msgspec.Struct, frozen=True):
    """What was noticed, and what follows from it: whole sentences.

    Placeholders are the diagnostic's values; `n` is its count, or the value that `counted` names.
    """

    fact: Message
    then: tuple[Message, ...] = ()
    counted: str = ""


def told(fact: Message, *then: Message, counted: str = "") -> NoteText:
    """The NoteText of these sentences."""
    return NoteText(fact, then, counted)


def told_of_change(fact: Message, then: Message) -> Callable[[Diagnostic], NoteText]:
    """The NoteText of a fact, and of what it means for the change where one is shown."""
    return lambda note: told(fact) if note.values.get("no_change") else told(fact, then)


# The sentences themselves, or which ones by the diagnostic's count and values.
NoteTexts = NoteText | Callable[[Diagnostic], NoteText]
