"""Compute utilisation: how much of the machine's arithmetic peak is used."""

from __future__ import annotations

import pandas as pd

from analysis.metrics.breakdown import by_operator
from analysis.op_classes import is_heavy
from analysis.trace import Trace

# Heavy time without FLOPs beyond this share would make the model's figure too low to show.
MOST_UNCOUNTED = 0.05


def model_flops(trace: Trace) -> tuple[float | None, str | None]:
    """FLOPs of one run and, when None, the reason code (no_heavy_operators, flops_unknown).

    The sum over operators of FLOPs per call times executions per run.
    """
    table = by_operator(trace)
    heavy = table[[is_heavy(str(name)) for name in table["op_class"]]]
    if heavy.empty:
        return None, "no_heavy_operators"
    counted = heavy["flops"].notna()
    time = heavy["per_run_ns"]
    if float(time[~counted].sum()) > MOST_UNCOUNTED * float(time.sum()):
        return None, "flops_unknown"
    flops = heavy.loc[counted, "flops"].astype(float) * heavy.loc[counted, "count"]
    return float(flops.sum()), None


def utilisation(flops: float | None, time_ns: float | None, peak: float | None) -> float | None:
    """FLOPs / (time x peak) as a fraction; above 1 is shown, never clipped. `peak` in FLOP/s."""
    if flops is None or not time_ns or not peak:
        return None
    return flops / (time_ns * 1e-9 * peak)


def operator_utilisation(flops: pd.Series, mean_ns: pd.Series, peak: float | None) -> pd.Series:
    """Utilisation of each row; null without FLOPs, time or peak."""
    if not peak:
        return pd.Series(float("nan"), index=flops.index)
    return flops.astype("Float64") / (mean_ns.where(mean_ns > 0) * 1e-9 * peak)
