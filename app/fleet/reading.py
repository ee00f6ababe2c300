"""Reading one rank into a store: the work that any process, on any machine, can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.fleet.ingest import ingest_rank, ingest_source
from fusescope.analysis.fleet.tables import RankFacts, RankTables
from fusescope.analysis.limits import Limits
from fusescope.analysis.messages.carried import Carried, Sentence, carried
from fusescope.analysis.readers.input.source import Source, load_file
from fusescope.app.fleet import store
from fusescope.app.fleet.place import Place, filesystem, is_remote, reachable
from fusescope.app.fleet.store import Entry, Failure
from fusescope.app.fleet.units import Unit

_CHARS = 300


@dataclass(frozen=True)
class Work:
    """What every reading of one ingest has in common. `known` are the ranks in the store by the
    hash of their file: what is read is not read again under another name."""

    store: str
    limits: Limits
    pattern: str | None = None
    known: Mapping[str, RankFacts] = field(default_factory=dict)


def read_unit(work: Work, unit: Unit) -> Entry:
    """Reads a rank, writes its tables and then its entry, and returns that. Files that cannot be
    read have an entry that says why. Raises FuseScopeError where the store cannot be written.

    Work that another process has already done is not done again.
    """
    place = Place(work.store)
    done = store.entry_of(place, unit.id)
    if done is not None and is_same(done, unit, work.pattern):
        return done
    tables: RankTables | None = None
    failure: Failure | None = None
    sha256 = ""
    try:
        if unit.is_folder:
            tables = ingest_rank(Path(unit.path), work.pattern, work.limits)
        else:
            source = source_of(unit, work.limits)
            sha256 = source.sha256
            if sha256 in work.known and store.has_tables(place, work.known[sha256]):
                entry = _entry(work, unit, sha256, work.known[sha256])
                store.write(place, entry)
                return entry
            tables = ingest_source(source, work.pattern)
        sha256 = tables.facts.sha256
    except FuseScopeError as error:
        failure = failure_of(error)
    entry = _entry(work, unit, sha256, tables.facts if tables else None, failure)
    store.write(place, entry, tables)
    return entry


def failure_of(error: FuseScopeError) -> Failure:
    """Return what an entry keeps of why a file could not be read, in no language yet."""
    values = {name: _short(carried(value)) for name, value in error.values.items()}
    return Failure(error.code, _short(carried(error.where or "")), values)


def _short(value: Carried) -> Carried:
    """Return a value with its texts, which may be of a file, cut to their beginning."""
    if isinstance(value, Sentence):
        values = {name: _short(one) for name, one in value.values.items()}
        return msgspec.structs.replace(value, values=values)
    return value[:_CHARS] if isinstance(value, str) else value


def is_same(entry: Entry, unit: Unit, pattern: str | None) -> bool:
    """Whether a file is as it was when it was read; another pattern may find its rank now."""
    if (entry.size, entry.changed_ns) != (unit.size, unit.changed_ns):
        return False
    return entry.pattern == pattern or entry.failure is None or entry.failure.code != "rank_unknown"


def source_of(unit: Unit, limits: Limits) -> Source:
    """The file of a unit, by itself. Raises FuseScopeError."""
    if not is_remote(unit.path):
        path = Path(unit.path)
        load = load_file(path, unit.name, limits)
        return Source(unit.name, load, limits, path=path.name, on_disk=path)
    if unit.size > limits.file_bytes:
        raise FuseScopeError(
            "file_too_large",
            where=unit.name,
            size_mib=unit.size // 2**20,
            limit_mib=limits.file_bytes // 2**20,
            raised=limits.raised("file_bytes", unit.size),
        )
    system, _, path_there = filesystem(unit.path)
    with reachable(unit.path):
        data = system.cat_file(path_there)
    return Source(unit.name, data, limits, path=unit.path.rpartition("://")[2])


def _entry(
    work: Work,
    unit: Unit,
    sha256: str,
    facts: RankFacts | None,
    failure: Failure | None = None,
) -> Entry:
    return Entry(unit.id, unit.size, unit.changed_ns, sha256, facts, failure, work.pattern)
