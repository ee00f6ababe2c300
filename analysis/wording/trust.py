"""'Can I trust this?' in one line, and the words around the whole list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fusescope.analysis.messages import Message, paragraph
from fusescope.analysis.trace import Diagnostic
from fusescope.analysis.wording.diagnostics import diagnostic_headline, diagnostic_sentence
from fusescope.analysis.wording.diagnostics.ranks import WAITS

if TYPE_CHECKING:
    from fusescope.analysis.compare.trust import Trust

TRUST = Message("Can I trust this?")
GENERAL_DOUBT = Message("The files are two separate recordings.")
_NOT_ALL_TOLD = Message("The files do not tell all that they were recorded with.")
_PROFILED = Message("All times are those under a profiler.")
NO_DOUBT = Message("No doubt was found.")
_DOUBTS_AND_NOTES = Message("All doubts ({doubts:count}) and notes ({notes:count})")
_ONLY_DOUBTS = Message("All doubts ({doubts:count})")
_ONLY_NOTES = Message("All notes ({notes:count})")
_DOUBTS = Message("{n:count} doubt.", "{n:count} doubts.")
_SOME_DOUBTS = Message("{n:count} doubts, among them:")  # where not all of them follow
_MAX = 2


def general_doubt(trust: Trust) -> str:
    """What the general doubts come to: where order tells of drift, it is not one of them."""
    codes = {note.code for note in trust.general}
    if "one_recording" in {note.code for note in trust.notes} and codes == {"profiled_headline"}:
        return _PROFILED.text()
    return (GENERAL_DOUBT if "unpaired" in codes else _NOT_ALL_TOLD).text()


def all_of_them(trust: Trust) -> str:
    """Return the head of the whole list: doubts and notes, each counted by itself as listed."""
    counts = {"doubts": trust.doubts, "notes": len(trust.notes)}
    if not trust.notes:
        return _ONLY_DOUBTS.text(**counts)
    return (_DOUBTS_AND_NOTES if trust.doubts else _ONLY_NOTES).text(**counts)


def _for_it(note: Diagnostic) -> str:
    """What speaks for an answer; of two ranks of one job, which the answer names, what follows."""
    return WAITS.text() if note.code == "ranks_of_one_job" else diagnostic_sentence(note)


def doubts_counted(n: int) -> str:
    """Return how many doubts there are, of answers that have no two which matter most."""
    return _DOUBTS.text(n=n) if n else NO_DOUBT.text()


def trust_line(trust: Trust) -> str:
    """How many doubts there are and the two that matter most, in short; else what speaks for it."""
    if not trust.doubts:
        return paragraph(NO_DOUBT.text(), *map(_for_it, trust.notes[:1]))
    told = [diagnostic_headline(note) for note in trust.first[:_MAX]]
    if trust.general and not told:  # it holds for most pairs: beside others it is only counted
        told.append(general_doubt(trust))
    counted = _DOUBTS if len(told) == trust.doubts else _SOME_DOUBTS
    return paragraph(counted.text(n=trust.doubts), *told)
