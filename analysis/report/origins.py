"""Where the files of a comparison come from: name, date, engine and machine."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.compare.comparison import Comparison, Side
from analysis.report.method import recorded


@dataclass(frozen=True)
class Origin:
    """The file of one side, or of both. All of it may hold text of the file."""

    file_name: str
    sha256: str
    made: str


def origins(comparison: Comparison) -> tuple[Origin, ...]:
    """The file of baseline and candidate; one where both come from the same."""
    sides = (comparison.baseline, comparison.candidate)
    return tuple(dict.fromkeys(_origin(side) for side in sides))


def _origin(side: Side) -> Origin:
    meta = side.trace.meta
    record = side.experiment.record if side.experiment else None
    if record is None:
        made = f"{meta.tool} profile, recording date not in the file"
    else:
        engine = f"{record.engine.name} {record.engine.version}"
        made = f"recorded {recorded(record.created)}, {engine}, {record.machine.cpu_model}"
    return Origin(meta.file_name, meta.sha256[:12], made)
