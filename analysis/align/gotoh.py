"""The best alignment of two short sequences, by Gotoh's algorithm: gaps cost little to continue.

Scores are whole numbers, so that what was added can be followed back exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fusescope.analysis.align.sequence import Ints
from fusescope.analysis.align.similarity import FORBIDDEN, Scores

_OPEN, _EXTEND = -120, -5
_PAIR, _FIRST, _SECOND = 0, 1, 2  # a pair; a gap that takes of the first sequence; of the second
_FIRST_EXTENDS, _SECOND_EXTENDS, _FIRST_FROM, _SECOND_FROM = 4, 8, 16, 32


def aligned(scores: Scores, first: Ints, second: Ints) -> Ints:
    """Return the pairs (k, 2) of positions of the best alignment, ascending on both sides.

    `first` and `second` are rows and columns of `scores`. Memory: a byte for each cell.
    """
    if len(first) > len(second):
        return aligned(scores.T, second, first)[:, ::-1]
    steps, state = _filled(scores, first, second)
    return _followed(steps, state)


def _filled(scores: Scores, first: Ints, second: Ints) -> tuple[NDArray[np.uint8], int]:
    """Return how each cell was reached, row by row, and how the last one was."""
    width = len(second)
    along = _EXTEND * np.arange(width + 1, dtype=np.int32)
    steps = np.zeros((len(first) + 1, width + 1), np.uint8)
    pair = np.full(width + 1, FORBIDDEN, np.int32)
    pair[0] = 0
    gap_first = np.full(width + 1, FORBIDDEN, np.int32)
    gap_second = np.full(width + 1, FORBIDDEN, np.int32)
    for row in range(len(first) + 1):
        bits = steps[row]
        if row:
            best = np.maximum(np.maximum(pair, gap_first), gap_second)
            reached = np.where(pair == best, _PAIR, np.where(gap_first == best, _FIRST, _SECOND))
            opened = np.maximum(pair, gap_second) + _OPEN
            extended = gap_first + _EXTEND
            bits |= np.where(extended >= opened, _FIRST_EXTENDS, 0).astype(np.uint8)
            bits |= np.where(gap_second > pair, _FIRST_FROM, 0).astype(np.uint8)
            gap_first = np.maximum(opened, extended)
            pair = np.full(width + 1, FORBIDDEN, np.int32)
            np.maximum(best[:-1] + scores[first[row - 1], second], FORBIDDEN, out=pair[1:])
            bits[1:] |= reached[:-1].astype(np.uint8)
        ahead = np.maximum(pair, gap_first)
        gap_second = np.full(width + 1, FORBIDDEN, np.int32)
        gap_second[1:] = np.maximum.accumulate(ahead - along)[:-1] + along[:-1] + _OPEN
        opened = ahead[:-1] + _OPEN
        bits[1:] |= np.where(gap_second[1:] > opened, _SECOND_EXTENDS, 0).astype(np.uint8)
        bits[1:] |= np.where(gap_first[:-1] > pair[:-1], _SECOND_FROM, 0).astype(np.uint8)
    return steps, int(np.argmax([pair[-1], gap_first[-1], gap_second[-1]]))


def _followed(steps: NDArray[np.uint8], state: int) -> Ints:
    """Return the pairs on the way back from the last cell to the first."""
    row, column = steps.shape[0] - 1, steps.shape[1] - 1
    found = []
    while row and column:
        bits = int(steps[row, column])
        if state == _PAIR:
            row, column, state = row - 1, column - 1, bits & 3
            found.append((row, column))
        elif state == _FIRST:
            if not bits & _FIRST_EXTENDS:
                state = _SECOND if bits & _FIRST_FROM else _PAIR
            row -= 1
        else:
            if not bits & _SECOND_EXTENDS:
                state = _FIRST if bits & _SECOND_FROM else _PAIR
            column -= 1
    return np.array(found[::-1], np.int64).reshape(-1, 2)
