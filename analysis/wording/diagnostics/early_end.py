"""Sentences in the headline's place for a file that ends early or lacks much of what it held."""

from __future__ import annotations

from fusescope.analysis.messages import Message, Part, paragraph
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.diagnostics import diagnostic_sentence

_TITLE = Message("{side:name} **ends early**")
_NOTHING = Message(
    "No run in it is known to be complete, so no time, ratio or finding of it is shown."
)
_NEXT = Message("Copy or download the whole file again, or record it again.")
# Of files whose figures are shown.
_WORTH_SAYING = ("whole_runs_kept", "open_last_line", "rows_lost")


def early_end_parts(name: str) -> tuple[Part, ...]:
    """'trace.json ends early': the headline of a file without a run that is known to be whole."""
    return _TITLE.parts(side=name)


def early_end_title(name: str) -> str:
    """The same as text."""
    return _TITLE.text(side=name)


def early_end_text(trace: Trace) -> str:
    """Why, what follows from it, and the next step; '' for a file that does not end early."""
    if trace.early_end is None:
        return ""
    return paragraph(diagnostic_sentence(trace.early_end), _NOTHING.text(), _NEXT.text())


def end_caution(trace: Trace) -> str:
    """That only complete runs were read, that the last line may be cut off, or how much could not
    be read; '' otherwise."""
    notes = (note for note in trace.diagnostics if note.code in _WORTH_SAYING)
    return paragraph(*map(diagnostic_sentence, notes))
