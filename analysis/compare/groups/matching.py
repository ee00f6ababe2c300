"""Joining the operators and op types of two traces of one model; nothing is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from analysis.metrics.breakdown import by_class, by_launcher, by_operator, by_type
from analysis.metrics.counters import operator_counters, type_counters
from analysis.metrics.traffic import operator_bytes
from analysis.trace import Trace

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
    (candidate - baseline per run, a missing side counts 0), `speedup`.
    Operators join on (name, n-th operator of that name), where `counterparts` gives the baseline's
    name of the candidate's renamed operators and both sides tell them apart; the rest on
    (op type, shapes, dtypes, n-th of those; inputs alone where neither side tells outputs), then on
    (launcher, its inputs, n-th of those);
    communication that is left on (op type, n-th of those).
    """
    tables = [
        _ordered(trace, names) for trace, names in ((baseline, {}), (candidate, counterparts))
    ]
    pairs = _join(tables, ["origin"], taken=_told_apart_once(tables))
    matched_by = [
        "name" if tables[0]["name"][b] == tables[1]["name"][c] else "graph" for b, c in pairs
    ]
    # Frameworks that tell no outputs: type and inputs say what they are. Of a kernel they do not.
    told = [
        table[
            (
                table["outputs"].isna() & (table["level"].astype("object") != "device_kernel")
            ).to_numpy(dtype=bool)
        ]
        for table in tables
    ]
    communication = [table[table["is_communication"].to_numpy(dtype=bool)] for table in tables]
    for some, keys, label in (
        (tables, ["op_type", "inputs", "outputs"], "shape"),
        (told, ["op_type", "inputs"], "shape"),
        # Another GPU or library names its kernels otherwise: what launched them is the same.
        (tables, ["launched_by", "inputs"], "launcher"),
        # Names of communication hold numbers of the recording's groups, and it tells no shapes.
        (communication, ["op_type"], "order"),
    ):
        found = _join(some, keys, taken=({b for b, _ in pairs}, {c for _, c in pairs}))
        pairs += found
        matched_by += [label] * len(found)
    for side in (0, 1):
        used = {pair[side] for pair in pairs}
        for position in range(len(tables[side])):
            if position not in used:
                pairs.append((position, -1) if side == 0 else (-1, position))
                matched_by.append("")
    counters = _counters(operator_counters(baseline), operator_counters(candidate))
    left = _side(tables[0], counters[0], [b for b, _ in pairs], "baseline")
    right = _side(tables[1], counters[1], [c for _, c in pairs], "candidate")
    joined = pd.concat([left, right], axis=1)
    joined.insert(0, "name", _first(joined["name_baseline"], joined["name_candidate"]))
    joined["op_class"] = _first(joined["op_class_candidate"], joined["op_class_baseline"])
    joined["matched_by"] = [label or None for label in matched_by]
    return _finish(joined.drop(columns=["name_baseline", "name_candidate"]))


def match_types(baseline: Trace, candidate: Trace) -> pd.DataFrame:
    """Outer join of op types, largest absolute change first; columns as in match_operators."""
    counters = _counters(type_counters(baseline), type_counters(candidate))
    tables = (
        table.merge(counted, left_on="op_type", right_index=True, how="left")
        for table, counted in zip((by_type(baseline), by_type(candidate)), counters, strict=True)
    )
    return _joined_groups("op_type", *tables)


def match_classes(baseline: Trace, candidate: Trace) -> pd.DataFrame:
    """Outer join of operator classes, largest absolute change first; columns as above."""
    return _joined_groups("op_class", by_class(baseline), by_class(candidate))


def match_launchers(baseline: Trace, candidate: Trace) -> pd.DataFrame:
    """Outer join of what launched the operators, largest absolute change first; columns as above.

    Operators without one read 'unknown'.
    """
    return _joined_groups("launched_by", by_launcher(baseline), by_launcher(candidate))


def without_changes(joined: pd.DataFrame) -> pd.DataFrame:
    """`joined` without changes, longest time first: its two sides are not of the same runs."""
    longest = joined[[f"per_run_ns_{side}" for side in SIDES]].max(axis=1)
    order = longest.sort_values(ascending=False, kind="stable").index
    blank = joined.assign(delta_ns=np.nan, speedup=np.nan).loc[order].reset_index(drop=True)
    return blank.assign(row=range(len(blank)))


def _counters(*tables: pd.DataFrame) -> list[pd.DataFrame]:
    """Both with the columns of either."""
    columns = list(dict.fromkeys(code for table in tables for code in table.columns))
    return [
        table.reindex(columns=columns).astype({code: "Float64" for code in columns})
        for table in tables
    ]


def _joined_groups(key: str, *tables: pd.DataFrame) -> pd.DataFrame:
    left, right = (
        table.set_index(key).add_suffix(f"_{side}")
        for table, side in zip(tables, SIDES, strict=True)
    )
    joined = left.join(right, how="outer", sort=False)
    joined.insert(0, key, list(joined.index))
    return _finish(joined.reset_index(drop=True))


def _ordered(trace: Trace, origins: Mapping[str, str]) -> pd.DataFrame:
    """Operators that ran, in the order in which they first ran, with their original name."""
    table = by_operator(trace)
    table["origin"] = [origins.get(name, name) for name in table["name"].astype(str)]
    order = trace.calls["operator"].drop_duplicates()
    rank = pd.Series(range(len(order)), index=order.to_numpy())
    return (
        table.assign(_rank=table["operator"].map(rank))
        .sort_values("_rank", kind="stable")
        .reset_index(drop=True)
    )


def _join(
    tables: list[pd.DataFrame], keys: list[str], taken: tuple[set[int], set[int]]
) -> list[tuple[int, int]]:
    """Positions that share `keys` and the n-th occurrence of them, without those taken."""
    found: list[dict[tuple[object, ...], int]] = []
    for table, used in zip(tables, taken, strict=True):
        seen: dict[tuple[object, ...], int] = {}
        keyed: dict[tuple[object, ...], int] = {}
        for position, *values in zip(table.index, *(table[key] for key in keys), strict=True):
            # Without shapes the second key says nothing.
            if position in used or any(pd.isna(value) or value == "" for value in values):
                continue
            nth = seen[tuple(values)] = seen.get(tuple(values), -1) + 1
            keyed[(*values, nth)] = position
        found.append(keyed)
    left, right = found
    return [(position, right[key]) for key, position in left.items() if key in right]


def _told_apart_once(tables: list[pd.DataFrame]) -> tuple[set[int], set[int]]:
    """Positions of names that one side tells apart by shape and the other, without shapes, cannot:
    all calls of a name are no partner of some of them."""
    counts = [table["origin"].value_counts() for table in tables]
    told = [table.groupby("origin")["inputs"].count() for table in tables]
    both = counts[0].index.intersection(counts[1].index)
    differ = both[
        (counts[0][both] != counts[1][both]) & ((told[0][both] == 0) != (told[1][both] == 0))
    ]
    first, second = (
        {int(position) for position in np.flatnonzero(table["origin"].isin(differ))}
        for table in tables
    )
    return first, second


def _side(
    table: pd.DataFrame, counters: pd.DataFrame, positions: list[int], side: str
) -> pd.DataFrame:
    wanted = table[["name", *_FIGURES]].assign(bytes_moved=operator_bytes(table) * table["count"])
    wanted = wanted.join(counters, on="operator")
    wanted = wanted.astype({c: "object" for c in wanted.select_dtypes("category").columns})
    return wanted.reindex(index=positions).reset_index(drop=True).add_suffix(f"_{side}")


def _first(preferred: pd.Series, other: pd.Series) -> pd.Series:
    return preferred.where(preferred.notna(), other)


def _finish(joined: pd.DataFrame) -> pd.DataFrame:
    """Side, change and speedup; sorted by absolute change; row numbers as identity."""
    before, after = joined["per_run_ns_baseline"], joined["per_run_ns_candidate"]
    joined["side"] = np.select(
        [before.notna() & after.notna(), before.notna()], ["both", "baseline"], "candidate"
    )
    joined["delta_ns"] = after.fillna(0.0) - before.fillna(0.0)
    joined["speedup"] = (before / after.where(after > 0)).astype(float)
    order = joined["delta_ns"].abs().sort_values(ascending=False, kind="stable").index
    joined = joined.loc[order].reset_index(drop=True)
    joined.insert(0, "row", range(len(joined)))
    return joined
