"""Questions in SQL about everything in the library: docs/sql.md has the tables."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from fusescope.analysis.columnar.header import CALLS, MAIN, OPERATORS, RUNS
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.readers import READER_VERSION, read_path
from fusescope.analysis.sql.database import SECONDS, Answer, Database, Stream, files
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, RUN_COLUMNS
from fusescope.app.library.items import RECORDED, Item, items, recording_hash, store
from fusescope.app.sources import places
from fusescope.app.store import keeping, records
from fusescope.app.store.entries import Entry, Unit, file_of
from fusescope.app.store.store import Held, Store

TRACES_TABLE = "traces"
TABLES = (TRACES_TABLE, *MAIN)
_LOG = logging.getLogger("fusescope")
_SQL_TYPES = {
    "int64": "BIGINT", "Int64": "BIGINT", "bool": "BOOLEAN", "Float64": "DOUBLE",
    "category": "VARCHAR",
}  # fmt: skip
_SCHEMAS = {RUNS: RUN_COLUMNS, OPERATORS: OPERATOR_COLUMNS, CALLS: CALL_COLUMNS}
_MOST_THREADS = 4
_HASH_CHARS = 12
_T = TypeVar("_T")
# Columns of `traces` and their types in Arrow.
FACTS = {
    "hash": "string", "name": "string", "kind": "string", "recording": "string",
    "variant": "string", "model": "string", "machine": "string", "device": "string",
    "format": "string", "tool": "string", "version": "string", "date": "string",
    "tags": "string", "note": "string", "run_ns": "int64", "run_is_profiled": "bool",
    "operators_ns": "int64", "runs": "int64", "operators": "int64", "calls": "int64",
}  # fmt: skip


class Prepared:
    """The library as tables. `unread` are files of recordings that could not be read; `damaged` are
    names of entries that are left out, because their files are not as they were written: known
    once a question wanted them."""

    def __init__(
        self, database: Database, unread: Sequence[str], kept: Sequence[_Kept], damaged: list[str]
    ) -> None:
        self.unread = tuple(unread)
        self.damaged = damaged
        self._database = database
        self._kept = list(kept)
        self._defined: set[str] = set()

    def stream(self, question: str) -> Stream:
        """Return what a question gives, without what is damaged. Raises FuseScopeError."""
        return self._whole(question, lambda: self._database.stream(question))

    def answer(self, question: str, maximum: int | None = None) -> Answer:
        """Return the same, its first rows up to `maximum`. Raises FuseScopeError."""
        return self._whole(question, lambda: self._database.answer(question, maximum))

    def _whole(self, question: str, ask: Callable[[], _T]) -> _T:
        while True:
            try:
                self._define(question)
                return ask()
            except FuseScopeError:
                lost = [one for one in self._kept if one.key in self._database.lost]
                if not lost:
                    raise
                self.damaged += [one.name for one in lost]
                self._kept = [one for one in self._kept if one not in lost]
                self._defined.clear()

    def _define(self, question: str) -> None:
        """The tables that the question may name: every one of them is read for its view."""
        import pyarrow as pa

        text = question.lower()
        wanted = {name for name in TABLES if name in text} or set(TABLES)
        if TRACES_TABLE not in self._defined:
            columns = {
                name: pa.array([one.row[name] for one in self._kept], pa.type_for_alias(kind))
                for name, kind in FACTS.items()
            }
            self._database.table(TRACES_TABLE, pa.table(columns))
            self._defined.add(TRACES_TABLE)
        for name in MAIN:
            if name in wanted and name not in self._defined:
                addresses = [one.files[name] for one in self._kept]
                self._database.view(name, _select(name, addresses))
                self._defined.add(name)


@dataclass(frozen=True)
class _Kept:
    """An entry: its key, its name, its row in `traces`, and the addresses of its tables."""

    key: str
    name: str
    row: Mapping[str, object]
    files: Mapping[str, str]


@contextmanager
def opened(seconds: float = SECONDS) -> Iterator[Prepared]:
    """The library, to be asked; no question may take longer than `seconds`. Recordings that are not
    in the store yet are read first. Raises FuseScopeError."""
    kept_in = store()
    listed = items()
    unread = tuple(_with_recordings(kept_in, listed))
    with Database(threads=min(_MOST_THREADS, os.cpu_count() or 1), seconds=seconds) as database:
        kept = [
            _Kept(held.entry.key, str(row["name"]), row, _addresses(database, held, place))
            for held, place, row in _rows(kept_in, listed)
        ]
        damaged = [f"{key[:_HASH_CHARS]}…" for key in kept_in.damaged()]
        yield Prepared(database, unread, kept, damaged)


def _addresses(database: Database, held: Held, place: int) -> dict[str, str]:
    entry = held.entry
    folder = f"reader={entry.reader}/hash={_hash(entry, place)}"
    return {
        name: database.file(
            f"{folder}/{name}.parquet",
            held.folder / file_of(name, place),
            _unit(entry, place).checks[name],
            entry.key,
        )
        for name in MAIN
    }


def _unit(entry: Entry, place: int) -> Entry | Unit:
    """The entry's own trace, at place 0, or one of its others."""
    return entry.others[place - 1] if place else entry


def _hash(entry: Entry, place: int) -> str:
    """The same in `traces`: one for each process and device of a file."""
    return f"{entry.key}-{place}" if place else entry.key


def _select(name: str, addresses: Sequence[str]) -> str:
    if not addresses:
        empty = ", ".join(
            f'null::{_SQL_TYPES[dtype]} as "{column}"' for column, dtype in _SCHEMAS[name].items()
        )
        return f"select ''::VARCHAR as trace, ''::VARCHAR as hash, {empty} where false"
    return (
        f"select t.name as trace, p.hash, p.* exclude (hash, reader) from read_parquet("
        f"{files(addresses)}, union_by_name = true, hive_partitioning = true, "
        "hive_types = {'hash': VARCHAR, 'reader': VARCHAR}) p "
        f"join {TRACES_TABLE} t on t.hash = p.hash"
    )


def _rows(kept_in: Store, listed: list[Item]) -> Iterator[tuple[Held, int, dict[str, object]]]:
    """Entries, the places of their traces, and the rows of these in `traces`."""
    by_key = {item.hash: item for item in listed if item.kind == "trace"}
    by_file = {item.id.removeprefix(RECORDED): item for item in listed if item.kind == "experiment"}
    current = {
        key: name
        for name in by_file
        if (record := records.record_at(places.experiments_folder() / name)) is not None
        for key in _keys(record).values()
    }
    for held in kept_in.held():
        entry = held.entry
        if entry.recording:
            item = by_file.get(current.get(entry.key, ""))
        else:
            item = by_key.get(entry.key)
        if item is None:
            continue
        for place in range(1 + len(entry.others)):
            yield held, place, _row(entry, place, item)


def _row(entry: Entry, place: int, item: Item) -> dict[str, object]:
    unit = _unit(entry, place)
    meta = unit.header.meta
    variant = meta.variant if entry.recording or entry.others else None
    return {
        "hash": _hash(entry, place),
        "name": f"{item.name}/{variant}" if variant else item.name,
        "kind": "variant" if entry.recording else "trace",
        "recording": item.name if entry.recording else None,
        "variant": variant,
        "model": item.model or None,
        "machine": item.machine or None,
        "device": meta.device,
        "format": meta.format,
        "tool": meta.tool,
        "version": meta.version,
        "date": item.date,
        "tags": ", ".join(item.facts.tags),
        "note": item.facts.note,
        "run_ns": unit.run_ns,
        "run_is_profiled": unit.is_profiled,
        "operators_ns": None if unit.ends_early else unit.operators_ns,
        **{name: unit.rows[name] for name in MAIN},
    }


def _with_recordings(kept_in: Store, listed: list[Item]) -> Iterator[str]:
    """Puts the variants of recordings into the store that are not there; the files that cannot be
    read."""
    for item in listed:
        if item.kind != "experiment":
            continue
        name = item.id.removeprefix(RECORDED)
        path = places.experiments_folder() / name
        record = records.record_at(path)
        if record is None:
            continue
        missing = {
            variant: key
            for variant, key in _keys(record).items()
            if kept_in.entry(key, READER_VERSION) is None
        }
        if missing and not _keep_variants(kept_in, path, missing):
            yield item.name


def _keep_variants(kept_in: Store, path: Path, keys: dict[str, str]) -> bool:
    def wanted(_: ExperimentRecord) -> dict[str, str]:
        return keys

    try:
        value = read_path(path, places.limits(), wanted=wanted)
        if not isinstance(value, Experiment):
            return False
        for variant, key in keys.items():
            keep = partial(
                keeping.keep, model=value.record.model.name, machine=value.record.machine.cpu_model
            )
            keep(kept_in, key, value.traces[variant], recording=path.name)
    except (FuseScopeError, OSError, ValueError, KeyError) as error:
        _LOG.warning("a recording was not read for SQL", exc_info=error)
        return False
    return True


def _keys(record: ExperimentRecord) -> dict[str, str]:
    """The key of each variant: of what tells the recording from others, and its name."""
    own = recording_hash(record)
    return {
        name: hashlib.sha256(f"{own}|{name}".encode(errors="replace")).hexdigest()
        for name in record.names
    }
