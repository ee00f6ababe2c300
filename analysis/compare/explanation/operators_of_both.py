"""Operators of the framework that launch as many kernels on both sides, wherever these stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fusescope.analysis.align.similarity import SAME_CLASS
from fusescope.analysis.compare.explanation.sides import ExplainedSide

Key = tuple[str, str, str]  # operator, shapes of its inputs, class of the kernel


class OperatorsOfBoth:
    """The kernels of a unit of two sides by what launched them, with its shapes. Blocks may run in
    another order, and their kernels under other names: then what launched them says which of one
    side is which of the other."""

    def __init__(self, sides: tuple[ExplainedSide, ExplainedSide]) -> None:
        self._sides = sides
        self._keys = [_keys(side) for side in sides]

    @cached_property
    def _as_often(self) -> frozenset[Key]:
        """Return the operators that launch as many kernels on both sides."""
        first, second = (
            Counter(keys[at] for at in side.profile.operators.tolist())
            for keys, side in zip(self._keys, self._sides, strict=True)
        )
        return frozenset(key for key, count in first.items() if key[0] and second[key] == count)

    def _key(self, side: int, position: int) -> Key:
        return self._keys[side][int(self._sides[side].profile.operators[position])]

    def are_others(self, before: np.ndarray, after: np.ndarray, evidence: np.ndarray) -> np.ndarray:
        """Return for each pair of positions whether only the class of its kernels is the same, and
        each was launched by another operator, which the other side runs as often."""
        apart = np.zeros(len(before), dtype=bool)
        for at in np.flatnonzero(evidence == SAME_CLASS).tolist():
            first, second = self._key(0, before[at]), self._key(1, after[at])
            apart[at] = first != second and {first, second} <= self._as_often
        return apart

    def pair(
        self,
        before: np.ndarray,
        after: np.ndarray,
        alone: Sequence[Sequence[int]],
        partners: np.ndarray,
    ) -> list[int]:
        """Enter as partners the columns `alone` of operators of which all kernels stand alone, as
        many on both sides, and return those of the side before. The k-th of one side is the k-th of
        the other."""
        columns_by_key: list[dict[Key, list[int]]] = [{}, {}]
        for side, positions in enumerate((before, after)):
            for column in alone[side]:
                key = self._key(side, positions[column])
                columns_by_key[side].setdefault(key, []).append(column)
        counts = Counter(self._keys[0][at] for at in self._sides[0].profile.operators.tolist())
        moved: list[int] = []
        for key, columns in columns_by_key[0].items():
            others = columns_by_key[1].get(key, [])
            if key in self._as_often and len(columns) == len(others) == counts[key]:
                partners[columns], partners[others] = others, columns
                moved += columns
        return moved


def _keys(side: ExplainedSide) -> list[Key]:
    return [
        (launcher, shapes, kernel.op_class)
        for launcher, shapes, kernel in zip(side.launchers, side.inputs, side.kernels, strict=True)
    ]
