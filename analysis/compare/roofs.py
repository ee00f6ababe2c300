"""Roofs: what the machine of a side can do at most, and its operators under them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from analysis.compare.assumptions import Assumptions, bandwidth, int8_peak, peak
from analysis.compare.side import Side
from analysis.experiment import Bandwidth
from analysis.metrics.breakdown import by_operator
from analysis.metrics.roofline import compulsory_bytes, roofline
from analysis.metrics.utilisation import Tops, is_int8, operator_utilisation, peaks_of
from analysis.quantity import Quantity

ROOFLINE = (
    "utilisation", "bytes", "intensity", "attained_flops_per_s", "attained_bytes_per_s",
    "bound_flops_per_s", "bound_share", "bound_by", "roofline_reason", "int8",
)  # fmt: skip


@dataclass(frozen=True)
class Roofs:
    """Arithmetic peaks (float32, int8) and the bandwidth of main memory that figures rest on;
    `caches` are the bandwidths of cache levels, as measured."""

    peak: Quantity
    int8: Quantity
    bandwidth: Quantity
    caches: tuple[Bandwidth, ...] = ()

    @property
    def tops(self) -> Tops:
        """Both arithmetic peaks as plain numbers."""
        return Tops(self.peak.value, self.int8.value)


@dataclass(frozen=True, eq=False)
class UnderRoofs:
    """The roofs of a side, and ROOFLINE of each row of `by_operator`, all of one execution:
    `bytes` as compulsory_bytes, `int8` whether the row is held against the peak of 8-bit products,
    the others as metrics.utilisation and metrics.roofline have them."""

    roofs: Roofs
    operators: pd.DataFrame


def under_roofs(assumptions: Assumptions, side: Side) -> UnderRoofs:
    """The operators of one side under its roofs."""
    measured = side.peaks.bandwidths if side.peaks else ()
    limits = Roofs(
        peak(assumptions, side),
        int8_peak(assumptions, side),
        bandwidth(assumptions, side),
        tuple(one for one in measured if one.level is not None),
    )
    operators = by_operator(side.trace)
    of_int8 = is_int8(operators)
    tops = peaks_of(of_int8, limits.tops)
    sizes = compulsory_bytes(operators, side.graph)
    flops, time = operators["flops"], operators["mean_ns"]
    table = roofline(flops, sizes, time, tops, limits.bandwidth.value, of_int8)
    used = operator_utilisation(flops, time, tops)
    whole = sizes.round().astype("Int64")
    table = table.assign(bytes=whole, utilisation=used, int8=of_int8)[list(ROOFLINE)]
    return UnderRoofs(limits, table)
