"""SQLite databases of profilers, opened in memory and only scanned.

A database is untrusted input: it is copied into memory (one too large for that is opened where it
lies, never to be written), no other file is opened by it or for it, only plain scans of ordinary
tables run (no view, trigger, index, virtual table, join or sort), and rows and steps of the engine
are bounded by the size of the file.
"""

from __future__ import annotations

import math
import re
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import MIB
from fusescope.analysis.readers.input.csv_table import column_key
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.sqlite_wal import WholeDatabase, with_log
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.text import clean_text

MAGIC = b"SQLite format 3\x00"
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 64 * 1024 * 1024),  # bytes of a text or BLOB
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1024 * 1024),
    (sqlite3.SQLITE_LIMIT_COLUMN, 2000),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0),
)
_MAX_TABLES = 5000
_CALLBACK_EVERY = 20_000  # steps of the engine
_MAX_IN_MEMORY = 2_000_000_000  # bytes; SQLite takes less than 2 GiB of memory at once
_HEADER_BYTES = 100
_MIN_ROW = 3  # bytes of the smallest row that holds anything
_ROOT_PAGE_KIND = 100  # offset of the kind of the schema's first page
_LEAF = 13

_MAX = 2**62  # sums of two such numbers still fit 64 bits
_CREATE = re.compile(r"\s*CREATE\s+TABLE\b", re.IGNORECASE)

Cell = int | float | str | None


class Table:
    """Columns of one table, all equally long, found by name whatever case and underscores.

    Cells are int, float, str or None; BLOBs are None. A column that the table lacks is all None.
    """

    def __init__(self, count: int, columns: dict[str, list[Cell]]) -> None:
        self._columns = columns
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __contains__(self, name: str) -> bool:
        return column_key(name) in self._columns

    def cells(self, *names: str) -> list[Cell]:
        """The first column with one of these names."""
        for name in names:
            if (column := self._columns.get(column_key(name))) is not None:
                return column
        return [None] * self._count

    def integers(self, *names: str) -> list[int | None]:
        """Cells as whole numbers below 2^62, also those that are stored as text."""
        return [integer(cell) for cell in self.cells(*names)]

    def numbers(self, *names: str) -> list[float | None]:
        """Cells as finite numbers, also those that are stored as text."""
        return [_number(cell) for cell in self.cells(*names)]

    def texts(self, *names: str) -> list[str | None]:
        """Cells as text, '' as None."""
        return [None if cell is None else str(cell) or None for cell in self.cells(*names)]


class Database:
    """The ordinary tables of an open database."""

    def __init__(
        self, connection: sqlite3.Connection, source: Source, whole: WholeDatabase
    ) -> None:
        self.files = list(whole.files)  # beside it, that were read with it
        self.notes = list(whole.notes)
        size = len(whole.data)
        self._connection = connection
        self._where = source.name
        self._max_rows = min(source.limits.events, size // _MIN_ROW + 1)
        self._limits = source.limits
        # Damage can make many rows share one long text: all of them together fit the file.
        self._bytes = _Left(2 * size + 2**20, self._where)
        connection.text_factory = self._text
        self._names = self._ordinary_tables()

    @property
    def names(self) -> list[str]:
        """Names of the ordinary tables."""
        return list(self._names.values())

    def has(self, *names: str) -> bool:
        """True when all these tables are there."""
        return all(name.lower() in self._names for name in names)

    def read(self, table: str, *columns: str) -> Table:
        """These columns of a table, as far as it has them; no rows where there is no such table.

        Raises FuseScopeError for a damaged table and for more rows than the limit.
        """
        name = self._names.get(table.lower())
        if name is None:
            return Table(0, {column_key(column): [] for column in columns})
        wanted = {column_key(column) for column in columns}
        found: dict[str, str] = {}
        for row in self._query(f"PRAGMA table_info({_quoted(name)})"):
            if column_key(str(row[1])) in wanted:
                found.setdefault(column_key(str(row[1])), str(row[1]))
        if not found:
            return Table(0, {})
        listed = ", ".join(_quoted(column) for column in found.values())
        cells: list[list[Cell]] = [[] for _ in found]
        count = 0
        self._bytes.renew()
        for row in self._query(f"SELECT {listed} FROM {_quoted(name)} NOT INDEXED"):
            count += 1
            if count > self._max_rows:
                self._refuse(name)
            for column, cell in zip(cells, row, strict=True):
                if isinstance(cell, bytes):
                    self._bytes.take(len(cell))
                    cell = None
                column.append(cell)
        return Table(count, dict(zip(found, cells, strict=True)))

    def strings(self, table: str, key: str = "id", value: str = "value") -> dict[int, str]:
        """A table of numbered strings as number -> text."""
        rows = self.read(table, key, value)
        return {
            number: text
            for number, text in zip(rows.integers(key), rows.texts(value), strict=True)
            if number is not None and text is not None
        }

    def _ordinary_tables(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for name, sql, root in self._query(
            "SELECT name, sql, rootpage FROM sqlite_master WHERE type = 'table'"
        ):
            if len(names) >= _MAX_TABLES:
                break
            is_plain = isinstance(sql, str) and _CREATE.match(sql)
            if is_plain and isinstance(name, str) and isinstance(root, int) and root > 0:
                names[name.lower()] = name
        return names

    def _query(self, sql: str) -> Iterator[tuple[Cell | bytes, ...]]:
        with _sqlite_errors(self._where):
            yield from self._connection.execute(sql)

    def _text(self, data: bytes) -> str:
        self._bytes.take(len(data))
        return data.decode("utf-8", errors="replace")

    def _refuse(self, table: str) -> None:
        if self._max_rows >= self._limits.events:
            raise FuseScopeError(
                "too_many_table_rows",
                where=self._where,
                table=clean_text(table, 60),
                limit=self._limits.events,
                raised=self._limits.raised("events"),
            )
        raise FuseScopeError("database_overfull", where=self._where)


@contextmanager
def open_database(source: Source) -> Iterator[Database]:
    """The database in `source` with the log beside it, read-only.

    Raises FuseScopeError when it is none or damaged.
    """
    whole = with_log(source)
    data = whole.data
    if not data.startswith(MAGIC):
        raise FuseScopeError("not_a_database", where=source.name)
    _check_whole(data, source.name)
    with closing(_connected(data, source)) as connection:
        _prepare(connection, len(data), source.name)
        yield Database(connection, source, whole)


def _check_whole(data: bytes, where: str) -> None:
    """Raises FuseScopeError for a database with fewer pages than it says to have: which rows they
    held is not known, so neither is what is missing. Its head says it where the two counters agree
    (sqlite.org/fileformat2.html#in_header_database_size)."""
    if len(data) < _HEADER_BYTES:
        raise FuseScopeError("database_cut_short", where=where, size=len(data), whole=_HEADER_BYTES)
    counter, pages, version = struct.unpack(">I", data[24:28]) + struct.unpack(
        ">I60xI", data[28:96]
    )
    page_size = struct.unpack(">H", data[16:18])[0]
    whole = pages * (65536 if page_size == 1 else page_size)
    if counter == version and len(data) < whole:
        raise FuseScopeError("database_cut_short", where=where, size=len(data), whole=whole)


def _connected(data: bytes, source: Source) -> sqlite3.Connection:
    if len(data) > _MAX_IN_MEMORY:
        return _on_disk(data, source)
    if data[18:20] != b"\x01\x01":  # write-ahead logging, whose log is laid over it already
        data = data[:18] + b"\x01\x01" + data[20:]
    connection = sqlite3.connect(":memory:")
    with _sqlite_errors(source.name):
        connection.deserialize(data)
    return connection


def _on_disk(data: bytes, source: Source) -> sqlite3.Connection:
    """The database where it lies; immutable, so SQLite makes and looks at no file beside it."""
    if source.on_disk is None or source.data is not source.content:
        raise FuseScopeError("database_packed", where=source.name, size_mib=len(data) // MIB)
    if data is not source.content:
        raise FuseScopeError("database_with_log", where=source.name, size_mib=len(data) // MIB)
    with _sqlite_errors(source.name):
        return sqlite3.connect(
            f"{source.on_disk.absolute().as_uri()}?mode=ro&immutable=1", uri=True
        )


def _prepare(connection: sqlite3.Connection, size: int, where: str) -> None:
    """Bounds for the engine, before anything of the database is looked at."""
    with _sqlite_errors(where):
        for limit, value in _LIMITS:
            connection.setlimit(limit, value)
        connection.set_progress_handler(_Budget(size), _CALLBACK_EVERY)
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            connection.execute(f"PRAGMA {setting}")


def schema_names(head: bytes, names: Sequence[bytes], foreign: Sequence[bytes] = ()) -> bool | None:
    """True when the schema names one of these tables, False when it names none, or a `foreign` one.

    None when the schema is not in these first bytes: one that outgrew its first page lies where
    the file had room, one that was never checkpointed in the log beside. False for what is no
    SQLite database.
    """
    if not head.startswith(MAGIC) or len(head) <= _ROOT_PAGE_KIND:
        return False
    if any(name in head for name in names):
        return True
    if any(name in head for name in foreign):
        return False
    if head[_ROOT_PAGE_KIND] != _LEAF or _schema_in_log(head):
        return None
    return False


def _schema_in_log(head: bytes) -> bool:
    """True for a database that holds no table yet: all of it is in its write-ahead log."""
    return head[18:20] == b"\x02\x02" and b"CREATE " not in head


def integer(cell: object) -> int | None:
    """A cell as a whole number below 2^62; None for what is none. Text and floats may hold one."""
    if type(cell) is int:
        return cell if -_MAX < cell < _MAX else None
    if isinstance(cell, float) and not (math.isfinite(cell) and cell == int(cell)):
        return None
    return exact_ns(cell, "ns")


def _number(cell: Cell) -> float | None:
    try:
        value = float(cell) if cell is not None and len(str(cell)) < 60 else math.nan
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) and abs(value) < 1e300 else None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class _Budget:
    """A progress handler: true, which stops the query, when the steps are used up."""

    def __init__(self, size: int) -> None:
        self._left = 4_000_000 // _CALLBACK_EVERY + 40 * size // _CALLBACK_EVERY

    def __call__(self) -> bool:
        self._left -= 1
        return self._left < 0


class _Left:
    """Bytes that may still be read of one table."""

    def __init__(self, maximum: int, where: str) -> None:
        self._maximum = self._left = maximum
        self._where = where

    def renew(self) -> None:
        self._left = self._maximum

    def take(self, count: int) -> None:
        """Raises FuseScopeError when the table holds more than its file."""
        self._left -= count
        if self._left < 0:
            raise FuseScopeError("database_overfull", where=self._where)


@contextmanager
def _sqlite_errors(where: str) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise FuseScopeError("memory_exhausted", where=where) from error
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        reason = clean_text(str(error), 120)
        raise FuseScopeError("database_unreadable", where=where, reason=reason) from error
