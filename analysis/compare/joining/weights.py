"""Weights of matrix products by their sizes: where two files have hardly one in common, they show
two models, or one model in two sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.operators.factors import factors_of
from fusescope.analysis.operators.projections import Size
from fusescope.analysis.trace import Trace

Weights = tuple[Size, ...]

# Of the time in operators, without communication and copies: matrix products with less of it say
# nothing of a model.
_LEAST = 0.1
_KNOWN = 0.5  # of the time of matrix products, whose sizes are known
# Of the time of those, in weights that have a size in common with the other side. In one model all
# have the width of its layers, whatever the batch, the precision, and the shards of a weight.
_COMMON = 0.5
_SHOWN = 2  # sizes of a side, of most time


class _Sizes(NamedTuple):
    """The sizes of weights with their time in ns, the most time first."""

    times: dict[Size, float]

    def has(self) -> set[int]:
        return {size for weight in self.times for size in weight}

    def share_with(self, others: set[int]) -> float:
        """Return the share of the time in weights that have one of these sizes."""
        common = sum(ns for weight, ns in self.times.items() if not others.isdisjoint(weight))
        return common / sum(self.times.values())

    def without(self, others: set[int]) -> Weights:
        """Return those of most time that have none of these sizes."""
        return tuple(each for each in self.times if others.isdisjoint(each))[:_SHOWN]


def other_weights(before: Trace, after: Trace) -> tuple[Weights, Weights] | None:
    """Return weights [inputs, outputs] of the matrix products of both sides that have no size in
    common with the other side, those of most time; None where most of either side have one, and
    where a side's sizes are not known."""
    one, other = _sizes(before), _sizes(after)
    if one is None or other is None:
        return None
    sets = (one.has(), other.has())
    if max(one.share_with(sets[1]), other.share_with(sets[0])) >= _COMMON:
        return None
    return one.without(sets[1]), other.without(sets[0])


def weights_text(weights: Weights) -> str:
    """Return sizes as text: '1024 × 2816, 1024 × 1024'."""
    return ", ".join(f"{inputs} × {outputs}" for inputs, outputs in weights)


@once
def _sizes(trace: Trace) -> _Sizes | None:
    """Return the sizes of the weights of a run; None where too few are known to speak of a
    model."""
    table = by_operator(trace)
    classes = table["op_class"].to_numpy(dtype=object)
    times = table["per_run_ns"].to_numpy(dtype=float)
    computes = ~np.isin(classes.astype(str), ("communication", "copy"))
    products = table[classes == "matrix_product"]
    found: dict[Size, float] = {}
    for inputs, flops, ns in zip(
        products["inputs"], products["flops"], products["per_run_ns"], strict=True
    ):
        factors = factors_of(inputs) if isinstance(inputs, str) else None
        if factors is not None and (pd.isna(flops) or int(flops) == factors.flops):
            weight = (factors.inputs, factors.outputs)
            found[weight] = found.get(weight, 0.0) + float(ns)
    of_products, known = float(products["per_run_ns"].sum()), sum(found.values())
    if known <= 0 or known < _KNOWN * of_products:
        return None
    if of_products < _LEAST * float(times[computes].sum()):
        return None
    return _Sizes(dict(sorted(found.items(), key=lambda each: -each[1])))
