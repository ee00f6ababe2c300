"""Errors of questions in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

SqlError = Literal[
    "sql_deep",
    "sql_elsewhere",
    "sql_function",
    "sql_memory",
    "sql_not_a_question",
    "sql_not_one",
    "sql_time",
    "sql_wrong",
    "sql_wrong_at",
]
_PAGE = Message("The tables and their columns are in docs/sql.md.")
SQL: Mapping[SqlError, ErrorText] = {
    "sql_deep": ErrorText(
        Message("This question, or a cell of its answer, nests too deeply"),
        Message("Take lists apart with unnest, or select their length."),
    ),
    "sql_elsewhere": ErrorText(
        Message("A question reads the library and nothing else: no other file and no network"),
        _PAGE,
    ),
    "sql_function": ErrorText(
        Message("The function {function:name} is not available to a question"), _PAGE
    ),
    "sql_memory": ErrorText(
        Message("This question needs more memory than it may use"),
        Message("Select fewer columns, or group before you sort."),
    ),
    "sql_not_a_question": ErrorText(
        Message("Only SELECT is answered: the library is never written to"), _PAGE
    ),
    "sql_not_one": ErrorText(
        Message("This is {n:count} statements in place of one"), Message("Ask one at a time.")
    ),
    "sql_time": ErrorText(
        Message(
            "This question took longer than {n:count} second",
            "This question took longer than {n:count} seconds",
        ),
        Message("Select less, or give it more time with --seconds."),
    ),
    "sql_wrong": ErrorText(Message("This SQL cannot be answered: {reason:name}"), _PAGE),
    "sql_wrong_at": ErrorText(
        Message(
            "This SQL cannot be answered, in line {line:count} at '{here:name}': {reason:name}"
        ),
        _PAGE,
    ),
}
