"""A DuckDB in memory that reads files below the given folders, and can do nothing else.

No other file, no network, no extension, no variable of Python, nothing spilt to a disk, and no
setting that a question could change: all of it is closed before the first question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from analysis.errors import FuseScopeError
from analysis.limits import MIB
from analysis.text import clean_text

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY_BYTES = 1024 * MIB
THREADS = 2
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
    rows: list[tuple[Any, ...]]


class Database:
    """Open until the end of the block. `table` and `view` are for whoever opens it, `answer` is for
    questions of others."""

    def __init__(
        self, folders: Sequence[Path], *, memory_bytes: int = MEMORY_BYTES, threads: int = THREADS
    ) -> None:
        """Raises FuseScopeError without DuckDB."""
        try:
            import duckdb
        except ImportError as error:
            raise FuseScopeError("package_missing", package="duckdb", extra="tables") from error
        self._duckdb = duckdb
        self._database = duckdb.connect(":memory:")
        self._set("memory_limit", f"'{max(1, memory_bytes // MIB)}MiB'")
        self._set("threads", str(threads))
        listed = ", ".join(quoted(f"{folder}/") for folder in folders)
        self._set("allowed_directories", f"[{listed}]")
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
        self._database.close()

    def table(self, name: str, rows: pa.Table) -> None:
        """Make a table of these rows."""
        self._database.register("given", rows)
        self._database.execute(f'create table "{name}" as select * from given')
        self._database.unregister("given")

    def view(self, name: str, select: str) -> None:
        """Make a view of this query of our own."""
        self._database.execute(f'create view "{name}" as {select}')

    def answer(self, question: str, maximum: int | None = None) -> Answer:
        """What a single SELECT gives, its first rows up to `maximum`. Raises FuseScopeError for
        anything else, and for one that cannot be answered."""
        errors = self._duckdb
        try:
            statements = self._database.extract_statements(question)
            if len(statements) != 1:
                raise FuseScopeError("sql_not_one", n=len(statements))
            if statements[0].type != errors.StatementType.SELECT:
                raise FuseScopeError("sql_not_a_question")
            result = self._database.execute(statements[0])
            described = result.description or []
            rows = result.fetchall() if maximum is None else result.fetchmany(maximum)
        except errors.OutOfMemoryException:
            raise FuseScopeError("sql_memory") from None
        except errors.PermissionException:
            raise FuseScopeError("sql_elsewhere") from None
        except errors.Error as error:
            raise _wrong(str(error)) from None
        names = tuple(clean_text(str(column[0]), 120) for column in described)
        return Answer(names, tuple(str(column[1]) for column in described), rows)

    def _set(self, name: str, value: str) -> None:
        self._database.execute(f"set {name} = {value}")


def quoted(text: object) -> str:
    """The text as a string of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def files(paths: Sequence[Path]) -> str:
    """The paths as `read_parquet` takes them."""
    return "[" + ", ".join(quoted(path) for path in paths) + "]"


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
