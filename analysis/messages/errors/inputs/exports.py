"""Errors of the user's own `nsys`, which exports a report of Nsight Systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

ExportsError = Literal["nsys_export_failed", "nsys_export_too_large", "nsys_export_too_long"]
EXPORTS: Mapping[ExportsError, ErrorText] = {
    "nsys_export_failed": ErrorText(
        Message("This report could not be exported by nsys: {reason:name}"),
        Message(
            "Export it with the nsys that recorded it: `nsys export --type sqlite REPORT.nsys-rep`."
        ),
    ),
    "nsys_export_too_large": ErrorText(
        Message("What nsys exports of this report exceeds the limit of {limit_mib:count} MiB"),
        Message("Record fewer runs, or raise the limit: `fusescope --limit {raised:name} …`."),
    ),
    "nsys_export_too_long": ErrorText(
        Message("This report was not exported by nsys within {took:duration}"),
        Message("Export it yourself: `nsys export --type sqlite REPORT.nsys-rep`."),
    ),
}
