"""Roofline: operators that memory limits, and those that use little of the machine."""

from __future__ import annotations

import numpy as np

from analysis.advice.finding import Finding, Unknown
from analysis.advice.subject import Answer, Subject
from analysis.operators.classes import is_heavy

_NEAR_ROOF = 0.6  # share of the roofline from which a remedy must move fewer bytes
_FAR_BELOW = 0.4  # share of the roofline below which something else than the roof limits


def memory_bound(subject: Subject) -> Answer:
    """Operators under the bandwidth roof that reach 60 % of it or more: they move bytes as fast as
    the machine can, so only fewer bytes make them faster."""
    known = _under(subject)
    if isinstance(known, str):
        return known
    share, by = known
    chosen = (by == "memory") & (share >= _NEAR_ROOF)
    time_ns = subject.time_of(chosen)
    if not subject.matters(time_ns):
        return ()
    table = subject.under.operators
    moved = table["bytes"].to_numpy("float64", na_value=0.0)[chosen]
    counts = subject.operators["count"].to_numpy(dtype=float)[chosen]
    return (
        Finding(
            "memory_bound",
            values={
                "operators": int(chosen.sum()),
                "time_ns": time_ns,
                "share": subject.share(time_ns),
                "bytes": float((moved * counts).sum()),
                "rate": float((moved * counts).sum()) / time_ns,  # GB/s,
                "operator": subject.names(chosen)[0],
            },
            at_most_ns=time_ns,
            share=subject.share(time_ns),
            basis="modelled",
            where="operators",
            names=subject.names(chosen),
        ),
    )


def low_utilisation(subject: Subject) -> Answer:
    """Heavy operators below 40 % of what their roofline allows: at most the rest can be saved."""
    known = _under(subject)
    if isinstance(known, str):
        return known
    share, _ = known
    heavy = np.array([is_heavy(name) for name in subject.texts["op_class"]], dtype=bool)
    chosen = heavy & (share < _FAR_BELOW)
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
            },
            at_most_ns=lost_ns,
            share=subject.share(spent),
            basis="modelled",
            where="operators",
            names=subject.names(chosen),
            confidence="low",
        ),
    )


def _under(subject: Subject) -> tuple[np.ndarray, np.ndarray] | Unknown:
    """Share of the roofline (NaN where not known) and what bounds each operator, or why unknown."""
    table = subject.under.operators
    share = table["bound_share"].to_numpy("float64", na_value=np.nan)
    if np.isnan(share).all():
        reasons = set(table["roofline_reason"].dropna())
        if reasons and reasons <= {"no_flops", "no_sizes"}:
            return "no_counted_flops" if "no_flops" in reasons else "no_shapes"
        return "no_peak"
    return share, table["bound_by"].to_numpy(dtype=object)
