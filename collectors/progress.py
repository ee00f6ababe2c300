"""How far a recording is: one JSON object a line."""

from __future__ import annotations

from typing import Literal

import msgspec

Stage = Literal["prepare", "check", "peaks", "blocks", "write", "done"]


class Progress(msgspec.Struct, frozen=True):
    """One step of a recording.

    `done` of `total` steps of this stage are complete (`total` is what is planned now: it grows
    when a look decides nothing). `seconds_left` estimates the rest of the whole recording, None
    where nothing is known yet. `path` is the file written, in stage `done` only.
    """

    stage: Stage
    done: int
    total: int
    message: str
    seconds_left: float | None = None
    path: str = ""


def encode(progress: Progress) -> str:
    """The line for it, without newline."""
    return msgspec.json.encode(progress).decode()


def decode(line: str | bytes) -> Progress:
    """The value of a line that `encode` wrote. Raises msgspec.MsgspecError for any other."""
    return msgspec.json.decode(line, type=Progress)
