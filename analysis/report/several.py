"""All variants of the recording in one table, as text."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.compare.comparison import Comparison
from analysis.compare.multiple.comparison import MAX_SIDES, MultipleComparison, compare_several
from analysis.compare.multiple.pareto import pareto
from analysis.compare.side import side_of_variant
from analysis.compare.timing.latency import are_paired
from analysis.messages import Part, say
from analysis.report.text import minus
from analysis.wording.multiple import comparison as words


@dataclass(frozen=True)
class Column:
    """A figure of every variant: its name, and what it rests on."""

    label: str
    basis: str


@dataclass(frozen=True)
class Row:
    """One variant; `cells` are in the order of the columns."""

    name: str
    speedup: str
    interval: str
    result: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class SeveralTable:
    """The table, what it says of the fastest, and what must be read with it."""

    answer: tuple[Part, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


def recorded_together(comparison: Comparison) -> MultipleComparison | None:
    """All variants of the recording against the baseline of the comparison, up to MAX_SIDES; None
    where the sides are of two files, or nothing else was recorded."""
    experiment = comparison.baseline.experiment
    if experiment is None or not are_paired(comparison.baseline, comparison.candidate):
        return None
    sides = (comparison.baseline, comparison.candidate)
    pair = [side.variant.name for side in sides if side.variant is not None]
    names = list(dict.fromkeys((*pair, *experiment.traces)))
    if len(names) < 3:
        return None
    return compare_several([side_of_variant(experiment, name) for name in names[:MAX_SIDES]])


def several_table(comparison: Comparison, multiple: MultipleComparison) -> SeveralTable:
    """The table in the language that is spoken."""
    entries = multiple.entries
    rows = []
    for at in multiple.order:
        entry = entries[at]
        rows.append(
            Row(
                name=entry.side.name,
                speedup=words.speedup_text(entry),
                interval=words.interval_text(entry),
                result=words.result_text(entry),
                cells=tuple(minus(words.figure_cell(entry, code)) for code in multiple.columns),
            )
        )
    found = pareto(multiple)
    experiment = comparison.baseline.experiment
    left_out = len(experiment.traces) - len(rows) if experiment else 0
    notes = (
        words.basis_sentences(multiple),
        words.front_sentence(multiple, found) if found is not None else "",
        say(
            "{n:count} more recorded variant is not in this table.",
            "{n:count} more recorded variants are not in this table.",
            n=left_out,
        )
        if left_out
        else "",
    )
    return SeveralTable(
        answer=words.best_parts(multiple),
        columns=tuple(
            Column(words.column_text(multiple, code).label, words.column_basis(multiple, code))
            for code in multiple.columns
        ),
        rows=tuple(rows),
        notes=tuple(filter(None, notes)),
    )
