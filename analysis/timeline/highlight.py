"""Highlights: the places that timelines are asked to show, and the operators that ran there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.explanation.places import (
    Place,
    ShownPair,
    ShownRun,
    places_of,
    places_of_calls,
)
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.timeline.payload import drawn_at
from fusescope.analysis.trace import Trace

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


def of_changes(
    payload: Mapping[str, Any], comparison: Comparison
) -> tuple[ShownChange | None, ...]:
    """Return where the timelines of a comparison draw each change of its explanation; None for one
    that they do not draw."""
    explanation = comparison.explanation
    if explanation is None:
        return ()
    sides = (comparison.baseline, comparison.candidate)
    runs = (ShownRun.of(sides[0].trace), ShownRun.of(sides[1].trace))
    pair = ShownPair(runs, explanation.pairs)
    joined = [comparison.operators[f"operator_{role}"] for role in ("baseline", "candidate")]
    shown: list[ShownChange | None] = []
    for change in explanation.changes:
        places = places_of(change, pair)
        if places is None:
            shown.append(None)
            continue
        rows: set[int] = set()
        for column, operators in zip(joined, places.operators, strict=True):
            rows |= set(column.index[column.isin(operators)].tolist())
        first, median = (
            _highlight(payload, place, tuple(sorted(rows)))
            for place in (places.first, places.median)
        )
        if first is None or median is None:
            shown.append(None)
        else:
            shown.append(ShownChange(places.count, first, median))
    return tuple(shown)


def of_calls(
    payload: Mapping[str, Any],
    trace: Trace,
    calls: np.ndarray,
    longest: Stretch | None,
    *,
    together: bool,
) -> ShownChange | None:
    """Return where the timeline of one trace draws these calls, or else a stretch of its time; None
    where it does not. `together` as in `places_of_calls`."""
    run = ShownRun.of(trace)
    if not len(calls):
        alone = of_side(payload, 0, longest) if longest and run.has(longest) else None
        return None if alone is None else ShownChange(1, alone, alone)
    found = places_of_calls(run, calls, together=together)
    if found is None:
        return None
    count, *stretches = found
    mine = set(np.unique(trace.calls["operator"].to_numpy()[calls]).tolist())
    operators = by_operator(trace)["operator"].astype("int64").tolist()
    rows = tuple(row for row, operator in enumerate(operators) if operator in mine)
    drawn = [drawn_at(payload["sides"][0], stretch) for stretch in stretches]
    if None in drawn:
        return None
    first, median = (Highlight((span,), rows) for span in drawn)
    return ShownChange(count, first, median)


def _highlight(payload: Mapping[str, Any], place: Place, rows: tuple[int, ...]) -> Highlight | None:
    spans = tuple(
        None if stretch is None else drawn_at(side, stretch)
        for side, stretch in zip(payload["sides"], (place.before, place.after), strict=True)
    )
    return Highlight(spans, rows) if any(spans) else None
