"""Products: matrix products that run at a lower rate than the others of the same data type."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.subject import Answer, Subject, shown
from fusescope.analysis.compare.roofs import PRODUCTS, largest_products

_MOST = 64  # products that are looked at, most time first
_LARGE = 0.02  # of the time in products: smaller ones say nothing about what the machine can do
_SLOWER = 0.85  # of the rate of the others
# How kernels of libraries, and devices, of a maker are called.
_HIP = re.compile(r"Cijk_|_ZN?K?2ck|.*\b(?:AMD|Instinct|Radeon)\b")
_CUDA = re.compile(r"nvjet|(?:sm|cublas|cutlass|volta|turing|ampere)\w*_|.*\b(?:NVIDIA|Tesla)\b")
_INTENSE = 100.0  # FLOP/B below which memory, not arithmetic, may set the rate


def slow_product(subject: Subject) -> Answer:
    """Large matrix products at less than 85 % of the rate that the others of their data type reach
    together, where memory sets neither rate: at that rate they would take less.

    Needs no peak of the machine: the other products show what it can do.
    """
    products = largest_products(subject.operators, subject.under, _MOST)
    if not products:
        runs_one = bool(subject.operators["op_class"].isin(PRODUCTS).any())
        return "no_counted_flops" if runs_one or subject.operators.empty else ()
    table = subject.under.operators
    intensity = table["intensity"].to_numpy("float64", na_value=np.nan)
    bound_by = table["bound_by"].to_numpy(dtype=object)
    whole_ns = sum(one.per_run_ns for one in products)
    large = [
        one
        for one in products
        if one.per_run_ns >= _LARGE * whole_ns
        and one.number_type
        and intensity[one.row] >= _INTENSE
        and bound_by[one.row] != "memory"
    ]
    found = []
    for one in large:
        others = [o for o in large if o is not one and o.number_type == one.number_type]
        others_ns = sum(o.per_run_ns for o in others)
        if not others_ns:
            continue
        rate = sum(o.flops_per_s * o.per_run_ns for o in others) / others_ns
        at_most_ns = one.per_run_ns * (1 - one.flops_per_s / rate)
        if one.flops_per_s > _SLOWER * rate or not subject.matters(at_most_ns):
            continue
        mask = np.arange(len(subject.operators)) == one.row
        share = subject.share(one.per_run_ns)
        found.append(
            Finding(
                "slow_product",
                values={
                    "inputs": shown(one.inputs),
                    "rate": one.flops_per_s,
                    "others": rate,
                    "time_ns": one.per_run_ns,
                    "share": share,
                    "saved_ns": at_most_ns,
                    "executions": subject.executions(mask),
                    "operator": shown(one.name),
                    "library": _library(one.name, subject.trace.meta.device or ""),
                },
                at_most_ns=at_most_ns,
                share=share,
                basis="modelled",
                where="operators",
                names=subject.names(mask),
            )
        )
    return tuple(found)


def _library(kernel: str, device: str) -> Literal["hip", "cuda", ""]:
    """Return whose libraries a product runs by, by its kernel, else its device; '' of others."""
    for text in (kernel, device):
        if _HIP.match(text):
            return "hip"
        if _CUDA.match(text):
            return "cuda"
    return ""
