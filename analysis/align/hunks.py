"""What differs between two aligned sequences: hunks, folded where the same differs in many places.

A hunk is what stands between two places where both sides have the same kernel: kernels before,
kernels after, perhaps none on one side. Hunks and the kernels that are the same add up exactly to
the times of both sides.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fusescope.analysis.align.alignment import Alignment
from fusescope.analysis.align.sequence import Ints, Kernel, Sequence
from fusescope.analysis.align.similarity import SAME_CLASS, SAME_FAMILY, SAME_LAUNCHER

_HEAVY = ("attention", "convolution", "grouped_product", "matrix_product", "recurrent")
_MOST_HUNKS = 1000

Columns = list[Ints]  # the columns of a hunk, one array for each place


@dataclass(frozen=True)
class Share:
    """Executions of one kernel on one side, and their time in ns."""

    kernel: Kernel
    count: int
    ns: int


@dataclass(frozen=True, eq=False)
class Hunk:
    """What differs in the same way in `places` places.

    `before` and `after` are the kernels of all places together, in order of first execution.
    `next_kernel` and `previous_kernel` are what most often stands behind and in front of it in the
    sequence after (before, where nothing of it is after); None at an end. Row k of `before_spans`
    and of `after_spans` is the place k: first position and the one behind the last; equal where the
    side has nothing there. `evidence` is the weakest of the pairs in it, None without pairs.
    """

    places: int
    before: tuple[Share, ...]
    after: tuple[Share, ...]
    before_ns: int
    after_ns: int
    next_kernel: Kernel | None
    previous_kernel: Kernel | None
    before_spans: Ints
    after_spans: Ints
    evidence: int | None

    @property
    def change_ns(self) -> int:
        """The time after less the time before."""
        return self.after_ns - self.before_ns


@dataclass(frozen=True, eq=False)
class SameKernel:
    """A kernel that is the same on both sides, under the same operator of the host.

    `positions` (n, 2) are where, -1 on one side for a kernel that moved: it has a row for each
    side. `count` are the executions on one side.
    """

    kernel: Kernel
    count: int
    before_ns: int
    after_ns: int
    positions: Ints

    @property
    def change_ns(self) -> int:
        """The time after less the time before."""
        return self.after_ns - self.before_ns


@dataclass(frozen=True, eq=False)
class Differences:
    """All that two sequences consist of, the largest change first.

    `rest` holds together what differs in more than 1000 ways, None where there are fewer.
    """

    alignment: Alignment
    hunks: tuple[Hunk, ...]
    rest: Hunk | None

    @cached_property
    def same(self) -> tuple[SameKernel, ...]:
        """The kernels that are the same or moved."""
        return _same(self.alignment)


def differences(alignment: Alignment) -> Differences:
    """Return the hunks and the same kernels of an alignment; their times add up to both totals."""
    reached = np.maximum.accumulate(alignment.columns, axis=0)
    runs = _cut(alignment)
    folded: dict[tuple[tuple[str, ...], tuple[str, ...]], Columns] = {}
    for columns in runs:
        folded.setdefault(_content(alignment, columns), []).append(columns)
    ways = sorted(folded.values(), key=lambda places: -abs(_change_ns(alignment, places)))
    hunks = tuple(_hunk(alignment, places, reached) for places in ways[:_MOST_HUNKS])
    others = [columns for places in ways[_MOST_HUNKS:] for columns in places]
    rest = _hunk(alignment, others, reached) if others else None
    return Differences(alignment, hunks, rest)


def _same(alignment: Alignment) -> tuple[SameKernel, ...]:
    """Return the kernels that are the same or moved, by the name that lasts and the launcher."""
    columns = alignment.columns[alignment.is_same | alignment.moved]
    numbers = _kernel_numbers(alignment, columns)
    order = np.argsort(numbers, kind="stable")
    bounds = np.flatnonzero(np.diff(numbers[order], prepend=-1, append=-1))
    sums = [
        np.add.reduceat(_durations(side, columns[order, row]), bounds[:-1])
        for row, side in enumerate((alignment.before, alignment.after))
    ]
    found = []
    for place, (start, stop) in enumerate(pairwise(bounds.tolist())):
        rows = columns[order[start:stop]]
        first, second = rows[0].tolist()
        kernel = alignment.before.kernel(first) if first >= 0 else alignment.after.kernel(second)
        count = int(np.count_nonzero(rows[:, 0] >= 0))
        found.append(SameKernel(kernel, count, int(sums[0][place]), int(sums[1][place]), rows))
    return tuple(sorted(found, key=lambda same: -abs(same.change_ns)))


def _kernel_numbers(alignment: Alignment, columns: Ints) -> Ints:
    """Return a number for the kernel of each column: of the side before, where it stands there.

    A kernel that moved has the number of the one that it is on the other side.
    """
    known: dict[tuple[str, str], int] = {}
    numbers = []
    for side, sequence in enumerate((alignment.before, alignment.after)):
        keys = [(kernel.lasting_name, kernel.launcher) for kernel in sequence.kernels]
        table = np.array([known.setdefault(key, len(known)) for key in keys], np.int64)
        numbers.append(table[sequence.ids[columns[:, side]]] if len(sequence) else columns[:, side])
    return np.where(columns[:, 0] >= 0, numbers[0], numbers[1])


def _durations(side: Sequence, positions: Ints) -> Ints:
    """Return the durations at these positions in ns, 0 for -1."""
    if not len(side):
        return np.zeros(len(positions), np.int64)
    return np.where(positions >= 0, side.durations[positions], 0)


def _cut(alignment: Alignment) -> Columns:
    """Return the columns of each hunk, as numbers of columns.

    A pair of kernels that replace each other stands alone, so that what is new before an attention
    is not mixed with the attention; light kernels that only share a class stay with what is round
    them, since many of them may have become one. Kernels that moved do not cut: they are no place
    where both sides have the same. Kernels of two streams do not follow one another.
    """
    others = np.flatnonzero(~(alignment.is_same | alignment.moved))
    if not len(others):
        return []
    alone = _stand_alone(alignment, others)
    cuts = np.cumsum(alignment.is_same | alignment.begins_stream)
    is_apart = np.diff(cuts[others]) > 0
    return np.split(others, np.flatnonzero(is_apart | alone[1:] | alone[:-1]) + 1)


def _stand_alone(alignment: Alignment, others: Ints) -> NDArray[np.bool_]:
    """Return for these columns whether a kernel stands for another there and for nothing else. One
    that a compiler generated does the work of several others, whoever launched the first of
    them."""
    evidence = alignment.evidence[others]
    alone = evidence >= SAME_FAMILY
    for place in np.flatnonzero(evidence == SAME_LAUNCHER).tolist():
        first, second = alignment.columns[others[place]].tolist()
        kernels = alignment.before.kernel(first), alignment.after.kernel(second)
        alone[place] = kernels[0].is_generated == kernels[1].is_generated
    for place in np.flatnonzero(evidence == SAME_CLASS).tolist():
        first, second = alignment.columns[others[place]].tolist()
        kernels = alignment.before.kernel(first), alignment.after.kernel(second)
        is_generated = all(kernel.is_generated for kernel in kernels)
        alone[place] = is_generated or kernels[0].op_class in _HEAVY
    return alone


def _content(alignment: Alignment, columns: Ints) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the families of the kernels before and after."""
    pairs = alignment.columns[columns].tolist()
    return (
        tuple(alignment.before.kernel(first).family for first, _ in pairs if first >= 0),
        tuple(alignment.after.kernel(second).family for _, second in pairs if second >= 0),
    )


def _change_ns(alignment: Alignment, places: Columns) -> int:
    columns = alignment.columns[np.concatenate(places)]
    after = _durations(alignment.after, columns[:, 1]).sum()
    return int(after - _durations(alignment.before, columns[:, 0]).sum())


def _hunk(alignment: Alignment, places: Columns, reached: Ints) -> Hunk:
    """Return the hunk of these columns; `reached` are the last positions up to each column."""
    columns = np.concatenate(places)
    sides = (alignment.before, alignment.after)
    before, after = (
        _shares(side, positions[positions >= 0])
        for side, positions in zip(sides, alignment.columns[columns].T, strict=True)
    )
    evidence = alignment.evidence[columns]
    firsts = np.array([run[0] for run in places])
    lasts = np.array([run[-1] for run in places])
    starts = np.where(firsts[:, None] > 0, reached[firsts - 1] + 1, 0)
    spans = np.stack([starts, reached[lasts] + 1], axis=2)  # place, side, start and stop
    side = 1 if after else 0
    return Hunk(
        places=len(places),
        before=before,
        after=after,
        before_ns=sum(share.ns for share in before),
        after_ns=sum(share.ns for share in after),
        next_kernel=_most_frequent(sides[side], spans[:, side, 1]),
        previous_kernel=_most_frequent(sides[side], spans[:, side, 0] - 1),
        before_spans=spans[:, 0],
        after_spans=spans[:, 1],
        evidence=int(evidence[evidence > 0].min()) if evidence.any() else None,
    )


def _shares(side: Sequence, positions: Ints) -> tuple[Share, ...]:
    """Return the kernels at these positions, in order of first execution, with count and time."""
    distinct, first, inverse, counts = np.unique(
        side.ids[positions], return_index=True, return_inverse=True, return_counts=True
    )
    times = side.durations[positions][np.argsort(inverse, kind="stable")]
    sums = np.add.reduceat(times, np.cumsum(counts) - counts) if len(times) else times
    return tuple(
        Share(side.kernels[int(distinct[row])], int(counts[row]), int(sums[row]))
        for row in np.argsort(first).tolist()
    )


def _most_frequent(side: Sequence, positions: Ints) -> Kernel | None:
    """Return the kernel that stands most often at these positions; None where as many of them lie
    beyond an end."""
    found = Counter(int(side.ids[place]) for place in positions if 0 <= place < len(side))
    if 2 * found.total() <= len(positions):
        return None
    return side.kernels[found.most_common(1)[0][0]]
