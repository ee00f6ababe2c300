"""In which order the files of two sides were recorded: whether drift of the machine can be told
from a change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Literal

# pairs: each file has one of the other side as its neighbour; alternating: the sides are mixed,
# but not in pairs; one_after_other: long stretches of one side; unknown: a file does not say when.
FileOrder = Literal["pairs", "alternating", "one_after_other", "unknown"]

# Files of one side that may follow each other without one of the other in between.
_MAX_STRETCH = 2


def file_order(baseline_ns: Sequence[int | None], candidate_ns: Sequence[int | None]) -> FileOrder:
    """The order of two sides by the start times of their files, on one clock.

    In pairs: of the 1st and 2nd, the 3rd and 4th file and so on in order of start, each two are of
    both sides. Files that started at the same time, as far as their clock tells, may have run in
    any order, and are taken by turns.
    """
    sides = (baseline_ns, candidate_ns)
    starts: list[tuple[int, int, int]] = []
    for number, side in enumerate(sides):
        seen: dict[int, int] = {}
        for start in side:
            if start is None:
                return "unknown"
            rank = seen.get(start, 0)
            seen[start] = rank + 1
            starts.append((start, rank, number))
    order = [number for _, _, number in sorted(starts)]
    halves = [order[at : at + 2] for at in range(0, len(order), 2)]
    if order and all(sorted(half) == [0, 1] for half in halves):
        return "pairs"
    longest = max((len(list(same)) for _, same in groupby(order)), default=0)
    is_mixed = len(set(order)) == 2 and longest <= _MAX_STRETCH
    return "alternating" if is_mixed and len(order) > 2 * _MAX_STRETCH else "one_after_other"
