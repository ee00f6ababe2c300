"""Errors of folders and zips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import CHECK_PERMISSIONS, COPY_AGAIN, ErrorText
from fusescope.analysis.messages.message import Message

ArchivesError = Literal[
    "folder_unlisted", "tar_cut_short", "tar_damaged", "zip_cut_short", "zip_damaged",
    "zip_packing", "zip_understated",
]  # fmt: skip
ARCHIVES: Mapping[ArchivesError, ErrorText] = {
    "folder_unlisted": ErrorText(
        Message("This folder cannot be listed: {reason:name}"), CHECK_PERMISSIONS
    ),
    "tar_cut_short": ErrorText(
        Message("This tar archive ends early, so a part of the recording is missing"), COPY_AGAIN
    ),
    "tar_damaged": ErrorText(Message("This tar archive is damaged: {reason:name}"), COPY_AGAIN),
    "zip_cut_short": ErrorText(
        Message(
            "This zip ends early: the list of its members, which stands at its end, is missing"
        ),
        COPY_AGAIN,
    ),
    "zip_damaged": ErrorText(Message("This zip is damaged: {reason:name}"), COPY_AGAIN),
    "zip_packing": ErrorText(
        Message("This file is packed in a way that FuseScope cannot unpack"),
        Message("Zip it again with the usual method, deflate."),
    ),
    "zip_understated": ErrorText(
        Message("This zip unpacks to more than it says"),
        Message("Copy the zip again, or make it again."),
    ),
}
