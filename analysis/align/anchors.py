"""Anchors: pairs of equal stretches in the same order on both sides, which cut a long alignment.

A stretch is so many kernels in a row. Rare stretches come first: those that stand once on both
sides, then those that stand in every layer. Of all their pairs the longest chain is taken that
ascends on both sides (the common subsequence of Hunt and Szymanski), so it does not matter whether
both sides have the same number of layers.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from analysis.align.sequence import Ints

_MOST_PAIRS = 300_000


def anchors(before: Ints, after: Ints, length: int) -> Ints:
    """Return pairs (k, 2) of positions whose `length` numbers are equal, ascending on both sides.

    Equal stretches of more than 300,000 pairs in all are left out, the most frequent first.
    """
    if min(len(before), len(after)) < length:
        return np.zeros((0, 2), np.int64)
    first, second = _stretches(before, after, length)
    pairs = _pairs(first, second)
    return _spread(pairs[_longest_chain(pairs)], length)


def by_occurrence(before: Ints, after: Ints, length: int) -> Ints:
    """Return the same of one stretch alone, its first occurrence with the first, and so on.

    For sequences of so many repeats that no stretch is rare. The stretch stands equally often on
    both sides, as nearly as there is one, and of those as often as there is one; none where it
    stands more than twice as often on one side.
    """
    if min(len(before), len(after)) < length:
        return np.zeros((0, 2), np.int64)
    first, second = _stretches(before, after, length)
    count = int(max(first.max(), second.max())) + 1
    counts = np.stack([np.bincount(side, minlength=count) for side in (first, second)])
    fewer, more = counts.min(axis=0), counts.max(axis=0)
    best = int(np.lexsort((fewer, fewer / np.maximum(1, more)))[-1])
    if 2 * fewer[best] < more[best]:
        return np.zeros((0, 2), np.int64)
    places = [np.flatnonzero(side == best)[: fewer[best]] for side in (first, second)]
    return _spread(np.stack(places, axis=1), length)


def _stretches(before: Ints, after: Ints, length: int) -> tuple[Ints, Ints]:
    """Return a number for each stretch of both sides, equal where the stretches are."""
    both = np.unique(np.concatenate([before, after]), return_inverse=True)[1].astype(np.int64)
    sides = [both[: len(before)], both[len(before) :]]
    found, covered = sides, 1
    while covered < length:
        step = min(covered, length - covered)
        joined = [
            side[:-step] * (int(max(side.max() for side in found)) + 1) + side[step:]
            for side in found
        ]
        numbers = np.unique(np.concatenate(joined), return_inverse=True)[1].astype(np.int64)
        found = [numbers[: len(joined[0])], numbers[len(joined[0]) :]]
        covered += step
    return found[0], found[1]


def _pairs(first: Ints, second: Ints) -> Ints:
    """Return the pairs of equal numbers, rare ones only, ascending; on one row descending."""
    count = int(max(first.max(), second.max())) + 1
    once, again = np.bincount(first, minlength=count), np.bincount(second, minlength=count)
    products = once * again
    order = np.argsort(products, kind="stable")
    is_rare = np.zeros(count, bool)
    is_rare[order[np.cumsum(products[order]) <= _MOST_PAIRS]] = True
    rows = np.flatnonzero(is_rare[first] & (again[first] > 0))
    by_number = np.argsort(second, kind="stable")
    starts = np.cumsum(again) - again
    counts = again[first[rows]]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    columns = by_number[np.repeat(starts[first[rows]], counts) + within]
    pairs = np.stack([np.repeat(rows, counts), columns], axis=1)
    return pairs[np.lexsort((-pairs[:, 1], pairs[:, 0]))]


def _longest_chain(pairs: Ints) -> Ints:
    """Return rows of `pairs` whose columns ascend, as many as possible (patience sorting)."""
    tops: list[int] = []  # the smallest column that ends a chain of each length
    ends: list[int] = []  # and its row
    previous = np.full(len(pairs), -1, np.int64)
    for row, column in enumerate(pairs[:, 1].tolist()):
        place = bisect_left(tops, column)
        if place == len(tops):
            tops.append(column)
            ends.append(row)
        else:
            tops[place], ends[place] = column, row
        if place:
            previous[row] = ends[place - 1]
    chain = []
    row = ends[-1] if ends else -1
    while row >= 0:
        chain.append(row)
        row = int(previous[row])
    return np.array(chain[::-1], np.int64)


def _spread(chain: Ints, length: int) -> Ints:
    """Return the pairs of all positions of the stretches, none of them twice on a side.

    Where stretches overlap on one side only, what the earlier one has taken stays with it.
    """
    if not len(chain):
        return chain
    steps = np.arange(length)
    pairs = (chain[:, None, :] + steps[None, :, None]).reshape(-1, 2)
    reached = np.maximum.accumulate(pairs, axis=0)
    is_new = np.ones(len(pairs), bool)
    is_new[1:] = (pairs[1:] > reached[:-1]).all(axis=1)
    return pairs[is_new]
