"""Cells of a large CSV at once, column by column, where every row is as regular as profilers write.

Each column is one array of texts that becomes numbers, times or positions of distinct texts when a
reader asks. What is not regular, csv_table reads row by row, with all repairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from analysis.readers.input.csv_totals import ALONE_EMPTY, names_summary
from analysis.readers.input.times import Bools, Ints, Unit, exact_lines

if TYPE_CHECKING:
    import pyarrow as pa

BLANKS = " \t\r\n\x0b\x0c"
MISSING = frozenset({"", "n/a", "na", "null", "none", "-", "--"})
_MIN_BYTES = 1024 * 1024  # below it rows are as quick as loading Arrow
_MAX_BYTES = 2**31 - 2  # Arrow reads them as one block


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
    """The cells of one column of a regular table."""

    def __init__(self, array: pa.Array) -> None:
        self._array = array

    @cached_property
    def cells(self) -> Cells:
        """As positions in distinct texts."""
        import pyarrow.compute as pc

        told = self._array.dictionary_encode()
        again = _cleaned(told.dictionary).dictionary_encode()
        codes = again.indices.take(told.indices)
        return Cells(
            np.asarray(pc.cast(codes, "int64")).astype("int64"), again.dictionary.to_pylist()
        )

    def numbers(self) -> npt.NDArray[np.float64] | None:
        """All cells as numbers, NaN for none; None where one needs to be looked at."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            return np.asarray(pc.cast(self._array, pa.float64()))
        except pa.ArrowInvalid:
            pass
        told = self._array.dictionary_encode()
        cleaned = _cleaned(told.dictionary)
        cleaned = pc.if_else(pc.equal(cleaned, ""), pa.scalar(None, pa.string()), cleaned)
        try:
            values = pc.cast(cleaned, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            return None
        found: npt.NDArray[np.float64] = values[np.asarray(told.indices)]
        return found

    def ns(self, unit: Unit) -> tuple[Ints, Bools]:
        """Plain decimals as whole ns, and which are such; of others nothing is said."""
        import pyarrow as pa
        import pyarrow.compute as pc

        trimmed = pc.utf8_trim(self._array, characters=BLANKS).cast(pa.large_string())
        _, offsets, text = trimmed.buffers()
        if text is None:
            return np.zeros(len(trimmed), dtype="int64"), np.zeros(len(trimmed), dtype=bool)
        ends = np.frombuffer(offsets, dtype="int64")[trimmed.offset :][: len(trimmed) + 1]
        return exact_lines(np.frombuffer(text, dtype=np.uint8), ends[:-1], ends[1:], unit)

    def __len__(self) -> int:
        return len(self._array)

    def text(self, at: int) -> str:
        """One cell."""
        cell = self._array[at].as_py().strip(BLANKS)
        return "" if cell.lower() in MISSING else cell

    def holding(self, letter: str) -> list[int]:
        """Positions of the cells with this letter, small or large."""
        import pyarrow.compute as pc

        is_held = pc.match_substring(self._array, letter, ignore_case=True)
        found: list[int] = np.flatnonzero(is_held.to_numpy(zero_copy_only=False)).tolist()
        return found

    def holds_comma(self) -> bool:
        """True where a cell has a comma, or points between groups of digits."""
        import pyarrow.compute as pc

        is_grouped = pc.match_substring_regex(self._array, r",|\d\.\d{3}\.\d{3}")
        return bool(pc.any(is_grouped).as_py())


def regular_columns(
    data: bytes, begin: int, heads: Sequence[str], delimiter: str
) -> list[ArrowCells] | None:
    """The columns of what follows the row of heads, from `begin` on; None where a row is not of the
    form that all are of, or might be something else than a row of its own, or no Arrow is there."""
    end = len(data)
    while end > begin and data[end - 1] in b"\r\n":
        end -= 1
    odd = b"\0" in data or data.count(b"\r", begin, end) != data.count(b"\r\n", begin, end)
    if not _MIN_BYTES <= end - begin < _MAX_BYTES or odd or len(heads) < 2:
        return None
    try:
        import pyarrow as pa
        import pyarrow.csv
    except ImportError:
        return None
    names = [str(number) for number in range(len(heads))]
    try:
        table = pa.csv.read_csv(
            pa.py_buffer(data).slice(begin, end - begin),
            read_options=pa.csv.ReadOptions(
                column_names=names, use_threads=False, block_size=end - begin + 1
            ),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    # As many rows as lines: none is empty, and no cell holds a line end.
    if table.num_rows != data.count(b"\n", begin, end) + 1:
        return None
    columns = [
        column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        for column in table.columns
    ]
    if _may_head(columns, heads) or _may_sum_up(columns):
        return None
    return [ArrowCells(column) for column in columns]


def _cleaned(texts: Any) -> Any:
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim(texts, characters=BLANKS)
    return pc.if_else(_is_missing(trimmed), "", trimmed)


def _is_missing(texts: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    bare = pc.utf8_lower(pc.utf8_trim(texts, characters=BLANKS))
    return pc.is_in(bare, value_set=pa.array(sorted(MISSING)))


def _may_head(columns: Sequence[Any], heads: Sequence[str]) -> bool:
    """True where a row begins or ends with what heads a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(sorted({head for head in heads if head}))
    return any(pc.any(pc.is_in(columns[at], value_set=known)).as_py() for at in (0, -1))


def _may_sum_up(columns: Sequence[Any]) -> bool:
    """True where the last row is named as a sum, or leaves out what all others have."""
    import pyarrow.compute as pc

    last = [column[-1].as_py().strip(BLANKS) for column in columns]
    if any(map(names_summary, last)):
        return True
    empty = [column for column, cell in zip(columns, last, strict=True) if not cell]
    return sum(not pc.any(_is_missing(column[:-1])).as_py() for column in empty) >= ALONE_EMPTY
