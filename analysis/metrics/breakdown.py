"""Where the time of a trace goes: by operator, by op type, by operator class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.metrics.warmup import SteadyRuns, steady_runs
from analysis.trace import Trace

STATISTICS = ("count", "total_ns", "per_run_ns", "mean_ns", "median_ns", "p90_ns", "min_ns",
              "max_ns", "wait_ns", "share")  # fmt: skip


def steady_calls(trace: Trace, steady: SteadyRuns | None = None) -> pd.DataFrame:
    """Calls inside the runs that count; all calls where the trace has no runs at all."""
    if trace.profiled_runs.empty:
        return trace.calls
    steady = steady or steady_runs(trace)
    return trace.calls[trace.calls["run"].isin(steady.runs)]


def by_operator(trace: Trace) -> pd.DataFrame:
    """One row per operator that ran: its columns of `trace.operators` and STATISTICS.

    `count` is executions per run, `total_ns` the sum over the runs that count, `per_run_ns` that
    sum per run, `wait_ns` the mean gap before it, `share` the part of the time in all operators.
    Communication included.
    """
    steady = steady_runs(trace)
    calls = steady_calls(trace, steady)
    table = _statistics(calls, calls["operator"], max(1, len(steady.runs)))
    return trace.operators.join(table, on="operator", how="inner").reset_index(drop=True)


def by_type(trace: Trace) -> pd.DataFrame:
    """One row per op type with STATISTICS, largest total first; type null reads 'unknown'.

    Columns as in the profilers' op_statistic: `op_type`, `provider` (of most of its time) and
    STATISTICS.
    """
    return _grouped(trace, "op_type")


def by_class(trace: Trace) -> pd.DataFrame:
    """One row per operator class with STATISTICS, largest total first."""
    return _grouped(trace, "op_class")


def _grouped(trace: Trace, column: str) -> pd.DataFrame:
    steady = steady_runs(trace)
    calls = steady_calls(trace, steady)
    names = trace.operators[column].astype("object").where(trace.operators[column].notna())
    labels = names.fillna("unknown").to_numpy()[calls["operator"].to_numpy()]
    table = _statistics(calls, pd.Series(labels, index=calls.index), max(1, len(steady.runs)))
    providers = trace.operators["provider"].to_numpy()[calls["operator"].to_numpy()]
    time = calls["dur_ns"].groupby([labels, providers]).sum()
    main = {
        label: time[label].idxmax() if label in time.index.get_level_values(0) else None
        for label in table.index
    }
    table.insert(0, "provider", [main[label] for label in table.index])
    table.insert(0, column, list(table.index))
    return table.sort_values("total_ns", ascending=False, kind="stable").reset_index(drop=True)


def _statistics(calls: pd.DataFrame, key: pd.Series, runs: int) -> pd.DataFrame:
    """STATISTICS by key. Rows that stand for k calls weigh k in count and mean."""
    grouped = calls["dur_ns"].groupby(key.to_numpy(), sort=False, observed=True)
    total = grouped.sum()
    count = calls["n"].groupby(key.to_numpy(), sort=False, observed=True).sum()
    whole = int(total.sum())
    table = pd.DataFrame(
        {
            "count": count / runs,
            "total_ns": total,
            "per_run_ns": total / runs,
            "mean_ns": total / count,
            "median_ns": grouped.median(),
            "p90_ns": grouped.quantile(0.9),
            "min_ns": grouped.min(),
            "max_ns": grouped.max(),
            "wait_ns": calls["wait_ns"].groupby(key.to_numpy(), sort=False, observed=True).mean(),
            "share": total / whole if whole else np.nan,
        }
    )
    return table[list(STATISTICS)]
