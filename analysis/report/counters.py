"""The device's counters before and after: over a run, by op type and by operator, as text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from fusescope.analysis import units, wording
from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.metrics.counters import UNITS, total_counters
from fusescope.analysis.operators.short_names import short_name
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.report.tables import MAX_ROWS, Rows, is_by_shape, parted
from fusescope.analysis.report.text import known, unbroken
from fusescope.analysis.units import Column, column_of

_SIDES = ("baseline", "candidate")
_NAME_CHARS = 40
# What the tables by type and by operator show; of a file that has none of these, its first ones.
_IN_TABLES = (
    "cube_ratio",
    "vector_ratio",
    "mte2_ratio",
    "memory_bound",
    "cube_utilisation",
    "l2_hit_rate",
    "cube_flops",
)
_MAX_COLUMNS = 7


@dataclass(frozen=True)
class CounterRow:
    """One counter over a run; `covered` is the part of each side's time that it is known for."""

    code: str
    label: str
    definition: str
    sides: tuple[str, str]
    change: str
    covered: tuple[str, str]


@dataclass(frozen=True)
class CountedRow:
    """One op type or operator: time per run, then each column's counter, of both sides. `cores` are
    what ran it on each side, the one that is known on both where one side does not say; the names
    of the sides differ where it is joined `by_shape`."""

    name: str
    shown_name: str
    by_shape: bool
    cores: tuple[str, str]
    times: tuple[str, str]
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Counters:
    """Counters in total, and `columns` of them by op type and by operator."""

    totals: tuple[CounterRow, ...]
    columns: tuple[CounterRow, ...]
    types: Rows[CountedRow]
    operators: Rows[CountedRow]


def counters(comparison: Comparison) -> Counters | None:
    """All counters of a comparison as text; None where neither side has any."""
    totals = counter_rows(comparison)
    if not totals:
        return None
    shown = [row for row in totals if row.code in _IN_TABLES] or totals
    shown = shown[:_MAX_COLUMNS]
    return Counters(
        totals=tuple(totals),
        columns=tuple(shown),
        types=_counted(comparison.op_types, "op_type", shown),
        operators=_counted(comparison.operators, "name", shown),
    )


def counter_rows(comparison: Comparison) -> list[CounterRow]:
    """The counters that a side has, over one run."""
    traces = (comparison.baseline.trace, comparison.candidate.trace)
    totals = [total_counters(trace) for trace in traces]
    rows = []
    for figure in comparison.figures:
        if figure.code in UNITS:
            found = [counters.get(figure.code) for counters in totals]
            covered = [units.percent(c.covered) if c else units.MISSING for c in found]
            rows.append(_counter_row(figure, (covered[0], covered[1])))
    return rows


def _counter_row(figure: Figure, covered: tuple[str, str]) -> CounterRow:
    text = wording.FIGURES[figure.code]
    return CounterRow(
        code=figure.code,
        label=text.label,
        definition=text.definition,
        sides=(wording.quantity_text(figure.baseline), wording.quantity_text(figure.candidate)),
        change=unbroken(wording.change_text(figure)) or units.MISSING,
        covered=covered,
    )


def _counted(table: pd.DataFrame, name: str, shown: list[CounterRow]) -> Rows[CountedRow]:
    """Rows that have one of these counters on a side, in the order of the table."""
    heads = [f"{row.code}_{side}" for row in shown for side in _SIDES]
    counted = table[table[heads].notna().any(axis=1)]
    records = counted.head(MAX_ROWS).to_dict("records")
    times = column_of(known(record[f"per_run_ns_{side}"]) for record in records for side in _SIDES)
    rows = [_counted_row(record, name, shown, times) for record in records]
    return replace(parted(rows, len(counted)), units={"time": times.unit})


def _counted_row(
    record: dict[Any, Any], name: str, shown: list[CounterRow], times: Column
) -> CountedRow:
    text = str(record[name])
    cores = ["" if pd.isna(one) else str(one) for one in (record[f"provider_{s}"] for s in _SIDES)]
    before, after = (times.number(known(record[f"per_run_ns_{side}"])) for side in _SIDES)
    return CountedRow(
        name=text,
        shown_name=units.middle_cut(short_name(text), _NAME_CHARS),
        by_shape=name == "name" and is_by_shape(record),
        cores=(cores[0] or cores[1], cores[1] or cores[0]),
        times=(before, after),
        cells=tuple(
            (_cell(row.code, record, "baseline"), _cell(row.code, record, "candidate"))
            for row in shown
        ),
    )


def _cell(code: str, record: dict[Any, Any], side: str) -> str:
    value = known(record[f"{code}_{side}"])
    return unbroken(wording.quantity_text(Quantity(value, UNITS[code], "counter")))
