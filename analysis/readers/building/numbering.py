"""Numbers of values as they come: what columns of a large file hold instead of objects."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fusescope.analysis.readers.building.timetable import Ints

_MAX_DIGITS = 18  # of an id, which 64 bits hold
_SAME_TYPES = frozenset((int, str, type(None)))  # of these, what is equal is the same


class Numbered(dict[Hashable, int]):
    """Values numbered as they come."""

    def __missing__(self, value: Hashable) -> int:
        number = self[value] = len(self)
        return number

    def of(self, values: Sequence[Hashable]) -> Ints:
        """The number of each."""
        return np.fromiter(map(self.__getitem__, values), "int64", len(values))


class Distinct(Numbered):
    """Cells numbered as they come, those of different types apart."""

    def number(self, cells: Sequence[Any]) -> Ints:
        """The number of each."""
        return self.of(apart(cells)).astype("int32")

    def cells(self) -> list[Any]:
        """What the numbers stand for."""
        return [cell_of(key) for key in self]


class _Typed(NamedTuple):
    """A cell that is equal to none of another type: 1.0 is not 1, True neither."""

    kind: type
    cell: Any


def cell_of(key: Any) -> Any:
    """The cell that a key of `apart` stands for."""
    return key.cell if isinstance(key, _Typed) else key


def apart(cells: Sequence[Any]) -> Sequence[Any]:
    """Keys of cells, of which those of different types are different."""
    if _SAME_TYPES.issuperset(map(type, cells)):
        return cells
    return [cell if type(cell) in _SAME_TYPES else _Typed(type(cell), cell) for cell in cells]


def plain_id(cell: Any) -> Any:
    """An id as the number that it is: some versions of profilers write it in quotes in events, but
    not in the labels of processes and threads, or the other way around."""
    if type(cell) is not str or not cell.isdecimal() or not cell.isascii():
        return cell
    is_number = len(cell) <= _MAX_DIGITS and (cell[0] != "0" or cell == "0")
    return int(cell) if is_number else cell


def plain_ids(cells: Sequence[Any]) -> Sequence[Any]:
    """The same of many."""
    return cells if str not in set(map(type, cells)) else [plain_id(cell) for cell in cells]
