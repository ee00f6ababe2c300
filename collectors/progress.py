"""How far a recording is, and the JSON line for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from fusescope.analysis.messages import Message, Said

Stage = Literal["prepare", "check", "peaks", "blocks", "write", "done"]


@dataclass(frozen=True)
class Progress:
    """One step of a recording.

    `done` of `total` steps of this stage are complete (`total` is what is planned now: it grows
    when a look decides nothing). `message` is told where it is shown. `seconds_left` estimates the
    rest of the whole recording, None where nothing is known yet. `path` is the file written, in
    stage `done` only.
    """

    stage: Stage
    done: int
    total: int
    message: Message | Said
    seconds_left: float | None = None
    path: str = ""


def encode(progress: Progress) -> str:
    """One JSON object with its fields, without newline; the message is text."""
    fields = {**vars(progress), "message": str(progress.message)}
    return msgspec.json.encode(fields).decode()
