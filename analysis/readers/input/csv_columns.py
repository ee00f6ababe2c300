"""Cells of a large CSV, column by column: texts, few of them where they repeat, that become
numbers, times or positions of distinct texts when a reader asks.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fusescope.analysis.readers.input.times import Bools, Ints, Unit, exact_lines

if TYPE_CHECKING:
    import pyarrow as pa

BLANKS = " \t\r\n\x0b\x0c"
MISSING = frozenset({"", "n/a", "na", "null", "none", "-", "--"})
_REPEATS = 4  # times at least that a text stands in a part, to be numbered there
_MOST_DISTINCT = 65_536
_GROUP = 4  # a point, and the digits up to the next


@dataclass(frozen=True)
class Cells:
    """The cells of a column: positions in its distinct texts, which carry no blanks around them and
    are '' for what the file calls N/A."""

    codes: Ints
    values: list[str]

    @classmethod
    def of(cls, cells: Sequence[str]) -> Cells:
        """The column of these cells."""
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(cell, len(numbers)) for cell in cells]
        return cls(np.array(codes, dtype="int64"), list(numbers))

    def texts(self) -> list[str]:
        """The text of each cell."""
        return list(map(self.values.__getitem__, self.codes.tolist()))


class ArrowCells:
    """The cells of one column of a regular table, part by part: texts as they stand in the file.

    While they repeat, they are kept as numbers of distinct ones.
    """

    def __init__(self) -> None:
        self._parts: list[Any] = []  # numbers of distinct texts, then arrays of texts
        self._distinct: dict[str, int] = {}
        self.repeats = True  # so far: its cells may come as numbers of distinct ones
        self._ends = [0]  # of the parts, in rows

    def add(self, array: pa.Array) -> None:
        """The next cells."""
        self._ends.append(self._ends[-1] + len(array))
        part = array
        if self.repeats:
            told = array if hasattr(array, "dictionary") else array.dictionary_encode()
            new = len(told.dictionary)
            self.repeats = new * _REPEATS <= len(array) and len(self._distinct) < _MOST_DISTINCT
            if self.repeats:
                values = told.dictionary.to_pylist()
                numbers = _numbered(self._distinct, values)
                small = np.min_scalar_type(len(self._distinct))
                part = numbers.astype(small)[np.asarray(told.indices)]
            elif told is array:
                part = told.dictionary_decode()
        self._parts.append(part)

    @cached_property
    def cells(self) -> Cells:
        """As positions in distinct texts."""
        import pyarrow as pa

        known: dict[str, int] = {}
        numbers = _numbered(known, _cleaned(self._texts).to_pylist())
        found = [numbers[part] for part in self._parts if isinstance(part, np.ndarray)]
        if self._arrays:  # which follow those
            told = pa.chunked_array(self._arrays).dictionary_encode().unify_dictionaries()
            own = _numbered(known, _cleaned(told.chunk(0).dictionary).to_pylist())
            found += [own[np.asarray(chunk.indices)] for chunk in told.chunks]
        return Cells(_joined(found, "int64"), list(known))

    def numbers(self) -> npt.NDArray[np.float64] | None:
        """All cells as numbers, NaN for none; None where one needs to be looked at."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = []
        try:
            values = _floats(self._texts)
            for part in self._parts:
                if isinstance(part, np.ndarray):
                    found.append(values[part])
                    continue
                try:
                    found.append(np.asarray(pc.cast(part, pa.float64())))
                except pa.ArrowInvalid:
                    told = part.dictionary_encode()
                    found.append(_floats(told.dictionary)[np.asarray(told.indices)])
        except pa.ArrowInvalid:
            return None
        numbers: npt.NDArray[np.float64] = _joined(found, "float64")
        return numbers

    def ns(self, unit: Unit) -> tuple[Ints, Bools]:
        """Plain decimals as whole ns, and which are such; of others nothing is said."""
        numbers, known = _ns(self._texts, unit)
        found = [
            (numbers[part], known[part]) if isinstance(part, np.ndarray) else _ns(part, unit)
            for part in self._parts
        ]
        return _joined([one for one, _ in found], "int64"), _joined([is_ for _, is_ in found], bool)

    def forget(self) -> None:
        """Let go of all cells, which nobody asks for any more."""
        self._parts.clear()
        self._distinct.clear()
        for name in ("_texts", "cells"):
            vars(self).pop(name, None)

    def __len__(self) -> int:
        return self._ends[-1]

    def text(self, at: int) -> str:
        """One cell."""
        cell = self.raw(at).strip(BLANKS)
        return "" if cell.lower() in MISSING else cell

    def raw(self, at: int) -> str:
        """One cell as it stands in the file."""
        number = bisect.bisect_right(self._ends, at) - 1
        part, place = self._parts[number], at - self._ends[number]
        if isinstance(part, np.ndarray):
            return str(self._texts[int(part[place])].as_py())
        return str(part[place].as_py())

    def holding(self, letter: str) -> list[int]:
        """Positions of the cells with this letter, small or large."""
        is_held = self._where(lambda texts: _holds_letter(texts, letter))
        found: list[int] = np.flatnonzero(is_held).tolist()
        return found

    def holds_comma(self) -> bool:
        """True where a cell has a comma, or points between groups of digits."""
        return any(map(_holds_comma, (self._texts, *self._arrays)))

    def lacks_before_last(self) -> bool:
        """True where a cell that is not the last one says nothing."""
        return bool(self._where(_is_missing)[:-1].any())

    @property
    def _arrays(self) -> list[Any]:
        return [part for part in self._parts if not isinstance(part, np.ndarray)]

    @cached_property
    def _texts(self) -> pa.Array:
        import pyarrow as pa

        return pa.array(list(self._distinct), pa.string())

    def _where(self, is_one: Callable[[Any], Any]) -> Bools:
        """Which cells are such, as told of an array of texts."""
        of_texts = np.asarray(is_one(self._texts))
        told = [
            of_texts[part] if isinstance(part, np.ndarray) else np.asarray(is_one(part))
            for part in self._parts
        ]
        found: Bools = _joined(told, bool)
        return found


def _numbered(known: dict[str, int], values: Sequence[str]) -> Ints:
    """The number of each text; new ones are numbered as they come."""
    return np.array([known.setdefault(value, len(known)) for value in values], dtype="int64")


def _joined(parts: Sequence[np.ndarray], dtype: Any) -> Any:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)


def _floats(texts: Any) -> npt.NDArray[np.float64]:
    """Texts as numbers, NaN for none. Raises ArrowInvalid where one needs to be looked at."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cleaned = _cleaned(texts)
    cleaned = pc.if_else(pc.equal(cleaned, ""), pa.scalar(None, pa.string()), cleaned)
    found: npt.NDArray[np.float64] = pc.cast(cleaned, pa.float64()).to_numpy(zero_copy_only=False)
    return found


def _ns(texts: Any, unit: Unit) -> tuple[Ints, Bools]:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim(texts, characters=BLANKS).cast(pa.large_string())
    _, offsets, text = trimmed.buffers()
    if text is None:
        return np.zeros(len(trimmed), dtype="int64"), np.zeros(len(trimmed), dtype=bool)
    ends = np.frombuffer(offsets, dtype="int64")[trimmed.offset :][: len(trimmed) + 1]
    return exact_lines(np.frombuffer(text, dtype=np.uint8), ends[:-1], ends[1:], unit)


def _holds_letter(texts: Any, letter: str) -> Any:
    import pyarrow.compute as pc

    small, large = (pc.match_substring(texts, one) for one in (letter.lower(), letter.upper()))
    return pc.or_(small, large)


def _holds_comma(texts: Any) -> bool:
    import pyarrow.compute as pc

    text = texts.buffers()[2]
    if text is None:
        return False
    codes = np.frombuffer(text, dtype=np.uint8)
    points = np.flatnonzero(codes == ord("."))
    if not (codes == ord(",")).any() and not (np.diff(points) == _GROUP).any():
        return False
    is_grouped = pc.match_substring_regex(texts, r",|\d\.\d{3}\.\d{3}")
    return bool(pc.any(is_grouped).as_py())


def _cleaned(texts: Any) -> Any:
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim(texts, characters=BLANKS)
    return pc.if_else(_is_missing(trimmed), "", trimmed)


def _is_missing(texts: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    bare = pc.utf8_lower(pc.utf8_trim(texts, characters=BLANKS))
    return pc.is_in(bare, value_set=pa.array(sorted(MISSING)))
