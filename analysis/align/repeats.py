"""Tandem repeats of a sequence of kernels: steps, layers and blocks, found from order alone.

A sequence is an array of integers, one for each execution: equal numbers are equal kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]

LOWEST = 4  # a shorter period is a loop over one operator, no layer
HIGHEST = 4000
_TOLERANCE = 0.02  # the share of positions that may differ from the copy before
_PRICE = round(1 / _TOLERANCE)  # positions that one which differs needs, with itself
_CANDIDATES = 48  # periods tried: so many of the most frequent, and of those that cover most
_GRAM = 3
_NEXT = 4  # distances to the next equal 3-gram, and to the three after it
_DEPTH = 4
_REPEATS = 12  # at one depth
_SHORTEST = 8  # positions that repeats inside others cover at least


@dataclass(frozen=True)
class Repeat:
    """`copies` whole copies of `period` positions, the first of them at `start`.

    `covered` counts the positions that repeat, with those of a last copy that is not whole.
    `inside` are the repeats within the first copy; `fold` finds them. Positions are those of the
    whole sequence.
    """

    start: int
    period: int
    copies: int
    covered: int
    inside: tuple[Repeat, ...] = ()

    @property
    def stop(self) -> int:
        """The position behind the last whole copy."""
        return self.start + self.period * self.copies


def best_period(ids: Ids, lowest: int = LOWEST, highest: int = HIGHEST) -> Repeat | None:
    """Return the tandem repeat that covers most positions, None where nothing repeats.

    Of repeats that cover about the same the one with the shortest period is returned, never a
    multiple of it. Up to 2 % of the positions may differ from the copy before, not many in a row.
    What has a shorter period than `lowest` is no repeat. O(n) for each of at most 96 periods.
    """
    ids = _renumbered(ids)
    found = [run for period in _candidates(ids, highest) if (run := _longest_run(ids, period))]
    while found:
        most = max(run.covered for run in found)
        near = [run for run in found if run.covered >= (1 - _TOLERANCE) * most]
        best = _shortest(ids, min(near, key=lambda run: run.period))
        if best.period >= lowest:
            return best
        found = [run for run in found if not _lies_in(run, best)]
    return None


def fold(ids: Ids, lowest: int = LOWEST, highest: int = HIGHEST) -> tuple[Repeat, ...]:
    """Return the repeats of a sequence in order, each with those inside its first copy.

    4 steps of 19 double and 38 single blocks are one repeat of 4 copies, and two inside it. What
    lies before, between and behind repeats is in none.
    """
    return _folded(_renumbered(ids), 0, lowest, highest, _DEPTH)


def walk(repeats: tuple[Repeat, ...], depth: int = 0) -> Iterator[tuple[int, Repeat]]:
    """Yield the depth, from 0, and each repeat, those inside it behind it."""
    for repeat in repeats:
        yield depth, repeat
        yield from walk(repeat.inside, depth + 1)


def _folded(ids: Ids, offset: int, lowest: int, highest: int, depth: int) -> tuple[Repeat, ...]:
    """Return the repeats of `ids`, which stand at `offset` of the whole sequence."""
    if depth == 0:
        return ()
    whole = best_period(ids, lowest, highest)
    waiting = [(0, whole)] if whole else []
    ends = {0: len(ids)}
    done: list[Repeat] = []
    while waiting and len(done) < _REPEATS:
        start, best = max(waiting, key=lambda entry: entry[1].covered)
        waiting.remove((start, best))
        stop = ends[start]
        done.append(best)
        for first, last in ((start, best.start), (best.stop, stop)):
            ends[first] = last
            other = best_period(ids[first:last], lowest, highest)
            if other is not None and other.covered >= _SHORTEST:
                waiting.append((first, replace(other, start=first + other.start)))
    inside = [
        _folded(ids[r.start : r.start + r.period], offset + r.start, lowest, highest, depth - 1)
        for r in done
    ]
    moved = [
        replace(repeat, start=offset + repeat.start, inside=parts)
        for repeat, parts in zip(done, inside, strict=True)
    ]
    return tuple(sorted(moved, key=lambda repeat: repeat.start))


def _renumbered(ids: Ids) -> Ids:
    """Return the same sequence with numbers from 0, as 64-bit integers."""
    if len(ids) == 0:
        return np.zeros(0, np.int64)
    if ids.min() >= 0 and ids.max() <= 4 * len(ids):
        return ids.astype(np.int64, copy=False)
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def _candidates(ids: Ids, highest: int) -> list[int]:
    """Return periods worth trying: distances of equal 3-grams, most frequent and longest first."""
    longest = min(highest, len(ids) // 2)
    if len(ids) < _GRAM + 1 or longest < 1:
        return []
    grams = ids[: 1 - _GRAM]
    for ahead in range(1, _GRAM):
        pairs = grams * (int(ids.max()) + 1) + ids[ahead : len(ids) + 1 + ahead - _GRAM]
        grams = np.unique(pairs, return_inverse=True)[1]
    order = np.argsort(grams, kind="stable")
    counts = np.zeros(longest + 1, np.int64)
    for step in range(1, min(_NEXT, len(order) - 1) + 1):
        is_equal = grams[order[step:]] == grams[order[:-step]]
        distances = (order[step:] - order[:-step])[is_equal]
        counts += np.bincount(distances[distances <= longest], minlength=longest + 1)
    covers = counts * np.arange(longest + 1)
    chosen = {*_largest(counts).tolist(), *_largest(covers).tolist()}
    return sorted(period for period in chosen if counts[period])


def _largest(values: Ids) -> Ids:
    """Return the positions of the largest values, as many as periods are tried."""
    return np.argsort(values, kind="stable")[-_CANDIDATES:]


def _longest_run(ids: Ids, period: int) -> Repeat | None:
    """Return the stretch that repeats itself after `period`; None below two whole copies.

    The stretch of the largest sum, where equal positions count 1 and each other costs 49: neither
    its beginning nor its end has more than 2 % of others.
    """
    others = np.flatnonzero(ids[period:] != ids[:-period])
    begins = np.concatenate(([0], others + 1))  # of stretches without others
    ends = np.concatenate((others, [len(ids) - period]))
    paid = _PRICE * np.arange(len(begins))
    before = begins - paid
    last = int(np.argmax(ends - paid - np.minimum.accumulate(before)))
    first = int(np.argmin(before[: last + 1]))
    start, length = int(begins[first]), int(ends[last] - begins[first])
    if length < period:
        return None
    covered = length + period
    return Repeat(start, period, covered // period, covered)


def _shortest(ids: Ids, run: Repeat) -> Repeat:
    """Return the run with the shortest period that divides it and repeats as well."""
    part = ids[run.start : run.start + run.covered]
    for period in range(1, run.period // 2 + 1):
        if run.period % period == 0:
            differing = np.count_nonzero(part[period:] != part[:-period])
            if differing <= _TOLERANCE * (len(part) - period):
                return Repeat(run.start, period, run.covered // period, run.covered)
    return run


def _lies_in(run: Repeat, other: Repeat) -> bool:
    """True where nearly all of a run lies in the other."""
    first = max(run.start, other.start)
    last = min(run.start + run.covered, other.start + other.covered)
    return last - first >= (1 - _TOLERANCE) * run.covered
