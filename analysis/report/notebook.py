"""A comparison and a trace as they show themselves in a notebook: the answer, its picture and the
first rows as a piece of HTML without scripts, which loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from fusescope.analysis import wording
from fusescope.analysis.advice import Subject
from fusescope.analysis.advice.explanation import explain_subject
from fusescope.analysis.colours import NOTEBOOK
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.messages import Part
from fusescope.analysis.report.explanation.group_rows import group_rows
from fusescope.analysis.report.explanation.rows import ChangeRow, ExplainedRows, explained_rows
from fusescope.analysis.report.explanation.trace_rows import trace_rows
from fusescope.analysis.report.pages import template
from fusescope.analysis.report.pictures.bars_svg import bars_svg
from fusescope.analysis.text import clean_text
from fusescope.analysis.units import duration
from fusescope.analysis.wording.sentences import verdict_sentence
from fusescope.analysis.wording.trust import TRUST, trust_line

MAX_ROWS = 5
_CHARS, _NAME = 1000, 80  # of a sentence and of the name of a side, which come from files


@dataclass(frozen=True)
class _Bar:
    """A part of a run, and how long it is."""

    role: str
    ns: float


def comparison_cell(comparison: Comparison) -> str:
    """Return the verdict, whether to trust it, both times as bars, and what changed in the first
    rows; of a recording what its fusion groups brought."""
    explanation = comparison.explanation
    if explanation is None:
        rows = group_rows(comparison)
    else:
        rows = explained_rows(comparison, [None] * len(explanation.changes))
    return _cell(
        clean_text(verdict_sentence(comparison), _CHARS),
        rows,
        trust=clean_text(f"{TRUST} {trust_line(trust(comparison.diagnostics))}", _CHARS),
        sides=_sides(comparison),
    )


def trace_cell(subject: Subject) -> str:
    """Return what a run of one trace takes, its parts as a bar, and what need not be in it."""
    trace = subject.trace
    explained = None if trace.ends_early else explain_subject(subject)
    headline = _text(wording.trace_parts(subject.side))
    if explained is None:
        return _cell(headline, None)
    parts = explained.unit.parts
    bars = [
        _Bar("computing", parts.computing_ns),
        _Bar("communication", parts.communication_ns),
        _Bar("copies", parts.copies_ns),
        _Bar("idle", parts.idle_ns),
    ]
    picture = Markup(bars_svg([bar for bar in bars if bar.ns > 0], NOTEBOOK))
    rows = trace_rows(explained, trace, [None] * len(explained.savings))
    return _cell(headline, rows, picture=picture)


def _cell(
    headline: str,
    rows: ExplainedRows | None,
    *,
    trust: str = "",
    picture: str = "",
    sides: Sequence[Mapping[str, Any]] = (),
) -> str:
    return template("notebook.html").render(
        headline=headline,
        trust=trust,
        picture=picture,
        sides=sides,
        before=() if rows is None else _texts(rows.before),
        rows=() if rows is None else [_row(row) for row in rows.rows[:MAX_ROWS]],
        after=() if rows is None else _texts(rows.after),
        colours={"faster": NOTEBOOK.faster, "slower": NOTEBOOK.slower, "same": NOTEBOOK.neutral},
    )


def _sides(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the name, the time and the bar of each side, in percent of the longer one; none where
    no time of a run is known."""
    times = comparison.verdict.times_ns
    if times is None:
        return []
    longest = max(times) or 1.0
    sides = (comparison.baseline, comparison.candidate)
    fills = (NOTEBOOK.baseline, NOTEBOOK.candidate)
    return [
        {
            "name": clean_text(side.name, _NAME),
            "time": duration(ns),
            "width": 100 * ns / longest,
            "colour": fill,
        }
        for side, ns, fill in zip(sides, times, fills, strict=True)
    ]


def _row(row: ChangeRow) -> dict[str, Any]:
    return {
        "change": row.change,
        "left": row.left,
        "width": row.width,
        "kind": row.kind,
        "text": _text(row.parts),
    }


def _texts(sentences: Iterable[Iterable[Part]]) -> list[str]:
    return [_text(parts) for parts in sentences]


def _text(parts: Iterable[Part]) -> str:
    return clean_text("".join(part.text for part in parts), _CHARS)
