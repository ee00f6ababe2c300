"""Findings as text: what limits the candidate now, what to try, and what is not known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fusescope.analysis.advice import TOP, Finding, Findings
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Part
from fusescope.analysis.report.text import unbroken, unbroken_parts
from fusescope.analysis.timeline.highlight import of_side
from fusescope.analysis.wording import findings as words


@dataclass(frozen=True)
class Limit:
    """One finding; parts that are names come from the file. `spans` is where it can be seen on
    the timelines, for their script."""

    label: str
    limits: tuple[Part, ...]
    gain: tuple[Part, ...]
    confidence: str
    why: str
    time: str
    remedy: str
    names: str
    source: str
    spans: str


@dataclass(frozen=True)
class Limits:
    """All findings of a report: those shown at once, the others, and what cannot be answered."""

    title: tuple[Part, ...]
    top: tuple[Limit, ...]
    rest: tuple[Limit, ...]
    more: str
    times: str
    unknown: Sequence[str]


def limits(comparison: Comparison, found: Findings, drawn: dict[str, Any]) -> Limits:
    """Return what limits the candidate of a comparison, as `found` there; `drawn` is the
    payload of the timelines."""
    return limits_of(comparison.candidate.label, found, drawn, 1)


def limits_of(label: str, found: Findings, drawn: dict[str, Any] | None, place: int) -> Limits:
    """Return what limits the side of this label, which is at that `place` of the payload of the
    timelines; None draws none."""
    made = tuple(_limit(found, finding, drawn, place) for finding in found.found)
    return Limits(
        title=words.FINDINGS_TITLE.parts(side=label),
        top=made[:TOP],
        rest=made[TOP:],
        more=words.MORE.text(n=len(made) - TOP),
        times=words.times_text(found),
        unknown=words.unknown_lines(found),
    )


def _limit(found: Findings, finding: Finding, drawn: dict[str, Any] | None, place: int) -> Limit:
    stretch = finding.stretch
    shown = None if stretch is None or drawn is None else of_side(drawn, place, stretch)
    return Limit(
        label=words.label_text(finding),
        limits=tuple(unbroken_parts(words.limit_parts(finding))),
        gain=tuple(unbroken_parts(words.gain_parts(finding, found.run_ns))),
        confidence=words.CONFIDENCE[finding.confidence].text(),
        why=words.why_text(finding),
        time=unbroken(words.time_text(finding, found.run_ns, has_runs=found.has_runs)),
        remedy=words.remedy_text(finding),
        names=words.names_text(finding),
        source=words.source_text(finding),
        spans="" if shown is None else json.dumps(shown.spans),
    )
