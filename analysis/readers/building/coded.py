"""Columns as arrays: texts as numbers of distinct ones, whole numbers with those that lack.

Both are sequences of what their cells are, so that a reader may also give lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from fusescope.analysis.readers.building.timetable import Ints

Bools = npt.NDArray[np.bool_]


class Coded(Sequence[object]):
    """Cells as positions in `values`, -1 for None."""

    def __init__(self, codes: Ints, values: Sequence[object]) -> None:
        self.codes = codes
        self.values = values

    @classmethod
    def of(cls, cells: Iterable[object]) -> Coded:
        """The column of these cells; equal ones are one value, the first of them."""
        if isinstance(cells, Coded):
            return cells
        if isinstance(cells, Whole):
            codes, values = pd.factorize(cells.numbers)
            return cls(np.where(cells.known, codes, -1), values.tolist())
        numbers: dict[object, int] = {None: -1}
        found = [numbers.setdefault(cell, len(numbers) - 1) for cell in cells]
        del numbers[None]
        return cls(np.array(found, dtype="int64"), list(numbers))

    @classmethod
    def same(cls, value: object, count: int) -> Coded:
        """A column of one value, or of None."""
        if value is None:
            return cls(np.full(count, -1, dtype="int64"), [])
        return cls(np.zeros(count, dtype="int64"), [value])

    @classmethod
    def joined(cls, parts: Sequence[Coded]) -> Coded:
        """The columns one after the other."""
        values = [value for part in parts for value in part.values]
        begins = np.cumsum([0, *(len(part.values) for part in parts)])
        codes = [
            np.where(part.codes >= 0, part.codes + begin, -1)
            for part, begin in zip(parts, begins[:-1], strict=True)
        ]
        return coded(np.concatenate(codes), values)

    def present(self) -> Coded:
        """The same with only the values that a cell has, in the order in which they first come."""
        if self._is_present():
            return self
        numbers, found = pd.factorize(self.codes)
        is_value = found >= 0
        renumbered = np.where(is_value, np.cumsum(is_value) - 1, -1)
        return Coded(renumbered[numbers], [self.values[at] for at in found[is_value].tolist()])

    def _is_present(self) -> bool:
        """True where the values are such already."""
        if not len(self.codes):
            return not self.values
        so_far = np.maximum.accumulate(self.codes)
        in_order = self.codes[0] <= 0 and (self.codes[1:] <= so_far[:-1] + 1).all()
        return bool(in_order and so_far[-1] == len(self.values) - 1)

    def mapped(self, make: Callable[[Any], object]) -> Coded:
        """The column of what `make` makes of each value that a cell has."""
        given = self.present()
        made = Coded.of(map(make, given.values))
        codes = np.where(given.codes >= 0, np.append(made.codes, -1)[given.codes], -1)
        return Coded(codes, made.values)

    def take(self, rows: Ints) -> Coded:
        """The column of these rows."""
        return Coded(self.codes[rows], self.values)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[object]:
        values = [*self.values, None]
        return map(values.__getitem__, self.codes.tolist())

    @overload
    def __getitem__(self, at: int) -> object: ...
    @overload
    def __getitem__(self, at: slice) -> Coded: ...
    def __getitem__(self, at: int | slice) -> object:
        if isinstance(at, slice):
            return Coded(self.codes[at], self.values)
        code = self.codes[at]
        return None if code < 0 else self.values[code]


class Whole(Sequence[int | None]):
    """Whole numbers; None where not `known`."""

    def __init__(self, numbers: Ints, known: Bools | None = None) -> None:
        self.numbers = numbers
        self.known = np.ones(len(numbers), dtype=bool) if known is None else known

    @classmethod
    def of(cls, cells: Iterable[object]) -> Whole | None:
        """The column of these cells; None where one is anything else than a number of 64 bits."""
        if isinstance(cells, Whole):
            return cells
        if isinstance(cells, np.ndarray) and cells.dtype == np.int64:
            return cls(cells)
        cells = cells if isinstance(cells, list) else list(cells)
        kinds = set(map(type, cells))
        if not kinds <= {int, type(None)}:
            return None
        try:
            if type(None) not in kinds:
                return cls(np.array(cells, dtype="int64"))
            known = np.array([cell is not None for cell in cells], dtype=bool)
            return cls(np.array([cell or 0 for cell in cells], dtype="int64"), known)
        except OverflowError:
            return None

    @property
    def array(self) -> pd.arrays.IntegerArray:
        """The same as pandas has it."""
        return pd.arrays.IntegerArray(self.numbers, ~self.known)

    def take(self, rows: Ints) -> Whole:
        """The column of these rows."""
        return Whole(self.numbers[rows], self.known[rows])

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[int | None]:
        cells = self.numbers.tolist()
        if self.known.all():
            return iter(cells)
        both = zip(cells, self.known.tolist(), strict=True)
        return (cell if is_known else None for cell, is_known in both)

    @overload
    def __getitem__(self, at: int) -> int | None: ...
    @overload
    def __getitem__(self, at: slice) -> Whole: ...
    def __getitem__(self, at: int | slice) -> object:
        if isinstance(at, slice):
            return Whole(self.numbers[at], self.known[at])
        return int(self.numbers[at]) if self.known[at] else None


Cells = Coded | Whole | np.ndarray | list[object]


def coded(codes: Ints, values: Iterable[object]) -> Coded:
    """A column of values of which some are None or equal; -1 stands for None."""
    of = Coded.of(values)
    return Coded(np.append(of.codes, -1)[codes], of.values)


def taken(cells: Cells, rows: Ints) -> Cells:
    """The column of these rows."""
    if isinstance(cells, Coded | Whole):
        return cells.take(rows)
    if isinstance(cells, np.ndarray):
        return cells[rows]
    return [cells[row] for row in rows.tolist()]


def joined(parts: Sequence[Cells]) -> Cells:
    """Columns of one kind, one after the other."""
    if isinstance(parts[0], Coded):
        return Coded.joined([Coded.of(part) for part in parts])
    if isinstance(parts[0], Whole):
        wholes = [part for part in parts if isinstance(part, Whole)]
        numbers, known = ([getattr(w, name) for w in wholes] for name in ("numbers", "known"))
        return Whole(np.concatenate(numbers), np.concatenate(known))
    return np.concatenate([np.asarray(part) for part in parts])


def distinct_rows(columns: Sequence[Ints], counts: Sequence[int], rows: int) -> tuple[Ints, Ints]:
    """For each row the number of its combination of codes, and the row in which each first comes.

    Codes are from -1 on; `counts` says how many values each column has.
    """
    keys, width = np.zeros(rows, dtype="int64"), 1
    for codes, count in zip(columns, counts, strict=True):
        if width * (count + 1) >= 2**62:
            keys, found = pd.factorize(keys)
            width = len(found)
        keys = keys * (count + 1) + (codes + 1)
        width *= count + 1
    numbers, found = pd.factorize(keys)
    numbers = numbers.astype("int64")
    first = np.empty(len(found), dtype="int64")
    first[numbers[::-1]] = np.arange(rows - 1, -1, -1)
    return numbers, first


def exact_sum(numbers: Ints) -> int:
    """The sum, however large: that of 64 bits could overflow."""
    return (int((numbers >> 31).sum()) << 31) + int((numbers & (2**31 - 1)).sum())


def listed(cells: Cells) -> Cells:
    """Numbers as a list, with None for those that lack."""
    if not (isinstance(cells, np.ndarray) and cells.dtype == np.float64):
        return cells
    return [None if math.isnan(number) else number for number in cells.tolist()]


class Combined:
    """Columns whose cells are looked at together, each combination once."""

    def __init__(self, *columns: Coded) -> None:
        self._columns = columns
        self._numbers, self._first = distinct_rows(
            [column.codes for column in columns],
            [len(column.values) for column in columns],
            len(columns[0]),
        )

    def made(self, make: Callable[..., object]) -> Coded:
        """The column of what `make` makes of the cells of a row."""
        return self.all(lambda *lists: [make(*row) for row in zip(*lists, strict=True)])

    def all(self, make: Callable[..., Sequence[object]]) -> Coded:
        """The same, of all combinations at once."""
        cells = [list(column.take(self._first)) for column in self._columns]
        return coded(self._numbers, make(*cells))
