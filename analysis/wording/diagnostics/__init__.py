"""Sentences for what readers noticed and for doubts about a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from fusescope.analysis import units
from fusescope.analysis.compare.timing.verdict import TimeSource
from fusescope.analysis.messages import Message, Shown, language, listed, paragraph
from fusescope.analysis.trace import Diagnostic, DiagnosticCode
from fusescope.analysis.wording.diagnostics.attribution import terms_beside_operators
from fusescope.analysis.wording.diagnostics.damaged import DAMAGED
from fusescope.analysis.wording.diagnostics.depending import LEVELS, SIDES
from fusescope.analysis.wording.diagnostics.doubting import DOUBTING
from fusescope.analysis.wording.diagnostics.recorded import RECORDED
from fusescope.analysis.wording.diagnostics.tables import TABLES
from fusescope.analysis.wording.diagnostics.text import NoteText, NoteTexts
from fusescope.analysis.wording.diagnostics.unit_runs import UNIT_RUNS, beside_parts
from fusescope.analysis.wording.texts import TIME_SOURCES

_HEADLINE_CHARS = 150
# A note that came with a report is foreign: it may lack what its sentence tells.
_UNTOLD = (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError)
_DAMAGED = Message("A note in this report is damaged ({code:name}).")
_FIRST = Message("First: {example:name}")

_OF_SIDE: Mapping[object, Message] = {
    "baseline": Message("Baseline: {sentence}"),
    "candidate": Message("Candidate: {sentence}"),
    "model": Message("Model: {sentence}"),
}
DIAGNOSTICS: Mapping[DiagnosticCode, NoteTexts] = {
    **DAMAGED,
    **RECORDED,
    **TABLES,
    **DOUBTING,
    **UNIT_RUNS,
}


def diagnostic_sentence(note: Diagnostic) -> str:
    """One sentence or more for a diagnostic of a reader or a doubt about a comparison."""
    try:
        text, values = _text(note), _values(note)
        told = [sentence.text(**values) for sentence in (text.fact, *text.then)]
    except _UNTOLD:
        told = [_DAMAGED.text(code=note.code)]
    first = _FIRST.text(example=note.example) if note.example else ""
    return _of_side(note, paragraph(*told, first))


def diagnostic_headline(note: Diagnostic) -> str:
    """The first sentence of a diagnostic: its fact, without what follows from it."""
    try:
        fact = _text(note).fact.text(**_values(note))
    except _UNTOLD:
        fact = _DAMAGED.text(code=note.code)
    return units.middle_cut(_of_side(note, fact), _HEADLINE_CHARS)


def _of_side(note: Diagnostic, sentence: str) -> str:
    form = _OF_SIDE.get(note.values.get("side"))
    return form.text(sentence=sentence) if form else sentence


def _text(note: Diagnostic) -> NoteText:
    found = DIAGNOSTICS[note.code]
    return found if isinstance(found, NoteText) else found(note)


def _values(note: Diagnostic) -> dict[str, Shown]:
    """The values of the sentences' placeholders; codes among them as what they are called."""
    values: dict[str, Shown] = dict(note.values)
    if "on" in values:
        values["on"] = SIDES[str(values["on"])]
    if note.code == "levels_differ":
        values |= {key: LEVELS[str(values[key])] for key in ("before", "after")}
    elif note.code == "formats_differ":
        from fusescope.analysis.doctor import format_title

        values |= {
            key: language.translated(format_title(str(values[key]))) for key in ("before", "after")
        }
    elif note.code == "profiled_headline":
        values["of"] = TIME_SOURCES[cast(TimeSource, values["of"])]
    elif note.code == "weak_attribution":
        values["terms"] = terms_beside_operators(note.values)
    elif note.code == "runs_beside":
        values["parts"] = beside_parts(note)
    elif note.code == "recorded_with":
        settings = [f"{k} {v}" for k, v in note.values.items() if k not in ("side", "variant")]
        values["settings"] = listed(settings)
    counted = _text(note).counted
    values["n"] = values[counted] if counted else note.count
    return values
