"""Errors of JSON and XML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from analysis.messages.errors.error_text import COPY_AGAIN, OWN_FILE, ErrorText
from analysis.messages.message import Message

DocumentsError = Literal[
    "json_damaged", "json_not_events", "json_not_rows", "json_too_deep", "xml_damaged",
    "xml_with_entities",
]  # fmt: skip
DOCUMENTS: Mapping[DocumentsError, ErrorText] = {
    "json_damaged": ErrorText(Message("This JSON is damaged: {reason:name}"), COPY_AGAIN),
    "json_too_deep": ErrorText(Message("This JSON is nested too deeply to be a trace"), OWN_FILE),
    "json_not_events": ErrorText(Message("This JSON is not a list of trace events"), OWN_FILE),
    "json_not_rows": ErrorText(Message("This JSON is not a list of rows"), COPY_AGAIN),
    "xml_damaged": ErrorText(Message("This XML is damaged: {reason:name}"), COPY_AGAIN),
    "xml_with_entities": ErrorText(
        Message("This XML declares a document type or entities, so it is not an execution graph"),
        Message("Give the file that OpenVINO wrote."),
    ),
}
