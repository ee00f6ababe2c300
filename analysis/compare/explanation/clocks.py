"""Clocks: kernels that both sides share take nearly the same share longer or shorter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fusescope.analysis.align.alignment import Alignment
from fusescope.analysis.align.drift import SHIFT, drift, follows, weighted_quantiles
from fusescope.analysis.align.similarity import SAME_NAME
from fusescope.analysis.compare.explanation.explanation import Change
from fusescope.analysis.compare.explanation.remaining import Remaining

_HALF = 0.5  # of the shift, which the kernels must have without the heaviest of them
_FEWEST = 2  # kernels
_MANY = 5  # kernels, of which fewer than half may follow: one clock runs all
_QUARTILES = (0.25, 0.75)


def ratio_of_same(left: Remaining) -> float | None:
    """Return the ratio of the times of kernels that are the same on both sides, of the candidate to
    the baseline; None where none are."""
    ratios, weights, _, _ = _ratios(left)
    return float((ratios * weights).sum() / weights.sum()) if len(ratios) else None


def clocks(left: Remaining, alignment: Alignment) -> Change | None:
    """Return what faster or slower clocks make of the kernels that are the same on both sides; None
    where they do not shift alike, shift by less than they differ from one another, or only the
    heaviest of them does.

    It has the whole change of the kernels that follow the shift, and nothing of any other, both
    times of each under its name on the baseline. It is a guess at the cause: another limit of power
    does the same.
    """
    found = drift(alignment)
    ratios, weights, columns, at = _ratios(left)
    if found is None or not found.is_clocks or len(ratios) < _FEWEST:
        return None
    (median,) = weighted_quantiles(ratios, weights, (0.5,))
    if abs(median - 1) < SHIFT or not _others_shift(ratios, weights, found.ratio, median):
        return None
    chosen = follows(ratios, median)
    count = int(chosen.sum())
    if count < _FEWEST or (2 * count < len(ratios) and count < _MANY):
        return None
    (middle,) = weighted_quantiles(ratios[chosen], weights[chosen], (0.5,))
    mine = columns[chosen[at]]
    after = left.sides[0].times_of(left.before[mine].tolist(), left.after_ns[mine].tolist())
    change = left.take(
        "clocks",
        mine,
        "guessed",
        ratio=middle,
        low=float(ratios[chosen].min()),
        high=float(ratios[chosen].max()),
        kernels=len(left.kernel_names(mine, 0)),
        all_kernels=len(left.kernel_names(columns, 0)),
        all_ns=float(weights.sum()),
    )
    return replace(change, after=after)


def _others_shift(ratios: np.ndarray, weights: np.ndarray, of_all: float, median: float) -> bool:
    """Return whether the kernels without the heaviest shift to the same side too, by half as much
    at least, and whether half of their time lies nearer together than the shift is large."""
    others = np.arange(len(ratios)) != int(np.argmax(weights))
    shift = float((ratios[others] * weights[others]).sum() / weights[others].sum()) - 1
    low, high = weighted_quantiles(ratios[others], weights[others], _QUARTILES)
    is_beyond_spread = abs(median - 1) > (high - low) / 2
    is_same_way = shift * (of_all - 1) > 0 and shift * (median - 1) > 0
    return is_beyond_spread and is_same_way and abs(shift) >= _HALF * abs(of_all - 1)


def _ratios(left: Remaining) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return for each name of a kernel that both sides run the ratio of its times and its time on
    the baseline; the columns of all of them, and which of the names each column has."""
    columns = np.flatnonzero(
        (left.evidence == SAME_NAME) & (left.before_ns > 0) & (left.after_ns > 0)
    )
    side = left.sides[0]
    operators = side.profile.operators[left.before[columns]].tolist()
    known: dict[str, int] = {}
    at = np.array(
        [known.setdefault(side.kernels[each].lasting_name, len(known)) for each in operators],
        dtype="int64",
    )
    before = np.bincount(at, weights=left.before_ns[columns], minlength=len(known))
    after = np.bincount(at, weights=left.after_ns[columns], minlength=len(known))
    return after / np.maximum(before, 1e-9), before, columns, at
