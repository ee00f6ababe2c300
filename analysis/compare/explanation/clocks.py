"""Clocks: kernels that both sides share take the same share longer or shorter."""

from __future__ import annotations

import numpy as np

from analysis.align.alignment import Alignment
from analysis.align.drift import drift
from analysis.align.similarity import SAME_NAME
from analysis.compare.explanation.explanation import Change
from analysis.compare.explanation.remaining import Remaining

# How a kernel that follows the clocks may shift, in terms of the median one: one that is bound by
# memory stays as it is, one that changed by itself shifts farther.
_LEAST, _MOST = -0.5, 2.0
_HALF = 0.5  # of the shift, which the kernels must have without the heaviest of them


def ratio_of_same(left: Remaining) -> float | None:
    """Return the ratio of the times of kernels that are the same on both sides, of the candidate to
    the baseline; None where none are."""
    ratios, weights, _ = _ratios(left)
    return float((ratios * weights).sum() / weights.sum()) if len(ratios) else None


def clocks(left: Remaining, alignment: Alignment) -> Change | None:
    """Return what faster or slower clocks make of the kernels that are the same on both sides; None
    where they do not shift alike, or only the heaviest of them does.

    It is a guess at the cause: another limit of power does the same.
    """
    found = drift(alignment)
    ratios, weights, columns = _ratios(left)
    if found is None or not found.is_clocks or len(ratios) < 2:
        return None
    others = np.arange(len(ratios)) != int(np.argmax(weights))
    shift = float((ratios[others] * weights[others]).sum() / weights[others].sum()) - 1
    if shift * (found.ratio - 1) <= 0 or abs(shift) < _HALF * abs(found.ratio - 1):
        return None
    shifts = (ratios - 1) / (found.median - 1)
    follows = (shifts >= _LEAST) & (shifts <= _MOST)
    if not follows.any():
        return None
    ratio = float((ratios * weights)[follows].sum() / weights[follows].sum())
    ns = (ratio - 1) * left.before_ns[columns]
    left.before_ns[columns] += ns
    return Change(
        "clocks",
        round(float(ns.sum())),
        len(columns),
        evidence="guessed",
        values={"ratio": ratio, "kernels": int(follows.sum())},
        calls=left.calls(columns),
    )


def _ratios(left: Remaining) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each distinct kernel that both sides run the ratio of its times and its time on
    the baseline; and the columns of all of them."""
    columns = np.flatnonzero(
        (left.evidence == SAME_NAME) & (left.before_ns > 0) & (left.after_ns > 0)
    )
    operators = left.sides[0].profile.operators[left.before[columns]]
    distinct, at = np.unique(operators, return_inverse=True)
    before = np.bincount(at, weights=left.before_ns[columns], minlength=len(distinct))
    after = np.bincount(at, weights=left.after_ns[columns], minlength=len(distinct))
    return after / np.maximum(before, 1e-9), before, columns
