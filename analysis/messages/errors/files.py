"""Errors of files as such: missing, damaged, in no form that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import (
    CHECK_PERMISSIONS,
    COPY_AGAIN,
    WHAT_OPENS,
    ErrorText,
)
from fusescope.analysis.messages.message import Message

FilesError = Literal[
    "companion_among", "companion_file", "compressed_twice", "empty_file", "blank_file",
    "gzip_damaged", "no_such_file", "no_trace_among", "not_a_trace", "not_regular_file",
    "other_file", "several_recordings", "unknown_format", "unknown_json", "unreadable_file",
    "zstd_damaged",
]  # fmt: skip
_INSTEAD = Message("Give {instead}.")
FILES: Mapping[FilesError, ErrorText] = {
    "no_such_file": ErrorText(Message("There is no such file"), Message("Check the path.")),
    "unreadable_file": ErrorText(
        Message("This file cannot be read: {reason:name}"), CHECK_PERMISSIONS
    ),
    "not_regular_file": ErrorText(
        Message("This is not a regular file"), Message("Save it as a file first.")
    ),
    "compressed_twice": ErrorText(
        Message("This file is compressed twice"), Message("Unpack it once and open it again.")
    ),
    "gzip_damaged": ErrorText(Message("This gzip file is damaged: {reason:name}"), COPY_AGAIN),
    "zstd_damaged": ErrorText(Message("This zstd file is damaged: {reason:name}"), COPY_AGAIN),
    "empty_file": ErrorText(Message("This file is empty"), WHAT_OPENS),
    "blank_file": ErrorText(Message("This file has no content"), WHAT_OPENS),
    "other_file": ErrorText(Message("This is {kind}, not a trace"), WHAT_OPENS),
    "unknown_json": ErrorText(
        Message("This is JSON, but not in a format that FuseScope knows"), WHAT_OPENS
    ),
    "not_a_trace": ErrorText(Message("This is not a trace"), WHAT_OPENS),
    "unknown_format": ErrorText(
        Message("This file is not in a format that FuseScope knows"), WHAT_OPENS
    ),
    "companion_file": ErrorText(Message("This file contains {content}"), _INSTEAD),
    "companion_among": ErrorText(
        Message("No file here is a trace: {file:name} contains {content}"), _INSTEAD
    ),
    "no_trace_among": ErrorText(Message("No file here is a trace"), WHAT_OPENS),
    "several_recordings": ErrorText(
        Message("There are {n:count} recordings here: {names:name}"),
        Message(
            "Give one of them. For all of them as one side: `compare --baseline DIR --candidate "
            "DIR`."
        ),
    ),
}
