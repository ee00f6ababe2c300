"""Keeping: ranks that are open become a store, which appears whole or not at all; the one job of
this kind that a server runs at a time, in a thread of its own."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.fleet.of_traces import rank_tables
from fusescope.analysis.fleet.tables import RankTables
from fusescope.analysis.limits import Limits
from fusescope.analysis.trace import Trace
from fusescope.app.fleet import store
from fusescope.app.fleet.ingesting import Ingested, Progress
from fusescope.app.fleet.reading import failure_of
from fusescope.app.fleet.store import Entry
from fusescope.app.fleet.units import check_count
from fusescope.collectors.files.folder import FolderDraft

_LOG = logging.getLogger("fusescope")


@dataclass(frozen=True)
class Ranks:
    """What is kept: traces of one job by rank, each with the name of its file, and files that came
    with them and could not be read."""

    traces: Mapping[int, tuple[str, Trace]]
    unread: Sequence[tuple[str, FuseScopeError]] = ()

    @property
    def total(self) -> int:
        """How many files there are."""
        return len(self.traces) + len(self.unread)


class Cancelled(Exception):
    """Somebody asked to stop: nothing is kept."""


def keep(
    ranks: Ranks,
    target: Path,
    limits: Limits,
    most_bytes: int,
    *,
    progress: Progress = lambda done, total: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Ingested:
    """Write ranks into a new store at `target`, of `most_bytes` at most, and return what it holds.

    A rank that cannot be kept has an entry that says why, and the others go on. Raises
    FuseScopeError where the disk refuses or the store becomes too large, and Cancelled; nothing is
    at `target` then.
    """
    check_count(ranks.total, target.name, limits)
    entries = []
    with _writing(target), FolderDraft(target) as draft:
        place = store.prepared(str(draft.path))
        with place.writing():
            size = 0
            for entry, tables in _read(ranks):
                if is_cancelled():
                    raise Cancelled
                store.write(place, entry, tables)
                size = _bytes_below(draft.path)
                if size > most_bytes:
                    raise FuseScopeError("ranks_too_large", where=target.name, size=most_bytes)
                entries.append(entry)
                progress(len(entries), ranks.total)
        draft.publish()
    return Ingested(tuple(entries), 0, 0)


def _read(ranks: Ranks) -> Iterator[tuple[Entry, RankTables | None]]:
    """The entry of each file, and the tables of those that are ranks."""
    taken: set[str] = set()
    for rank, (file, trace) in ranks.traces.items():
        path = file if file not in taken else f"{rank}/{file}"  # files of two folders
        taken.add(path)
        tables, failure = None, None
        try:
            tables = rank_tables(rank, path, trace)
        except FuseScopeError as error:
            failure = failure_of(error)
        facts = tables.facts if tables is not None else None
        yield Entry(path, 0, 0, trace.meta.sha256, facts, failure), tables
    for file, refusal in ranks.unread:
        path = file if file not in taken else f"?/{file}"
        yield Entry(path, 0, 0, "", None, failure_of(refusal)), None


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Raises FuseScopeError where the disk refuses."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or os.strerror(error.errno or 0)).lower()
        raise FuseScopeError("kept_unwritable", where=str(target.parent), reason=reason) from error
    except FuseScopeError as error:
        if error.code != "store_unwritable":
            raise
        reason = str(error.values["reason"])
        raise FuseScopeError("kept_unwritable", where=str(target.parent), reason=reason) from error


def _bytes_below(folder: Path) -> int:
    return sum(
        os.lstat(os.path.join(here, name)).st_size
        for here, _, names in os.walk(folder)
        for name in names
    )


@dataclass(frozen=True)
class Status:
    """The job as pages see it: so many of all files are written to the store at `target`; `kept`
    when it is there, `error` where it is not."""

    target: Path
    total: int
    done: int = 0
    kept: Ingested | None = None
    error: FuseScopeError | None = None
    is_cancelling: bool = False
    is_running: bool = True


class Keeper:
    """Keeps the ranks of one job at a time, for every session of the server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancel = threading.Event()
        self._status: Status | None = None

    @property
    def status(self) -> Status | None:
        """The running job, else the last one; None before the first."""
        return self._status

    def start(self, ranks: Ranks, target: Path, limits: Limits, most_bytes: int) -> bool:
        """Begin to keep ranks, as `keep`; False while a job runs."""
        with self._lock:
            if self._status is not None and self._status.is_running:
                return False
            self._cancel.clear()
            self._status = Status(target, ranks.total)
        threading.Thread(
            target=self._run,
            args=(ranks, target, limits, most_bytes),
            name="keeping",
            daemon=True,
        ).start()
        return True

    def cancel(self) -> None:
        """Ask the job to stop; nothing is kept then."""
        self._cancel.set()
        self._update(is_cancelling=True)

    def forget(self) -> None:
        """Drop the last result."""
        with self._lock:
            if self._status is not None and not self._status.is_running:
                self._status = None

    def _run(self, ranks: Ranks, target: Path, limits: Limits, most_bytes: int) -> None:
        def tell(done: int, total: int) -> None:
            self._update(done=done)

        try:
            is_cancelled = self._cancel.is_set
            kept = keep(ranks, target, limits, most_bytes, progress=tell, is_cancelled=is_cancelled)
            self._update(kept=kept, is_running=False)
        except Cancelled:
            self._update(is_running=False)
        except FuseScopeError as refused:
            self._update(error=refused, is_running=False)
        except Exception:  # noqa: BLE001 - a thread has nobody to raise to
            _LOG.exception("unexpected error while ranks were kept")
            self._update(error=FuseScopeError("internal_error"), is_running=False)

    def _update(self, **changes: object) -> None:
        with self._lock:
            if self._status is not None:
                self._status = replace(self._status, **changes)  # type: ignore[arg-type]


KEEPER = Keeper()
