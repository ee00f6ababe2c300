"""Roofline: operators that memory limits, and those that use little of the machine."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.advice.finding import Finding, Unknown
from fusescope.analysis.advice.settings import conditions_of
from fusescope.analysis.advice.subject import Answer, Subject, shown
from fusescope.analysis.operators.classes import is_heavy

_NEAR_ROOF = 0.6  # share of the roofline from which a remedy must move fewer bytes
_SMALLER = 0.75  # of the bytes of float32 weights that 8-bit ones save
_MAX_TYPES = 3
_ABOVE_ROOF = 1.1  # share of the roofline above which bytes come from a cache
_FAR_BELOW = 0.4  # share of the roofline below which something else than the roof limits
_FAR_BELOW_PUBLIC = 0.3  # the same of public figures of a device, which no kernel reaches quite


def memory_bound(subject: Subject) -> Answer:
    """Operators under the bandwidth roof that reach 60 % of it or more: they move bytes as fast as
    the machine can, so only fewer bytes make them faster. Those clearly above it had their bytes
    from a cache, and are not bound by main memory.

    At most all bytes of tensors between operators can be saved, and three quarters of those of
    weights, which are read whatever is fused.
    """
    known = _under(subject)
    if isinstance(known, str):
        return known
    share, by = known
    chosen = (by == "memory") & (share >= _NEAR_ROOF) & (share <= _ABOVE_ROOF)
    time_ns = subject.time_of(chosen)
    if not subject.matters(time_ns):
        return ()
    table = subject.under.operators
    moved = table["bytes"].to_numpy("float64", na_value=0.0)[chosen]
    counts = subject.operators["count"].to_numpy(dtype=float)[chosen]
    weights = np.minimum(_weight_bytes(subject)[chosen], moved)
    times = subject.operators["per_run_ns"].to_numpy(dtype=float)[chosen]
    staying = (1 - _SMALLER) * weights / np.where(moved > 0, moved, 1.0)
    return (
        Finding(
            "memory_bound",
            values={
                "operators": int(chosen.sum()),
                "time_ns": time_ns,
                "share": subject.share(time_ns),
                "bytes": float((moved * counts).sum()),
                "rate": float((moved * counts).sum()) / time_ns,  # GB/s,
                "of_roof": float((share[chosen] * times).sum() / times.sum()),
                "operator": subject.names(chosen)[0],
                "op_types": _types(subject, chosen),
                "depthwise_ns": subject.time_of(chosen & _depthwise(subject)),
                "weights": float((weights * counts).sum() / max(1.0, (moved * counts).sum())),
            },
            at_most_ns=float((times * (1 - staying)).sum()),
            share=subject.share(time_ns),
            basis="modelled",
            where="operators",
            names=subject.names(chosen),
        ),
    )


def low_utilisation(subject: Subject) -> Answer:
    """Heavy operators below 40 % of what their roofline allows, below 30 % where it is of public
    figures: at most the rest can be saved."""
    known = _under(subject)
    if isinstance(known, str):
        return known
    share, _ = known
    heavy = np.array([is_heavy(name) for name in subject.texts["op_class"]], dtype=bool)
    is_public = subject.under.roofs.tops.by_type is not None
    chosen = heavy & (share < (_FAR_BELOW_PUBLIC if is_public else _FAR_BELOW))
    time = subject.operators["per_run_ns"].to_numpy(dtype=float)
    lost_ns = float((time * (1 - np.where(chosen, share, 1.0)))[chosen].sum())
    if not subject.matters(lost_ns):
        return ()
    spent = float(time[chosen].sum())
    return (
        Finding(
            "low_utilisation",
            values={
                "operators": int(chosen.sum()),
                "time_ns": spent,
                "share": subject.share(spent),
                "of_roof": 1 - lost_ns / spent,
                "operator": subject.names(chosen)[0],
                "op_types": _types(subject, chosen),
                "depthwise_ns": subject.time_of(chosen & _depthwise(subject)),
                "layout_off": _is_layout_off(subject, chosen),
                "on_device": subject.side.times_kernels or is_public,
            },
            at_most_ns=lost_ns,
            share=subject.share(spent),
            basis="modelled",
            where="operators",
            names=subject.names(chosen),
            confidence="low",
        ),
    )


def _weight_bytes(subject: Subject) -> np.ndarray:
    """Bytes of the weights that one execution of each operator reads, 0 where not known."""
    graph = subject.side.graph
    told = subject.operators["bytes_param"].to_numpy("float64", na_value=0.0).copy()
    for place, name in enumerate(subject.texts["name"] if graph is not None else ()):
        node = graph.node.get(name) if graph is not None else None
        if graph is not None and node is not None:
            read = {name for name in node.inputs if name in graph.tensor}
            constant = (name for name in read if graph.tensor[name].constant)
            told[place] = sum(graph.bytes_of(name) or 0 for name in constant)
    return told


def _depthwise(subject: Subject) -> np.ndarray:
    """Which operators are convolutions in groups, as far as a graph says it."""
    graph = subject.side.graph
    nodes = [graph.node.get(name) if graph is not None else None for name in subject.texts["name"]]
    groups = [node.attributes.get("group", 1) if node is not None else 1 for node in nodes]
    return np.array([isinstance(group, int) and group > 1 for group in groups], dtype=bool)


def _types(subject: Subject, chosen: np.ndarray) -> str:
    """Their op types, most time first, a few of many."""
    times = subject.operators[chosen].groupby("op_type", observed=True)["per_run_ns"].sum()
    ordered = [shown(name) for name in times.sort_values(ascending=False).index]
    more = ["…"] if len(ordered) > _MAX_TYPES else []
    return ", ".join([*ordered[:_MAX_TYPES], *more])


def _is_layout_off(subject: Subject, chosen: np.ndarray) -> bool:
    """Whether convolutions are among them and the engine's blocked layout is switched off."""
    told = conditions_of(subject.side)
    convolves = (subject.texts["op_class"] == "convolution").to_numpy(dtype=bool) & chosen
    return bool(convolves.any()) and told is not None and not told.moves_layout


def _under(subject: Subject) -> tuple[np.ndarray, np.ndarray] | Unknown:
    """Share of the roofline (NaN where not known) and what bounds each operator, or why unknown."""
    table = subject.under.operators
    share = table["bound_share"].to_numpy("float64", na_value=np.nan)
    if np.isnan(share).all():
        reasons = set(table["roofline_reason"].dropna().unique())
        if reasons and reasons <= {"no_flops", "no_sizes"}:
            is_counted = subject.operators["flops"].notna().any()
            return "no_sizes" if is_counted else "no_counted_flops"
        return "no_peak"
    return share, table["bound_by"].to_numpy(dtype=object)
