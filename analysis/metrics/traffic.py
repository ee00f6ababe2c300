"""Bytes that operators move: inputs, parameters and outputs, as their profiler reports them."""

from __future__ import annotations

import pandas as pd

from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.trace import Trace

# Operators without sizes beyond this share of the time would make the sum too low to show.
MAX_UNSIZED = 0.05


def bytes_moved(trace: Trace) -> float | None:
    """Bytes of one run; None when operators with more than 5 % of the time have no sizes.

    Communication is outside. Engines that prepack weights leave those out, so a Graph knows
    better where there is one.
    """
    table = by_operator(trace)
    table = table[~table["is_communication"]]
    moved = operator_bytes(table)
    unsized = float(table["per_run_ns"][moved.isna()].sum())
    if table.empty or unsized > MAX_UNSIZED * float(table["per_run_ns"].sum()):
        return None
    return float((moved * table["count"]).sum())


def operator_bytes(operators: pd.DataFrame) -> pd.Series:
    """Bytes of one execution of each row: inputs, parameters, outputs; null without sizes. Of a
    collective its message, the larger of what a rank gives and gets."""
    sized = operators["bytes_in"] + operators["bytes_out"]
    talks = operators["is_communication"].to_numpy(dtype=bool)
    if talks.any():
        sized = sized.mask(talks, operators[["bytes_in", "bytes_out"]].max(axis=1))
    return (sized + operators["bytes_param"].fillna(0)).astype("Float64")
