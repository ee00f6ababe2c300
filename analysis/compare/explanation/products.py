"""Matrix products of a unit by what they are in a layer of the model: their time, and how fast they
compute and read their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from fusescope.analysis.align.repeats import Repeat
from fusescope.analysis.compare.explanation.explanation import Evidence
from fusescope.analysis.compare.explanation.product import Faster, Product
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.graphs.names_by_order import count_by_order
from fusescope.analysis.operators.factors import Factors, factors_of
from fusescope.analysis.operators.projections import Projection, projection_of, projections_in_order
from fusescope.analysis.work_units.work import Work

_FEWEST = 4  # copies, from which what repeats are layers
_SLOWER = 0.85  # of the rate of the others, below which a product could be faster
_LARGE = 0.02  # of the time of all products: smaller ones say nothing about what the device can do


def products_of(side: ExplainedSide) -> tuple[Product, ...]:
    """Return the matrix products of a unit, the most time first."""
    operators = side.profile.operators
    is_product = np.array([kernel.op_class == "matrix_product" for kernel in side.kernels], bool)
    places = np.flatnonzero(is_product[operators]).tolist()
    ordered = _in_layers(side)
    groups: dict[tuple[object, ...], list[int]] = {}
    for place in places:
        named = projection_of(side.modules[place])
        projection = named or ordered.get(place)
        module = side.places[place][-1] if side.places[place] else ""
        operator = operators[place]
        other = side.inputs[operator] or side.names[operator]
        is_backward = side.places[place] != side.modules[place]
        key = (projection, named is not None, module, "" if projection else other, is_backward)
        groups.setdefault(key, []).append(place)
    products = [_product(side, key, group) for key, group in groups.items()]
    return tuple(sorted(products, key=lambda each: -each.ns))


def products_of_phases(
    sides: tuple[ExplainedSide, ExplainedSide], works: tuple[Work, Work]
) -> tuple[tuple[Product, ...], tuple[Product, ...]]:
    """Return the matrix products of two phases of one model. A replayed graph has no shapes: its
    products have the weights of the same ones of the other phase, and as many rows as its step has
    tokens, behind the last layer as it has sequences."""
    before, after = map(products_of, sides)
    jobs = [side.trace.meta.job for side in sides]
    if len({job.world if job else None for job in jobs}) > 1:
        return before, after  # each rank may have another part of a weight
    return _with_weights(before, after, works[0]), _with_weights(after, before, works[1])


def _with_weights(
    products: Sequence[Product], others: Sequence[Product], work: Work
) -> tuple[Product, ...]:
    known = {each.projection: each for each in others if each.projection and each.factors}
    weighted = []
    for each in products:
        other = known.get(each.projection) if each.projection else None
        rows = work.batch if each.projection == "lm_head" else work.tokens
        if each.factors is None and other and other.factors and other.count == each.count and rows:
            factors = replace(other.factors, rows=rows)
            each = replace(each, factors=factors, is_of_other=True)
        weighted.append(each)
    return tuple(weighted)


def faster(products: Sequence[Product]) -> Faster | None:
    """Return the products that would save most at the rate of the other large ones that arithmetic
    limits and whose numbers are as wide; None where none is much slower."""
    whole_ns = sum(each.ns for each in products)
    large = [each for each in products if each.computes and each.ns >= _LARGE * whole_ns]
    slower = [_faster(each, large) for each in large]
    return max(filter(None, slower), key=lambda each: each.ns, default=None)


def _faster(product: Product, large: Sequence[Product]) -> Faster | None:
    assert product.factors is not None
    others = [
        (each.factors.flops * each.count, each.ns)
        for each in large
        if each is not product
        and each.factors is not None
        and each.factors.item_bytes == product.factors.item_bytes
    ]
    ns = sum(ns for _, ns in others)
    rate = sum(flops for flops, _ in others) / max(1, ns) * 1e9
    own = product.flops_per_s or 0.0
    if not others or own >= _SLOWER * rate:
        return None
    return Faster(product, rate, round(product.ns * (1 - own / rate)))


def _product(side: ExplainedSide, key: tuple[object, ...], places: list[int]) -> Product:
    operator = int(side.profile.operators[places[0]])
    projection, is_named, module, *_ = key
    factors = {_factors(side, int(side.profile.operators[place])) for place in places}
    by_place = projection is not None and not is_named
    is_ordered = by_place or bool(module and count_by_order(side.trace))
    evidence: Evidence = "ordered" if is_ordered else "named" if module else "guessed"
    return Product(
        projection,  # type: ignore[arg-type]
        str(module),
        side.names[operator],
        len(places),
        round(float(side.ns[places].sum())),
        factors.pop() if len(factors) == 1 else None,
        evidence,
    )


def _factors(side: ExplainedSide, operator: int) -> Factors | None:
    """Return the factors of an operator's product; None also where the trace has another number of
    operations."""
    factors = factors_of(side.inputs[operator])
    flops = side.trace.operators["flops"].iloc[operator]
    if factors is None or (not pd.isna(flops) and int(flops) != factors.flops):
        return None
    return factors


def _in_layers(side: ExplainedSide) -> dict[int, Projection]:
    """Return which product of a layer stands at each place, of layers whose sizes say it."""
    projections: dict[int, Projection] = {}
    for _, repeat in side.repeats:
        if repeat.copies >= _FEWEST and not repeat.lengths:
            projections |= _in_layer(side, repeat)
    return projections


def _in_layer(side: ExplainedSide, repeat: Repeat) -> dict[int, Projection]:
    """Return the same of one repeat: its places from one attention to the next, round its end."""
    classes = [
        side.kernels[side.profile.operators[place]].op_class
        for place in range(repeat.start, repeat.start + repeat.period)
    ]
    attention = [at for at, each in enumerate(classes) if each == "attention"]
    if not attention:
        return {}
    last = attention[-1]
    order = [*range(last + 1, repeat.period), *range(last)]
    chosen = [at for at in order if classes[at] == "matrix_product"]
    if any(attention[0] < at < last for at in chosen):
        return {}
    factors = [_factors(side, int(side.profile.operators[repeat.start + at])) for at in chosen]
    sizes = [(each.inputs, each.outputs) for each in factors if each is not None]
    kinds = projections_in_order(sizes) if len(sizes) == len(chosen) else None
    if kinds is None:
        return {}
    return {
        int(start) + at: kind
        for start in repeat.starts.tolist()
        for at, kind in zip(chosen, kinds, strict=True)
    }
