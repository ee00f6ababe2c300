"""Values of messages on their way to another process, which tells them in its language."""

from __future__ import annotations

import msgspec

from fusescope.analysis.messages.message import Message, Said, Shown


class Sentence(msgspec.Struct, tag=True):
    """A message with its values, as JSON has it."""

    one: str
    many: str
    values: dict[str, str | int | float | bool | None | Sentence]


Carried = str | int | float | bool | None | Sentence


def carried(value: Shown) -> Carried:
    """The value, to be sent."""
    if isinstance(value, Message):
        value = value.of()
    if not isinstance(value, Said):
        return value
    values = {name: carried(one) for name, one in value.values.items()}
    return Sentence(value.message.one, value.message.many, values)


def shown(value: Carried) -> Shown:
    """The value that was sent."""
    if not isinstance(value, Sentence):
        return value
    values = {name: shown(one) for name, one in value.values.items()}
    return Said(Message(value.one, value.many), values)
