"""Errors of files as such: missing, damaged, too large, in no form that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from analysis.messages.errors.error_text import ErrorText
from analysis.messages.message import Message

FilesError = Literal["no_such_file", "unreadable_file"]
FILES: Mapping[FilesError, ErrorText] = {
    "no_such_file": ErrorText(Message("There is no such file"), Message("Check the path.")),
    "unreadable_file": ErrorText(
        Message("This file cannot be read: {reason:name}"), Message("Check its permissions.")
    ),
}
