"""Diagnostics of a trace as JSON has them, and back: their sentences are FuseScope's own."""

from __future__ import annotations

from typing import Annotated, get_args

import msgspec

from fusescope.analysis.messages import Said
from fusescope.analysis.messages.carried import Carried, Sentence, carried, shown
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Severity, Value

_CHARS = 2000  # of a text in a note; readers cut names far below
_MAX = 2**62
_CODES = frozenset(get_args(DiagnosticCode))
_UNTOLD = (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError)


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Diagnostic."""

    severity: Severity
    code: str
    count: Annotated[int, msgspec.Meta(ge=0, le=_MAX)]
    example: str | Sentence
    values: dict[str, Carried]


def note_of(note: Diagnostic) -> Note:
    """The note, to be written."""
    example = carried(note.example)
    values = {name: carried(value) for name, value in note.values.items()}
    made = example if isinstance(example, str | Sentence) else ""
    return Note(note.severity, note.code, note.count, made, values)


def diagnostics_of(notes: list[Note]) -> tuple[Diagnostic, ...]:
    """The notes that were written, fit to be shown; how many are of codes that are not known."""
    found = []
    for note in notes:
        if note.code in _CODES:
            example = _value(note.example)
            values: dict[str, Value] = {
                clean_text(name, 80): _value(value) for name, value in note.values.items()
            }
            told = example if isinstance(example, str | Said) else ""
            found.append(Diagnostic(note.severity, note.code, note.count, told, values))  # type: ignore[arg-type]
    if len(found) < len(notes):
        found.append(Diagnostic("info", "notes_unknown", len(notes) - len(found)))
    return tuple(found)


def _value(value: Carried) -> Value:
    """The value as it was; a sentence that cannot be told as plain text."""
    cleaned = _cleaned(value)
    if not isinstance(cleaned, Sentence):
        return cleaned
    said = shown(cleaned)
    try:
        told = str(said)
    except _UNTOLD:
        return clean_text(cleaned.one, _CHARS)
    return said if isinstance(said, Said) and len(told) <= _CHARS else clean_text(told, _CHARS)


def _cleaned(value: Carried) -> Carried:
    if isinstance(value, str):
        return clean_text(value, _CHARS)
    if not isinstance(value, Sentence):
        return value
    values = {name: _cleaned(one) for name, one in value.values.items()}
    return Sentence(value.one, value.many, values)
