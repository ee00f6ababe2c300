"""Rows of the op-type table and the operator table, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.doubts import BIASED_BELOW_NS
from fusescope.analysis.compare.joining.launchers import launchers_that_differ
from fusescope.analysis.compare.ledger import gain_kind
from fusescope.analysis.compare.ledger.modules import modules
from fusescope.analysis.messages import say
from fusescope.analysis.metrics import places
from fusescope.analysis.operators.short_names import short_names
from fusescope.analysis.report.text import known, with_shown_shares
from fusescope.analysis.units import ChangeColumns, ChangeRow, Column, change_columns, column_of
from fusescope.analysis.wording import NO_MODULE

VISIBLE_ROWS = 20
MAX_ROWS = 500
_NAME_CHARS = 46
_TYPE_CHARS = 32
_SHAPE_CHARS = 44
_SIDES = ("baseline", "candidate")
T = TypeVar("T")


@dataclass(frozen=True)
class Change:
    """A change of time per run: text, bar length (% of the largest change), and what it means.

    `kind`: faster, slower or same where both sides have it; else gone or new.
    """

    text: str
    bar: float
    kind: str


@dataclass(frozen=True)
class TypeSide:
    """One side of an op type, in the columns of op_statistic; times and count are per run."""

    provider: str
    full_provider: str
    count: str
    total: str
    minimum: str
    mean: str
    largest: str
    share: str


@dataclass(frozen=True)
class TypeRow:
    """One op type on both sides."""

    op_type: str
    shown_type: str
    sides: tuple[TypeSide, TypeSide]
    change: Change
    speedup: str


@dataclass(frozen=True)
class OperatorRow:
    """One operator on both sides. `launcher` says what launched it where that tells apart rows of
    one name, '' elsewhere. `short` marks times in which the profiler has a large part."""

    row: int
    name: str
    shown_name: str
    by_shape: bool
    op_type: str
    launcher: str
    inputs: str
    outputs: str
    shapes: str
    times: tuple[str, str]
    short: tuple[bool, bool]
    change: Change
    speedup: str
    utilisation: tuple[str, ...]


@dataclass(frozen=True)
class Rows(Generic[T]):
    """Rows in two parts: those on screen at once, and the rest; `cut` more are left out."""

    visible: tuple[T, ...]
    folded: tuple[T, ...]
    total: int
    units: Mapping[str, str] = field(default_factory=dict)  # of its columns of times

    @property
    def cut(self) -> int:
        """How many rows are in no part."""
        return self.total - len(self.visible) - len(self.folded)


def type_rows(comparison: Comparison) -> Rows[TypeRow]:
    """Op types, largest absolute change first."""
    table = with_shown_shares(comparison.op_types)
    largest = known(table["delta_ns"].abs().max()) or 0.0
    shown = short_names(map(str, table["op_type"].head(MAX_ROWS)), _TYPE_CHARS)
    records = table.head(MAX_ROWS).to_dict("records")
    apart = change_columns([_times(record) for record in records])
    columns = {
        name: column_of(known(record[f"{name}_ns_{side}"]) for record in records for side in _SIDES)
        for name in ("min", "mean", "max")
    }
    rows = [
        TypeRow(
            op_type=str(record["op_type"]),
            shown_type=shown[str(record["op_type"])],
            sides=_type_sides(record, apart, columns),
            change=_change(record, largest, apart),
            speedup=units.factor(known(record["speedup"])),
        )
        for record in records
    ]
    found = {"total": apart.unit, **{name: column.unit for name, column in columns.items()}}
    return replace(parted(rows, len(table)), units=found)


@dataclass(frozen=True)
class ModuleRow:
    """One module of the model on both sides; `kind` is what its gain means."""

    name: str
    shown_name: str
    groups: str
    before: str
    after: str
    change: str
    interval: str
    kind: str


def module_rows(comparison: Comparison) -> Rows[ModuleRow]:
    """Modules, largest change first; none where groups have none."""
    rows, records = [], modules(comparison.ledger).to_dict("records")
    times = [_module_times(record) for record in records]
    columns = change_columns(times)
    for record, (before_ns, after_ns, change_ns) in zip(records, times, strict=True):
        name = str(record["module"]) or NO_MODULE.text()
        before, after, change = columns.numbers(before_ns, after_ns, change_ns)
        low, high = (
            None if bound is None else columns.changes.number(-bound, signed=True)
            for bound in (known(record["high_ns"]), known(record["low_ns"]))
        )
        is_known = low is not None and high is not None
        interval = say("{low} to {high}", low=low, high=high) if is_known else units.MISSING
        rows.append(
            ModuleRow(
                name=name,
                shown_name=units.middle_cut(name, _NAME_CHARS),
                groups=units.count(record["groups"]),
                before=before,
                after=after,
                change=change,
                interval=interval,
                kind=gain_kind(record),
            )
        )
    return Rows(tuple(rows), (), len(rows), {"time": columns.unit})


def _module_times(record: dict[Any, Any]) -> ChangeRow:
    gain = known(record["gain_ns"])
    return known(record["before_ns"]), known(record["after_ns"]), -(gain or 0.0)


def operator_rows(comparison: Comparison) -> Rows[OperatorRow]:
    """Operators, largest absolute change first."""
    table = comparison.operators
    largest = known(table["delta_ns"].abs().max()) or 0.0
    launched = launchers_that_differ(table, comparison.baseline.trace, comparison.candidate.trace)
    told = "" if launched is None else [_launcher(name) for name in launched]
    records = table.assign(launcher=told).head(MAX_ROWS).to_dict("records")
    shown = short_names((_text(record["name"]) for record in records), _NAME_CHARS)
    columns = _operator_columns(comparison)
    rows = [_operator_row(record, shown, largest, columns) for record in records]
    return replace(parted(rows, len(table)), units={"time": columns.unit})


def operator_totals(comparison: Comparison) -> tuple[str, str, str]:
    """Sums over all operators but communication per run: baseline, candidate, change, in the unit
    of the rows."""
    return _operator_columns(comparison).numbers(*_totals(comparison))


def _operator_columns(comparison: Comparison) -> ChangeColumns:
    """Return the columns of the rows that are shown and of their sum."""
    records = comparison.operators.head(MAX_ROWS).to_dict("records")
    return change_columns([*map(_times, records), _totals(comparison)])


def _totals(comparison: Comparison) -> ChangeRow:
    computing = comparison.operators["op_class"] != "communication"
    table = comparison.operators[computing]
    before, after = (float(table[f"per_run_ns_{side}"].fillna(0.0).sum()) for side in _SIDES)
    is_known = table["delta_ns"].notna().all()
    return before, after, after - before if is_known else None


def has_utilisation(comparison: Comparison) -> bool:
    """True when the compute utilisation of any operator is known."""
    return any(bool(comparison.operators[f"utilisation_{side}"].notna().any()) for side in _SIDES)


def parted(rows: Sequence[T], total: int, visible: int = VISIBLE_ROWS) -> Rows[T]:
    """The first `visible` rows and the others, of `total`."""
    return Rows(tuple(rows[:visible]), tuple(rows[visible:]), total)


def _times(record: dict[Any, Any]) -> ChangeRow:
    """Time per run of both sides, and its change."""
    before, after = (known(record[f"per_run_ns_{side}"]) for side in _SIDES)
    return before, after, known(record["delta_ns"])


def _type_sides(
    record: dict[Any, Any], apart: ChangeColumns, columns: Mapping[str, Column]
) -> tuple[TypeSide, TypeSide]:
    before, after, _ = apart.numbers(*_times(record))
    return (
        _type_side(record, "baseline", before, columns),
        _type_side(record, "candidate", after, columns),
    )


def _type_side(
    record: dict[Any, Any], side: str, total: str, columns: Mapping[str, Column]
) -> TypeSide:
    minimum, mean, largest = (
        column.number(known(record[f"{name}_ns_{side}"])) for name, column in columns.items()
    )
    provider = _text(record[f"provider_{side}"])
    return TypeSide(
        provider=units.middle_cut(places.shown(provider), _TYPE_CHARS),
        full_provider=provider,
        count=units.count(known(record[f"count_{side}"])),
        total=total,
        minimum=minimum,
        mean=mean,
        largest=largest,
        share=units.percent(known(record[f"share_{side}"])),
    )


def _operator_row(
    record: dict[Any, Any], shown: Mapping[str, str], largest: float, columns: ChangeColumns
) -> OperatorRow:
    before, after, _ = columns.numbers(*_times(record))
    name = _text(record["name"])
    # The original operator's shapes where there is one: those of the model file.
    side = "candidate" if record["side"] == "candidate" else "baseline"
    inputs, outputs = _text(record[f"inputs_{side}"]), _text(record[f"outputs_{side}"])
    shown_inputs, dtype = _shapes(inputs)
    shown_outputs, _ = _shapes(outputs, dtype)
    types = dict.fromkeys(_text(record[f"op_type_{s}"]) for s in _SIDES)
    means = [known(record[f"mean_ns_{s}"]) for s in _SIDES]
    return OperatorRow(
        row=int(record["row"]),
        name=name,
        shown_name=shown[name],
        by_shape=is_by_shape(record),
        op_type=" → ".join(name for name in types if name) or say("unknown"),
        launcher=record["launcher"],
        inputs=units.middle_cut(shown_inputs, _SHAPE_CHARS),
        outputs=units.middle_cut(shown_outputs, _SHAPE_CHARS),
        shapes=f"{inputs} → {outputs}" if inputs or outputs else "",
        times=(before, after),
        short=(_is_short(means[0]), _is_short(means[1])),
        change=_change(record, largest, columns),
        speedup=units.factor(known(record["speedup"])),
        utilisation=_utilisation([known(record[f"utilisation_{s}"]) for s in _SIDES]),
    )


def is_by_shape(record: dict[Any, Any]) -> bool:
    """Return whether both sides of a joined operator may have names of their own."""
    return record["matched_by"] in ("shape", "launcher", "order")


def _launcher(name: str) -> str:
    if not name:
        return say("launched by: unknown")
    return say("launched by: {name:name}", name=units.middle_cut(name, _TYPE_CHARS))


def _is_short(mean_ns: float | None) -> bool:
    return mean_ns is not None and mean_ns < BIASED_BELOW_NS


def _utilisation(values: list[float | None]) -> tuple[str, ...]:
    return tuple(f"~{units.percent(v)}" for v in values if v is not None) or (units.MISSING,)


def _change(record: dict[Any, Any], largest: float, columns: ChangeColumns) -> Change:
    delta_ns = known(record["delta_ns"])
    kind = {"baseline": "gone", "candidate": "new"}.get(record["side"])
    if delta_ns is None:
        return Change(units.MISSING, 0.0, kind or "same")
    if kind is None:
        kind = "same" if delta_ns == 0 else "faster" if delta_ns < 0 else "slower"
    bar = 100 * abs(delta_ns) / largest if largest else 0.0
    return Change(columns.changes.number(delta_ns, signed=True), round(bar, 1), kind)


def _shapes(text: str, dtype: str = "") -> tuple[str, str]:
    """Canonical shapes without a data type that is the one before: 'float32[1,3]; [3]'."""
    parts = []
    for part in text.split("; ") if text else []:
        name, bracket, rest = part.partition("[")
        parts.append(f"[{rest}" if bracket and name == dtype else part)
        dtype = name if bracket else dtype
    return "; ".join(parts), dtype


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)
