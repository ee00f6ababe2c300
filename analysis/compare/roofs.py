"""Roofs: what the machine of a side can do at most, and its operators under them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from analysis.compare.assumptions import (
    Assumptions,
    bandwidth,
    int8_peak,
    named_device,
    peak,
    tops,
)
from analysis.compare.side import Side
from analysis.experiment import Bandwidth
from analysis.metrics.breakdown import by_operator
from analysis.metrics.roofline import compulsory_bytes, roofline
from analysis.metrics.utilisation import (
    Tops,
    is_int8,
    number_types,
    operator_utilisation,
    peaks_of,
)
from analysis.operators.device_peaks import DevicePeaks
from analysis.quantity import Quantity

ROOFLINE = (
    "utilisation", "bytes", "intensity", "attained_flops_per_s", "attained_bytes_per_s",
    "bound_flops_per_s", "bound_share", "bound_by", "roofline_reason", "int8",
    "number_type",
)  # fmt: skip


@dataclass(frozen=True)
class Roofs:
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


@dataclass(frozen=True, eq=False)
class UnderRoofs:
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
    used = operator_utilisation(flops, time, peaks)
    whole = sizes.round().astype("Int64")
    types = number_types(operators).where(flops.notna(), None)
    table = table.assign(bytes=whole, utilisation=used, int8=of_int8, number_type=types)
    return UnderRoofs(limits, table[list(ROOFLINE)])


def _entered(assumptions: Assumptions) -> tuple[float | None, float | None]:
    return assumptions.peak_flops_per_s, assumptions.bandwidth_bytes_per_s
