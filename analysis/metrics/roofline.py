"""Roofline: what arithmetic peak and memory bandwidth allow an operator, and what it attained.

Intensity = FLOPs / compulsory bytes (inputs, parameters and outputs, each once); the bound is
min(peak, intensity · bandwidth). Williams, Waterman, Patterson: Roofline, CACM 52 (2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.metrics.traffic import operator_bytes
from fusescope.analysis.metrics.utilisation import MAX_UNCOUNTED, counts_little
from fusescope.analysis.quantity import Reason


def compulsory_bytes(operators: pd.DataFrame, graph: Graph | None) -> pd.Series:
    """Bytes that one execution of each row must move: inputs, parameters and outputs, once each.

    From the graph where it has a node of the row's `name` with all sizes: profilers leave out
    weights that the engine has packed. Else `bytes_in`, `bytes_param` and `bytes_out` of the
    profile. Null without sizes.
    """
    told = operator_bytes(operators)
    if graph is None:
        return told
    known = [
        _node_bytes(graph.node[name], graph) if name in graph.node else None
        for name in operators["name"].astype(str)
    ]
    return pd.Series(known, index=operators.index, dtype="Float64").fillna(told)


def roofline(
    flops: pd.Series,
    bytes_: pd.Series,
    mean_ns: pd.Series,
    peak: pd.Series,
    bandwidth: float | None,
    int8: pd.Series,
    *,
    by_type: bool = False,
) -> pd.DataFrame:
    """One row an operator, from figures of one execution; `peak` in FLOP/s, `bandwidth` in B/s;
    `by_type` where the machine has a peak for each data type.

    Columns: `intensity` (FLOP/B), `attained_flops_per_s`, `attained_bytes_per_s` (compulsory bytes
    / time, also of operators without FLOPs), `bound_flops_per_s`, `bound_share` = attained / bound,
    above 1 where the data came from a cache or the peak is too low, never clipped, `bound_by`
    (compute, memory), and `roofline_reason`, what keeps `bound_share` null: no_flops, no_sizes,
    no_times, no_peak, no_int8_peak, no_type_peak, no_bandwidth.
    """
    work, size, time, top = (_numbers(column) for column in (flops, bytes_, mean_ns, peak))
    seconds = np.where(time > 0, time, np.nan) * 1e-9
    sized = np.where(size > 0, size, np.nan)
    intensity, attained = work / sized, work / seconds
    slope = intensity * (np.nan if bandwidth is None else bandwidth)
    bound = np.minimum(top, slope)  # not a number where either is none
    is_int8 = int8.to_numpy(dtype=bool)
    lacking: dict[Reason, np.ndarray] = {
        "no_flops": np.isnan(work),
        "no_sizes": np.isnan(sized),
        "no_times": np.isnan(seconds),
        "no_type_peak": np.isnan(top) & by_type,
        "no_peak": np.isnan(top) & ~is_int8,
        "no_int8_peak": np.isnan(top) & is_int8,
        "no_bandwidth": np.full(len(work), bandwidth is None),
    }
    flat = top <= slope
    with np.errstate(divide="ignore", invalid="ignore"):
        share = attained / bound
    found = {
        "intensity": intensity,
        "attained_flops_per_s": attained,
        "attained_bytes_per_s": sized / seconds,
        "bound_flops_per_s": bound,
        "bound_share": share,
    }
    bounds = {"compute": flat, "memory": ~np.isnan(bound) & ~flat}
    return pd.DataFrame(
        {
            **{name: pd.array(values, dtype="Float64") for name, values in found.items()},
            "bound_by": _texts(bounds, len(work)),
            "roofline_reason": _texts(lacking, len(work)),
        },
        index=flops.index,
    )


def _numbers(column: pd.Series) -> np.ndarray:
    return column.to_numpy("float64", na_value=np.nan)


def _texts(where: dict[Any, np.ndarray], count: int) -> np.ndarray:
    """The first text whose mask holds, else None."""
    found = np.full(count, None, dtype=object)
    for text, mask in reversed(where.items()):
        found[mask] = text
    return found


def share_of_roof(
    operators: pd.DataFrame, under: pd.DataFrame
) -> tuple[float | None, Reason | None]:
    """Time that the roofline allows / time taken, over all rows with FLOPs, and the reason if None.

    `operators` are rows of `by_operator`, `under` their columns of `roofline`. It is the mean of
    `bound_share` weighted with time: sum(FLOPs / bound) / sum(time). None where rows without a
    bound have more than MAX_UNCOUNTED of the time, and where most of it is in rows without FLOPs.
    """
    counted = operators["flops"].notna()
    if not counted.any() or counts_little(operators):
        return None, "flops_unknown"
    rows, under = operators[counted], under[counted]
    bounded = under["bound_share"].notna()
    time = rows["per_run_ns"]
    if not bounded.any() or float(time[~bounded].sum()) > MAX_UNCOUNTED * float(time.sum()):
        reason: Reason = under["roofline_reason"].dropna().iloc[0]
        return None, reason
    weighted = under["bound_share"][bounded].astype(float) * time[bounded]
    return float(weighted.sum() / time[bounded].sum()), None


def _node_bytes(node: Node, graph: Graph) -> int | None:
    """None where a size is not known, and for nodes with a body, whose own tensors are apart."""
    if node.captured:
        return None
    names = dict.fromkeys(name for name in (*node.inputs, *node.outputs) if name)
    sizes = [graph.bytes_of(name) for name in names]
    return None if None in sizes else sum(size for size in sizes if size is not None)
