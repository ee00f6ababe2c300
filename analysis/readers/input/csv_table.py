"""CSV files of profilers, found by their heads: name and unit of a column, never its position.

Profilers write tabs after numbers, quotes inside quotes, `N/A` for nothing, rows shorter than the
head, and a comma too many; all of that is read, and what had to be repaired is counted.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages.errors.places import AT_LINE, AT_ROW
from fusescope.analysis.messages.places import in_row
from fusescope.analysis.readers.input.csv_columns import BLANKS, MISSING, ArrowCells, Cells
from fusescope.analysis.readers.input.csv_numbers import (
    POINT,
    Marks,
    column_marks,
    counts_time,
    plain,
    time_unit,
    unit_of,
)
from fusescope.analysis.readers.input.csv_regular import BLOCK_BYTES, may_be_large, regular_columns
from fusescope.analysis.readers.input.csv_rows import CsvRows
from fusescope.analysis.readers.input.csv_surplus import joined_names
from fusescope.analysis.readers.input.csv_totals import ends_in_summary
from fusescope.analysis.readers.input.encoding import decoded, utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import Bools, Ints, Unit, exact_ns
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, noted

_MAX_COLUMNS = 20_000  # counters of a GPU, each for every instance of its unit: 2,718 on an MI300
_PREAMBLE_ROWS = 60
_DELIMITER_CHARS = 64 * 1024
_HEAD_BYTES = 4 * _DELIMITER_CHARS
_LARGEST = 1e300
_MOSTLY = 0.5
_A_HEAD = 0.6  # of a row's cells that head the table, for the row to be another row of heads

csv.field_size_limit(2**31 - 1)  # a cell may hold a call stack; Limits bound the file


@dataclass(frozen=True)
class Column:
    """One column: its head as it stands in the file, name and unit out of it, and its cells."""

    head: str
    name: str
    unit: str
    told: list[str] | ArrowCells
    marks: Marks = POINT

    @cached_property
    def cells(self) -> list[str]:
        """The texts without blanks around them, '' for what the file calls N/A."""
        return self.told if isinstance(self.told, list) else self.coded.texts()

    @cached_property
    def coded(self) -> Cells:
        """The same as positions in distinct texts."""
        return Cells.of(self.told) if isinstance(self.told, list) else self.told.cells

    def is_empty(self) -> bool:
        """True where no cell says anything."""
        return not any(self.told) if isinstance(self.told, list) else not any(self.coded.values)

    def ns(self, unit: Unit = "us") -> list[int | None]:
        """Cells as whole ns by the unit in the head, by `unit` where that names none.

        All None where it names one that is not known; `CsvTable.times` refuses that.
        """
        numbers, known = self.whole_ns(unit)
        if known.all():
            return numbers.tolist()  # type: ignore[no-any-return]
        both = zip(numbers.tolist(), known.tolist(), strict=True)
        return [number if is_known else None for number, is_known in both]

    def whole_ns(self, unit: Unit = "us") -> tuple[Ints, Bools]:
        """The same as numbers, and which of them are known."""
        count = len(self)
        unit_of_cells = time_unit(self.unit) if self.unit else unit
        if unit_of_cells is None:
            return np.zeros(count, dtype="int64"), np.zeros(count, dtype=bool)
        numbers, known = np.zeros(count, dtype="int64"), np.zeros(count, dtype=bool)
        if self.marks.point == "decimal" and isinstance(self.told, ArrowCells):
            numbers, known = self.told.ns(unit_of_cells)
        for at in np.flatnonzero(~known).tolist():
            cell = self.text(at)
            ns = exact_ns(plain(cell, self.marks), unit_of_cells) if cell else None
            if ns is not None:
                numbers[at], known[at] = ns, True
        return numbers, known

    def text(self, at: int) -> str:
        """One cell."""
        return self.told[at] if isinstance(self.told, list) else self.told.text(at)

    def holding(self, letter: str) -> list[int]:
        """Positions of the cells with this letter, small or large."""
        if isinstance(self.told, ArrowCells):
            return self.told.holding(letter)
        return [at for at, cell in enumerate(self.told) if letter in cell.lower()]

    def numbers(self) -> list[float | None]:
        """Cells as finite numbers, percent as a fraction; None where they are none."""
        if isinstance(self.told, list):
            scale = self._scale
            known = {cell: _number(plain(cell, self.marks), scale) for cell in set(self.told)}
            return [known[cell] for cell in self.told]
        return [None if math.isnan(number) else number for number in self.floats().tolist()]

    def floats(self) -> npt.NDArray[np.float64]:
        """The same as an array, NaN for none."""
        if isinstance(self.told, ArrowCells) and self.marks.point == "decimal":
            numbers = self.told.numbers()
            if numbers is not None:
                numbers[~(np.abs(numbers) < _LARGEST)] = math.nan
                return numbers if self._scale == 1.0 else numbers * self._scale
        scale = self._scale
        values = [_number(plain(cell, self.marks), scale) for cell in self.coded.values]
        found: npt.NDArray[np.float64] = np.array(values, dtype="float64")[self.coded.codes]
        return found

    def forget(self) -> None:
        """Let go of the cells of a large table, which nobody asks for any more."""
        if isinstance(self.told, ArrowCells):
            self.told.forget()
            vars(self).pop("coded", None)

    def integers(self) -> list[int | None]:
        """Cells as whole numbers of at most 64 bits; None where they are none."""
        if isinstance(self.told, list):
            return [_integer(plain(cell, self.marks)) for cell in self.told]
        values = [_integer(plain(cell, self.marks)) for cell in self.coded.values]
        return list(map(values.__getitem__, self.coded.codes.tolist()))

    @property
    def _scale(self) -> float:
        return 0.01 if self.unit == "%" else 1.0

    def __len__(self) -> int:
        return len(self.told)


@dataclass(frozen=True)
class CsvTable:
    """A table whose columns are found by name, whatever their order, case and spaces."""

    columns: tuple[Column, ...]
    rows: Sequence[int]  # number of each row in the file, the first after the head is 1
    notes: list[Diagnostic] = field(default_factory=list)
    file: str = ""

    def find(self, *names: str) -> Column | None:
        """The first column with one of these names, in this order; unit and case do not count.

        A name may stand with its unit ('Time(us)') to tell columns of one name apart.
        """
        for name in names:
            for column in self.columns:
                if _is_named(column, name):
                    return column
        return None

    def required(self, *names: str) -> Column:
        """Like `find`. Raises FuseScopeError without such a column."""
        column = self.find(*names)
        if column is None:
            raise FuseScopeError("column_missing", where=self.file, column=names[0])
        return column

    def times(self, *names: str, unit: Unit = "us", named: bool = False) -> list[int | None]:
        """Cells of that column as whole ns; all None without the column.

        `unit` is that of a head without one, which is noted where heads of the format name theirs
        (`named`). Of columns that differ in their unit, one of a known unit is taken. Raises
        FuseScopeError for a unit that is not known.
        """
        column, unit = self._times(names, unit, named=named)
        return column.ns(unit) if column is not None else [None] * len(self)

    def whole_times(
        self, *names: str, unit: Unit = "us", named: bool = False
    ) -> tuple[Ints, Bools] | None:
        """The same as numbers, and which of them are known; None without the column."""
        column, unit = self._times(names, unit, named=named)
        return column.whole_ns(unit) if column is not None else None

    def _times(
        self, names: Sequence[str], unit: Unit, *, named: bool
    ) -> tuple[Column | None, Unit]:
        columns = [one for name in names for one in self.columns if _is_named(one, name)]
        known = (one for one in columns if one.unit and time_unit(one.unit))
        column = next(known, columns[0] if columns else None)
        if column is not None:
            unit_of(column.unit, column.head, self.file, unit)
            if named and not column.unit and not column.is_empty():
                values = {"unit": unit}
                self.notes.append(Diagnostic("warning", "unit_assumed", 1, column.head, values))
        return column, unit

    def texts(self, *names: str) -> list[str | None]:
        """Cells of that column with None for missing ones; all None without the column."""
        column = self.find(*names)
        return [cell or None for cell in column.cells] if column else [None] * len(self)

    def integers(self, *names: str) -> list[int | None]:
        """Cells of that column as whole numbers; all None without the column."""
        column = self.find(*names)
        return column.integers() if column else [None] * len(self)

    def counts(self, *names: str) -> list[int | None]:
        """The same where only numbers from 1 on mean anything."""
        return [n if n is not None and n > 0 else None for n in self.integers(*names)]

    def numbers(self, *names: str) -> list[float | None]:
        """Cells of that column as finite numbers; all None without the column."""
        column = self.find(*names)
        return column.numbers() if column else [None] * len(self)

    def ns(self, *names: str, unit: Unit = "us") -> list[int | None]:
        """Cells of that column as whole ns; all None without it or where its unit is not known."""
        column = self.find(*names)
        return column.ns(unit) if column else [None] * len(self)

    def __len__(self) -> int:
        return len(self.rows)


def _is_named(column: Column, name: str) -> bool:
    return column_key(column.head if "(" in name else column.name) == column_key(name)


def name_and_unit(head: str) -> tuple[str, str]:
    """'Duration (us)' -> ('Duration', 'us'); '' for no unit. In time linear in the length."""
    head = head.strip()
    name, bracket, unit = head.rpartition("(") if head.endswith(")") else (head, "", "")
    if not bracket or ")" in unit[:-1]:
        return head, ""
    return name.strip(), unit[:-1].strip()


def column_key(text: str) -> str:
    """What two spellings of a head share: 'Stream Id' and 'stream_id' are one column."""
    return re.sub(r"[\s_]+", "", text.strip(BLANKS + '"')).lower()


def head_cells(head: bytes) -> list[list[str]]:
    """The first rows of a file as cells, for sniffing; empty where it is no CSV text."""
    text = utf8(head).decode("utf-8", errors="replace")
    if "\x00" in text[:4096]:
        return []
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)):
            rows.append([cell.strip(BLANKS) for cell in row])
            if len(rows) >= _PREAMBLE_ROWS:
                break
    except csv.Error:
        pass
    return rows


def has_columns(head: bytes, *names: str | Sequence[str]) -> bool:
    """True when one of the first rows heads all these columns; a sequence is one of several."""
    groups = _groups(names)
    return any(_heads(keys, groups) for keys in _head_keys(head))


def is_head(cells: Iterable[str], *names: str | Sequence[str]) -> bool:
    """True for a row that heads all these columns; a sequence is one of several."""
    return _heads(_keys(cells), _groups(names))


def _groups(names: Sequence[str | Sequence[str]]) -> list[list[str]]:
    listed = ([name] if isinstance(name, str) else name for name in names)
    return [[column_key(name) for name in group] for group in listed]


def _heads(keys: frozenset[str], groups: list[list[str]]) -> bool:
    return all(any(key in keys for key in group) for group in groups)


def _keys(cells: Iterable[str]) -> frozenset[str]:
    """What the cells of a row may head, with their units and without."""
    names = set(cells)
    names |= {name_and_unit(cell)[0] for cell in names if cell.rstrip().endswith(")")}
    return frozenset(map(column_key, names))


def read_csv(source: Source, *heads: str | Sequence[str]) -> CsvTable:
    """The table in `source`; lines before the row that heads all of `heads` are passed over.

    Raises FuseScopeError for a table without head or rows, and for more rows than the limit.
    """
    notes: list[Diagnostic] = []
    table = _regular(source, heads) if may_be_large(source) else None
    if table is not None:
        return table
    text = decoded(utf8(source.content), notes)
    delimiter = _delimiter(text)
    reader = CsvRows(text, delimiter)
    try:
        row = _head(reader, heads)
        if row is None:
            raise FuseScopeError("table_without_head", where=source.name)
        reader.width = len(row)
        ended = text.endswith(("\n", "\r"))
        cells, rows = _body(reader, row, source, notes, delimiter, ended=ended)
    except csv.Error as error:
        raise FuseScopeError(
            "table_damaged",
            where=AT_LINE.of(file=source.name, line=reader.line),
            reason=clean_text(str(error), 80),
        ) from error
    notes += reader.notes()
    named = [(head, *name_and_unit(head), column) for head, column in zip(row, cells, strict=True)]
    marks = column_marks([told[1:] for told in named], delimiter, notes)
    columns = [
        Column(clean_text(head, 80), name, unit, column, meaning)
        for (head, name, unit, column), meaning in zip(named, marks, strict=True)
        if head
    ]
    _check_twins(columns, notes)
    return CsvTable(tuple(columns), rows, notes, source.name)


def _regular(source: Source, wanted: Sequence[str | Sequence[str]]) -> CsvTable | None:
    """The table where it is large and all its rows are regular: the same, read part by part."""
    blocks = source.blocks(BLOCK_BYTES)
    first = next(blocks, b"")
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    first = first.removeprefix(codecs.BOM_UTF8)
    text = first[:_HEAD_BYTES].decode("utf-8", errors="replace")
    delimiter = _delimiter(text)
    reader = CsvRows(text, delimiter)
    try:
        heads = _head(reader, wanted)
    except csv.Error:
        return None
    lines = text.splitlines(keepends=True)[: reader.line] if heads is not None else []
    begin = sum(len(line.encode()) for line in lines)
    is_odd = "\ufffd" in "".join(lines) or not lines or not lines[-1].endswith("\n")
    if heads is None or is_odd or len(heads) >= _MAX_COLUMNS or reader.notes():
        return None
    rows = itertools.chain([first[begin:]], blocks)
    del first
    cells = regular_columns(rows, heads, delimiter, source.limits.events)
    if cells is None:
        return None
    named = [
        (head, *name_and_unit(head), column) for head, column in zip(heads, cells, strict=True)
    ]
    keys = [column_key(head) for head in heads if head]
    is_time = [counts_time(name, unit) for _, name, unit, _ in named]
    if len(set(keys)) < len(keys) or any(
        column.holds_comma() for column, counts in zip(cells, is_time, strict=True) if counts
    ):
        return None
    marks = column_marks([(name, unit, []) for _, name, unit, _ in named], delimiter, [])
    columns = [
        Column(clean_text(head, 80), name, unit, column, meaning)
        for (head, name, unit, column), meaning in zip(named, marks, strict=True)
        if head
    ]
    return CsvTable(tuple(columns), range(1, len(cells[0]) + 1), [], source.name)


def _check_twins(columns: list[Column], notes: list[Diagnostic]) -> None:
    """A note on columns of one head that say different things, of which the first is read."""
    first: dict[str, Column] = {}
    twins = [
        one.head
        for one in columns
        if first.setdefault(column_key(one.head), one) is not one
        and one.cells != first[column_key(one.head)].cells
    ]
    notes += noted("warning", "twin_columns", twins)


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
    return tuple(_keys(row) for row in head_cells(head))


def _head(reader: Iterable[list[str]], wanted: Sequence[str | Sequence[str]]) -> list[str] | None:
    for number, row in enumerate(reader):
        heads = [cell.strip(BLANKS) for cell in row[:_MAX_COLUMNS]]
        if any(heads) and is_head(heads, *wanted):
            return heads
        if number >= _PREAMBLE_ROWS:
            break
    return None


def _body(
    reader: Iterable[list[str]],
    heads: list[str],
    source: Source,
    notes: list[Diagnostic],
    delimiter: str,
    *,
    ended: bool,
) -> tuple[list[list[str]], list[int]]:
    """Cells by column, and row numbers. Empty rows are passed over, odd ones counted.

    Without a line end (not `ended`) a last row shorter than all others was cut off in the middle:
    its last number may lack digits, so it is left out.
    """
    width = len(heads)
    columns: list[list[str]] = [[] for _ in range(width)]
    rows: list[int] = []
    known_heads = {head for head in heads if head}
    again: list[int] = []
    known: dict[str, str] = {}  # most cells repeat: one text each, looked at once
    surplus: dict[int, list[str]] = {}  # rows with more cells than heads, by position
    short = last = 0
    fewest = width  # cells of the rows before the last
    short_row = 0
    last_rows: deque[list[str]] = deque(maxlen=2)  # as they stand in the file
    for number, row in enumerate(reader, start=1):
        if not row or (len(row) == 1 and not row[0].strip(BLANKS)):
            continue
        source.limits.check_events(len(rows) + 1, "more_rows_than_limit", source.name)
        may_head = row[0] in known_heads or row[-1] in known_heads
        if may_head and _is_head_row(row, heads, number, source):
            again.append(number)
            continue
        fewest, last = min(fewest, last or width), len(row)
        if len(row) < width:
            short, short_row = short + 1, short_row or number
            row = row + [""] * (width - len(row))
        elif len(row) > width and any(cell.strip(BLANKS) for cell in row[width:]):
            surplus[len(rows)] = row
        for column, cell in zip(columns, row, strict=False):
            text = known.get(cell)
            if text is None:
                text = cell.strip(BLANKS)
                text = known[cell] = "" if text.lower() in MISSING else text
            column.append(text)
        rows.append(number)
        last_rows.append(row)
    if not ended and len(rows) > 1 and last < fewest:
        lost = sum(len(column.pop()) + 1 for column in columns[:last])
        for column in columns[last:]:
            column.pop()
        rows.pop()
        last_rows.pop()
        short -= 1
        notes.append(Diagnostic("warning", "cut_short", 1, "", {"bytes_lost": lost}))
    if last_rows and ends_in_summary(columns, [not cell.strip(BLANKS) for cell in last_rows[-1]]):
        notes.append(Diagnostic("warning", "total_row", 1, in_row(rows.pop())))
        for column in columns:
            column.pop()
    notes += noted("warning", "heads_again", [in_row(number) for number in again])
    surplus = {at: row for at, row in surplus.items() if at < len(rows)}
    joined = joined_names(columns, surplus, delimiter)
    for at, cells in joined.items():
        for column, cell in zip(columns, cells, strict=True):
            text = cell.strip(BLANKS)
            column[at] = "" if text.lower() in MISSING else text
    notes += noted("info", "names_with_commas", [in_row(rows[at]) for at in joined])
    long = [rows[at] for at in surplus if at not in joined]
    if len(long) > _MOSTLY * len(rows):
        raise FuseScopeError(
            "long_rows",
            where=AT_ROW.of(file=source.name, row=long[0]),
            n=len(long),
            total=len(rows),
        )
    notes += noted("info", "short_rows", short, in_row(short_row))
    notes += noted("warning", "long_rows", [in_row(number) for number in long])
    return columns, rows


def _is_head_row(row: list[str], heads: list[str], number: int, source: Source) -> bool:
    """True for the row of heads once more. Raises FuseScopeError for that of another table."""
    cells = [cell.strip(BLANKS) for cell in row]
    if cells[: len(heads)] == heads and not any(cells[len(heads) :]):
        return True
    named = [cell for cell in cells if cell]
    alike = sum((Counter(named) & Counter(heads)).values())
    if len(named) < 3 or alike < _A_HEAD * len(named):
        return False
    raise FuseScopeError("two_tables", where=AT_ROW.of(file=source.name, row=number))


def _number(cell: str, scale: float) -> float | None:
    try:
        value = float(cell) if len(cell) < 60 else math.nan
    except ValueError:
        return None
    return value * scale if math.isfinite(value) and abs(value) < _LARGEST else None


def _integer(cell: str) -> int | None:
    try:
        value = int(cell) if len(cell) < 25 else None
    except ValueError:
        number = _number(cell, 1.0)
        value = int(number) if number is not None and number == int(number) else None
    return value if value is not None and abs(value) < 2**62 else None
