"""Errors of limits: what is larger than they allow, and limits that cannot be set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

# Rows that were counted up to the limit, not to the end.
UncountedError = Literal["more_events_than_limit", "more_rows_than_limit", "more_nodes_than_limit"]
LimitsError = (
    UncountedError
    | Literal[
        "bad_limit_value", "file_too_large", "gzip_too_large", "too_many_calls", "too_many_events",
        "too_many_folder_files", "too_many_matches", "too_many_not_fused", "too_many_operators",
        "too_many_own_fusions",
        "too_many_recordings", "too_many_table_rows", "too_many_zip_members", "unknown_limit",
        "zip_ratio_too_high", "zip_too_large",
    ]
)  # fmt: skip
_RAISE = Message("Give less at once, or raise the limit: `fusescope --limit {raised:name} …`.")
LIMITS: Mapping[LimitsError, ErrorText] = {
    "file_too_large": ErrorText(
        Message(
            "This file has {size_mib:count} MiB, which is more than the limit of "
            "{limit_mib:count} MiB"
        ),
        _RAISE,
    ),
    "gzip_too_large": ErrorText(
        Message("This file unpacks to more than the limit of {limit_mib:count} MiB"), _RAISE
    ),
    "zip_too_large": ErrorText(
        Message(
            "This zip would unpack to {size_mib:count} MiB, which is more than the limit of "
            "{limit_mib:count} MiB"
        ),
        _RAISE,
    ),
    "zip_ratio_too_high": ErrorText(
        Message(
            "This zip would unpack to {size_mib:count} MiB, which is {ratio:count} times its size "
            "and more than the limit of {limit:count} times"
        ),
        _RAISE,
    ),
    "too_many_zip_members": ErrorText(
        Message("This zip has {n:count} members, which is more than the limit of {limit:count}"),
        _RAISE,
    ),
    "too_many_folder_files": ErrorText(
        Message("This folder contains more files than the limit of {limit:count}"), _RAISE
    ),
    "too_many_recordings": ErrorText(
        Message("There are more recordings here than the limit of {limit:count}"), _RAISE
    ),
    "too_many_events": ErrorText(
        Message("This trace has {n:count} events, which is more than the limit of {limit:count}"),
        _RAISE,
    ),
    "too_many_operators": ErrorText(
        Message(
            "This trace has {n:count} operators, which is more than the limit of {limit:count}"
        ),
        _RAISE,
    ),
    "too_many_matches": ErrorText(
        Message(
            "This experiment has {n:count} tensor matches, which is more than the limit of "
            "{limit:count}"
        ),
        _RAISE,
    ),
    "too_many_not_fused": ErrorText(
        Message(
            "This experiment has {n:count} pairs of operators that were not fused, which is more "
            "than the limit of {limit:count}"
        ),
        _RAISE,
    ),
    "too_many_own_fusions": ErrorText(
        Message(
            "This experiment has {n:count} fusions of FuseScope's own pass, which is more than "
            "the limit of {limit:count}"
        ),
        _RAISE,
    ),
    "too_many_table_rows": ErrorText(
        Message("Table {table:name} has more rows than the limit of {limit:count}"), _RAISE
    ),
    "more_events_than_limit": ErrorText(
        Message("This trace has more events than the limit of {limit:count}"), _RAISE
    ),
    "more_rows_than_limit": ErrorText(
        Message("This file has more rows than the limit of {limit:count}"), _RAISE
    ),
    "more_nodes_than_limit": ErrorText(
        Message("This graph has more nodes than the limit of {limit:count}"), _RAISE
    ),
    "too_many_calls": ErrorText(
        Message(
            "This trace stands for {n:count} calls, which is more rows than the limit of "
            "{limit:count}"
        ),
        Message("Give a recording of single calls."),
    ),
    "unknown_limit": ErrorText(
        Message("There is no limit '{name:name}'"), Message("The limits are: {known:name}.")
    ),
    "bad_limit_value": ErrorText(
        Message("'{value:name}' is not a value for the limit {name:name}"),
        Message("Give a whole number such as 10000000, 512M or 8G."),
    ),
}
