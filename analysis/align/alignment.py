"""Two sequences of kernels side by side: what became of each execution, in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fusescope.analysis.align.gaps import settled
from fusescope.analysis.align.moves import partners
from fusescope.analysis.align.pairing import Pairing
from fusescope.analysis.align.sequence import Ints, Sequence, numbered
from fusescope.analysis.align.similarity import ONE_SIDE, SAME_CLASS, SAME_FAMILY, Similarity

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
    def begins_stream(self) -> NDArray[np.bool_]:
        """True for columns at which a side goes on to another of its streams: what stands before
        them and what stands behind them did not follow one another."""
        begins = np.zeros(len(self.columns), bool)
        for side, sequence in enumerate((self.before, self.after)):
            there = self.columns[:, side]
            begins[there >= 0] |= sequence.begins_stream[there[there >= 0]]
        return begins

    @cached_property
    def common_share(self) -> float:
        """The share, 0 to 1, that stands in common of the side that has less in common."""
        nothing = np.zeros(0, np.int64)
        return self.common_share_with((nothing, nothing))

    def common_share_with(self, others: tuple[Ints, Ints]) -> float:
        """Return the same, where these positions of both sides count as in common as well.

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
            positions = np.union1d(positions[positions >= 0], others[side])
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
        return is_order(self.common_share)


def is_order(common_share: float) -> bool:
    """Return whether so much that stands in common, 0 to 1, is a common order."""
    return common_share >= _ORDERED


def align(before: Sequence, after: Sequence) -> Alignment:
    """Return the two sequences side by side, the same kernels together as far as order allows.

    Blocks are aligned, small ones first, for about 3 seconds at most; the rest is linear.
    """
    table = numbered(before, after)
    similarity = Similarity(table)
    pairs = settled(Pairing(table, similarity).pairs(), table)
    columns = _columns(pairs, len(before), len(after))
    evidence = np.full(len(columns), ONE_SIDE, np.int8)
    is_same = np.zeros(len(columns), bool)
    is_pair = (columns >= 0).all(axis=1)
    rows, others = table.before[pairs[:, 0]], table.after[pairs[:, 1]]
    evidence[is_pair] = similarity.evidence(rows, others)
    is_same[is_pair] = table.names[rows] == table.names[others]
    return Alignment(before, after, columns, evidence, partners(columns, table), is_same)


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
