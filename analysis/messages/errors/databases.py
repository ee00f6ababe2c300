"""Errors of SQLite databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import (
    COPY_AGAIN,
    OWN_FILE,
    WHAT_OPENS,
    ErrorText,
)
from fusescope.analysis.messages.message import Message

DatabasesError = Literal[
    "database_cut_short", "database_of_nobody", "database_overfull", "database_packed",
    "database_unreadable", "database_with_log", "database_without_tables", "not_a_database",
    "not_nsys_database", "not_rocpd_database",
]  # fmt: skip
DATABASES: Mapping[DatabasesError, ErrorText] = {
    "not_a_database": ErrorText(Message("This is not a SQLite database"), OWN_FILE),
    "database_unreadable": ErrorText(
        Message("This database cannot be read: {reason:name}"),
        Message("Copy it while nothing writes to it, or export it again."),
    ),
    "database_cut_short": ErrorText(
        Message(
            "This database ends early: the file has {size:bytes}, and its head says {whole:bytes}"
        ),
        Message("Copy the whole file again, or export it again."),
    ),
    "database_overfull": ErrorText(
        Message("This database is damaged: its rows contain more than fits into the file"),
        COPY_AGAIN,
    ),
    "database_packed": ErrorText(
        Message("This database has {size_mib:count} MiB, which is too large to be read packed"),
        Message("Unpack it and open it by its path or folder."),
    ),
    "database_with_log": ErrorText(
        Message(
            "This database has {size_mib:count} MiB, which is too large to be read with its log"
        ),
        Message("Let SQLite write the log into it: `sqlite3 FILE 'PRAGMA wal_checkpoint'`."),
    ),
    "database_without_tables": ErrorText(
        Message("This SQLite database does not contain any tables"),
        Message("Give the file of the same name that ends in -wal with it, or the whole folder."),
    ),
    "database_of_nobody": ErrorText(
        Message("This SQLite database is not from a profiler that FuseScope knows"),
        WHAT_OPENS,
    ),
    "not_rocpd_database": ErrorText(
        Message("This SQLite database is not one of rocprofv3 (rocpd)"),
        Message("Give the file that `rocprofv3 --output-format rocpd` writes."),
    ),
    "not_nsys_database": ErrorText(
        Message("This SQLite database is not a report of Nsight Systems"),
        Message("Give the file that `nsys export --type sqlite report.nsys-rep` writes."),
    ),
}
