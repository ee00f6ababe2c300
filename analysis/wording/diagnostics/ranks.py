"""Sentences for two files that are ranks of one job, or of several."""

from __future__ import annotations

from fusescope.analysis.messages import Message
from fusescope.analysis.trace import Diagnostic
from fusescope.analysis.wording.diagnostics.text import NoteText, told

_NAMED = Message("The two files are ranks {before:count} and {after:count} of one job.")
_NAMED_OF = Message(
    "The two files are ranks {before:count} and {after:count} of one job of {world:count} ranks."
)
_GUESSED = Message(
    "The two files look like ranks {before:count} and {after:count} of one job, since they ran at "
    "the same time."
)
WAITS = Message(
    "Ranks of one job wait for one another, so how long their steps take does not say which is "
    "faster: what they run and where they wait does."
)
_APART = Message(
    "The two files are of ranks {before:count} and {after:count}, which by the clocks in the files "
    "did not run at the same time."
)
_DIFFER = Message(
    "The two files are of ranks {before:count} and {after:count}; nothing in them says whether "
    "they are of one job."
)
_OTHER_WORK = Message("Two ranks may run different parts of a model. Compare the same rank twice.")
_WORLDS = Message("The files are of jobs of different sizes: {before:ranks} and {after:ranks}.")
_OTHER_SHARE = Message("A rank of a larger job has another share of the work, and other waits.")


def one_job(note: Diagnostic) -> NoteText:
    """Return that both are ranks of one job, and what follows from it."""
    if not note.values.get("named"):
        return told(_GUESSED, WAITS)
    return told(_NAMED if note.values.get("world") is None else _NAMED_OF, WAITS)


def apart(note: Diagnostic) -> NoteText:
    """Return that the files are of different ranks, and not known to be of one job."""
    return told(_APART if note.values.get("apart") else _DIFFER, _OTHER_WORK)


WORLDS = told(_WORLDS, _OTHER_SHARE)
