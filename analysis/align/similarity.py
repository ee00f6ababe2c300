"""How well one kernel stands for another: scores of pairs in hundredths, and their evidence."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fusescope.analysis.align.sequence import Ints, Kernel, Numbered

Scores = NDArray[np.int32]
Evidence = Literal["same_name", "same_launcher", "same_family", "same_class", "one_side"]

# By number: what an alignment has for each column.
EVIDENCE: tuple[Evidence, ...] = (
    "one_side",
    "same_class",
    "same_family",
    "same_launcher",
    "same_name",
)
ONE_SIDE, SAME_CLASS, SAME_FAMILY, SAME_LAUNCHER, SAME_NAME = range(5)

FORBIDDEN = -2 * 10**8  # below the cost of any gap
_NAME, _NAME_ELSEWHERE = 400, 360  # under another operator of the host, or with other shapes
_LAUNCHER, _LAUNCHER_ANOTHER_CLASS = 320, 240
_FAMILY = 260
_STAYS = 60
_WEIGHT = 0.6  # of the weight of the lighter one of a pair
_CLASS = {
    "attention": 240, "grouped_product": 220, "matrix_product": 190, "convolution": 190,
    "recurrent": 200, "normalisation": 160, "softmax": 200, "communication": 200,
    "elementwise": 90, "data_movement": 90, "copy": 90, "cast": 90, "layout": 90, "reduction": 90,
    "optimizer": 90, "unknown": FORBIDDEN,
}  # fmt: skip
_OTHER_CLASS = 130
_COPIES = ("data_movement", "copy", "cast", "layout")
_FILL = re.compile(r"^\[?(?:cuda |hip )?(?:memset|fill)|fillbuffer|fillfunctor", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{3,}", re.IGNORECASE)
_COMMON_WORDS = frozenset(("triton", "fused", "poi", "red", "per", "kernel"))
_ALIKE = 0.5  # the share of words that the names of generated kernels have in common
_MOST_GENERATED = 250_000  # pairs of generated names that are compared in one block


def kind(kernel: Kernel) -> int:
    """Return 0 for kernels that compute, 1 for copies, 2 for fills, 3 for communication."""
    if kernel.op_class == "communication":
        return 3
    name = kernel.name.lower()  # looking for a word is faster than for the expression
    if ("memset" in name or "fill" in name) and _FILL.search(name):
        return 2
    return int(kernel.op_class in _COPIES)


class Similarity:
    """Scores of the kernels of two sequences; FORBIDDEN for what never stands for another."""

    def __init__(self, table: Numbered) -> None:
        self.table = table
        self._kinds = np.array([kind(kernel) for kernel in table.kernels], np.int64)
        self._class_scores = np.array(
            [_CLASS.get(kernel.op_class, _OTHER_CLASS) for kernel in table.kernels], np.int64
        )
        first, second = (table.names[side] for side in (table.before, table.after))
        self._on_both_sides = np.isin(table.names, np.intersect1d(first, second))
        self._generated = table.is_generated

    def scores(self, before: Ints, after: Ints) -> Scores:
        """Return the score of each of `before` with each of `after`, rows of the table."""
        rows, columns = before[:, None], after[None, :]
        table = self.table
        is_same_class = table.classes[rows] == table.classes[columns]
        scores = np.where(is_same_class, self._class_scores[rows], FORBIDDEN)
        self._compare_generated(scores, before, after)
        scores[table.families[rows] == table.families[columns]] = _FAMILY
        one, other = table.launchers[rows], table.launchers[columns]
        is_named = (one >= 0) & (other >= 0)
        is_same_launcher = is_named & (one == other)
        scores = np.where(
            is_same_launcher,
            np.where(is_same_class, _LAUNCHER, np.maximum(scores, _LAUNCHER_ANOTHER_CLASS)),
            scores,
        )
        scores[self._kinds[rows] != self._kinds[columns]] = FORBIDDEN
        is_same_name = table.names[rows] == table.names[columns]
        # A kernel that the other side runs too was hardly replaced by one of another name.
        stays = self._on_both_sides[rows] | self._on_both_sides[columns]
        scores = np.where(stays, np.minimum(scores, _STAYS), scores)
        name = np.where(is_named & ~is_same_launcher, _NAME_ELSEWHERE, _NAME)
        scores = np.where(is_same_name, name, scores)
        lighter = np.minimum(table.weights[rows], table.weights[columns])
        gains = (_WEIGHT * lighter).astype(np.int64)
        return np.where(scores > FORBIDDEN, scores + gains, FORBIDDEN).astype(np.int32)

    def is_allowed(self, before: Ints, after: Ints) -> NDArray[np.bool_]:
        """Return for each pair of rows of the table whether one may stand for the other."""
        table = self.table
        launchers = table.launchers[before]
        is_class_known = self._class_scores[before] > FORBIDDEN
        is_generated = self._generated[before] & self._generated[after]
        is_alike: NDArray[np.bool_] = table.classes[before] == table.classes[after]
        is_alike &= is_class_known & ~is_generated
        is_alike |= table.families[before] == table.families[after]
        is_alike |= (launchers >= 0) & (launchers == table.launchers[after])
        is_alike &= self._kinds[before] == self._kinds[after]
        is_alike |= table.names[before] == table.names[after]
        return is_alike

    def evidence(self, before: Ints, after: Ints) -> NDArray[np.int8]:
        """Return for each pair of rows of the table the number in EVIDENCE of what it rests on."""
        table = self.table
        launchers = table.launchers[before]
        found = np.full(len(before), SAME_CLASS, np.int8)
        found[table.families[before] == table.families[after]] = SAME_FAMILY
        found[(launchers >= 0) & (launchers == table.launchers[after])] = SAME_LAUNCHER
        found[table.exact_names[before] == table.exact_names[after]] = SAME_NAME
        return found

    def _compare_generated(self, scores: NDArray[np.int64], before: Ints, after: Ints) -> None:
        """Score kernels that a compiler generated by the words that their names have in common.

        Those of one class are no more alike than others: each is made of operators of its own.
        """
        rows = np.flatnonzero(self._generated[before])
        columns = np.flatnonzero(self._generated[after])
        if not len(rows) or not len(columns):
            return
        if len(rows) * len(columns) > _MOST_GENERATED:
            scores[np.ix_(rows, columns)] = FORBIDDEN
            return
        scores[np.ix_(rows, columns)] = _alike(
            [self.table.kernels[row] for row in before[rows]],
            [self.table.kernels[row] for row in after[columns]],
        )


def _alike(before: list[Kernel], after: list[Kernel]) -> NDArray[np.int64]:
    """Return 170 to 240 for names with half to all of their words in common, else FORBIDDEN.

    The word behind 'triton' says whether a kernel is pointwise or reduces; it is the same in both.
    """
    words: dict[str, int] = {}
    sides = [[_words(kernel.family) for kernel in kernels] for kernels in (before, after)]
    for found in (*sides[0], *sides[1]):
        for word in found:
            words.setdefault(word, len(words))
    first, second = (_indicator(side, words) for side in sides)
    common = first @ second.T
    every = first.sum(axis=1)[:, None] + second.sum(axis=1)[None, :] - common
    shares = common / np.maximum(1, every)
    forms = [[kernel.name.split("_")[1] for kernel in kernels] for kernels in (before, after)]
    is_one_form = np.array(forms[0])[:, None] == np.array(forms[1])[None, :]
    scores = (100 + 140 * shares).astype(np.int64)
    return np.where(is_one_form & (shares >= _ALIKE), scores, FORBIDDEN)


def _words(name: str) -> frozenset[str]:
    return frozenset(_WORD.findall(name.lower())) - _COMMON_WORDS


def _indicator(side: list[frozenset[str]], words: dict[str, int]) -> NDArray[np.float32]:
    """Return a row for each name: 1 where it has the word of the column."""
    found = np.zeros((len(side), max(1, len(words))), np.float32)
    for row, names in enumerate(side):
        found[row, [words[word] for word in names]] = 1
    return found
