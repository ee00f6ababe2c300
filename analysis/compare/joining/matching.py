"""Joining the operators and op types of two traces of one model; nothing is dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, take

from fusescope.analysis.compare.joining.pairs import paired_operators
from fusescope.analysis.metrics.breakdown import by_class, by_launcher, by_type
from fusescope.analysis.metrics.counters import operator_counters, type_counters
from fusescope.analysis.metrics.traffic import operator_bytes
from fusescope.analysis.trace import Trace

# The values of one column.
Column = ExtensionArray | np.ndarray
SIDES = ("baseline", "candidate")
_FIGURES = (
    "count", "total_ns", "per_run_ns", "mean_ns", "median_ns", "p90_ns", "min_ns", "max_ns",
    "wait_ns", "share", "op_type", "op_class", "provider", "inputs", "outputs", "flops",
    "bytes_in", "bytes_param", "bytes_out", "operator",
)  # fmt: skip


def match_operators(
    baseline: Trace,
    candidate: Trace,
    counterparts: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Outer join of operators, one row each, largest absolute change first.

    Columns: `row` (0, 1, …: the row's identity), `name`, `side` (both, baseline, candidate),
    `matched_by` (name, graph, shape, launcher, order, null), each of breakdown's figures and the
    counters of `metrics.counters` that a side has with suffix _baseline and _candidate, `delta_ns`
    (candidate - baseline per run, a missing side counts 0), `speedup`. `paired_operators` says
    what joins.
    """
    first, second, pairs = paired_operators(baseline, candidate, counterparts)
    rows = (pairs.before, pairs.after)
    counters = _counters(operator_counters(baseline), operator_counters(candidate))
    sides = [_columns(ran, counted) for ran, counted in zip((first, second), counters, strict=True)]
    names, classes = (
        [_taken(_plain(ran[column]), at) for ran, at in zip((first, second), rows, strict=True)]
        for column in ("name", "op_class")
    )
    return _joined(
        {"name": _first(names[0], names[1])},
        sides,
        rows,
        {
            "op_class": _first(classes[1], classes[0]),
            "matched_by": pd.Series([label or None for label in pairs.by.tolist()]).array,
        },
    )


def match_types(baseline: Trace, candidate: Trace) -> pd.DataFrame:
    """Outer join of op types, largest absolute change first; columns as in match_operators."""
    counters = _counters(type_counters(baseline), type_counters(candidate))
    return _joined_groups("op_type", (by_type(baseline), by_type(candidate)), counters)


def match_classes(baseline: Trace, candidate: Trace) -> pd.DataFrame:
    """Outer join of operator classes, largest absolute change first; columns as above."""
    return _joined_groups("op_class", (by_class(baseline), by_class(candidate)))


def match_launchers(baseline: Trace, candidate: Trace) -> pd.DataFrame:
    """Outer join of what launched the operators, largest absolute change first; columns as above.

    Operators without one read 'unknown'.
    """
    return _joined_groups("launched_by", (by_launcher(baseline), by_launcher(candidate)))


def without_changes(joined: pd.DataFrame) -> pd.DataFrame:
    """`joined` without changes, longest time first: its two sides are not of the same runs."""
    longest = joined[[f"per_run_ns_{side}" for side in SIDES]].max(axis=1)
    order = longest.sort_values(ascending=False, kind="stable").index
    blank = joined.assign(delta_ns=np.nan, speedup=np.nan).loc[order].reset_index(drop=True)
    return blank.assign(row=range(len(blank)))


def without_speedups(joined: pd.DataFrame) -> pd.DataFrame:
    """Return `joined` with changes alone: of two ranks of one job none is faster, and what waits
    for the other in a collective takes longer on the one that comes first."""
    return joined.assign(speedup=np.nan)


def _counters(*tables: pd.DataFrame) -> list[pd.DataFrame]:
    """Both with the columns of either."""
    columns = list(dict.fromkeys(code for table in tables for code in table.columns))
    if not columns:
        return list(tables)
    return [
        table.reindex(columns=columns).astype({code: "Float64" for code in columns})
        for table in tables
    ]


def _joined_groups(
    key: str, tables: Sequence[pd.DataFrame], counters: Sequence[pd.DataFrame] = ()
) -> pd.DataFrame:
    sides: list[dict[str, Column]] = []
    for table, counted in zip(tables, counters or (pd.DataFrame(),) * 2, strict=True):
        columns: dict[str, Column] = {
            str(name): table[name].array for name in table.columns if name != key
        }
        sides.append(columns | _of_index(counted, pd.Index(table[key])))
    left, right = (pd.Index(table[key]) for table in tables)
    names, *found = left.join(right, how="outer", sort=False, return_indexers=True)
    rows = [np.arange(len(names)) if at is None else at for at in found]
    return _joined({key: pd.Series(list(names)).array}, sides, rows)


def _columns(table: pd.DataFrame, counters: pd.DataFrame) -> dict[str, Column]:
    """What is shown of each operator, by column."""
    columns = {name: _plain(table[name]) for name in _FIGURES}
    columns["bytes_moved"] = (operator_bytes(table) * table["count"]).array
    return columns | _of_index(counters, pd.Index(table["operator"]))


def _of_index(table: pd.DataFrame, index: pd.Index) -> dict[str, Column]:
    """The rows of these labels, by column."""
    if table.columns.empty:
        return {}
    at = table.index.get_indexer(index)
    return {str(name): _taken(table[name].array, at) for name in table.columns}


def _plain(column: pd.Series) -> Column:
    """The values of a column; of a category its texts, missing ones as NaN."""
    values: Column = column.array
    if not isinstance(values, pd.Categorical):
        return values
    texts = np.append(values.categories.to_numpy(dtype=object), np.nan)
    told: np.ndarray = texts.astype(object)[values.codes]
    return told


def _first(preferred: Column, other: Column) -> Column:
    """The preferred values, where there is none the others."""
    told: np.ndarray = np.where(pd.notna(preferred), np.asarray(preferred), np.asarray(other))
    return told


def _taken(values: Column, at: np.ndarray) -> Column:
    """The values at these positions; at -1 null, whole numbers then as float."""
    taken: Column = take(values, at, allow_fill=True)
    return taken


def _joined(
    key: Mapping[str, Column],
    sides: Sequence[Mapping[str, Column]],
    rows: Sequence[np.ndarray],
    more: Mapping[str, Column] = MappingProxyType({}),
) -> pd.DataFrame:
    """Columns of both sides at `rows` with side, change and speedup; sorted by absolute change."""
    before, after = (
        np.asarray(_taken(columns["per_run_ns"], at), dtype=float)
        for columns, at in zip(sides, rows, strict=True)
    )
    delta_ns = np.nan_to_num(after) - np.nan_to_num(before)
    order = np.argsort(-np.abs(delta_ns), kind="stable")
    one_sided = np.where(rows[0] < 0, "candidate", "baseline")
    joined: dict[str, Column] = {"row": np.arange(len(order))}
    joined |= {name: _taken(values, order) for name, values in key.items()}
    for columns, at, side in zip(sides, rows, SIDES, strict=True):
        joined |= {f"{name}_{side}": _taken(of, at[order]) for name, of in columns.items()}
    joined |= {name: _taken(values, order) for name, values in more.items()}
    joined["side"] = np.where((rows[0] < 0) | (rows[1] < 0), one_sided, "both")[order]
    joined["delta_ns"] = delta_ns[order]
    joined["speedup"] = (before / np.where(after > 0, after, np.nan))[order]
    # What was object stays object, where a table would make texts of it.
    kept = {
        name: pd.Series(values, dtype=object) if pd.api.types.is_object_dtype(values) else values
        for name, values in joined.items()
    }
    return pd.DataFrame(kept)
