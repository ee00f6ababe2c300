"""Several sides against one baseline in one table, as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import (
    MAX_SIDES,
    MultipleComparison,
    compare_several,
)
from fusescope.analysis.compare.multiple.pareto import Pareto, pareto
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.compare.timing.latency import are_paired
from fusescope.analysis.messages import Part, paragraph, say
from fusescope.analysis.report.pages import template
from fusescope.analysis.report.pictures.pareto import pareto_picture
from fusescope.analysis.report.text import unbroken
from fusescope.analysis.wording.multiple import comparison as words
from fusescope.analysis.wording.multiple.engines import Fact, facts, in_order, reading_sentences


@dataclass(frozen=True)
class Column:
    """A figure of every side: its code and name, what it rests on, how it is defined."""

    code: str
    label: str
    basis: str
    definition: str


@dataclass(frozen=True)
class Row:
    """One side; `facts` are in the order of the table's, `cells` in that of the columns. `front`
    says how it stands to the Pareto front, '' where nobody knows."""

    name: str
    speedup: str
    interval: str
    result: str
    facts: tuple[str, ...]
    cells: tuple[str, ...]
    front: str


@dataclass(frozen=True)
class SeveralTable:
    """The table, what it says of the fastest, and what must be read with it."""

    answer: tuple[Part, ...]
    facts: tuple[Fact, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    pareto: Pareto | None
    interval_head: str
    has_speedups: bool

    @property
    def has_intervals(self) -> bool:
        """Whether any side has one."""
        return any(row.interval for row in self.rows)


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
    return compare_several(
        [side_of_variant(experiment, name) for name in names[:MAX_SIDES]], comparison.assumptions
    )


def several_table(multiple: MultipleComparison, recorded: int = 0) -> SeveralTable:
    """The table in the language that is spoken; `recorded` are the variants that there are, where
    the table may not have all of them."""
    entries, found, told = multiple.entries, pareto(multiple), facts(multiple)
    codes = in_order(multiple)
    cells = [words.figure_cells(entries, code) for code in codes]
    rows = []
    for at in multiple.order:
        entry = entries[at]
        rows.append(
            Row(
                name=entry.side.name,
                speedup=words.speedup_text(entry),
                interval=words.interval_text(entry),
                result=words.result_text(entry),
                facts=tuple(fact.cells[at] or units.MISSING for fact in told),
                cells=tuple(unbroken(column[at]) for column in cells),
                front="" if found is None else words.front_text(multiple, found, at),
            )
        )
    left_out = max(0, recorded - len(rows))
    notes = (
        paragraph(words.basis_sentences(multiple), reading_sentences(multiple)),
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
        facts=told,
        columns=tuple(_column(multiple, code) for code in codes),
        interval_head=str(words.interval_head(multiple)),
        has_speedups=words.has_speedups(multiple),
        rows=tuple(rows),
        notes=tuple(filter(None, notes)),
        pareto=found,
    )


def _column(multiple: MultipleComparison, code: str) -> Column:
    text = words.column_text(multiple, code)
    return Column(code, text.label, words.column_basis(multiple, code), text.definition)


def table_html(table: SeveralTable, caption: str) -> Markup:
    """The table and its notes for a page."""
    return _made("several_table.html", table=table, caption=caption)


def pareto_html(
    multiple: MultipleComparison, table: SeveralTable, heading: Literal["h2", "h3"] = "h3"
) -> Markup:
    """The picture of speed against what it costs, and its sentence; '' where no cost is known."""
    found = table.pareto
    if found is None:
        return Markup()
    return _made(
        "pareto.html",
        picture=pareto_picture(multiple, found),
        sentence=words.front_sentence(multiple, found),
        words=words,
        heading=heading,
    )


def _made(name: str, **values: object) -> Markup:
    return Markup(template(name).render(**values))
