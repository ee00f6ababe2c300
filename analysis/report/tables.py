"""Rows of the op-type table and the operator table, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.doubts import BIASED_BELOW_NS
from fusescope.analysis.compare.joining.launchers import launchers_that_differ
from fusescope.analysis.compare.ledger import gain_kind
from fusescope.analysis.compare.ledger.modules import modules
from fusescope.analysis.messages import say
from fusescope.analysis.operators.short_names import short_names
from fusescope.analysis.report.text import known, signed_duration, unbroken, with_shown_shares
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

    @property
    def cut(self) -> int:
        """How many rows are in no part."""
        return self.total - len(self.visible) - len(self.folded)


def type_rows(comparison: Comparison) -> Rows[TypeRow]:
    """Op types, largest absolute change first."""
    table = with_shown_shares(comparison.op_types)
    largest = known(table["delta_ns"].abs().max()) or 0.0
    shown = short_names(map(str, table["op_type"].head(MAX_ROWS)), _TYPE_CHARS)
    rows = [
        TypeRow(
            op_type=str(record["op_type"]),
            shown_type=shown[str(record["op_type"])],
            sides=_type_sides(record),
            change=_change(record, largest),
            speedup=units.factor(known(record["speedup"])),
        )
        for record in table.head(MAX_ROWS).to_dict("records")
    ]
    return parted(rows, len(table))


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


def module_rows(comparison: Comparison) -> tuple[ModuleRow, ...]:
    """Modules, largest change first; none where groups have none."""
    rows = []
    for record in modules(comparison.ledger).to_dict("records"):
        name = str(record["module"]) or NO_MODULE.text()
        gain = known(record["gain_ns"])
        low, high = known(record["low_ns"]), known(record["high_ns"])
        before, after = units.durations_apart(
            known(record["before_ns"]), known(record["after_ns"]), gain
        )
        interval = (
            ""
            if low is None or high is None
            else say("{low:signed_duration} to {high:signed_duration}", low=-high, high=-low)
        )
        rows.append(
            ModuleRow(
                name=name,
                shown_name=units.middle_cut(name, _NAME_CHARS),
                groups=units.count(record["groups"]),
                before=before,
                after=after,
                change=signed_duration(-(gain or 0.0)),
                interval=unbroken(interval) or units.MISSING,
                kind=gain_kind(record),
            )
        )
    return tuple(rows)


def operator_rows(comparison: Comparison) -> Rows[OperatorRow]:
    """Operators, largest absolute change first."""
    table = comparison.operators
    largest = known(table["delta_ns"].abs().max()) or 0.0
    launched = launchers_that_differ(table, comparison.baseline.trace, comparison.candidate.trace)
    told = "" if launched is None else [_launcher(name) for name in launched]
    records = table.assign(launcher=told).head(MAX_ROWS).to_dict("records")
    shown = short_names((_text(record["name"]) for record in records), _NAME_CHARS)
    rows = [_operator_row(record, shown, largest) for record in records]
    return parted(rows, len(table))


def operator_totals(comparison: Comparison) -> tuple[str, str, str]:
    """Sums over all operators but communication per run: baseline, candidate, change."""
    computing = comparison.operators["op_class"] != "communication"
    table = comparison.operators[computing]
    before, after = (float(table[f"per_run_ns_{side}"].fillna(0.0).sum()) for side in _SIDES)
    is_known = table["delta_ns"].notna().all()
    if not is_known:
        return units.duration(before), units.duration(after), units.MISSING
    change = after - before
    return *units.durations_apart(before, after, change), signed_duration(change)


def has_utilisation(comparison: Comparison) -> bool:
    """True when the compute utilisation of any operator is known."""
    return any(bool(comparison.operators[f"utilisation_{side}"].notna().any()) for side in _SIDES)


def parted(rows: Sequence[T], total: int, visible: int = VISIBLE_ROWS) -> Rows[T]:
    """The first `visible` rows and the others, of `total`."""
    return Rows(tuple(rows[:visible]), tuple(rows[visible:]), total)


def _times(record: dict[Any, Any]) -> tuple[str, str]:
    """Time per run of both sides, as it reads beside the change."""
    before, after = (known(record[f"per_run_ns_{side}"]) for side in _SIDES)
    return units.durations_apart(before, after, known(record["delta_ns"]))


def _type_sides(record: dict[Any, Any]) -> tuple[TypeSide, TypeSide]:
    before, after = _times(record)
    return _type_side(record, "baseline", before), _type_side(record, "candidate", after)


def _type_side(record: dict[Any, Any], side: str, total: str) -> TypeSide:
    provider = _text(record[f"provider_{side}"])
    return TypeSide(
        provider=units.middle_cut(
            provider.removesuffix("ExecutionProvider") or provider, _TYPE_CHARS
        ),
        full_provider=provider,
        count=units.count(known(record[f"count_{side}"])),
        total=total,
        minimum=units.duration(known(record[f"min_ns_{side}"])),
        mean=units.duration(known(record[f"mean_ns_{side}"])),
        largest=units.duration(known(record[f"max_ns_{side}"])),
        share=units.percent(known(record[f"share_{side}"])),
    )


def _operator_row(record: dict[Any, Any], shown: Mapping[str, str], largest: float) -> OperatorRow:
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
        times=_times(record),
        short=(_is_short(means[0]), _is_short(means[1])),
        change=_change(record, largest),
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


def _change(record: dict[Any, Any], largest: float) -> Change:
    delta_ns = known(record["delta_ns"])
    kind = {"baseline": "gone", "candidate": "new"}.get(record["side"])
    if delta_ns is None:
        return Change(units.MISSING, 0.0, kind or "same")
    if kind is None:
        kind = "same" if delta_ns == 0 else "faster" if delta_ns < 0 else "slower"
    bar = 100 * abs(delta_ns) / largest if largest else 0.0
    return Change(signed_duration(delta_ns), round(bar, 1), kind)


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
