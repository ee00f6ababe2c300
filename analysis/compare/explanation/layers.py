"""Layers: what repeats inside a unit, and another number of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.align.similarity import ONE_SIDE
from fusescope.analysis.compare.explanation.explanation import Change, Layers
from fusescope.analysis.compare.explanation.remaining import Remaining
from fusescope.analysis.compare.explanation.sides import ExplainedSide

_FEWEST = 4  # copies, below which a repeat is no layer of a model
_SAME = 0.8  # of the kernels of a layer, which the layer of the other side must have
_COVERED = 0.8  # of the kernels of the layers that one side has more, which must stand alone


def layers_of(side: ExplainedSide) -> tuple[Layers, ...]:
    """Return what repeats in a unit in order, those inside others behind them."""
    return tuple(each.layers for each in _found(side))


def more_layers(left: Remaining, least_ns: float) -> list[Change]:
    """Return the layers that one side has more of: a model of another depth."""
    before, after = (_found(side) for side in left.sides)
    found = []
    for one in before:
        other = next((each for each in after if _is_the_same(one, each)), None)
        if other is None:
            continue
        after.remove(other)  # the k-th of one side is the k-th of the other
        if one.layers.copies != other.layers.copies:
            found += _change(left, one, other, least_ns)
    return found


def _change(left: Remaining, one: _Found, other: _Found, least_ns: float) -> list[Change]:
    """Return the copies that one side has more as a change; none where they do not stand alone."""
    counts = {"before": one.layers.copies, "after": other.layers.copies}
    side = int(counts["after"] > counts["before"])
    columns = _columns(left, side, (one, other)[side].families)
    more = abs(counts["after"] - counts["before"])
    wanted = more * (one, other)[side].layers.kernels
    if abs(len(columns) - wanted) > (1 - _COVERED) * wanted:
        return []
    if abs(left.change_ns[columns].sum()) < least_ns:
        return []
    return [left.take("repeats", columns, "ordered", (), more, **counts)]


@dataclass(frozen=True)
class _Found:
    layers: Layers
    families: frozenset[str]


def _found(side: ExplainedSide) -> list[_Found]:
    """Return the repeats of a unit with the families of kernels in each."""
    operators = side.profile.operators
    return [
        _Found(
            Layers(repeat.copies, repeat.period, depth),
            frozenset(
                side.kernels[at].family
                for at in operators[repeat.start : repeat.start + repeat.period].tolist()
            ),
        )
        for depth, repeat in side.repeats
        if repeat.copies >= _FEWEST
    ]


def _is_the_same(one: _Found, other: _Found) -> bool:
    """True for layers of nearly the same kernels."""
    common = len(one.families & other.families)
    return common >= _SAME * max(len(one.families), len(other.families))


def _columns(left: Remaining, side: int, families: frozenset[str]) -> np.ndarray:
    """Return the columns of kernels of these families that one side runs alone."""
    positions = (left.before, left.after)[side]
    alone = np.flatnonzero((left.evidence == ONE_SIDE) & (positions >= 0) & (left.change_ns != 0))
    of = left.sides[side]
    is_inside = [
        of.kernels[of.profile.operators[positions[column]]].family in families
        for column in alone.tolist()
    ]
    columns: np.ndarray = alone[np.array(is_inside, dtype=bool)]
    return columns
