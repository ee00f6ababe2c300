"""Sentences for runs that are units of work which were found in a trace."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message, listed
from fusescope.analysis.trace import Diagnostic, DiagnosticCode
from fusescope.analysis.wording.diagnostics.text import NoteText, NoteTexts, told
from fusescope.analysis.work_units.units import UnitEnd

# Of the clock, while executions at once add up to more.
_BESIDE_ONE = Message("Beside that run the file shows {parts}, by the clock.")
_BESIDE = Message("Beside these runs the file shows {parts}, by the clock.")
_NOT_ALL = Message("Not all that the file shows is in these runs.")
_IN_NONE = Message(
    "{n:count} execution, which takes {time:duration}, is in no run.",
    "{n:count} executions, whose times add up to {time:duration}, are in no run.",
)
_PARTS_ONE = {
    "before": Message("{ns:duration} before it"),
    "after": Message("{ns:duration} after it"),
}
_PARTS = {
    "before": Message("{ns:duration} before the first"),
    "between": Message("{ns:duration} between them"),
    "after": Message("{ns:duration} after the last"),
}
_REPEATED = Message(
    "The file does not mark its runs, but its work repeats in the same order: each of {n:count} "
    "repetition that it holds whole counts as one run.",
    "The file does not mark its runs, but its work repeats in the same order: each of {n:count} "
    "repetitions that it holds whole counts as one run.",
)
_CUT_ALIKE = Message(
    "They begin with the same kernel as those of the other file, and with another one where this "
    "file is shown alone, so that the time of single parts differs there."
)
_NEXT = Message(
    "Each lasts until the next one begins. Of the last one the file does not show that, so it is "
    "in no run."
)
_ENDS: Mapping[UnitEnd, Message] = {
    "last_kernel": Message(
        "Each lasts from its first kernel to its last, as the file does not show what the host "
        "does until the next one."
    ),
    "last_as_other": Message(
        "Each lasts from its first kernel to its last, as the other file does not show what the "
        "host does until the next one; where this file is shown alone, each lasts until the next "
        "one begins."
    ),
}


def _end(note: Diagnostic) -> list[Message]:
    """Return until when a repetition lasts: by default until the next one begins."""
    return [message for end, message in _ENDS.items() if note.values.get("end") == end] or [_NEXT]


def _beside(note: Diagnostic) -> NoteText:
    is_one = note.values["runs"] == 1
    shown = (_BESIDE_ONE if is_one else _BESIDE) if beside_parts(note) else _NOT_ALL
    return told(shown, _IN_NONE) if note.count else told(shown)


def beside_parts(note: Diagnostic) -> str:
    """Return what a file shows beside its runs, by place; '' where they fill it."""
    parts = _PARTS_ONE if note.values["runs"] == 1 else _PARTS
    return listed(
        [message.text(ns=note.values[at]) for at, message in parts.items() if note.values[at]]
    )


UNIT_RUNS: Mapping[DiagnosticCode, NoteTexts] = {
    "runs_annotated": told(
        Message(
            "The file does not mark its steps, but an annotation of its host does: {name:name} "
            "counts as one step.",
            "The file does not mark its steps, but annotations of its host do: each of {n:count} "
            "called {name:name} counts as one step.",
        ),
    ),
    "runs_repeated": lambda note: told(_REPEATED, *_end(note)),
    "runs_cut_alike": lambda note: told(_REPEATED, _CUT_ALIKE, *_end(note)),
    "runs_of_device": told(
        Message(
            "The host runs more than a step ahead of the device, so its own steps of "
            "{host:duration} are not the period: {n:count} period of the device, from first kernel "
            "to first kernel, counts as one run.",
            "The host runs more than a step ahead of the device, so its own steps of "
            "{host:duration} are not the period: each of {n:count} periods of the device, from "
            "first kernel to first kernel, counts as one run.",
        ),
    ),
    "runs_of_other_work": told(
        Message(
            "{n:count} other step that the file marks does other work, and is in no run.",
            "{n:count} other steps that the file marks do other work, and are in no run.",
        ),
    ),
    "runs_beside": _beside,
    "run_behind_earlier": told(
        Message(
            "On the host the only step takes {host:duration}, but the device first runs what was "
            "launched before the file begins. The run is the step as the device runs it: from "
            "where that is done with the work before it to the end of the step and of its last "
            "kernel.",
        ),
    ),
}
