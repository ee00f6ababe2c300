"""A report that a verb was given in place of recordings: what it holds, and its two sides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from analysis.compare.assumptions import Assumptions
from analysis.compare.choice import choose_sides
from analysis.compare.side import Side
from analysis.experiment import Experiment
from analysis.readers import read
from analysis.readers.input.source import Source, load_file
from analysis.readers.packed.report import Contents, contents, is_report
from analysis.text import display_name
from analysis.trace import Trace
from app.sources import places


def report_at(path: Path) -> Contents | None:
    """What the report at `path` holds; None where there is no report. Raises FuseScopeError where a
    report holds nothing, is damaged or beyond the limits."""
    if not path.is_file():
        return None
    name, limits = display_name(str(path)), places.limits()
    source = Source(name, load_file(path, name, limits), limits)
    return contents(source) if is_report(source.head) else None


def values_of(held: Contents) -> dict[str, Trace | Experiment]:
    """What was recorded, by the names that the report gives it; one where both sides are of it."""
    return {source.name: read(source) for source in held.sources}


def sides_of(
    held: Contents, baseline: str | None = None, candidate: str | None = None
) -> tuple[Side, Side]:
    """Baseline and candidate as the report compares them, or other variants where named."""
    values = [read(source) for source in held.sources]
    told = (held.manifest.baseline, held.manifest.candidate)
    second = None if len(values) == 1 and isinstance(values[0], Experiment) else values[-1]
    names = (baseline or told[0].variant, candidate or told[1].variant)
    first, other = (
        side if side.experiment is not None else replace(side, label=source.name)
        for side, source in zip(
            choose_sides(values[0], second, *names),
            (held.sources[0], held.sources[-1]),
            strict=True,
        )
    )
    return first, other


def assumptions_of(held: Contents) -> Assumptions:
    """What was set when the report was made."""
    assumed = held.manifest.assumed
    return Assumptions(
        assumed.tau_ns,
        assumed.peak_flops_per_s,
        assumed.cache_bytes,
        assumed.bandwidth_bytes_per_s,
        assumed.runs,
    )
