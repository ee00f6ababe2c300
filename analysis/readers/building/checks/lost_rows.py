"""Rows and events of a file that were lost: so many that figures of what is left may mislead."""

from __future__ import annotations

from collections.abc import Iterable

from fusescope.analysis.trace import Diagnostic, DiagnosticCode

_MUCH = 0.1  # of all rows
_MANY = 3  # in the smallest files a single one is more than that
_LOST: frozenset[DiagnosticCode] = frozenset(("bad_time", "bad_event", "unpaired_events"))


def lost_notes(notes: Iterable[Diagnostic], executions: int, whole: int) -> list[Diagnostic]:
    """A note where more than a tenth of what a file holds, and three at the least, could not be
    read or has no valid time.

    `executions` are those that were read of this process or device, `whole` of all in the file. A
    note of what was left out may say how many `lost` ones `of` how many are meant; without that it
    is of the whole file, and of rows like those that were read.
    """
    left, lost = executions, 0
    for note in notes:
        if note.code in _LOST:
            count = int(str(note.values.get("lost", note.count)))
            lost += count
            left = max(left, int(str(note.values["of"])) - count if "of" in note.values else whole)
    of = left + lost
    if lost < _MANY or lost <= _MUCH * of:
        return []
    return [Diagnostic("warning", "rows_lost", lost, values={"of": of, "share": lost / of})]
