"""Detail: a trace that tells less of its operators borrows from the one beside it what tells apart.

A profiler at a lower level gives neither types nor shapes, so all calls of one name are a single
operator, which beside the other file's first operator of that name looks many times as slow.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from fusescope.analysis.compare.side import Side
from fusescope.analysis.trace import Diagnostic, Trace, Value

# What an operator is where its file does not tell.
_UNTOLD = "unknown"
_NUMBERS = re.compile(r"\d+")


def with_shared_detail(
    baseline: Side, candidate: Side
) -> tuple[Side, Side, tuple[Diagnostic, ...]]:
    """Both sides with operators that can be compared, and what was borrowed for it.

    Where a side tells no shapes of a name, and in every run has as many calls of that name as the
    other, its calls are told apart as the other's are, by their order; and its operators without
    a type get that of the other side's operators of their name. Nothing else changes: neither
    times nor counts, and no shape is made up. Variants of one recording have the same detail.
    """
    if baseline.has_model and candidate.has_model:
        return baseline, candidate, ()
    sides = [baseline, candidate]
    notes = []
    for poor, rich, name in ((0, 1, "baseline"), (1, 0, "candidate")):
        trace, split, typed = _detailed(sides[poor].trace, sides[rich].trace)
        if trace is sides[poor].trace:
            continue
        sides[poor] = dataclasses.replace(sides[poor], trace=trace)
        values: dict[str, Value] = {"on": name, "names": split, "types": typed}
        notes.append(Diagnostic("info", "detail_borrowed", values=values))
    return sides[0], sides[1], tuple(notes)


def _detailed(poor: Trace, rich: Trace) -> tuple[Trace, int, int]:
    """`poor` told apart as `rich` is; how many names were split, how many operators typed."""
    untold = poor.operators["inputs"].isna() & poor.operators["outputs"].isna()
    untyped = poor.operators["op_type"].isna()
    if not untold.any() or rich.operators["inputs"].isna().all():
        return poor, 0, 0
    kinds = _kinds(rich)
    orders = _orders(poor, rich, untold.to_numpy())
    if orders:
        poor = _split(poor, orders)
        untyped = poor.operators["op_type"].isna()
    found = _keys(poor).map(kinds).where(untyped)
    if not orders and not found.notna().any():
        return poor, 0, 0
    types = poor.operators["op_type"].astype("object").where(found.isna(), found)
    operators = poor.operators.assign(op_type=types.astype("category"))
    typed = int(found.notna().sum())
    return dataclasses.replace(poor, operators=operators), len(orders), typed


def _keys(trace: Trace) -> pd.Series:
    """The name of each operator; of communication without the numbers of the recording's ranks."""
    names = trace.operators["name"].astype("object")
    plain = names.str.replace(_NUMBERS, "#", regex=True)
    return names.where(~trace.operators["is_communication"], plain)


def _kinds(trace: Trace) -> dict[str, str]:
    """The type of each name whose operators are all of one."""
    table = trace.operators.assign(name=_keys(trace))
    known = table[["name", "op_type"]].astype("object").dropna()
    counted = known.groupby("name")["op_type"].agg(["first", "nunique"])
    return dict(counted["first"][(counted["nunique"] == 1) & (counted["first"] != _UNTOLD)])


def _orders(poor: Trace, rich: Trace, untold: np.ndarray) -> dict[int, list[int]]:
    """Operator of `poor` -> which of the rich side's operators each of its calls in a run is,
    counted from 0 in the order of their first call."""
    names = poor.operators["name"].astype("object")
    counts = names.value_counts()
    here = {
        str(name): int(operator)
        for operator, name in zip(poor.operators["operator"], names, strict=True)
        if untold[operator] and counts[name] == 1
    }
    theirs = rich.operators["name"].astype("object")
    several = theirs.value_counts()
    wanted = {name for name in here if several.get(name, 0) > 1}
    if not wanted:
        return {}
    patterns = _patterns(rich, theirs, wanted)
    counted = _calls_by_run(poor, names, wanted)
    found = {}
    for name in sorted(wanted & set(patterns)):
        pattern = patterns[name]
        if counted.get(name) == {len(pattern)}:
            first = {operator: n for n, operator in enumerate(dict.fromkeys(pattern))}
            found[here[name]] = [first[operator] for operator in pattern]
    return found


def _patterns(trace: Trace, names: pd.Series, wanted: set[str]) -> dict[str, tuple[int, ...]]:
    """Name -> its operators in the order of their calls, where that is the same in every run."""
    found: dict[str, set[tuple[int, ...]]] = {}
    for name, calls in _of_names(trace, names, wanted):
        if not _is_in_order(calls):
            continue
        runs = calls.groupby("run", sort=False, observed=True)["operator"].agg(tuple)
        found[name] = set(runs)
    return {name: runs.pop() for name, runs in found.items() if len(runs) == 1}


def _calls_by_run(trace: Trace, names: pd.Series, wanted: set[str]) -> Mapping[str, set[int]]:
    """Name -> how many calls of it a run has, for names whose calls stand in order."""
    return {
        name: set(calls.groupby("run", sort=False).size())
        for name, calls in _of_names(trace, names, wanted)
        if _is_in_order(calls)
    }


def _of_names(trace: Trace, names: pd.Series, wanted: set[str]) -> list[tuple[str, pd.DataFrame]]:
    """Calls of each wanted name; the run of those outside every run is -1."""
    calls = trace.calls[["operator", "run", "start_ns", "n"]]
    calls = calls.assign(run=calls["run"].fillna(-1))
    called = names.to_numpy()[calls["operator"].to_numpy()]
    is_wanted = np.isin(called.astype(str), list(wanted))
    grouped = calls[is_wanted].groupby(called[is_wanted].astype(str), sort=False)
    return [(str(name), part) for name, part in grouped]


def _is_in_order(calls: pd.DataFrame) -> bool:
    """Single calls, in the order of their starts: the n-th of the table is the n-th that ran."""
    starts = calls["start_ns"]
    return bool((calls["n"] == 1).all() and starts.notna().all() and starts.is_monotonic_increasing)


def _split(trace: Trace, orders: Mapping[int, list[int]]) -> Trace:
    """The trace with an operator for each number in `orders`; the first keeps its row."""
    operators, calls = trace.operators, trace.calls["operator"].to_numpy(copy=True)
    runs = trace.calls["run"].fillna(-1).to_numpy()
    added: list[int] = []
    for operator, order in orders.items():
        rows = np.flatnonzero(calls == operator)
        nth = pd.Series(runs[rows]).groupby(runs[rows]).cumcount().to_numpy()
        number = np.asarray(order)[nth]
        new = len(operators) + len(added)
        calls[rows] = np.where(number == 0, operator, new + number - 1)
        added += [operator] * max(order)
    table = pd.concat([operators, operators.iloc[added]], ignore_index=True)
    table["operator"] = np.arange(len(table))
    return dataclasses.replace(trace, operators=table, calls=trace.calls.assign(operator=calls))
