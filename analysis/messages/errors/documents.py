"""Errors of JSON, XML and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import COPY_AGAIN, OWN_FILE, ErrorText
from fusescope.analysis.messages.message import Message

DocumentsError = Literal[
    "json_damaged", "json_not_events", "json_not_rows", "json_too_deep", "report_damaged",
    "report_of_several", "report_version", "report_without_data", "tables_damaged",
    "xml_damaged", "xml_with_entities",
]  # fmt: skip
DOCUMENTS: Mapping[DocumentsError, ErrorText] = {
    "json_damaged": ErrorText(Message("This JSON is damaged: {reason:name}"), COPY_AGAIN),
    "json_too_deep": ErrorText(Message("This JSON is nested too deeply to be a trace"), OWN_FILE),
    "json_not_events": ErrorText(Message("This JSON is not a list of trace events"), OWN_FILE),
    "json_not_rows": ErrorText(Message("This JSON is not a list of rows"), COPY_AGAIN),
    "report_without_data": ErrorText(
        Message("This report does not contain its data"),
        Message("Give the files that it was made of: it names them at its top."),
    ),
    "report_damaged": ErrorText(
        Message("The data in this report are damaged: {reason:name}"),
        Message("Copy the report again, or give the files that it was made of."),
    ),
    "report_of_several": ErrorText(
        Message("This report compares {n:count} files: {names:name}"),
        Message("Give one of the files that it was made of, or the report to `fusescope compare`."),
    ),
    "report_version": ErrorText(
        Message("The data in this report have version {version}, which FuseScope does not know"),
        Message("Open it with the version of FuseScope that wrote it."),
    ),
    "tables_damaged": ErrorText(
        Message("The tables in this report are damaged: {reason:name}"),
        Message("Copy the report again, or give the files that it was made of."),
    ),
    "xml_damaged": ErrorText(Message("This XML is damaged: {reason:name}"), COPY_AGAIN),
    "xml_with_entities": ErrorText(
        Message("This XML declares a document type or entities, so it is not an execution graph"),
        Message("Give the file that OpenVINO wrote."),
    ),
}
