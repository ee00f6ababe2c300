"""A large CSV part by part, where every row is as regular as profilers write them.

What is in memory of the text is one part of it. What is not regular, csv_table reads row by row,
with all repairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fusescope.analysis.limits import MIB
from fusescope.analysis.readers.input.csv_columns import BLANKS, ArrowCells
from fusescope.analysis.readers.input.csv_totals import ALONE_EMPTY, names_summary
from fusescope.analysis.readers.input.source import Source

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 4 * MIB  # its cells fit the cache
_MIN_BYTES = MIB  # below it rows are as quick as loading Arrow
_MIN_PACKED_BYTES = 64 * 1024
_LONGEST_LINE = 64 * MIB
_LINE_ENDS = b"\r\n"


def may_be_large(source: Source) -> bool:
    """False for a file that is as quickly read row by row."""
    return source.size >= (_MIN_PACKED_BYTES if source.is_packed else _MIN_BYTES)


def regular_columns(
    blocks: Iterable[bytes], heads: Sequence[str], delimiter: str, most_rows: int
) -> list[ArrowCells] | None:
    """The columns of what follows the row of heads; None where a row is not of the form that all
    are of, or might be something else than a row of its own, for `most_rows` and more, for a short
    text, or where no Arrow is there."""
    try:
        import pyarrow as pa
        import pyarrow.csv
    except ImportError:
        return None
    if len(heads) < 2:
        return None
    columns = [ArrowCells() for _ in heads]
    known = pa.array(sorted({head for head in heads if head}))
    size = 0
    for text in _parts(blocks):
        arrays = _arrays(text, [bool(size) and column.repeats for column in columns], delimiter)
        if arrays is None or _may_head(arrays, known):
            return None
        for column, array in zip(columns, arrays, strict=True):
            column.add(array)
        size += len(text)
        if len(columns[0]) >= most_rows:
            return None
    return None if size < _MIN_BYTES or _may_sum_up(columns) else columns


def _parts(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The text in parts of whole lines, without the line end of the last; none at its end, and
    a part that is too long where there are none for long."""
    rest = b""
    for block in blocks:
        rest += block
        end = rest.rfind(b"\n")
        if end >= 0:
            begin, end = _bounds(rest, end)
            if begin < end:
                yield rest[begin:end]
                rest = rest[end:]
        elif len(rest) > _LONGEST_LINE:
            break
    begin, end = _bounds(rest, len(rest))
    if begin < end:
        yield rest[begin:end]


def _bounds(text: bytes, end: int) -> tuple[int, int]:
    """Where the lines of a text up to `end` begin, behind the end of the line before them, and end:
    more than one line end is an empty row, but for those at the end."""
    while end and text[end - 1] in _LINE_ENDS:
        end -= 1
    begin = 2 if text.startswith(b"\r\n") else int(text.startswith(b"\n"))
    return begin, end


def _arrays(text: bytes, repeat: Sequence[bool], delimiter: str) -> list[pa.Array] | None:
    """The columns of a part, those that `repeat` with each text once; None where it is odd."""
    import pyarrow as pa

    codes = np.frombuffer(text, dtype=np.uint8)
    is_odd = b"\0" in text or (b"\r" in text and text.count(b"\r") != text.count(b"\r\n"))
    if is_odd or len(text) > _LONGEST_LINE or np.count_nonzero(codes == ord('"')) % 2:
        return None
    numbered = pa.dictionary(pa.int32(), pa.string())
    types = {str(at): numbered if of else pa.string() for at, of in enumerate(repeat)}
    try:
        table = pa.csv.read_csv(
            pa.py_buffer(text),
            read_options=pa.csv.ReadOptions(
                column_names=list(types), use_threads=False, block_size=len(text) + 1
            ),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter),
            convert_options=pa.csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    # As many rows as lines: none is empty, and no cell holds a line end.
    if table.num_rows != np.count_nonzero(codes == ord("\n")) + 1:
        return None
    return [
        column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        for column in table.columns
    ]


def _may_head(arrays: Sequence[pa.Array], known: pa.Array) -> bool:
    """True where a row begins or ends with what heads a column."""
    import pyarrow.compute as pc

    texts = (getattr(arrays[at], "dictionary", arrays[at]) for at in (0, -1))
    return any(pc.any(pc.is_in(one, value_set=known)).as_py() for one in texts)


def _may_sum_up(columns: Sequence[ArrowCells]) -> bool:
    """True where the last row is named as a sum, or leaves out what all others have."""
    last = [column.raw(len(column) - 1).strip(BLANKS) for column in columns]
    if any(map(names_summary, last)):
        return True
    empty = [column for column, cell in zip(columns, last, strict=True) if not cell]
    return sum(not column.lacks_before_last() for column in empty) >= ALONE_EMPTY
