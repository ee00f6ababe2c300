"""Roofs and operators under them as plain values: docs/json.md, 'roofline'."""

from __future__ import annotations

from typing import Any

import msgspec

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.roofs import ROOFLINE, Roofs, under_roofs
from fusescope.analysis.compare.side import Side
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.roofline import share_of_roof
from fusescope.analysis.metrics.utilisation import counted_utilisation, heavy_operators
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.report.text import plain

_ABOUT = ("name", "op_type", "count", "per_run_ns", "mean_ns", "flops")


def quantity_values(quantity: Quantity) -> dict[str, Any]:
    """Value, unit and basis, and the reason where there is one."""
    values: dict[str, Any] = {
        "value": quantity.value,
        "unit": quantity.unit,
        "basis": quantity.basis,
    }
    return {**values, "reason": quantity.reason} if quantity.reason else values


def roofs_values(limits: Roofs) -> dict[str, Any]:
    """What operators are held against; `caches` as the recording measured them."""
    return {
        "peak": quantity_values(limits.peak),
        "int8_peak": quantity_values(limits.int8),
        "bandwidth": quantity_values(limits.bandwidth),
        "caches": msgspec.to_builtins(limits.caches),
        "device": device_values(limits),
    }


def device_values(limits: Roofs) -> dict[str, Any] | None:
    """The product whose public figures the limits are, by the name that the file has; None where
    none of them is such a figure."""
    return msgspec.to_builtins(limits.device) if limits.device else None


def roofline_values(side: Side) -> dict[str, Any]:
    """One side on its own: its roofs, both figures over all counted operators, and every operator
    with FLOPs, most time first."""
    under = under_roofs(Assumptions(), side)
    limits = under.roofs
    heavy = heavy_operators(side.trace)
    used, why_not_used = counted_utilisation(heavy, limits.tops)
    share, why_no_share = share_of_roof(heavy, under.operators.loc[heavy.index])
    if heavy.empty:
        why_not_used = why_no_share = "no_heavy_operators"
    table = by_operator(side.trace)
    table = table[table["flops"].notna()].join(under.operators)
    table = table.sort_values("per_run_ns", ascending=False, kind="stable")
    return {
        "roofs": roofs_values(limits),
        "operator_utilisation": quantity_values(
            Quantity(used, "fraction", "modelled", why_not_used)
        ),
        "roofline_share": quantity_values(Quantity(share, "fraction", "modelled", why_no_share)),
        "operators": [
            {field: plain(row[field]) for field in (*_ABOUT, *ROOFLINE)}
            for row in table.to_dict("records")
        ],
    }
