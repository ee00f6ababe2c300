"""Which executions of two sequences stand together, in bounded time.

Equal beginnings and ends are set aside, common stretches cut what is left into blocks, and each
block is aligned by the best score. Blocks that are too large for it stay apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.align.anchors import anchors, by_occurrence
from fusescope.analysis.align.gotoh import aligned
from fusescope.analysis.align.sequence import Ints, Numbered
from fusescope.analysis.align.similarity import Similarity

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


class Pairing:
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
            left -= self._align(block, left)
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

    def _align(self, block: _Block, left: int) -> int:
        """Align a block by score, if it costs no more than what is left; return what it cost,
        which is 0 where the same was aligned before."""
        before = self.table.before[block.first : block.first_stop]
        after = self.table.after[block.second : block.second_stop]
        key = (before.tobytes(), after.tobytes())
        is_known = key in self._known
        if not is_known and block.cost > left:
            return 0
        if not is_known:
            rows, first = np.unique(before, return_inverse=True)
            columns, second = np.unique(after, return_inverse=True)
            self._known[key] = aligned(self.similarity.scores(rows, columns), first, second)
        self._found.append(self._known[key] + np.array([block.first, block.second]))
        return 0 if is_known else block.cost


def _equal_at_start(first: Ints, second: Ints) -> int:
    """Return how many numbers are equal before the first that are not."""
    is_equal = first == second
    return len(is_equal) if is_equal.all() else int(np.argmin(is_equal))
