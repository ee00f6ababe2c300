"""Diagnostics as JSON, as every export has them (docs/json.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fusescope.analysis.trace import Diagnostic
from fusescope.analysis.wording.diagnostics import diagnostic_sentence


def diagnostics(notes: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return severity, code, count and the sentence that users see of each."""
    return [{**note_values(note), "message": diagnostic_sentence(note)} for note in notes]


def note_values(note: Diagnostic) -> dict[str, Any]:
    """Return severity, code and count of one."""
    return {"severity": note.severity, "code": note.code, "count": note.count}
