"""Where the time of a trace goes: by operator, by op type, by operator class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.metrics.memo import once
from analysis.metrics.warmup import SteadyRuns, steady_runs
from analysis.trace import Trace


def steady_calls(trace: Trace, steady: SteadyRuns | None = None) -> pd.DataFrame:
    """Calls inside the runs that count; all calls where the trace has no runs at all."""
    if trace.profiled_runs.empty:
        return trace.calls
    steady = steady or steady_runs(trace)
    counts = np.isin(trace.calls["run"].to_numpy("int64", na_value=-1), list(steady.runs))
    return trace.calls if counts.all() else trace.calls[counts]


@once
def by_operator(trace: Trace) -> pd.DataFrame:
    """One row per operator that ran: its columns of `trace.operators` and the statistics
    count, total_ns, per_run_ns, mean_ns, median_ns, p90_ns, min_ns, max_ns, wait_ns, share.

    `count` is executions per run, `total_ns` the sum over the runs that count, `per_run_ns` that
    sum per run, `wait_ns` the mean gap before it, `share` the part of the time in all operators.
    Communication is included, but has no share and is in none.
    """
    steady = steady_runs(trace)
    calls = steady_calls(trace, steady)
    table = _statistics(trace, calls, calls["operator"], max(1, len(steady.runs)))
    table = table.sort_index()
    told = trace.operators.take(table.index.to_numpy()).reset_index(drop=True)
    return pd.concat([told, table.reset_index(drop=True)], axis=1)


def by_type(trace: Trace) -> pd.DataFrame:
    """One row per op type with the statistics of `by_operator`, largest total first.

    Type null reads 'unknown', that of communication 'communication'.
    Columns as in the profilers' op_statistic: `op_type`, `provider` (of most of its time) and
    the statistics.
    """
    return _grouped(trace, "op_type")


def by_class(trace: Trace) -> pd.DataFrame:
    """One row per operator class with the same statistics, largest total first."""
    return _grouped(trace, "op_class")


def by_launcher(trace: Trace) -> pd.DataFrame:
    """One row per framework operator that launched others, with the same statistics of those."""
    return _grouped(trace, "launched_by")


def _grouped(trace: Trace, column: str) -> pd.DataFrame:
    steady = steady_runs(trace)
    calls = steady_calls(trace, steady)
    names = trace.operators[column].astype("object").where(trace.operators[column].notna())
    if column == "op_type":
        names = names.mask(names.isna() & trace.operators["is_communication"], "communication")
    labels = names.fillna("unknown").to_numpy()[calls["operator"].to_numpy()]
    key = pd.Series(labels, index=calls.index)
    table = _statistics(trace, calls, key, max(1, len(steady.runs)))
    providers = trace.operators["provider"].astype("object").to_numpy()[calls["operator"]]
    time = calls["dur_ns"].groupby([labels, providers], sort=False).sum().sort_values(kind="stable")
    main = {label: provider for label, provider in time.index}  # the last has the most time
    table.insert(0, "provider", [main.get(label) for label in table.index])
    table.insert(0, column, table.index.astype("object"))
    return table.sort_values("total_ns", ascending=False, kind="stable").reset_index(drop=True)


def _statistics(trace: Trace, calls: pd.DataFrame, key: pd.Series, runs: int) -> pd.DataFrame:
    """Statistics by key, in the order of the keys. A row of k calls weighs k in count and mean."""
    group, labels = pd.factorize(key)
    dur_ns = calls["dur_ns"].to_numpy()
    order = np.lexsort((dur_ns, group))
    rows = np.bincount(group, minlength=len(labels))
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
    return pd.DataFrame(
        {
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
        },
        index=pd.Index(labels),
    )
