"""Timing the two releases on either side of a change, and what each lost group costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.messages import say
from fusescope.app.cli import streams
from fusescope.app.cli.recording import run as recording_run

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.releases.changes import Change
    from fusescope.collectors.record import Recording

SECONDS = 120.0


def measured(
    recording: Recording, changes: Sequence[Change], seconds: float | None
) -> dict[str, Comparison]:
    """A comparison of both neighbours for each change, by the newer release. Their recordings stay
    in the current folder, as those of `fusescope collect` do. Raises FuseScopeError."""
    from fusescope.analysis.compare import compare
    from fusescope.analysis.compare.choice import choose_sides
    from fusescope.app.cli.reading import read_given

    found: dict[str, Comparison] = {}
    for change in changes:
        older, newer = (f"onnxruntime=={one}" for one in (change.older, change.newer))
        both = replace(
            recording,
            out=Path(f"{Path(recording.model).stem}-{change.older}-{change.newer}.zip"),
            variants=(older, newer),
            baseline=older,
            seconds=SECONDS if seconds is None else seconds,
            own_pass=False,
        )
        path = recording_run.run(both)
        streams.tell(say("Recorded: {file:name}", file=recording_run.relative(path)))
        found[change.newer] = compare(*choose_sides(read_given(path), None, older, newer))
    return found
