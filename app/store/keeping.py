"""Keeping: files are read through the store, so that what was parsed once is not parsed again.

A small file is not kept: parsing it is cheaper. Neither is an experiment, which is a recording of
our own. What is kept can be wrong in no case: the content decides, and all that lay beside a file
where its reader asked for that.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import DEFAULT_LIMITS, MIB, Limits
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.readers import READER_VERSION, read, read_path
from fusescope.analysis.readers.experiment import Wanted
from fusescope.analysis.readers.input.folder import source_with_neighbours
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Trace
from fusescope.app.store import ahead, keys, settings

if TYPE_CHECKING:
    from fusescope.app.store.entries import Beside
    from fusescope.app.store.store import Store

# Of the content, unpacked. From here on parsing takes at least five times as long as reading what
# was kept, and longer than keeping it; below, all three are a matter of some 10 ms.
MIN_BYTES = 4 * MIB
_PACKED_BYTES = 256 * 1024  # of a file that is packed: a smaller one hardly holds so much
_GZIP = b"\x1f\x8b"
_NAMED = ("onnxruntime",)  # formats that tell something in the name of the file
_LOG = logging.getLogger("fusescope")

_KEPT = Message(
    "{file:name} was kept in the library, so that it opens faster next time. "
    "{setting:name} turns this off."
)
_FULL = Message("{file:name} was not kept in the library, which may take {size} at most.")
_FAILED = Message("{file:name} was not kept in the library: {reason:name}.")


class Read(msgspec.Struct, frozen=True):
    """What was read of a file, and what became of it in the library: a sentence, None where nothing
    did."""

    value: Trace | Experiment
    said: Said | None = None


def store() -> Store | None:
    """The store, where it is on, and what it needs is installed."""
    if not settings.is_on() or find_spec("pyarrow") is None:  # which is an extra
        return None
    from fusescope.app.store.store import Store

    return Store(settings.folder(), settings.max_bytes())


def read_through(
    path: Path, limits: Limits = DEFAULT_LIMITS, *, above: bool = True, wanted: Wanted | None = None
) -> Read:
    """What is in the file or folder at `path`, as analysis.readers.read_path, with its errors."""
    kept_in = store() if _may_be_worth(path) else None
    if kept_in is None:
        return Read(read_path(path, limits, above=above, wanted=wanted))
    from fusescope.app.store import known
    from fusescope.app.store.lookup import Lookup

    state = known.facts_of(path)
    if state is None:
        return Read(read_path(path, limits, above=above, wanted=wanted))
    lookup = Lookup(kept_in, path, limits, state, above=above)
    was_kept = ahead.is_kept(lookup.way)
    key, name = lookup.key(), display_name(str(path))
    found = None if key is None else _of_content(kept_in, key, name)
    if found is not None:
        return Read(found, _kept(name) if was_kept else None)
    source = source_with_neighbours(path, limits, above=above)
    alone = keys.of_content(source)
    if (found := _of_content(kept_in, alone, name, "never")) is not None:
        lookup.remember(alone, alone, None)
        return Read(found)
    near = lookup.around()
    key = keys.with_others(source, alone, near.hash)
    beside: Beside = "none" if key == alone else "some"
    if (found := _of_content(kept_in, key, name, beside)) is not None:
        lookup.remember(key, alone, near)
        return Read(found)
    value = read(source, wanted)
    is_settled = known.facts_of(path) == state  # or it was written to while it was read
    if not source.rests_on_others:
        key, beside = alone, "never"
    elif lookup.around() != near:
        is_settled = False
    if not isinstance(value, Trace) or not _is_worth(source) or not is_settled:
        return Read(value)
    said, is_there = _put(kept_in, key, value, beside)
    if is_there:
        lookup.remember(key, alone, near if beside != "never" else None)
    return Read(value, said)


@contextmanager
def reading_ahead(
    paths: Iterable[Path], limits: Limits = DEFAULT_LIMITS, *, above: bool = True
) -> Iterator[None]:
    """While this lasts, the large ones of these files that were not kept yet are read at once, for
    `read_through`, which is to be asked for each in this order."""
    cold = {
        keys.way(path, limits, above=above): path
        for path in paths
        if _is_large(path) and is_cold(path, limits, above=above)
    }
    with ahead.reading(cold, limits, above=above) if len(cold) > 1 else nullcontext():
        yield


def is_cold(path: Path, limits: Limits = DEFAULT_LIMITS, *, above: bool = True) -> bool:
    """Whether the file has to be read, and could be kept then."""
    kept_in = store() if _may_be_worth(path) else None
    if kept_in is None:
        return False
    from fusescope.app.store import known
    from fusescope.app.store.lookup import Lookup

    state = known.facts_of(path)
    return state is not None and Lookup(kept_in, path, limits, state, above=above).key() is None


def of_upload(source: Source) -> Trace | None:
    """What was kept of a file that came alone; None where nothing was."""
    packed = source.is_packed and source.size >= _PACKED_BYTES
    kept_in = store() if packed or source.size >= MIN_BYTES else None
    if kept_in is None:
        return None
    return _of_content(kept_in, keys.of_content(source), source.name, "never", "none")


def keep_uploads(values: Sequence[tuple[Source, Trace]]) -> None:
    """Keep what was read of files that came together, each resting on no other: all of them where
    one is worth it, so that the library has both of a pair."""
    kept_in = store() if any(_is_worth(source) for source, _ in values) else None
    if kept_in is not None:
        for source, value in values:
            _put(kept_in, keys.of_content(source), value, "none")


def is_kept(key: str) -> bool:
    """Whether there is a trace of this key."""
    kept_in = store() if key else None
    return kept_in is not None and kept_in.entry(key) is not None


def named_trace(key: str) -> tuple[str, Trace]:
    """The name that a trace has in the library, and the trace. Raises FuseScopeError as
    `trace_of`."""
    trace = trace_of(key)
    from fusescope.app.store import facts

    own = facts.of(settings.folder(), f"trace:{key}").name
    return own or trace.meta.file_name, trace


def trace_of(key: str) -> Trace:
    """The trace that was kept under this key. Raises FuseScopeError where there is none, or it is
    damaged."""
    kept_in = store()
    entry = kept_in.entry(key) if kept_in is not None else None
    if kept_in is None or entry is None:
        raise FuseScopeError("not_kept")
    found = kept_in.trace(key)
    if found is None:
        raise FuseScopeError("kept_damaged", where=entry.name)
    return found


def keep(
    kept_in: Store,
    key: str,
    trace: Trace,
    beside: Beside = "never",
    *,
    name: str = "",
    model: str = "",
    machine: str = "",
    recording: str = "",
) -> bool:
    """Put a trace into the store; see Store.put. Raises OSError, and ValueError for one that holds
    what no reader makes."""
    from fusescope.analysis.columnar.tables import columnar
    from fusescope.app.store.entries import Entry, Unit

    kept = columnar(trace)
    others = [columnar(other) for other in trace.others]
    units = [
        Unit(tables.header, **_times(other))
        for tables, other in zip(others, trace.others, strict=True)
    ]
    entry = Entry(
        key=key,
        reader=READER_VERSION,
        name=name or trace.meta.file_name,
        added=datetime.now(UTC).isoformat(timespec="seconds"),
        beside=beside,
        header=kept.header,
        model=model,
        machine=machine or trace.meta.device or "",
        recording=recording,
        others=units,
        **_times(trace),
    )
    return kept_in.put(entry, kept, others)


def renamed(trace: Trace, name: str) -> Trace:
    """The trace, and the others of its file, as read of a file of this name."""
    others = tuple(renamed(other, name) for other in trace.others)
    return replace(trace, meta=replace(trace.meta, file_name=name), others=others)


def _times(trace: Trace) -> dict[str, Any]:
    """Return what an entry says of the times of a trace: of its run as the page Trace has it, which
    may be a unit of work of a file that marks none."""
    from fusescope.analysis.compare.runs.units import with_runs
    from fusescope.analysis.compare.side import side_of_trace
    from fusescope.analysis.compare.single import run_ns
    from fusescope.analysis.work_units import run_word

    timed = trace if trace.ends_early else with_runs(side_of_trace(trace)).trace
    typical = run_ns(timed)
    return {
        "run_ns": None if typical is None else round(typical),
        "run_word": run_word(timed),
        "is_profiled": not len(trace.sampled_runs),
        "operators_ns": int(trace.calls["dur_ns"].sum()),
        "ends_early": trace.ends_early,
    }


def _kept(name: str) -> Said:
    return _KEPT.of(file=name, setting=f"{settings.FOLDER_VARIABLE}={settings.OFF}")


def _of_content(kept_in: Store, key: str, name: str, *beside: Beside) -> Trace | None:
    """What this version of the readers made of a file of this name, with or without others, if it
    is told."""
    entry = kept_in.entry(key, READER_VERSION)
    if entry is None or (beside and entry.beside not in beside):
        return None
    if entry.header.meta.format in _NAMED and entry.header.meta.file_name != name:
        return None
    found = kept_in.trace(key)
    if found is None or (entry.beside != "some" and not key.startswith(found.meta.sha256)):
        return found  # of a file inside this one
    return renamed(found, name)


def _may_be_worth(path: Path) -> bool:
    """Whether the file may hold so much; nothing is loaded to tell."""
    try:
        size = path.stat().st_size if path.is_file() else 0
        if size >= MIN_BYTES or size < _PACKED_BYTES:
            return size >= MIN_BYTES
        with path.open("rb") as file:
            return file.read(len(_GZIP)) == _GZIP
    except OSError:
        return False


def _is_large(path: Path) -> bool:
    """Whether reading the file takes longer than to start a process for it."""
    try:
        size = path.stat().st_size if path.is_file() else 0
        if size >= ahead.MIN_BYTES or size < ahead.MIN_PACKED_BYTES:
            return size >= ahead.MIN_BYTES
        with path.open("rb") as file:
            return file.read(len(_GZIP)) == _GZIP
    except OSError:
        return False


def _is_worth(source: Source) -> bool:
    return source.size >= MIN_BYTES or (source.is_packed and _unpacks_to(source, MIN_BYTES))


def _unpacks_to(source: Source, size: int) -> bool:
    """Return whether a packed file unpacks to so many bytes, of which no more is unpacked."""
    found = accumulate(map(len, source.blocks(MIB)))
    return any(count >= size for count in found)


def _put(kept_in: Store, key: str, value: Trace, beside: Beside) -> tuple[Said | None, bool]:
    """What became of it, and whether it is there: the library is a convenience, no condition."""
    name = value.meta.file_name
    try:
        if keep(kept_in, key, value, beside):
            return _kept(name), True
        from fusescope.analysis.units import capacity

        return _FULL.of(file=name, size=capacity(kept_in.max_bytes)), False
    except FuseScopeError as error:  # of a newer version
        return _FAILED.of(file=name, reason=error.said), False
    except (OSError, ValueError) as error:
        _LOG.warning("a trace was not kept", exc_info=error)
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        return _FAILED.of(file=name, reason=reason.lower()), False
