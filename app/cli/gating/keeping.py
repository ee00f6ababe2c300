"""The structure that a gate keeps for later: written with --keep, and read in place of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.messages import say
from fusescope.app.cli import streams

if TYPE_CHECKING:
    from fusescope.analysis.compare.side import Side
    from fusescope.analysis.releases.history import History


def keep_structure(side: Side, path: Path) -> None:
    """Writes what runs on this side to the file, and says so. Raises FuseScopeError."""
    from fusescope.analysis.errors import FuseScopeError
    from fusescope.analysis.gate.structure import structure_of

    if side.experiment is None or side.variant is None:
        raise FuseScopeError("gate_no_structure", where=side.name, variant=side.label)
    keep_history(structure_of(side.experiment, side.variant.name), path)


def keep_history(history: History, path: Path) -> None:
    """Writes what one release made of a model, likewise."""
    from fusescope.analysis.releases.history import history_file
    from fusescope.app.cli.writing.outputs import write_whole

    data = history_file(history)
    write_whole(path, data, option="--keep", code="report_unwritable")
    streams.tell(say("Kept: {file:name}", file=str(path)))


def kept_structure(path: Path) -> History | None:
    """What the file keeps; None where it is another file. Raises FuseScopeError where it is damaged
    or of a newer version."""
    from fusescope.analysis.releases.history import MAX_BYTES, is_history, parse_history
    from fusescope.analysis.text import display_name

    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        data = path.read_bytes()
    except OSError:
        return None  # whoever reads it as a recording or a model says why
    return parse_history(data, display_name(path.name)) if is_history(data) else None
