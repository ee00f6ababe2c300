"""Store of a fleet: what was read of each file, and its tables as rank-partitioned Parquet.

    fusescope-fleet.json              what this is, and its version
    files/<key>.json                  one for each file that was read, written last
    <table>/rank=<n>/<hash>.parquet   the tables of analysis.fleet.tables

A rank is in the store once its entry in `files` is, so nothing half-written is ever read.
"""

from __future__ import annotations

import hashlib
import io
import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.fleet.examined import Examined, examine
from fusescope.analysis.fleet.fleet import Damaged, Fleet, fleet_of
from fusescope.analysis.fleet.rank_trace import rank_trace
from fusescope.analysis.fleet.tables import (
    ROWS,
    SCHEMA_VERSION,
    SMALL,
    STEPS,
    RankFacts,
    RankTables,
)
from fusescope.analysis.job import MAX_RANKS
from fusescope.analysis.messages import Said
from fusescope.analysis.messages.carried import Carried, shown
from fusescope.analysis.messages.errors import ERRORS
from fusescope.analysis.text import clean_text, display_name, distinct_names
from fusescope.analysis.trace import Trace
from fusescope.app.fleet.place import Place

MARK = "fusescope-fleet.json"
FORMAT = "fusescope fleet"
FILES = "files"
_LEVEL = 3
_HASH = re.compile(r"[0-9a-f]{64}")
_SHORT = 16
_MAX_ENTRY = 2**20
# What a file that is damaged may raise: Arrow's errors are among them.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, IndexError, NotImplementedError)


class _Mark(msgspec.Struct):
    format: str
    version: int


class Failure(msgspec.Struct, frozen=True):
    """Why a file could not be read: the code of its error, where, and its values, sentences among
    them as what they are made of."""

    code: str
    where: Carried = ""
    values: dict[str, Carried] = {}

    @property
    def said(self) -> str | Said:
        """The sentence, in the language that is spoken where it is shown."""
        text = ERRORS.get(self.code)  # type: ignore[call-overload]
        if text is None:
            return clean_text(self.code, 80)
        said: Said = text.what.of(**{name: shown(value) for name, value in self.values.items()})
        try:
            str(said)
        except (KeyError, ValueError, TypeError):
            return clean_text(self.code, 80)
        return said


class Entry(msgspec.Struct, frozen=True):
    """One file that was read: where it lay, how to know that it is the same, and what it holds.
    `facts` is None of one that could not be read."""

    path: str
    size: int
    changed_ns: int
    sha256: str
    facts: RankFacts | None = None
    failure: Failure | None = None
    pattern: str | None = None
    version: int = SCHEMA_VERSION
    seal: str = ""  # hash of all the rest; '' of entries of older versions

    @property
    def key(self) -> str:
        """Name of the entry: one for each path."""
        return key_of(self.path)


def opened(text: str) -> Place:
    """The store at a path. Raises FuseScopeError where there is none, or a newer one."""
    place = Place(text)
    _check(place)
    return place


def prepared(text: str) -> Place:
    """A store to write to, made where the folder is missing or empty. Raises FuseScopeError."""
    place = Place(text)
    try:
        is_new = not place.names()
        if is_new:
            mark = msgspec.json.encode(_Mark(FORMAT, SCHEMA_VERSION))
            place.write(MARK, mark)
        elif MARK not in place.names():
            raise FuseScopeError("store_is_other_folder", where=place.name)
    except OSError as error:
        raise _unwritable(place, error) from error
    _check(place)
    return place


def _check(place: Place) -> None:
    try:
        mark = msgspec.json.decode(place.read(MARK)[:_MAX_ENTRY], type=_Mark)
    except FileNotFoundError:
        raise FuseScopeError("no_fleet_store", where=place.name) from None
    except (OSError, msgspec.MsgspecError) as error:
        raise FuseScopeError("fleet_store_damaged", where=place.name, file=MARK) from error
    if mark.format != FORMAT:
        raise FuseScopeError("no_fleet_store", where=place.name)
    if mark.version > SCHEMA_VERSION:
        raise FuseScopeError(
            "fleet_store_newer", where=place.name, version=mark.version, known=SCHEMA_VERSION
        )


def entries(place: Place) -> tuple[list[Entry], list[Damaged]]:
    """What was read, by path, and entries that are damaged."""
    found, damaged = [], []
    for name in place.names(FILES):
        try:
            entry = _read_entry(place, name)
            if entry.facts is not None:
                _checked(entry.facts, entry.sha256)
            found.append(entry)
        except (OSError, ValueError, msgspec.MsgspecError):
            damaged.append(Damaged(display_name(name), "unreadable"))
    return sorted(found, key=lambda entry: entry.path), damaged


def entry_of(place: Place, path: str) -> Entry | None:
    """The entry of a file that was read; None of another one."""
    try:
        return _read_entry(place, f"{key_of(path)}.json")
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def _read_entry(place: Place, name: str) -> Entry:
    """Raises ValueError, an OSError or an error of msgspec where it is not as it was written."""
    entry = msgspec.json.decode(place.read(f"{FILES}/{name}")[:_MAX_ENTRY], type=Entry)
    is_sealed = entry.seal or (entry.facts is not None and entry.facts.checks)
    if name != f"{entry.key}.json" or (is_sealed and entry.seal != _seal(entry)):
        raise ValueError("the entry was changed")
    return entry


def _seal(entry: Entry) -> str:
    bare = msgspec.structs.replace(entry, seal="")
    return hashlib.sha256(msgspec.json.encode(bare, order="deterministic")).hexdigest()


def key_of(path: str) -> str:
    """Name of the entry of a path."""
    return hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()[:24]


def _checked(facts: RankFacts, sha256: str) -> None:
    """Raises ValueError where the entry of a rank would lead elsewhere."""
    if not _HASH.fullmatch(sha256) or facts.sha256 != sha256 or not 0 <= facts.rank < MAX_RANKS:
        raise ValueError("no rank of a file")


def write(place: Place, entry: Entry, tables: RankTables | None = None) -> None:
    """Puts the tables of a rank there, and then its entry. Raises FuseScopeError."""
    try:
        if tables is not None:
            checks = {}
            for name, table in tables.tables.items():
                data = _parquet(table)
                checks[name] = zlib.crc32(data)
                place.write(_path(name, tables.facts), data)
            entry = msgspec.structs.replace(entry, facts=replace(tables.facts, checks=checks))
        sealed = msgspec.structs.replace(entry, seal=_seal(entry))
        place.write(f"{FILES}/{entry.key}.json", msgspec.json.encode(sealed))
    except OSError as error:
        raise _unwritable(place, error) from error


def has_tables(place: Place, facts: RankFacts) -> bool:
    """Whether all tables of a rank are there."""
    name = f"{facts.sha256[:_SHORT]}.parquet"
    return all(name in place.names(f"{table}/rank={facts.rank}") for table in (ROWS, *SMALL))


def examined(place: Place) -> Examined:
    """Return all answers about the ranks in the store. One whose raw rows turn out to be damaged is
    named and left out, like one whose other tables are. Raises FuseScopeError where there is none.
    """
    lost: set[str] = set()
    while True:
        found = fleet(place, lost)
        by_path = {_path(ROWS, facts): facts.sha256 for facts in found.ranks}
        try:
            return examine(found)
        except FuseScopeError as error:
            sha256 = by_path.get(str(error.values.get("file")))
            if error.code != "fleet_store_damaged" or sha256 is None:
                raise
            lost.add(sha256)


def fleet(place: Place, left_out: Collection[str] = ()) -> Fleet:
    """All ranks in the store but those with these hashes, which are damaged. Raises FuseScopeError
    where there is none."""
    known, damaged = entries(place)
    names = distinct_names(entry.path for entry in known)
    damaged += [
        Damaged(names[entry.path], "unreadable", said=entry.failure.said)
        for entry in known
        if entry.failure is not None
    ]
    facts = {e.sha256: _named(e, e.facts) for e in known if e.facts is not None}
    tables, lost = _small(place, [one for sha, one in facts.items() if sha not in left_out])
    lost |= facts.keys() & set(left_out)
    damaged += [Damaged(display_name(facts[sha].file), "unreadable") for sha in sorted(lost)]
    given = [one for sha, one in facts.items() if sha not in lost]
    if not given:
        raise FuseScopeError("fleet_without_ranks", where=place.name, n=len(damaged))
    return fleet_of(
        place.name,
        given,
        tables,
        _rows(place, {one.rank: one for one in reversed(given)}),
        damaged,
        is_being_written=place.is_being_written(),
    )


def _named(entry: Entry, facts: RankFacts) -> RankFacts:
    """Texts of the entry fit to be shown: a store may come from anywhere."""
    return replace(
        facts,
        file=clean_text(entry.path, 400),
        sha256=entry.sha256,
        format=clean_text(facts.format, 80),
        tool=clean_text(facts.tool, 80),
        device=clean_text(facts.device, 200),
    )


def _rows(
    place: Place, by_rank: Mapping[int, RankFacts]
) -> Callable[[int, Sequence[str]], pd.DataFrame]:
    def rows(rank: int, columns: Sequence[str]) -> pd.DataFrame:
        return _frame(place, ROWS, by_rank[rank], columns)

    return rows


def trace_of(place: Place, facts: RankFacts) -> Trace:
    """The trace of a rank out of its raw rows. Raises FuseScopeError where its file is damaged."""
    try:
        job_id = hashlib.sha256(place.text.encode("utf-8", "replace")).hexdigest()
        return rank_trace(facts, _frame(place, ROWS, facts), _frame(place, STEPS, facts), job_id)
    except (ValueError, KeyError, TypeError) as error:
        file = _path(ROWS, facts)
        raise FuseScopeError("fleet_store_damaged", where=place.name, file=file) from error


def facts_of(found: Fleet, rank: int) -> RankFacts:
    """Where a rank's tables come from. Raises FuseScopeError for a rank that is not there."""
    for facts in found.ranks:
        if facts.rank == rank:
            return facts
    raise FuseScopeError("no_such_rank", where=found.name, rank=rank)


def _frame(place: Place, table: str, facts: RankFacts, columns: Sequence[str] = ()) -> pd.DataFrame:
    _, pq = arrow()
    path = _path(table, facts)
    try:
        data = io.BytesIO(_checked_file(place, table, facts))
        chosen = list(columns) or None
        return _pandas(pq.read_table(data, columns=chosen, page_checksum_verification=True))
    except _UNREADABLE as error:
        raise FuseScopeError("fleet_store_damaged", where=place.name, file=path) from error


def _checked_file(place: Place, table: str, facts: RankFacts) -> bytes:
    """The file of a table. Raises OSError, and ValueError where it is not as it was written."""
    data = place.read(_path(table, facts))
    if facts.checks and facts.checks.get(table) != zlib.crc32(data):
        raise ValueError("the file was changed")
    return data


def _small(place: Place, facts: Sequence[RankFacts]) -> tuple[dict[str, pd.DataFrame], set[str]]:
    """The small tables of all ranks, each as one, and hashes of ranks whose files are damaged."""
    pa, pq = arrow()
    parts: dict[str, dict[str, Any]] = {table: {} for table in SMALL}
    lost: set[str] = set()
    for table in SMALL:
        for one in facts:
            try:
                data = io.BytesIO(_checked_file(place, table, one))
                file = pq.ParquetFile(data, page_checksum_verification=True)
                parts[table][one.sha256] = file.read(use_threads=False)
            except _UNREADABLE:
                lost.add(one.sha256)
    found = {}
    for table, by in parts.items():
        kept = [(sha, part) for sha, part in by.items() if sha not in lost]
        kept, odd = _alike(kept)
        lost |= odd
        frame = (
            _pandas(pa.concat_tables([part for _, part in kept], promote_options="default"))
            if kept
            else None
        )
        if frame is not None:
            sizes = [len(part) for _, part in kept]
            hashes = pd.Index([sha for sha, _ in kept], dtype="str")
            codes = np.repeat(np.arange(len(kept)), sizes)
            frame["sha256"] = pd.Categorical.from_codes(codes, hashes)
            found[table] = frame
    if len(found) < len(SMALL):
        return {}, {one.sha256 for one in facts}
    return found, lost


def _alike(parts: list[tuple[str, Any]]) -> tuple[list[tuple[str, Any]], set[str]]:
    """Parts with the columns of the first and their types, and hashes of those that have others. A
    part without rows may have none."""
    if not parts:
        return [], set()
    schema = max((part for _, part in parts), key=len).schema
    kept, odd = [], set()
    for sha, part in parts:
        try:
            kept.append((sha, part.cast(schema)))
        except (ValueError, TypeError, KeyError):
            odd.add(sha)
    return kept, odd


def _path(table: str, facts: RankFacts) -> str:
    return f"{table}/rank={facts.rank}/{facts.sha256[:_SHORT]}.parquet"


def remove_tables(place: Place, facts: RankFacts) -> None:
    """Removes the tables of a rank that no entry names any more."""
    for table in (ROWS, *SMALL):
        place.remove(_path(table, facts))


def arrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet module. Raises FuseScopeError without them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise FuseScopeError("package_missing", package="pyarrow", extra="tables") from error
    return pa, pq


def _parquet(table: pd.DataFrame) -> bytes:
    pa, pq = arrow()
    made = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    out = io.BytesIO()
    pq.write_table(
        made, out, compression="zstd", compression_level=_LEVEL, write_page_checksum=True
    )
    return out.getvalue()


_NULLABLE = {"int64": pd.Int64Dtype(), "double": pd.Float64Dtype(), "bool": pd.BooleanDtype()}


def _pandas(table: Any) -> pd.DataFrame:
    """As it was written: numbers that may be missing stay whole, texts are texts."""
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        kind = str(column.type)
        if column.null_count and kind in ("int64", "bool"):
            columns[name] = column.to_pandas(types_mapper={column.type: _NULLABLE[kind]}.get)
        elif kind.startswith("dictionary"):
            columns[name] = column.unify_dictionaries().to_pandas()
        else:
            columns[name] = column.to_pandas()
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)), copy=False)


def _unwritable(place: Place, error: OSError) -> FuseScopeError:
    reason = (error.strerror or str(error)).lower()
    return FuseScopeError("store_unwritable", where=place.name, reason=reason)
