"""Two sequences of kernels side by side: what became of each execution, in order.

Equal beginnings and ends are set aside, common stretches cut what is left into blocks, and each
block is aligned by the best score. Blocks that are too large for it stay apart, so the time is
bounded for whatever is compared; `is_ordered` says whether enough was found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.align.anchors import anchors, by_occurrence
from analysis.align.gaps import settled
from analysis.align.gotoh import aligned
from analysis.align.moves import partners
from analysis.align.sequence import Ints, Numbered, Sequence, numbered
from analysis.align.similarity import ONE_SIDE, SAME_CLASS, SAME_FAMILY, Similarity

_FEW_CELLS = 250_000  # below them anchors save nothing
_MOST_CELLS = 4_000_000  # in one block
_ALL_CELLS = 200_000_000  # with what each row costs besides: about 3 seconds
_CELLS_OF_A_ROW = 3000
# What cuts a block, one after the other: equal stretches of so many names, families or classes.
_CUTS: tuple[tuple[Callable[[Ints, Ints, int], Ints], str, int], ...] = (
    *((anchors, "names", length) for length in (4, 2, 1)),
    *((by_occurrence, "names", length) for length in (4, 1)),
    *((anchors, "families", length) for length in (6, 2)),
    (anchors, "classes", 10),
    (by_occurrence, "classes", 4),
)
_RENAMED_TIMES, _RENAMED_SHARE, _RENAMED_KERNELS = 3, 0.8, 3
_ORDERED = 0.3  # the share of the time, or of the executions, that is in common


@dataclass(frozen=True, eq=False)
class Alignment:
    """Columns in order; each position of both sides stands in exactly one.

    `columns` (n, 2) are positions before and after, -1 on the side that has none. `evidence` are
    numbers in `similarity.EVIDENCE`. `partners` is, for a kernel that stands on one side, the
    column of the same kernel nearby on the other side: it moved; -1 for all others. `is_same` is
    True where the same kernel stands on both sides, whatever number a compiler gave it.
    """

    before: Sequence
    after: Sequence
    columns: Ints
    evidence: NDArray[np.int8]
    partners: Ints
    is_same: NDArray[np.bool_]

    @cached_property
    def moved(self) -> NDArray[np.bool_]:
        """True for columns of kernels that stand in another place on the other side."""
        return self.partners >= 0

    @cached_property
    def common_share(self) -> float:
        """The share, 0 to 1, that stands in common of the side that has less in common.

        Of the time or of the executions, whichever is larger. What only shares a class counts as
        in common where three kernels or more take the places of three others nearly everywhere, and
        as not in common else: two models that have nothing to do with each other share classes.
        """
        is_common = (self.evidence >= SAME_FAMILY) | self.moved
        renamed = self.before.ids[self.columns[self.renamed, 0]]
        if len(np.unique(renamed)) >= _RENAMED_KERNELS:
            is_common |= self.renamed
        shares: list[tuple[float, float]] = []
        for side, sequence in enumerate((self.before, self.after)):
            positions = self.columns[is_common, side]
            positions = positions[positions >= 0]
            time = int(sequence.durations[positions].sum()) / max(1, sequence.total_ns)
            shares.append((time, len(positions) / max(1, len(sequence))))
        (time, count), (other_time, other_count) = shares
        return max(min(time, other_time), min(count, other_count))

    @cached_property
    def renamed(self) -> NDArray[np.bool_]:
        """True for columns of two kernels of one class that stand for each other three times at
        least, and in 80 % of all their places: the same under another name, or its replacement."""
        found = np.zeros(len(self.columns), bool)
        rows = np.flatnonzero(self.evidence == SAME_CLASS)
        if not len(rows):
            return found
        first, second = self.columns[rows].T
        sides = ((self.before, first), (self.after, second))
        ids = [side.ids[positions] for side, positions in sides]
        _, pair, times = np.unique(
            ids[0] * len(self.after.kernels) + ids[1], return_inverse=True, return_counts=True
        )
        all_times = [np.bincount(side.ids)[own] for (side, _), own in zip(sides, ids, strict=True)]
        most = np.maximum(*all_times)
        found[rows] = (times[pair] >= _RENAMED_TIMES) & (times[pair] >= _RENAMED_SHARE * most)
        return found

    @property
    def is_ordered(self) -> bool:
        """False where there is no common order: too little of both sides stands together."""
        return self.common_share >= _ORDERED


def align(before: Sequence, after: Sequence) -> Alignment:
    """Return the two sequences side by side, the same kernels together as far as order allows.

    Blocks are aligned, small ones first, for about 3 seconds at most; the rest is linear.
    """
    table = numbered(before, after)
    similarity = Similarity(table)
    pairs = settled(_Aligner(table, similarity).pairs(), table)
    columns = _columns(pairs, len(before), len(after))
    evidence = np.full(len(columns), ONE_SIDE, np.int8)
    is_same = np.zeros(len(columns), bool)
    is_pair = (columns >= 0).all(axis=1)
    rows, others = table.before[pairs[:, 0]], table.after[pairs[:, 1]]
    evidence[is_pair] = similarity.evidence(rows, others)
    is_same[is_pair] = table.names[rows] == table.names[others]
    return Alignment(before, after, columns, evidence, partners(columns, table), is_same)


@dataclass(frozen=True)
class _Block:
    """A stretch of both sides that is aligned on its own."""

    first: int
    first_stop: int
    second: int
    second_stop: int

    @property
    def cells(self) -> int:
        """The size of the table that aligning it takes."""
        return (self.first_stop - self.first) * (self.second_stop - self.second)

    @property
    def cost(self) -> int:
        """The time that aligning it takes, in that of one cell."""
        rows = min(self.first_stop - self.first, self.second_stop - self.second)
        return self.cells + _CELLS_OF_A_ROW * rows


class _Aligner:
    """Cuts two sequences into blocks and aligns each, as far as the cells last."""

    def __init__(self, table: Numbered, similarity: Similarity) -> None:
        self.table = table
        self.similarity = similarity
        self._found: list[Ints] = []
        self._small: list[_Block] = []
        self._known: dict[tuple[bytes, bytes], Ints] = {}

    def pairs(self) -> Ints:
        """Return the pairs (k, 2) of positions that stand together, ascending on both sides."""
        self._cut(_Block(0, len(self.table.before), 0, len(self.table.after)), 0)
        left = _ALL_CELLS
        for block in sorted(self._small, key=lambda block: block.cost):
            if block.cost <= left:
                left -= self._align(block)
        found = np.concatenate(self._found) if self._found else np.zeros((0, 2), np.int64)
        return found[np.argsort(found[:, 0])]

    def _cut(self, block: _Block, level: int) -> None:
        """Cut a block by what is equal on both sides until its parts are small enough."""
        waiting = [(block, level)]
        while waiting:
            block, level = waiting.pop()
            block = self._trimmed(block)
            if not block.cells:
                continue
            if block.cells <= (_FEW_CELLS if level < len(_CUTS) else _MOST_CELLS):
                self._small.append(block)
            elif level < len(_CUTS):
                waiting += [(part, level + 1) for part in self._parts(block, level)]
            else:
                self._pair_families(block)

    def _trimmed(self, block: _Block) -> _Block:
        """Return what is left of a block without the names that both sides begin and end with."""
        return self._set_aside(block, self.table.names)

    def _pair_families(self, block: _Block) -> None:
        """Of a block that nothing cuts, set aside only the families at its beginning and end."""
        self._set_aside(block, self.table.families)

    def _set_aside(self, block: _Block, property_: Ints) -> _Block:
        first = property_[self.table.before[block.first : block.first_stop]]
        second = property_[self.table.after[block.second : block.second_stop]]
        shorter = min(len(first), len(second))
        head = _equal_at_start(first[:shorter], second[:shorter])
        shorter -= head
        tail = _equal_at_start(first[::-1][:shorter], second[::-1][:shorter])
        self._pair(block.first, block.second, head)
        self._pair(block.first_stop - tail, block.second_stop - tail, tail)
        return _Block(
            block.first + head,
            block.first_stop - tail,
            block.second + head,
            block.second_stop - tail,
        )

    def _pair(self, first: int, second: int, count: int) -> None:
        steps = np.arange(count)
        self._take(np.stack([first + steps, second + steps], axis=1))

    def _take(self, pairs: Ints) -> None:
        """Keep those of equal kernels or families or classes where one may stand for the other."""
        rows, others = self.table.before[pairs[:, 0]], self.table.after[pairs[:, 1]]
        self._found.append(pairs[self.similarity.is_allowed(rows, others)])

    def _parts(self, block: _Block, level: int) -> list[_Block]:
        """Return the parts between the anchors of a block; the anchors are aligned with that."""
        find, name, length = _CUTS[level]
        property_: Ints = getattr(self.table, name)
        chain = find(
            property_[self.table.before[block.first : block.first_stop]],
            property_[self.table.after[block.second : block.second_stop]],
            length,
        ) + np.array([block.first, block.second])
        self._take(chain)
        starts = np.concatenate([[[block.first, block.second]], chain + 1])
        stops = np.concatenate([chain, [[block.first_stop, block.second_stop]]])
        is_part = (stops > starts).all(axis=1)
        return [
            _Block(first, first_stop, second, second_stop)
            for (first, second), (first_stop, second_stop) in zip(
                starts[is_part].tolist(), stops[is_part].tolist(), strict=True
            )
        ]

    def _align(self, block: _Block) -> int:
        """Align a block by score; return what it cost, 0 where the same was aligned before."""
        before = self.table.before[block.first : block.first_stop]
        after = self.table.after[block.second : block.second_stop]
        key = (before.tobytes(), after.tobytes())
        cost = 0
        if key not in self._known:
            rows, first = np.unique(before, return_inverse=True)
            columns, second = np.unique(after, return_inverse=True)
            self._known[key] = aligned(self.similarity.scores(rows, columns), first, second)
            cost = block.cost
        self._found.append(self._known[key] + np.array([block.first, block.second]))
        return cost


def _equal_at_start(first: Ints, second: Ints) -> int:
    """Return how many numbers are equal before the first that are not."""
    is_equal = first == second
    return len(is_equal) if is_equal.all() else int(np.argmin(is_equal))


def _columns(pairs: Ints, before: int, after: int) -> Ints:
    """Return the columns; between two pairs, what is on the side before comes first."""
    columns = np.full((before + after - len(pairs), 2), -1, np.int64)
    count = np.arange(len(pairs))
    places = pairs.sum(axis=1) - count
    columns[places] = pairs
    for side, length in ((0, before), (1, after)):
        alone = np.setdiff1d(np.arange(length), pairs[:, side], assume_unique=True)
        passed = np.searchsorted(pairs[:, side], alone)  # pairs before it
        if side == 0:
            others = np.concatenate([[0], pairs[:, 1] + 1])[passed]
        else:
            others = np.concatenate([pairs[:, 0], [before]])[passed]
        columns[alone + others - passed, side] = alone
    return columns
