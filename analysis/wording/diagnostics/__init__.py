"""Sentences for what readers noticed and for doubts about a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from analysis import units
from analysis.compare.timing.verdict import TimeSource
from analysis.messages import Message, Shown, listed, paragraph
from analysis.trace import Diagnostic, DiagnosticCode
from analysis.wording.diagnostics.doubting import DOUBTING, LEVELS, SIDES
from analysis.wording.diagnostics.reading import READING
from analysis.wording.diagnostics.text import NoteText, NoteTexts
from analysis.wording.texts import TIME_SOURCES

_HEADLINE_CHARS = 150
_FIRST = Message("First: {example:name}")

_OF_SIDE: Mapping[Literal["baseline", "candidate", "model"], Message] = {
    "baseline": Message("Baseline: {sentence}"),
    "candidate": Message("Candidate: {sentence}"),
    "model": Message("Model: {sentence}"),
}
DIAGNOSTICS: Mapping[DiagnosticCode, NoteTexts] = {**READING, **DOUBTING}


def diagnostic_sentence(note: Diagnostic) -> str:
    """One sentence or more for a diagnostic of a reader or a doubt about a comparison."""
    text, values = _text(note), _values(note)
    told = [sentence.text(**values) for sentence in (text.fact, *text.then)]
    first = _FIRST.text(example=note.example) if note.example else ""
    return _of_side(note, paragraph(*told, first))


def diagnostic_headline(note: Diagnostic) -> str:
    """The first sentence of a diagnostic: its fact, without what follows from it."""
    fact = _text(note).fact.text(**_values(note))
    return units.middle_cut(_of_side(note, fact), _HEADLINE_CHARS)


def _of_side(note: Diagnostic, sentence: str) -> str:
    if "side" not in note.values:
        return sentence
    return _OF_SIDE[note.values["side"]].text(sentence=sentence)  # type: ignore[index]


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
    elif note.code == "profiled_headline":
        values["of"] = TIME_SOURCES[cast(TimeSource, values["of"])]
    elif note.code == "recorded_with":
        settings = [f"{k} {v}" for k, v in note.values.items() if k not in ("side", "variant")]
        values["settings"] = listed(settings)
    counted = _text(note).counted
    values["n"] = values[counted] if counted else note.count
    return values
