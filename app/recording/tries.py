"""What a page can try of what findings ask for, and what repeats what is kept."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fusescope.analysis.advice.remedies import without_cuts
from fusescope.analysis.advice.tried import Tried, present_best
from fusescope.analysis.experiment import ExperimentRecord, Try
from fusescope.app.recording import progress

if TYPE_CHECKING:
    from fusescope.collectors.record import Recording


def possible(asked: Iterable[Try]) -> tuple[Try, ...]:
    """Those for which this machine has what they need; all where nothing can be recorded here. No
    kernel is cut out of the session that can run inside it."""
    if progress.missing():
        return without_cuts(tuple(asked))
    from fusescope.collectors.record import can_try

    return without_cuts([one for one in asked if can_try(one.variant)])


def like(record: ExperimentRecord, model: str) -> Recording:
    """A recording as that one was made, of a model of one's own by its name in the form."""
    from fusescope.collectors.record import Recording

    return Recording.like(record, "" if record.model.source == "zoo" else model)


def command(given: str, record: ExperimentRecord, best: str, number: int) -> str:
    """What tries so many remedies beside `best` from a terminal, which takes the present best of
    the recording where no variant is named."""
    named = "" if best == present_best(record) else f" --variant {shlex.quote(best)}"
    return f"fusescope advise {shlex.quote(given)}{named} --try {number}"


def kept_files(record: ExperimentRecord, results: Sequence[Tried]) -> dict[str, str]:
    """Texts by their suffix of files that repeat what is kept; empty where none can."""
    from fusescope.analysis.report.exports import session_script

    listed: tuple[str, ...] = ()
    if not progress.missing():
        from fusescope.collectors.record import listed_optimizers

        listed = listed_optimizers()
    return session_script.kept_files(record, results, listed)
