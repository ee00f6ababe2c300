"""Entries: a trace, with the others of its file, as a folder of Parquet files, and a description
that is sealed by a hash."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from fusescope.analysis.columnar.header import NAMES, TEXTS, Header
from fusescope.analysis.readers.building.processes import MAX_UNITS
from fusescope.analysis.trace import RunWord, Trace
from fusescope.app.store.settings import KEY
from fusescope.collectors.files.folder import FolderDraft

if TYPE_CHECKING:
    from fusescope.analysis.columnar.tables import Columnar

DESCRIPTION = "entry.json"
_DESCRIPTION_BYTES = 64 * 1024**2
_LEVEL = 1  # of zstd: higher ones take longer than they save
_ROW_GROUP = 1_000_000
# What is not an entry, or is damaged: Arrow's errors are ValueErrors and OSErrors.
UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, OSError)

# Whether the reader asked for other files beside: never; and there were none; and there were some.
Beside = Literal["never", "none", "some"]


class Unit(msgspec.Struct, frozen=True, omit_defaults=True):
    """Another process or device of the file, as an entry tells of its own trace."""

    header: Header
    rows: dict[str, int] = {}
    checks: dict[str, int] = {}
    run_ns: int | None = None
    run_word: RunWord = "runs"
    is_profiled: bool = True
    operators_ns: int = 0
    ends_early: bool = False


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a trace without its tables.

    `name` is that of its file, `added` when it was kept, ISO 8601 in UTC. `run_ns` is its
    typical un-profiled run, its typical profiled one where there are none, and `run_word` what that
    is called; None without runs. `operators_ns` is the time of all its operators. Of a variant of a
    recording, `recording` is the file of that, else ''.
    """

    key: str
    reader: int
    name: str
    added: str
    beside: Beside
    header: Header
    rows: dict[str, int] = {}
    checks: dict[str, int] = {}  # CRC-32 of the file of each table
    run_ns: int | None = None
    run_word: RunWord = "runs"
    is_profiled: bool = True
    operators_ns: int = 0
    model: str = ""
    machine: str = ""
    recording: str = ""
    ends_early: bool = False  # then neither time is known
    others: list[Unit] = []  # of the same file


class _Sealed(msgspec.Struct, frozen=True):
    sha256: str
    entry: msgspec.Raw


def write(draft: FolderDraft, entry: Entry, kept: Columnar, others: Sequence[Columnar]) -> None:
    """Fills the draft of a folder; what the entry says of its files is made up here. Raises
    OSError."""
    rows, checks = _written(draft, kept, 0)
    units = []
    for place, (unit, tables) in enumerate(zip(entry.others, others, strict=True), start=1):
        own, sums = _written(draft, tables, place)
        units.append(msgspec.structs.replace(unit, rows=own, checks=sums))
    told = msgspec.structs.replace(entry, rows=rows, checks=checks, others=units)
    body = msgspec.json.encode(told)
    sealed = _Sealed(hashlib.sha256(body).hexdigest(), msgspec.Raw(body))
    with draft.opened(DESCRIPTION) as file:
        file.write(msgspec.json.encode(sealed))


def file_of(name: str, place: int) -> str:
    """The name of the file with a table of the entry's own trace, at place 0, or of one of its
    others, from 1 on."""
    return f"{place}.{name}.parquet" if place else f"{name}.parquet"


def _written(
    draft: FolderDraft, kept: Columnar, place: int
) -> tuple[dict[str, int], dict[str, int]]:
    """Rows and checksums of the tables of a trace, once they are in the draft. Raises OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    checks = {}
    for name, table in kept.tables.items():
        with draft.opened(file_of(name, place)) as file:
            texts = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
            pq.write_table(
                table,
                file,
                compression="zstd",
                compression_level=_LEVEL,
                use_dictionary=False if name == TEXTS else texts,
                row_group_size=_ROW_GROUP,
            )
        checks[name] = zlib.crc32((draft.path / file_of(name, place)).read_bytes())
    return {name: len(table) for name, table in kept.tables.items()}, checks


def described(folder: Path) -> Entry:
    """The entry in a folder, without its tables. Raises one of UNREADABLE."""
    with (folder / DESCRIPTION).open("rb") as file:
        data = file.read(_DESCRIPTION_BYTES)
    sealed = msgspec.json.decode(data, type=_Sealed)
    body = bytes(sealed.entry)
    if hashlib.sha256(body).hexdigest() != sealed.sha256:
        raise ValueError("the description was changed")
    entry = msgspec.json.decode(body, type=Entry)
    if not KEY.fullmatch(entry.key) or folder.name != f"hash={entry.key}":
        raise ValueError("the description is of another entry")
    return entry


def trace(folder: Path, entry: Entry) -> Trace:
    """The trace in a folder, with the others of its file. Raises one of UNREADABLE."""
    if len(entry.others) >= MAX_UNITS:
        raise ValueError("more processes and devices than a file is taken apart into")
    others = tuple(_trace(folder, unit, place) for place, unit in enumerate(entry.others, start=1))
    return replace(_trace(folder, entry, 0), others=others)


def _trace(folder: Path, told: Entry | Unit, place: int) -> Trace:
    """Raises one of UNREADABLE."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fusescope.analysis.columnar.tables import Columnar, trace_of

    tables = {}
    for name, rows in told.rows.items():
        if name not in NAMES:
            raise ValueError("an unknown table")
        data = (folder / file_of(name, place)).read_bytes()
        if zlib.crc32(data) != told.checks[name]:
            raise ValueError(f"{name}: the file was changed")
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            tables[name] = file.read()
        if len(tables[name]) != rows:
            raise ValueError(f"{name}: other rows than it says")
    return trace_of(Columnar(told.header, tables))
