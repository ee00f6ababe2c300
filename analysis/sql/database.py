"""A DuckDB in memory that reads the files it is given, and can do nothing else.

No other file, no network, no extension, no variable of Python, nothing written or spilt to a disk,
and no setting that a question could change: all of it is closed before the first question.
"""

from __future__ import annotations

import contextlib
import queue
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import MIB
from fusescope.analysis.sql import question
from fusescope.analysis.text import clean_text

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY_BYTES = 1024 * MIB
THREADS = 2
SECONDS = 60.0  # that a question may take
Row = tuple[Any, ...]
_BATCH = 64  # rows that are Python's at a time: one may have long texts
_WAITING = 4  # batches that wait to be taken
_END_S = 1.0  # DuckDB heeds an interruption within this, or only after a long time
_CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "''",
    "enable_external_access": "false",
}
_POINTED = re.compile(r"^LINE (\d+): (.*)\n( *)\^", re.MULTILINE)
_CHARS = 300
_HERE = 24  # characters of a statement that are quoted


@dataclass(frozen=True)
class Answer:
    """Columns of an answer, the name of the type of each, and its rows."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[Row]


@dataclass(frozen=True)
class Stream:
    """The same, whose rows come in batches while DuckDB finds them."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    batches: Iterator[list[Row]]


class Database:
    """Open until the end of the block. `file`, `table` and `view` are for whoever opens it,
    `stream` and `answer` are for questions of others. `seconds` is how long each may take."""

    def __init__(
        self,
        *,
        memory_bytes: int = MEMORY_BYTES,
        threads: int = THREADS,
        seconds: float = SECONDS,
    ) -> None:
        """Raises FuseScopeError without DuckDB or fsspec."""
        try:
            import duckdb
        except ImportError as error:
            raise FuseScopeError("package_missing", package="duckdb", extra="tables") from error
        try:
            from fusescope.analysis.sql.kept_files import PROTOCOL, KeptFiles
        except ImportError as error:
            raise FuseScopeError("package_missing", package="fsspec", extra="tables") from error
        self._duckdb = duckdb
        self._seconds = seconds
        self._files = KeptFiles()
        self._asking: _Asking | None = None
        self._database = duckdb.connect(":memory:")
        self._database.register_filesystem(self._files)
        self._set("memory_limit", f"'{max(1, memory_bytes // MIB)}MiB'")
        self._set("threads", str(threads))
        self._set("allowed_directories", f"['{PROTOCOL}:///']")
        for name, value in _CLOSED.items():
            self._set(name, value)
        self._set("lock_configuration", "true")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._end_asking()
        if not self.is_stuck:
            self._database.close()

    @property
    def is_stuck(self) -> bool:
        """Whether DuckDB does not heed that it was interrupted: only the end of the process ends
        it."""
        return self._asking is not None and self._asking.is_alive()

    @property
    def lost(self) -> frozenset[str]:
        """Entries whose files are damaged or gone, as far as questions wanted them."""
        return frozenset(self._files.lost)

    def file(self, name: str, path: Path, crc32: int, entry: str) -> str:
        """Let views read a file of an entry by a name such as `reader=1/hash=0a/calls.parquet`;
        the address by which they do."""
        return self._files.add(name, path, crc32, entry)

    def table(self, name: str, rows: pa.Table) -> None:
        """Make a table of these rows, in place of one of this name."""
        self._database.register("given", rows)
        self._database.execute(f'create or replace table "{name}" as select * from given')
        self._database.unregister("given")

    def view(self, name: str, select: str) -> None:
        """Make a view of this query of our own, in place of one of this name. Raises FuseScopeError
        where it reads what is damaged."""
        try:
            self._database.execute(f'create or replace view "{name}" as {select}')
        except self._duckdb.Error as error:
            raise self.told(error) from None

    def answer(self, text: str, maximum: int | None = None) -> Answer:
        """Return what a single SELECT gives, its first rows up to `maximum`. Raises FuseScopeError
        for anything else, and for one that cannot be answered."""
        stream = self.stream(text)
        rows: list[Row] = []
        for batch in stream.batches:
            rows += batch
            if maximum is not None and len(rows) >= maximum:
                break
        self._end_asking()
        return Answer(stream.columns, stream.types, rows[:maximum])

    def stream(self, text: str) -> Stream:
        """Return the same, row by row. Ends the question before. Raises FuseScopeError, also while
        the batches are taken."""
        self._end_asking()
        if self.is_stuck:
            raise FuseScopeError("sql_time", n=round(self._seconds))
        self._asking = _Asking(self, text, self._seconds)
        self._asking.start()
        described = self._asking.next()
        names = tuple(clean_text(str(column[0]), 120) for column in described)
        types = tuple(str(column[1]) for column in described)
        return Stream(names, types, self._asking.batches())

    def executed(self, text: str) -> Any:
        """Execute a question that was checked; DuckDB's result. Raises FuseScopeError or an error
        of DuckDB."""
        statements = self._database.extract_statements(text)
        if len(statements) != 1:
            raise FuseScopeError("sql_not_one", n=len(statements))
        if statements[0].type != self._duckdb.StatementType.SELECT:
            raise FuseScopeError("sql_not_a_question")
        [[serialised]] = self._database.execute("select json_serialize_sql(?)", [text]).fetchall()
        question.check(serialised)
        return self._database.execute(statements[0])

    def told(self, error: Exception) -> FuseScopeError:
        """Return what a user is told of an error of DuckDB."""
        errors = self._duckdb
        if isinstance(error, FuseScopeError):
            return error
        if isinstance(error, errors.OutOfMemoryException | MemoryError):
            return FuseScopeError("sql_memory")
        if isinstance(error, errors.PermissionException):
            return FuseScopeError("sql_elsewhere")
        if isinstance(error, errors.InterruptException):
            return FuseScopeError("sql_time", n=round(self._seconds))
        if isinstance(error, RecursionError):
            return FuseScopeError("sql_deep")
        return _wrong(str(error))

    def interrupt(self) -> None:
        """End what DuckDB does, as soon as it heeds that."""
        self._database.interrupt()

    def _end_asking(self) -> None:
        if self._asking is not None:
            self._asking.end()

    def _set(self, name: str, value: str) -> None:
        self._database.execute(f"set {name} = {value}")


class _Asking(threading.Thread):
    """A question that is being answered. DuckDB does not look at signals while it makes a plan, so
    it has a thread of its own, and whoever asked can be interrupted at any time."""

    def __init__(self, database: Database, text: str, seconds: float) -> None:
        super().__init__(daemon=True)
        self._database = database
        self._text = text
        self._left = seconds
        self._seconds = seconds
        self._found: queue.Queue[Any] = queue.Queue(_WAITING)
        self._is_ended = threading.Event()

    def run(self) -> None:
        """Put the description of the columns, the batches and None into the queue; an error in
        place of any of them."""
        try:
            result = self._database.executed(self._text)
            self._put(result.description or [])
            while not self._is_ended.is_set() and (rows := result.fetchmany(_BATCH)):
                self._put(rows)
            self._put(None)
        except Exception as error:  # noqa: BLE001 - whoever asked gets it
            self._put(self._database.told(error))

    def next(self) -> Any:
        """Return what comes next. Raises FuseScopeError, also if the time is up."""
        began = time.monotonic()
        try:
            found = self._found.get(timeout=max(0.0, self._left))
        except queue.Empty:
            raise FuseScopeError("sql_time", n=round(self._seconds)) from None
        self._left -= time.monotonic() - began
        if isinstance(found, FuseScopeError):
            raise found
        return found

    def batches(self) -> Iterator[list[Row]]:
        """Return the batches. Only the time in which they are waited for counts."""
        while (rows := self.next()) is not None:
            yield rows

    def end(self) -> None:
        """End it, if it has not ended."""
        self._is_ended.set()
        deadline = time.monotonic() + _END_S
        while self.is_alive() and time.monotonic() < deadline:
            self._database.interrupt()
            with contextlib.suppress(queue.Empty):
                self._found.get_nowait()
            self.join(0.02)

    def _put(self, found: object) -> None:
        while not self._is_ended.is_set():
            with contextlib.suppress(queue.Full):
                self._found.put(found, timeout=0.1)
                return


def quoted(text: object) -> str:
    """The text as a string of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def files(addresses: Sequence[str]) -> str:
    """The addresses as `read_parquet` takes them."""
    return "[" + ", ".join(quoted(address) for address in addresses) + "]"


def _wrong(text: str) -> FuseScopeError:
    """What DuckDB says, in a line, and where it points."""
    first = text.split("\n\n")[0].replace("\n", " ").strip()
    reason = clean_text(first, _CHARS, is_name=False)
    pointed = _POINTED.search(text)
    if pointed is None:
        return FuseScopeError("sql_wrong", reason=reason)
    head = len(f"LINE {pointed[1]}: ")
    here = clean_text(pointed[2][max(0, len(pointed[3]) - head) :][:_HERE], _HERE)
    return FuseScopeError("sql_wrong_at", reason=reason, line=int(pointed[1]), here=here)
