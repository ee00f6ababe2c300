"""Where a kernel that stands on one side belongs, of several places that are as good."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.align.sequence import Ints, Numbered

_FARTHEST = 32


def settled(pairs: Ints, table: Numbered) -> Ints:
    """Return the pairs with each gap directly before the heaviest kernel that it can stand before.

    New kernels between equal ones can stand in several places with the same names side by side:
    'a [x a] b' or '[a x] a b'. They mostly prepare the kernel that follows, and more often a heavy
    one. A gap that repeats its neighbours is one more layer, and stays where it is.
    """
    if len(pairs) < 2:
        return pairs
    pairs = pairs.copy()
    sides = ((table.names[table.before], 0), (table.names[table.after], 1))
    weights = table.weights[table.before]
    for names, side in sides:
        for row in np.flatnonzero(np.diff(pairs[:, side]) > 1).tolist():
            _settle(pairs, row, names, side, weights)
    return pairs


def _settle(pairs: Ints, row: int, names: Ints, side: int, weights: Ints) -> None:
    """Move the gap on one side between a pair and the next one to its best place."""
    gaps = (pairs[row + 1] - pairs[row] - 1).tolist()
    length = gaps[side]
    if length == 0 or gaps[1 - side] > 0:
        return
    left = _movable(pairs, row, names, side, -1, length)
    right = _movable(pairs, row + 1, names, side, 1, length)
    if left + right == 0 or left + right >= length:
        return
    followers = weights[pairs[row + 1 - left : row + 2 + right, 0]]
    heaviest = int(np.argmax(followers))
    if followers[heaviest] <= followers[left]:
        return
    shift = heaviest - left
    if shift > 0:
        pairs[row + 1 : row + 1 + shift, side] -= length
    else:
        pairs[row + 1 + shift : row + 1, side] += length


def _movable(pairs: Ints, row: int, names: Ints, side: int, step: int, length: int) -> int:
    """Return how many pairs from `row` on can take the equal name at the other end of the gap."""
    moved = 0
    while moved < min(_FARTHEST, length) and 0 <= row < len(pairs):
        is_next = moved == 0 or bool((np.abs(pairs[row] - pairs[row - step]) == 1).all())
        here = pairs[row, side]
        if not is_next or names[here] != names[here - step * length]:
            break
        moved, row = moved + 1, row + step
    return moved
