"""Where the time of a trace goes: by operator, by op type, by operator class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis.metrics import places
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Trace

# Choosing so few takes longer than a figure of them, and keeping them takes little memory.
_FEW_CALLS = 10_000


def steady_calls(trace: Trace) -> pd.DataFrame:
    """Calls inside the runs that count; all calls where the trace has no runs at all."""
    return _few_steady_calls(trace) if len(trace.calls) <= _FEW_CALLS else _steady_calls(trace)


def _steady_calls(trace: Trace) -> pd.DataFrame:
    if trace.profiled_runs.empty:
        return trace.calls
    runs = list(steady_runs(trace).runs)
    counts = np.isin(trace.calls["run"].to_numpy("int64", na_value=-1), runs)
    return trace.calls if counts.all() else trace.calls[counts]


_few_steady_calls = once(_steady_calls)


@once
def by_operator(trace: Trace) -> pd.DataFrame:
    """One row per operator that ran: its columns of `trace.operators` and the statistics
    count, total_ns, per_run_ns, mean_ns, median_ns, p90_ns, min_ns, max_ns, wait_ns, share.

    `count` is executions per run, `total_ns` the sum over the runs that count, `per_run_ns` that
    sum per run, `wait_ns` the mean gap before it, `share` the part of the time in all operators.
    Communication is included, but has no share and is in none.
    """
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    ran, labels = pd.factorize(calls["operator"].to_numpy(), sort=True)
    table = _statistics(trace, calls, ran, len(labels), max(1, len(steady.runs)))
    told = trace.operators.take(labels).reset_index(drop=True)
    return pd.concat([told, pd.DataFrame(table)], axis=1)


@once
def by_type(trace: Trace) -> pd.DataFrame:
    """One row per op type with the statistics of `by_operator`, largest total first.

    Type null reads 'unknown', that of communication 'communication'.
    Columns as in the profilers' op_statistic: `op_type`, `provider` (every one that
    ran it, most time first) and the statistics.
    """
    return _grouped(trace, "op_type")


@once
def by_class(trace: Trace) -> pd.DataFrame:
    """One row per operator class with the same statistics, largest total first."""
    return _grouped(trace, "op_class")


def by_launcher(trace: Trace) -> pd.DataFrame:
    """One row per framework operator that launched others, with the same statistics of those."""
    return _grouped(trace, "launched_by")


def ordered(group: np.ndarray, rank: np.ndarray, *, stable: bool = False) -> np.ndarray:
    """The order by group, then by rank, neither below 0: as np.lexsort, but equal ones in any order
    unless `stable`, by one number for both where that fits, in a third of the time."""
    span = int(rank.max(initial=0)) + 1
    if (int(group.max(initial=0)) + 1) * span > np.iinfo("int64").max:
        return np.lexsort((rank, group))
    return np.argsort(group.astype("int64") * span + rank, kind="stable" if stable else None)


def _grouped(trace: Trace, column: str) -> pd.DataFrame:
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    told = trace.operators[column].array
    names = np.array([*told.categories, "unknown"], dtype=object)[told.codes]
    if column == "op_type":
        is_communication = trace.operators["is_communication"].to_numpy()
        names[(told.codes < 0) & is_communication] = "communication"
    operator = calls["operator"].to_numpy()
    number, texts = pd.factorize(names)  # of operators: there are far more calls
    group, found = pd.factorize(number[operator])
    labels = texts[found]
    table = _statistics(trace, calls, group, len(labels), max(1, len(steady.runs)))
    order = np.argsort(-table["total_ns"], kind="stable")
    dur_ns = calls["dur_ns"].to_numpy()
    providers = places.of_groups(trace, operator, group, len(labels), dur_ns)
    return pd.DataFrame(
        {
            column: pd.Series(labels[order], dtype="object"),
            "provider": pd.Series(providers[order], dtype="object"),
            **{name: values[order] for name, values in table.items()},
        }
    )


def _statistics(
    trace: Trace, calls: pd.DataFrame, group: np.ndarray, groups: int, runs: int
) -> dict[str, Any]:
    """Statistics of each group of calls. A row of k calls weighs k in count and mean."""
    dur_ns = calls["dur_ns"].to_numpy()
    order = ordered(group, dur_ns)
    rows = np.bincount(group, minlength=groups)
    first = np.cumsum(rows) - rows
    ranked = dur_ns[order]

    def total(values: np.ndarray) -> np.ndarray:
        """Exact sums by group."""
        return np.add.reduceat(values[order], first) if len(order) else values

    def quantile(part: float) -> np.ndarray:
        """Between the two durations next to it, as numpy's and pandas' default."""
        rank = (rows - 1) * part
        below = np.floor(rank).astype("int64")
        low, high = (ranked[first + at] for at in (below, np.minimum(below + 1, rows - 1)))
        return np.asarray(low + (high - low) * (rank - below))

    total_ns, count = total(dur_ns), total(calls["n"].to_numpy())
    is_communication = trace.operators["is_communication"].to_numpy()[calls["operator"].to_numpy()]
    computing = total(np.where(is_communication, 0, dur_ns))
    whole = int(computing.sum())
    computes = total((~is_communication).astype("int64")) > 0
    waits = total(calls["wait_ns"].notna().to_numpy(dtype="int64"))
    with np.errstate(invalid="ignore"):
        wait_ns = total(calls["wait_ns"].to_numpy("float64", na_value=0.0)) / waits
    return {
        "count": count / runs,
        "total_ns": total_ns,
        "per_run_ns": total_ns / runs,
        "mean_ns": total_ns / count,
        "median_ns": quantile(0.5),
        "p90_ns": quantile(0.9),
        "min_ns": ranked[first] if len(order) else ranked,
        "max_ns": ranked[first + rows - 1] if len(order) else ranked,
        "wait_ns": pd.array(wait_ns, dtype="Float64"),
        "share": np.where(computes & (whole > 0), computing / max(1, whole), np.nan),
    }


def distinct_operators(trace: Trace, operators: np.ndarray) -> int:
    """Return how many distinct operators of its file these rows of a trace are: an eager one that a
    comparison told apart by a compiler's originals counts once."""
    return len(np.unique(_as_in_the_file(trace)[operators]))


@once
def _as_in_the_file(trace: Trace) -> np.ndarray:
    """Return a number for each operator of a trace, equal for those that its file has as one."""
    table = trace.operators
    source = table["members_source"].astype("object")
    source = source.where(source != "names", None)
    members = table["members"].astype("object").where(source.notna(), None)
    table = table.drop(columns="operator").assign(members=members, members_source=source)
    codes = [pd.factorize(table[name].array, use_na_sentinel=False)[0] for name in table.columns]
    numbers: np.ndarray = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1]
    return numbers.reshape(-1)
