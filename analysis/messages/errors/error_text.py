"""ErrorText: the two sentences of an error."""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis.messages.message import Message


@dataclass(frozen=True)
class ErrorText:
    """What is wrong, without a full stop, since where it is may follow, and what to do next."""

    what: Message
    hint: Message


# Next steps of many errors.
COPY_AGAIN = Message("Copy or record the file again.")
OWN_FILE = Message("Give the profiler's own file.")
WHAT_OPENS = Message("See docs/formats.md for what FuseScope opens, and how to record it.")
CHECK_PERMISSIONS = Message("Check its permissions.")
