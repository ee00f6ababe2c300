"""Highlights: the places that timelines are asked to show, and the operators that ran there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.compare.comparison import Comparison
from analysis.compare.explanation.explanation import Change
from analysis.compare.explanation.places import Place, places_of
from analysis.metrics.stretch import Stretch
from analysis.timeline.payload import drawn_at

Span = tuple[int, int]  # from and to, in ns from the start of what a side shows


@dataclass(frozen=True)
class Highlight:
    """A span of each side, None for one that stays as it is, and the rows of the operators to
    light."""

    spans: tuple[Span | None, ...]
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class ShownChange:
    """How many places of a change the timelines show, the first of them, and the median one by
    time."""

    count: int
    first: Highlight
    median: Highlight


def of_side(payload: Mapping[str, Any], side: int, stretch: Stretch) -> Highlight | None:
    """Return a stretch of one side's trace where a payload draws it; None where it does not."""
    spans = tuple(
        drawn_at(each, stretch) if at == side else None for at, each in enumerate(payload["sides"])
    )
    return Highlight(spans) if any(spans) else None


def of_change(
    payload: Mapping[str, Any], comparison: Comparison, change: Change
) -> ShownChange | None:
    """Return where the timelines of a comparison draw a change; None where they do not."""
    explanation = comparison.explanation
    if explanation is None:
        return None
    traces = (comparison.baseline.trace, comparison.candidate.trace)
    places = places_of(change, explanation, traces)
    if places is None:
        return None
    rows: set[int] = set()
    for role, operators in zip(("baseline", "candidate"), places.operators, strict=True):
        joined = comparison.operators[f"operator_{role}"]
        rows |= set(joined.index[joined.isin(operators)].tolist())
    first, median = (
        _highlight(payload, place, tuple(sorted(rows))) for place in (places.first, places.median)
    )
    return None if first is None or median is None else ShownChange(places.count, first, median)


def _highlight(payload: Mapping[str, Any], place: Place, rows: tuple[int, ...]) -> Highlight | None:
    spans = tuple(
        None if stretch is None else drawn_at(side, stretch)
        for side, stretch in zip(payload["sides"], (place.before, place.after), strict=True)
    )
    return Highlight(spans, rows) if any(spans) else None
