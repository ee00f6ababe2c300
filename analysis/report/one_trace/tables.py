"""Operators and op types of one trace as rows of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.roofs import under_roofs
from fusescope.analysis.compare.side import Side
from fusescope.analysis.metrics.breakdown import by_operator, by_type
from fusescope.analysis.operators.short_names import short_names
from fusescope.analysis.report.tables import MAX_ROWS, Rows, parted
from fusescope.analysis.report.text import known, unbroken, with_shown_shares
from fusescope.analysis.units import Column, column_of

_NAME_CHARS = 60
_TYPE_CHARS = 32
_SHAPE_CHARS = 44
_TIMES = ("per_run_ns", "min_ns", "mean_ns", "max_ns")


@dataclass(frozen=True)
class TimedRow:
    """An operator or op type: times and count are per run where the trace has runs. `row` is the
    operator's row in `by_operator`, by which the timeline knows it; None of an op type."""

    row: int | None
    name: str
    shown_name: str
    op_type: str
    shapes: str
    shown_shapes: str
    provider: str
    count: str
    total: str
    minimum: str
    mean: str
    largest: str
    share: str
    utilisation: str


def operator_rows(side: Side) -> Rows[TimedRow]:
    """Return the operators, longest time first; `utilisation` is modelled, '' where not known."""
    table = by_operator(side.trace)
    use = under_roofs(Assumptions(), side).operators["utilisation"]
    return _rows(table.assign(utilisation=use), "name")


def type_rows(side: Side) -> Rows[TimedRow]:
    """Return the op types, longest time first."""
    return _rows(by_type(side.trace), "op_type")


def _rows(table: pd.DataFrame, named: str) -> Rows[TimedRow]:
    shown = with_shown_shares(table).sort_values("per_run_ns", ascending=False, kind="stable")
    first = shown.head(MAX_ROWS)
    names = short_names(first[named].astype(str), _NAME_CHARS)
    columns = {name: column_of(first[name].astype(float)) for name in _TIMES}
    rows = [
        _row(names, named, int(at), record, columns)
        for at, record in zip(first.index, first.to_dict("records"), strict=True)
    ]
    in_units = {name: column.unit for name, column in columns.items()}
    return replace(parted(rows, len(table)), units=in_units)


def _row(
    names: Mapping[str, str],
    named: str,
    at: int,
    record: dict[Any, Any],
    columns: Mapping[str, Column],
) -> TimedRow:
    total, minimum, mean, largest = (columns[name].number(record[name]) for name in _TIMES)
    name = str(record[named])
    is_operator = named == "name"
    shapes = [_text(record.get(column)) for column in ("inputs", "outputs")] if is_operator else []
    return TimedRow(
        row=at if is_operator else None,
        name=name,
        shown_name=names[name],
        op_type=units.middle_cut(_text(record["op_type"]), _TYPE_CHARS) if is_operator else "",
        shapes=" → ".join(filter(None, shapes)),
        shown_shapes=" → ".join(units.middle_cut(s, _SHAPE_CHARS) for s in shapes if s),
        provider=_text(record["provider"]),
        count=units.count(record["count"]),
        total=total,
        minimum=minimum,
        mean=mean,
        largest=largest,
        share=_percent(record["share"]),
        utilisation=_percent(record.get("utilisation")),
    )


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)


def _percent(value: Any) -> str:
    share = known(value)
    return "" if share is None else unbroken(units.percent(share))
