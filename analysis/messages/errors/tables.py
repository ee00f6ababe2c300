"""Errors of tables: CSV and its relatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import COPY_AGAIN, OWN_FILE, ErrorText
from fusescope.analysis.messages.message import Message

TablesError = Literal[
    "column_missing", "long_rows", "openvino_report_damaged", "operator_times_missing",
    "operator_totals_missing", "table_damaged", "table_without_head", "time_unit_unknown",
    "two_tables",
]  # fmt: skip
TABLES: Mapping[TablesError, ErrorText] = {
    "column_missing": ErrorText(Message("This table has no column {column:name}"), OWN_FILE),
    "operator_times_missing": ErrorText(
        Message("This table does not have the columns with the times of operators"), OWN_FILE
    ),
    "operator_totals_missing": ErrorText(
        Message("This table does not have the columns with the totals of operators"), OWN_FILE
    ),
    "table_without_head": ErrorText(
        Message("This table does not have a row with the names of its columns"), OWN_FILE
    ),
    "table_damaged": ErrorText(Message("This table is damaged: {reason:name}"), COPY_AGAIN),
    "time_unit_unknown": ErrorText(
        Message("The unit in the column {column:name} is not a unit of time that FuseScope knows"),
        Message("Give the profiler's own file, with times in s, ms, us, ns or ps."),
    ),
    "long_rows": ErrorText(
        Message(
            "{n:count} of {total:rows} has more cells than there are columns, so FuseScope cannot "
            "tell which cell belongs to which column",
            "{n:count} of {total:rows} have more cells than there are columns, so FuseScope cannot "
            "tell which cell belongs to which column",
        ),
        Message("Put quotes around cells that contain a comma, or give the profiler's own file."),
    ),
    "two_tables": ErrorText(
        Message("This file contains two tables with different columns, one after the other"),
        Message("Give each table in a separate file."),
    ),
    "openvino_report_damaged": ErrorText(
        Message("This report of OpenVINO's counters is damaged: {reason:name}"),
        Message("Record it again with benchmark_app -report_type detailed_counters."),
    ),
}
