"""Tandem repeats of a sequence of kernels: steps, layers and blocks, found from order alone.

A sequence is an array of integers, one for each execution: equal numbers are equal kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fusescope.analysis.align.anchors import anchors

Ids = NDArray[np.int64]

LOWEST = 4  # a shorter period is a loop over one operator, no layer
HIGHEST = 4000
_TOLERANCE = 0.02  # the share of positions that may differ from the copy before
_PRICE = round(1 / _TOLERANCE)  # positions that one which differs needs, with itself
_CANDIDATES = 48  # periods tried: so many of the most frequent, and of those that cover most
_GRAM = 3
_NEXT = 4  # distances to the next equal 3-gram, and to the three after it
_ALIKE = 0.75  # the share of a copy that the first and the last one have in common with it
_MUCH_ALIKE = 0.9  # the share of one between others
_PHASES, _SMALL_PERIOD, _SMALL = 32, 500, 50_000
_LARGE = 0.05  # of the sequence, below which copies that are not all equal are not looked for
_DEPTH = 4
_REPEATS = 12  # at one depth
_SHORTEST = 8  # positions that a repeat covers at least, and of a long sequence a thousandth


@dataclass(frozen=True)
class Repeat:
    """`copies` whole copies of `period` positions, the first of them at `start`.

    `covered` counts the positions that repeat, with those of a last copy that is not whole.
    Positions are those of the whole sequence. `fold` adds the rest: `lengths` of the copies where
    not all have `period` positions, since one has a kernel more or another one; and `inside`, the
    repeats within one copy, the first that has `period` positions.
    """

    start: int
    period: int
    copies: int
    covered: int
    lengths: tuple[int, ...] = ()
    inside: tuple[Repeat, ...] = ()

    @property
    def stop(self) -> int:
        """The position behind the last whole copy."""
        return self.start + (sum(self.lengths) or self.period * self.copies)

    @property
    def starts(self) -> Ids:
        """The position of each copy."""
        lengths = self.lengths or (self.period,) * self.copies
        return self.start + np.cumsum((0, *lengths[:-1]))


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

    4 steps of 19 double and 38 single blocks are one repeat of 4 copies, and two inside it. A copy
    between others has 90 % of their kernels, the first and the last 75 %: in a compiled model they
    are fused with what stands beside them. What lies before, between and behind repeats is in none.
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
    shortest = max(_SHORTEST, len(ids) // 1000)
    waiting = _found(ids, 0, len(ids), lowest, highest, shortest)
    done: list[Repeat] = []
    while waiting and len(done) < _REPEATS:
        best, first, last = waiting.pop(
            max(range(len(waiting)), key=lambda n: waiting[n][0].covered)
        )
        parts = _folded(
            ids[best.start : best.start + best.period],
            offset + best.start,
            lowest,
            highest,
            depth - 1,
        )
        is_large = best.covered >= _LARGE * len(ids)
        whole = _extended(ids, best, first, last) if is_large else best
        done.append(replace(whole, start=offset + whole.start, inside=parts))
        waiting += _found(ids, first, whole.start, lowest, highest, shortest)
        waiting += _found(ids, whole.stop, last, lowest, highest, shortest)
    return tuple(sorted(done, key=lambda repeat: repeat.start))


def _found(
    ids: Ids, first: int, last: int, lowest: int, highest: int, shortest: int
) -> list[tuple[Repeat, int, int]]:
    """Return the repeat between two positions, and these; none where it is too short."""
    found = best_period(ids[first:last], lowest, highest)
    if found is None or found.covered < shortest:
        return []
    return [(replace(found, start=first + found.start), first, last)]


def _extended(ids: Ids, run: Repeat, first: int, last: int) -> Repeat:
    """Return the repeat with the copies beside it, between two positions, that are much alike.

    Where a copy begins is open: of 32 places in it the one that makes most copies is taken, and of
    those the one whose copies are most alike; not in sequences of more than 50,000 kernels.
    """
    is_small = run.period <= _SMALL_PERIOD and last - first <= _SMALL
    phases = range(0, run.period, max(1, run.period // _PHASES)) if is_small else [0]
    found = []
    for phase in phases:
        copies = (run.covered - phase) // run.period
        shifted = replace(run, start=run.start + phase, copies=copies, covered=run.covered - phase)
        found.append(_with_neighbours(ids, shifted, first, last))
    best, _ = max(found, key=lambda each: (each[0].copies, each[1]))
    return best if best.copies > run.copies else run


def _with_neighbours(ids: Ids, run: Repeat, first: int, last: int) -> tuple[Repeat, int]:
    """Return the repeat with the copies beside it, and how many kernels all have in common."""
    word = ids[run.start : run.start + run.period]
    behind = _copies(word, ids[run.stop : last])
    before = _copies(word[::-1], ids[first : run.start][::-1])
    alike = len(word) * run.copies + sum(common for _, common in (*before, *behind))
    if not behind and not before:
        return run, alike
    regular = (run.period,) * run.copies
    lengths = (*(length for length, _ in before[::-1]), *regular, *(length for length, _ in behind))
    start = run.start - sum(length for length, _ in before)
    covered = max(sum(lengths), run.start + run.covered - start)
    return Repeat(start, run.period, len(lengths), covered, lengths), alike


def _copies(word: Ids, others: Ids) -> list[tuple[int, int]]:
    """Return the length of each copy of a word at the beginning of `others`, and how many kernels
    it has in common with the word.

    The last one may differ more than the others, but only where none follows it: what stands
    between the layers of two steps is no layer.
    """
    found: list[tuple[int, int]] = []
    place = 0
    while (copy := _copy(word, others[place:])) is not None:
        length, common = copy
        if common < _MUCH_ALIKE * len(word):
            is_last = _copy(word, others[place + length :]) is None
            return [*found, copy] if is_last else found
        found.append(copy)
        place += length
    return found


def _copy(word: Ids, others: Ids) -> tuple[int, int] | None:
    """Return the length of the copy of a word that `others` begin with, and how many kernels it has
    in common with it; None where they begin with none, or with one that is cut off."""
    slack = max(2, len(word) // 8)
    window = others[: len(word) + slack]
    if len(window) < len(word):
        return None
    is_equal = window[: len(word)] == word
    equal = int(np.count_nonzero(is_equal))
    if equal >= _MUCH_ALIKE * len(word) and is_equal[-1]:
        return len(word), equal
    if _in_both(word, window) < _ALIKE * len(word):
        return None
    common = anchors(word, window, 1)
    if len(common) < _ALIKE * len(word):
        return None
    row, column = common[-1].tolist()
    length = min(column + len(word) - row, len(window))
    if row + slack < len(word) or length + slack < len(word):
        return None
    return length, len(common)


def _in_both(one: Ids, other: Ids) -> int:
    """Return how many kernels two stretches have in common, in whatever order."""
    highest = int(max(one.max(), other.max())) + 1
    counts = np.minimum(np.bincount(one, minlength=highest), np.bincount(other, minlength=highest))
    return int(counts.sum())


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
