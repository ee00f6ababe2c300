"""Run times of TensorRT that stand twice: a file joined with itself or with another export of it.

trtexec writes six digits, so a long recording of a short model repeats single rows by itself: only
whole stretches of rows are copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

_MIN = 4  # different rows of a stretch that stands twice: fewer may be chance
_MOSTLY = 0.9
_MAX_COPIES = 16


def copies(rows: Sequence[Hashable], starts: Sequence[int | None]) -> list[int]:
    """Positions of rows that repeat earlier ones; `rows` hold all times of a run, one entry each.

    With starts a stretch begins where they go back, or every row stands there equally often;
    without them the whole list is its first part again and again.
    """
    if len(set(rows)) < _MIN:
        return []
    known = [start for start in starts if start is not None]
    if len(known) < len(rows):
        return _periods(rows)
    return _stretches(rows, known) or _everywhere(rows)


def is_same(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    """True when most rows of the shorter list stand in the longer one as well."""
    shared = (Counter(one) & Counter(other)).total()
    fewer = min(len(set(one)), len(set(other)))
    return fewer >= _MIN and shared >= _MOSTLY * min(len(one), len(other))


def _stretches(rows: Sequence[Hashable], starts: Sequence[int]) -> list[int]:
    """Rows of stretches that stand before almost whole; a stretch ends where starts go back."""
    begins = [0, *(at for at in range(1, len(rows)) if starts[at] < starts[at - 1]), len(rows)]
    seen: Counter[Hashable] = Counter()
    twice: list[int] = []
    for begin, end in pairwise(begins):
        stretch = rows[begin:end]
        found = Counter(stretch)
        if len(found) >= _MIN and (found & seen).total() >= _MOSTLY * len(stretch):
            left = seen.copy()
            for index in range(begin, end):
                if left[rows[index]] > 0:
                    left[rows[index]] -= 1
                    twice.append(index)
                else:
                    seen[rows[index]] += 1
        else:
            seen.update(found)
    return twice


def _everywhere(rows: Sequence[Hashable]) -> list[int]:
    """Rows beyond the first of as many copies as every row has, as in files that were sorted."""
    counts = Counter(rows)
    times = min(counts.values())
    if times < 2:
        return []
    kept = {row: -(-count // times) for row, count in counts.items()}
    seen: Counter[Hashable] = Counter()
    twice = []
    for index, row in enumerate(rows):
        seen[row] += 1
        if seen[row] > kept[row]:
            twice.append(index)
    return twice


def _periods(rows: Sequence[Hashable]) -> list[int]:
    """All but the first part, where the list is that part several times."""
    count = len(rows)
    for times in range(_MAX_COPIES, 1, -1):
        part = count // times
        if count % times == 0 and list(rows[:part]) * times == list(rows):
            return list(range(part, count)) if len(set(rows[:part])) >= _MIN else []
    return []
