"""Roofline: what arithmetic peak and memory bandwidth allow an operator, and what it attained.

Intensity = FLOPs / compulsory bytes (inputs, parameters and outputs, each once); the bound is
min(peak, intensity · bandwidth). Williams, Waterman, Patterson: Roofline, CACM 52 (2009).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.graph import Graph, Node
from analysis.metrics.traffic import operator_bytes
from analysis.metrics.utilisation import MOST_UNCOUNTED


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
) -> pd.DataFrame:
    """One row an operator, from figures of one execution; `peak` in FLOP/s, `bandwidth` in B/s.

    Columns: `intensity` (FLOP/B), `attained_flops_per_s`, `attained_bytes_per_s` (compulsory bytes
    / time, also of operators without FLOPs), `bound_flops_per_s`, `bound_share` = attained / bound,
    above 1 where the data came from a cache or the peak is too low, never clipped, `bound_by`
    (compute, memory), and `roofline_reason`, what keeps `bound_share` null: no_flops, no_sizes,
    no_times, no_peak, no_int8_peak, no_bandwidth.
    """
    seconds = mean_ns.where(mean_ns > 0).astype("Float64") * 1e-9
    flops = flops.astype("Float64")
    sized = bytes_.astype("Float64").where(bytes_ > 0)
    intensity = flops / sized
    attained = flops / seconds
    roof = pd.Series(pd.NA if bandwidth is None else bandwidth, index=flops.index, dtype="Float64")
    slope = intensity * roof
    top = peak.astype("Float64")
    bound = top.where(top <= slope, slope).where(top.notna() & slope.notna())
    lacking = {
        "no_flops": flops.isna(),
        "no_sizes": sized.isna(),
        "no_times": seconds.isna(),
        "no_peak": top.isna() & ~int8,
        "no_int8_peak": top.isna() & int8,
        "no_bandwidth": roof.isna(),
    }
    flat = (top <= slope).fillna(False)
    return pd.DataFrame(
        {
            "intensity": intensity,
            "attained_flops_per_s": attained,
            "attained_bytes_per_s": sized / seconds,
            "bound_flops_per_s": bound,
            "bound_share": attained / bound,
            "bound_by": _texts(
                {"compute": bound.notna() & flat, "memory": bound.notna() & ~flat}, flops.index
            ),
            "roofline_reason": _texts(lacking, flops.index),
        }
    )


def _texts(where: dict[str, pd.Series], index: pd.Index) -> pd.Series:
    """The first text whose mask holds, else None."""
    found: list[str | None] = [None] * len(index)
    for text, mask in reversed(where.items()):
        for position in np.flatnonzero(mask.to_numpy(dtype=bool)):
            found[position] = text
    return pd.Series(found, index=index, dtype="object")


def share_of_roof(operators: pd.DataFrame, under: pd.DataFrame) -> tuple[float | None, str | None]:
    """Time that the roofline allows / time taken, over all rows with FLOPs, and the reason if None.

    `operators` are rows of `by_operator`, `under` their columns of `roofline`. It is the mean of
    `bound_share` weighted with time: sum(FLOPs / bound) / sum(time). None where rows without a
    bound have more than MOST_UNCOUNTED of the time.
    """
    counted = operators["flops"].notna()
    if not counted.any():
        return None, "flops_unknown"
    rows, under = operators[counted], under[counted]
    bounded = under["bound_share"].notna()
    time = rows["per_run_ns"]
    if not bounded.any() or float(time[~bounded].sum()) > MOST_UNCOUNTED * float(time.sum()):
        return None, str(under["roofline_reason"].dropna().iloc[0])
    weighted = under["bound_share"][bounded].astype(float) * time[bounded]
    return float(weighted.sum() / time[bounded].sum()), None


def _node_bytes(node: Node, graph: Graph) -> int | None:
    """None where a size is not known, and for nodes with a body, whose own tensors are apart."""
    if node.captured:
        return None
    names = dict.fromkeys(name for name in (*node.inputs, *node.outputs) if name)
    sizes = [graph.bytes_of(name) for name in names]
    return None if None in sizes else sum(size for size in sizes if size is not None)
