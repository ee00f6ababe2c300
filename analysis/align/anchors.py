"""Anchors: pairs of equal stretches in the same order on both sides, which cut a long alignment.

A stretch is so many kernels in a row. Rare stretches come first: those that stand once on both
sides, then those that stand in every layer. Of all their pairs the longest chain is taken that
ascends on both sides (the common subsequence of Hunt and Szymanski), so it does not matter whether
both sides have the same number of layers.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fusescope.analysis.align.sequence import Ints

_MOST_PAIRS = 400_000
_MANY = 16  # pairs of a position, from which they are taken together
_FEWEST = 4  # partners of a position that are worth comparing


def anchors(before: Ints, after: Ints, length: int) -> Ints:
    """Return pairs (k, 2) of positions whose `length` numbers are equal, ascending on both sides.

    Of more than 400,000 pairs those nearest to where they are expected are compared, and of
    stretches that are far more frequent none.
    """
    if min(len(before), len(after)) < length:
        return np.zeros((0, 2), np.int64)
    first, second = _stretches(before, after, length)
    usable = np.flatnonzero(_varies(before, length))
    pairs = _pairs(first, second, usable)
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


def _varies(side: Ints, length: int) -> NDArray[np.bool_]:
    """Return for each stretch whether it is of more than one kernel; for single ones always.

    A kernel many times in a row says nothing of the place. It is aligned between other anchors.
    """
    varies = np.full(len(side) - length + 1, length == 1)
    for ahead in range(1, length):
        varies |= side[: len(varies)] != side[ahead : ahead + len(varies)]
    return varies


def _pairs(first: Ints, second: Ints, usable: Ints) -> Ints:
    """Return pairs of equal numbers, ascending; of one position descending. `usable` are the
    positions of the first side that may have any.

    Of a number that stands too often on the second side, those nearest to where its partner is
    expected: as far from the start, as far from the end, or at the same share of the whole.
    """
    others = _Occurrences(second, int(max(first.max(), second.max())) + 1)
    counts = np.bincount(first[usable], minlength=len(others.counts))
    nearest = _nearest(counts, others.counts)
    if nearest < _FEWEST:
        rows = usable[_is_rare(counts, others.counts)[first[usable]]]
        found = [others.near(first, rows, rows, len(second))]
    else:
        rows = usable[others.counts[first[usable]] > 0]
        share = rows * len(second) // len(first)
        places = (rows, rows + len(second) - len(first), share)
        found = [others.near(first, rows, place, nearest) for place in places]
    pairs = np.concatenate(found)
    codes = np.sort(pairs[:, 0] * len(second) + (len(second) - 1 - pairs[:, 1]))
    codes = codes[np.append(True, codes[1:] != codes[:-1])[: len(codes)]]
    return np.stack([codes // len(second), len(second) - 1 - codes % len(second)], axis=1)


class _Occurrences:
    """Where each number stands on a side: `counts` by number."""

    def __init__(self, side: Ints, count: int) -> None:
        self.counts = np.bincount(side, minlength=count)
        self._length = len(side)
        self._places = np.argsort(side, kind="stable")
        self._starts = np.cumsum(self.counts) - self.counts
        self._keys = side[self._places] * (self._length + 1) + self._places

    def near(self, first: Ints, rows: Ints, expected: Ints, nearest: int) -> Ints:
        """Return pairs of each of these rows of `first` with the `nearest` places of its number
        that are closest to the expected one."""
        numbers = first[rows]
        keys = numbers * (self._length + 1) + np.clip(expected, 0, self._length)
        counts = np.minimum(self.counts[numbers], nearest)
        starts = self._starts[numbers]
        begins = np.clip(
            np.searchsorted(self._keys, keys) - counts // 2,
            starts,
            starts + self.counts[numbers] - counts,
        )
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places = self._places[np.repeat(begins, counts) + within]
        return np.stack([np.repeat(rows, counts), places], axis=1)


def _nearest(once: Ints, again: Ints) -> int:
    """Return of how many partners each position may have pairs, so that there are not too many."""
    nearest = _MOST_PAIRS
    while nearest and 3 * int((once * np.minimum(again, nearest)).sum()) > _MOST_PAIRS:
        nearest //= 2
    return nearest


def _is_rare(once: Ints, again: Ints) -> NDArray[np.bool_]:
    """Return which numbers have few pairs, as many of them as there may be pairs."""
    products = once * again
    order = np.argsort(products, kind="stable")
    found = np.zeros(len(products), bool)
    found[order[np.cumsum(products[order]) <= _MOST_PAIRS]] = True
    return found & (again > 0)


def _longest_chain(pairs: Ints) -> Ints:
    """Return rows of `pairs` whose columns ascend, as many as possible (patience sorting)."""
    begins = np.flatnonzero(np.append(True, pairs[1:, 0] != pairs[:-1, 0]))
    has_many = len(pairs) >= _MANY * len(begins)
    last, previous = _by_position(pairs[:, 1], begins) if has_many else _by_pair(pairs[:, 1])
    chain = []
    while last >= 0:
        chain.append(last)
        last = previous[last]
    return np.array(chain[::-1], np.int64)


def _by_pair(columns: Ints) -> tuple[int, list[int]]:
    """Return the row that ends the longest chain, -1 without any, and for each row the one before
    it in its chain."""
    tops: list[int] = []  # the smallest column that ends a chain of each length
    ends: list[int] = []  # and its row
    previous = [-1] * len(columns)
    for row, column in enumerate(columns.tolist()):
        place = bisect_left(tops, column)
        if place == len(tops):
            tops.append(column)
            ends.append(row)
        else:
            tops[place], ends[place] = column, row
        if place:
            previous[row] = ends[place - 1]
    return ends[-1] if ends else -1, previous


def _by_position(columns: Ints, begins: Ints) -> tuple[int, list[int]]:
    """Return the same, all pairs of a position together, which begin at `begins`: their columns
    descend, so that none of them follows another and the last of those at one place is kept."""
    tops, ends = np.zeros(len(begins), np.int64), np.zeros(len(begins), np.int64)
    previous, count = np.full(len(columns), -1, np.int64), 0
    rows = np.arange(len(columns))
    for begin, end in pairwise([*begins.tolist(), len(columns)]):
        own = columns[begin:end]
        places = tops[:count].searchsorted(own)
        behind = places - 1
        previous[begin:end] = np.where(behind >= 0, ends[behind], -1)
        tops[places], ends[places] = own, rows[begin:end]
        count = max(count, int(places[0]) + 1)
    return int(ends[count - 1]), previous.tolist()


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
