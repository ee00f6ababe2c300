"""Files that the API writes, by the rules of the terminal: complete or not at all, and never in the
place of what was read."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import display_name
from fusescope.app.cli.writing.outputs import refuse_lost, write_whole

_METHOD = "report()"


def write_report(path: str | PathLike[str], text: str, inputs: Sequence[Path]) -> Path:
    """Write a report, and return its path. Raises FuseScopeError where that is one of `inputs`, a
    recording or a folder, and where it cannot be written."""
    place = Path(path)
    try:
        refuse_lost({_METHOD: place}, inputs)
        write_whole(place, text.encode(), option=_METHOD, code="report_unwritable")
    except OSError as error:  # such as a name that no file can have
        raise FuseScopeError(
            "report_unwritable",
            where=display_name(place.name),
            reason=error.strerror or type(error).__name__,
            option=_METHOD,
        ) from error
    return place
