"""CSV files of profilers, found by their heads: name and unit of a column, never its position.

Profilers write tabs after numbers, quotes inside quotes, `N/A` for nothing, rows shorter than the
head, and a comma too many; all of that is read, and what had to be repaired is counted.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from analysis.errors import FuseScopeError
from analysis.readers.encoding import decoded, utf8
from analysis.readers.source import Source, clean_text
from analysis.readers.times import Unit, exact_ns
from analysis.trace import Diagnostic

MISSING = frozenset({"", "n/a", "na", "null", "none", "-", "--"})
_MOST_COLUMNS = 2000
_PREAMBLE_ROWS = 60
_DELIMITER_CHARS = 64 * 1024
_TIME_UNITS = {"s": "s", "ms": "ms", "us": "us", "ns": "ns", "µs": "us"}
_BLANKS = " \t\r\n\x0b\x0c"
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
_DECIMAL = re.compile(r"[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d*(?:[eE][-+]?\d+)?", re.ASCII)

csv.field_size_limit(2**31 - 1)  # a cell may hold a call stack; Limits bound the file


@dataclass(frozen=True)
class Column:
    """One column: its head as it stands in the file, name and unit out of it, and its cells.

    Cells carry no blanks around them, and '' for what the file calls N/A.
    """

    head: str
    name: str
    unit: str
    cells: list[str]
    decimal: str = "."

    def ns(self, unit: Unit = "us") -> list[int | None]:
        """Cells as whole ns by the unit in the head, by `unit` where that names none."""
        known = cast(Unit, _TIME_UNITS.get(self.unit.lower(), unit))
        return [exact_ns(self._plain(cell), known) if cell else None for cell in self.cells]

    def numbers(self) -> list[float | None]:
        """Cells as finite numbers, percent as a fraction; None where they are none."""
        scale = 0.01 if self.unit == "%" else 1.0
        known = {cell: _number(self._plain(cell), scale) for cell in set(self.cells)}
        return [known[cell] for cell in self.cells]

    def integers(self) -> list[int | None]:
        """Cells as whole numbers of at most 64 bits; None where they are none."""
        return [_integer(self._plain(cell)) for cell in self.cells]

    def _plain(self, cell: str) -> str:
        """A number without thousands separators and with a decimal point."""
        if "," not in cell:
            return cell
        if self.decimal == ",":
            return cell.replace(".", "").replace(",", ".") if _DECIMAL.fullmatch(cell) else cell
        return cell.replace(",", "") if _THOUSANDS.fullmatch(cell) else cell


@dataclass(frozen=True)
class CsvTable:
    """A table whose columns are found by name, whatever their order, case and spaces."""

    columns: tuple[Column, ...]
    rows: list[int]  # number of each row in the file, the first after the head is 1
    notes: list[Diagnostic] = field(default_factory=list)

    def find(self, *names: str) -> Column | None:
        """The first column with one of these names, in this order; unit and case do not count.

        A name may stand with its unit ('Time(us)') to tell columns of one name apart.
        """
        for name in names:
            wanted = column_key(name)
            bare = "(" not in name
            for column in self.columns:
                if column_key(column.name if bare else column.head) == wanted:
                    return column
        return None

    def required(self, where: str, *names: str) -> Column:
        """Like `find`. Raises FuseScopeError about the file `where` without such a column."""
        column = self.find(*names)
        if column is None:
            raise FuseScopeError(
                f"This table lacks its column {names[0]}",
                where=where,
                hint="Give the profiler's own file.",
            )
        return column

    def texts(self, *names: str) -> list[str | None]:
        """Cells of that column with None for missing ones; all None without the column."""
        column = self.find(*names)
        return [cell or None for cell in column.cells] if column else [None] * len(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def name_and_unit(head: str) -> tuple[str, str]:
    """'Duration (us)' -> ('Duration', 'us'); '' for no unit. In time linear in the length."""
    head = head.strip()
    name, bracket, unit = head.rpartition("(") if head.endswith(")") else (head, "", "")
    if not bracket or ")" in unit[:-1]:
        return head, ""
    return name.strip(), unit[:-1].strip()


def column_key(text: str) -> str:
    """What two spellings of a head share: 'Stream Id' and 'stream_id' are one column."""
    return re.sub(r"[\s_]+", "", text.strip(_BLANKS + '"')).lower()


def head_cells(head: bytes) -> list[list[str]]:
    """The first rows of a file as cells, for sniffing; empty where it is no CSV text."""
    text = utf8(head).decode("utf-8", errors="replace")
    if "\x00" in text[:4096]:
        return []
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)):
            rows.append([cell.strip(_BLANKS) for cell in row])
            if len(rows) >= _PREAMBLE_ROWS:
                break
    except csv.Error:
        pass
    return rows


def has_columns(head: bytes, *names: str | Sequence[str]) -> bool:
    """True when one of the first rows heads all these columns; a sequence is one of several."""
    groups = [
        [column_key(name)] if isinstance(name, str) else [column_key(one) for one in name]
        for name in names
    ]
    return any(
        all(any(key in keys for key in group) for group in groups) for keys in _head_keys(head)
    )


def read_csv(source: Source, is_head: Callable[[list[str]], bool] | None = None) -> CsvTable:
    """The table in `source`; lines before the row that `is_head` takes are passed over.

    Raises FuseScopeError for a table without head or rows, and for more rows than the limit.
    """
    notes: list[Diagnostic] = []
    text = decoded(utf8(source.content), notes)
    delimiter = _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    decimal = "," if delimiter == ";" else "."
    try:
        heads = _head(reader, is_head)
        if heads is None:
            raise FuseScopeError(
                "This table has no row of column heads",
                where=source.name,
                hint="Give the profiler's own file.",
            )
        ended = text.endswith(("\n", "\r"))
        cells, rows = _body(reader, len(heads), source, notes, ended=ended)
    except csv.Error as error:
        raise FuseScopeError(
            f"This table is damaged near line {reader.line_num}: {clean_text(str(error), 80)}",
            where=source.name,
            hint="Copy or record the file again.",
        ) from error
    columns = []
    for head, column in zip(heads, cells, strict=True):
        name, unit = name_and_unit(head)
        if head:
            columns.append(Column(clean_text(head, 80), name, unit, column, decimal))
    return CsvTable(tuple(columns), rows, notes)


def _delimiter(text: str) -> str:
    """What stands between cells: spreadsheets save ';' where ',' is the decimal sign, or tabs.

    The first line that holds any of them tells; profilers themselves write commas.
    """
    for line in text[:_DELIMITER_CHARS].splitlines()[:_PREAMBLE_ROWS]:
        line = line.partition("sep=")[2] or line
        if "," in line:
            return ","
        if counts := {mark: line.count(mark) for mark in ";\t" if mark in line}:
            return max(counts, key=lambda mark: counts[mark])
    return ","


@lru_cache(maxsize=256)
def _head_keys(head: bytes) -> tuple[frozenset[str], ...]:
    """What each of the first rows may head; every reader asks, and each file beside another."""
    return tuple(
        frozenset(
            key for cell in row for key in (column_key(cell), column_key(name_and_unit(cell)[0]))
        )
        for row in head_cells(head)
    )


def _head(
    reader: Iterable[list[str]], is_head: Callable[[list[str]], bool] | None
) -> list[str] | None:
    for number, row in enumerate(reader):
        heads = [cell.strip(_BLANKS) for cell in row[:_MOST_COLUMNS]]
        if any(heads) and (is_head is None or is_head(heads)):
            return heads
        if number >= _PREAMBLE_ROWS:
            break
    return None


def _body(
    reader: Iterable[list[str]],
    width: int,
    source: Source,
    notes: list[Diagnostic],
    *,
    ended: bool,
) -> tuple[list[list[str]], list[int]]:
    """Cells by column, and row numbers. Empty rows are passed over, odd ones counted.

    Without a line end (not `ended`) a last row shorter than all others was cut off in the middle:
    its last number may lack digits, so it is left out.
    """
    columns: list[list[str]] = [[] for _ in range(width)]
    rows: list[int] = []
    known: dict[str, str] = {}  # most cells repeat: one text each, looked at once
    short = long = last = 0
    fewest = width  # cells of the rows before the last
    short_row = long_row = 0
    for number, row in enumerate(reader, start=1):
        if not row or (len(row) == 1 and not row[0].strip(_BLANKS)):
            continue
        if len(rows) >= source.limits.events:
            raise FuseScopeError(
                f"This table has more than {source.limits.events} rows, the limit",
                where=source.name,
                hint="Record fewer steps.",
            )
        fewest, last = min(fewest, last or width), len(row)
        if len(row) < width:
            short, short_row = short + 1, short_row or number
            row = row + [""] * (width - len(row))
        elif len(row) > width and any(cell.strip(_BLANKS) for cell in row[width:]):
            long, long_row = long + 1, long_row or number
        for column, cell in zip(columns, row, strict=False):
            text = known.get(cell)
            if text is None:
                text = cell.strip(_BLANKS)
                text = known[cell] = "" if text.lower() in MISSING else text
            column.append(text)
        rows.append(number)
    if not ended and len(rows) > 1 and last < fewest:
        lost = sum(len(column.pop()) + 1 for column in columns[:last])
        for column in columns[last:]:
            column.pop()
        rows.pop()
        short -= 1
        notes.append(Diagnostic("warning", "cut_short", 1, "", {"bytes_lost": lost}))
    if short:
        notes.append(Diagnostic("info", "short_rows", short, f"row {short_row}"))
    if long:
        notes.append(Diagnostic("warning", "long_rows", long, f"row {long_row}"))
    return columns, rows


def _number(cell: str, scale: float) -> float | None:
    try:
        value = float(cell) if len(cell) < 60 else math.nan
    except ValueError:
        return None
    return value * scale if math.isfinite(value) and abs(value) < 1e300 else None


def _integer(cell: str) -> int | None:
    try:
        value = int(cell) if len(cell) < 25 else None
    except ValueError:
        number = _number(cell, 1.0)
        value = int(number) if number is not None and number == int(number) else None
    return value if value is not None and abs(value) < 2**62 else None
