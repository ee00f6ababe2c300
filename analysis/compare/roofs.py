"""Roofs: what the machine of a side can do at most, and its operators under them, the largest
matrix products by the rate that they attained."""

from __future__ import annotations

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.compare.assumptions import (
    Assumptions,
    bandwidth,
    int8_peak,
    named_device,
    peak,
    tops,
)
from fusescope.analysis.compare.side import Side
from fusescope.analysis.experiment import Bandwidth
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.roofline import compulsory_bytes, roofline
from fusescope.analysis.metrics.utilisation import (
    Tops,
    is_int8,
    number_types,
    operator_utilisation,
    peaks_of,
    without_type,
)
from fusescope.analysis.operators.device_peaks import DevicePeaks
from fusescope.analysis.quantity import Quantity

ROOFLINE = (
    "utilisation", "bytes", "intensity", "attained_flops_per_s", "attained_bytes_per_s",
    "bound_flops_per_s", "bound_share", "bound_by", "roofline_reason", "int8",
    "number_type",
)  # fmt: skip

PRODUCTS = ("matrix_product", "grouped_product")


class Roofs(msgspec.Struct, frozen=True):
    """Arithmetic peaks (int8, and of all others) and the bandwidth of main memory that figures
    rest on; `caches` are the bandwidths of cache levels, as measured. `device` is the product whose
    public figures some of them are: then `tops` has a peak for each data type, unless one was
    entered, and `peak` is that of the type with most time."""

    peak: Quantity
    int8: Quantity
    bandwidth: Quantity
    tops: Tops
    caches: tuple[Bandwidth, ...] = ()
    device: DevicePeaks | None = None


class UnderRoofs(msgspec.Struct, frozen=True, eq=False):
    """The roofs of a side, and ROOFLINE of each row of `by_operator`, all of one execution:
    `bytes` as compulsory_bytes, `int8` whether the row is held against the peak of 8-bit products,
    `number_type` the data type of what it multiplies (null where the file does not say it), the
    others as metrics.utilisation and metrics.roofline have them."""

    roofs: Roofs
    operators: pd.DataFrame


def under_roofs(assumptions: Assumptions, side: Side) -> UnderRoofs:
    """The operators of one side under its roofs."""
    measured = side.peaks.bandwidths if side.peaks else ()
    limits = Roofs(
        peak(assumptions, side),
        int8_peak(assumptions, side),
        bandwidth(assumptions, side),
        tops(assumptions, side),
        tuple(one for one in measured if one.level is not None),
        named_device(side) if None in _entered(assumptions) else None,
    )
    operators = by_operator(side.trace)
    of_int8 = is_int8(operators)
    peaks = peaks_of(operators, limits.tops)
    by_type = limits.tops.by_type is not None
    sizes = compulsory_bytes(operators, side.graph)
    flops, time = operators["flops"], operators["mean_ns"]
    rate = limits.bandwidth.value
    table = roofline(flops, sizes, time, peaks, rate, of_int8, by_type=by_type)
    lacks = (table["roofline_reason"] == "no_type_peak").to_numpy() & without_type(operators)
    table.loc[lacks, "roofline_reason"] = "no_number_type"
    used = operator_utilisation(flops, time, peaks)
    whole = sizes.round().astype("Int64")
    types = number_types(operators).where(flops.notna(), None)
    table = table.assign(bytes=whole, utilisation=used, int8=of_int8, number_type=types)
    return UnderRoofs(limits, table[list(ROOFLINE)])


def _entered(assumptions: Assumptions) -> tuple[float | None, float | None]:
    return assumptions.peak_flops_per_s, assumptions.bandwidth_bytes_per_s


class Product(msgspec.Struct, frozen=True):
    """One distinct matrix product: what it reads, its rate, its time per run, and the part of the
    arithmetic peak that it reached (None where that is not known). `row` is its place in
    `by_operator`."""

    row: int
    name: str
    inputs: str
    number_type: str
    flops_per_s: float
    per_run_ns: float
    of_peak: float | None


def largest_products(operators: pd.DataFrame, under: UnderRoofs, limit: int) -> tuple[Product, ...]:
    """The matrix products with FLOPs that take most time, of rows of `by_operator` and what stands
    under the roofs for each of them."""
    table = under.operators
    is_product = operators["op_class"].isin(PRODUCTS).to_numpy(dtype=bool)
    rates = table["attained_flops_per_s"].to_numpy("float64", na_value=np.nan)
    times = operators["per_run_ns"].to_numpy(dtype=float)
    known = np.flatnonzero(is_product & (rates > 0) & (times > 0))
    first = known[np.argsort(-times[known], kind="stable")][:limit]
    used = table["utilisation"].to_numpy("float64", na_value=np.nan)
    return tuple(
        Product(
            row=int(at),
            name=str(operators["name"].iloc[at]),
            inputs=_text(operators["inputs"].iloc[at]),
            number_type=_text(table["number_type"].iloc[at]),
            flops_per_s=float(rates[at]),
            per_run_ns=float(times[at]),
            of_peak=None if np.isnan(used[at]) else float(used[at]),
        )
        for at in first.tolist()
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
