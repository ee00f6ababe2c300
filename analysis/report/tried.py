"""What was tried beside the best variant, as text."""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis.advice.tried import tried
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Part, paragraph
from fusescope.analysis.report.text import unbroken
from fusescope.analysis.wording import tried as words


@dataclass(frozen=True)
class TriedRow:
    """One variant: what it was tried for, what it was predicted to save, and what it saved."""

    variant: str
    finding: str
    predicted: str
    measured: str
    outcome: str


@dataclass(frozen=True)
class TriedTable:
    """All of them, in the order of the findings, and which to keep."""

    title: tuple[Part, ...]
    conclusion: str
    rows: tuple[TriedRow, ...]
    notes: str


def tried_table(comparison: Comparison) -> TriedTable | None:
    """What the recording of the candidate was made to try; None where that is nothing."""
    experiment = comparison.candidate.experiment
    results = () if experiment is None else tried(experiment.record)
    if experiment is None or not results:
        return None
    best = experiment.record.settings.baseline
    return TriedTable(
        title=words.TITLE.parts(best=best),
        conclusion=unbroken(words.conclusion(results, best)),
        rows=tuple(
            TriedRow(
                one.remedy.variant,
                words.finding_text(one),
                unbroken(words.predicted_text(one)),
                unbroken(words.measured_text(one)),
                unbroken(paragraph(*words.outcome_lines(one, best))),
            )
            for one in results
        ),
        notes=words.NOTES.text(best=best),
    )
