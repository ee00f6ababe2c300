"""A report that a verb was given in place of recordings: what it holds, and its two sides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.choice import choose_sides, side_of
from fusescope.analysis.compare.side import Side
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source, load_file
from fusescope.analysis.readers.packed.report import Contents, contents, is_report
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Trace
from fusescope.app.sources import places


def report_at(path: Path) -> Contents | None:
    """What the report at `path` holds; None where there is no report. Raises FuseScopeError where a
    report holds nothing, is damaged or beyond the limits."""
    if not path.is_file():
        return None
    name, limits = display_name(str(path)), places.limits()
    source = Source(name, load_file(path, name, limits), limits)
    return contents(source) if is_report(source.head) else None


def values_of(held: Contents) -> dict[str, Trace | Experiment]:
    """What was recorded, by the names that the report gives it; one where all sides are of it."""
    found: dict[str, Trace | Experiment] = {}
    for source in held.sources:
        value = read(source)
        name = source.name if isinstance(value, Trace) else value.file_name
        found[name if name not in found else f"{name} ({source.role})"] = value
    return found


def sides_of(
    held: Contents, baseline: str | None = None, candidate: str | None = None
) -> tuple[Side, Side]:
    """Baseline and candidate as the report compares them, or other variants where named. Of a
    report of several variants the candidate is the most optimised one; raises FuseScopeError for
    one of several files."""
    values = [read(source) for source in held.sources]
    told = held.manifest
    if told.more and len(values) > 1:
        files = ", ".join(values_of(held))
        raise FuseScopeError("report_of_several", n=len(values), names=files)
    second = None if len(values) == 1 and isinstance(values[0], Experiment) else values[-1]
    usual = None if told.more else told.candidate.variant
    names = (baseline or told.baseline.variant, candidate or usual)
    first, other = (
        side if side.experiment is not None else replace(side, label=source.name)
        for side, source in zip(
            choose_sides(values[0], second, *names),
            (held.sources[0], held.sources[-1]),
            strict=True,
        )
    )
    return first, other


def several_of(held: Contents) -> list[Side]:
    """All sides as the report compares them, the baseline first."""
    values = {source.member: read(source) for source in held.sources}
    sides = [(side_of(values[told.file], told.variant), told) for told in held.manifest.sides]
    return [
        side if side.experiment is not None else replace(side, label=held.source_of(told).name)
        for side, told in sides
    ]


def assumptions_of(held: Contents) -> Assumptions:
    """What was set when the report was made."""
    return msgspec.convert(msgspec.to_builtins(held.manifest.assumed), Assumptions)
