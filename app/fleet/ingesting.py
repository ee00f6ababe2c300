"""Ingesting: every rank's file into a store, by processes of this machine or a scheduler's."""

from __future__ import annotations

import functools
import multiprocessing
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker, util
from typing import Any

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.fleet.identity import compiled
from fusescope.analysis.limits import Limits
from fusescope.app.fleet import schedulers, store
from fusescope.app.fleet.place import Place
from fusescope.app.fleet.reading import Work, is_same, read_unit
from fusescope.app.fleet.store import Entry
from fusescope.app.fleet.units import Unit, units

_FEW_BYTES = 4 * 2**20  # what one process has read before others have started
_COMPANIONS = ("companion_file", "companion_among")
_RETRIES = 3
# 103 bytes are the shortest limit of any system for a socket, less those of
# /pymp-xxxxxxxx/listener-xxxxxxxx
_LONGEST = 103 - 32
_SHORT = "/tmp"
_TRACKER_WARNING = "ignore:resource_tracker:UserWarning"

Progress = Callable[[int, int], None]

_sockets: str | None = None  # the folder of this process in which a pool's sockets lie


@dataclass(frozen=True)
class Ingested:
    """What an ingest did: entries of files that it read, how many it had not to read again, and
    files beside a trace that are none themselves."""

    read: tuple[Entry, ...]
    known: int
    beside: int

    @property
    def failed(self) -> tuple[Entry, ...]:
        """Those that could not be read."""
        return tuple(entry for entry in self.read if entry.failure is not None)


def ingest(
    given: Sequence[str],
    to: str,
    limits: Limits,
    *,
    pattern: str | None = None,
    scheduler: str | None = None,
    trust_scheduler: bool = False,
    processes: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Ingested:
    """Reads what the store does not have. `progress` is told how many of how many are read.

    Raises FuseScopeError where the store cannot be written, is being written, or nothing is there
    to read.
    """
    compiled(pattern)
    if scheduler is not None:
        schedulers.check(scheduler, is_trusted=trust_scheduler)
    place = store.prepared(to)
    found = units(given, limits, without=place.folder)
    with place.writing():
        before = {entry.path: entry for entry in store.entries(place)[0]}
        todo = [
            unit
            for unit in found
            if unit.id not in before or not is_same(before[unit.id], unit, pattern)
        ]
        known = {entry.sha256: entry.facts for entry in before.values() if entry.facts is not None}
        work = Work(place.text, limits, pattern, known)
        read: list[Entry] = []
        for entry in _entries(work, todo, scheduler, processes):
            read.append(entry)
            progress(len(read), len(todo))
        _clean(place, before, read)
    kept = [e for e in read if e.failure is None or e.failure.code not in _COMPANIONS]
    return Ingested(
        tuple(sorted(kept, key=lambda entry: entry.path)),
        len(found) - len(todo),
        len(read) - len(kept),
    )


def _entries(
    work: Work, todo: Sequence[Unit], scheduler: str | None, processes: int | None
) -> Iterator[Entry]:
    if scheduler is not None:
        yield from _by_scheduler(work, todo, scheduler)
        return
    count = min(processes or os.cpu_count() or 1, len(todo))
    if count < 2 or (processes is None and sum(unit.size for unit in todo) < _FEW_BYTES):
        yield from (read_unit(work, unit) for unit in todo)
        return
    yield from _by_processes(work, todo, count)


def _by_processes(work: Work, todo: Sequence[Unit], count: int) -> Iterator[Entry]:
    """What a process was reading that was ended, as for want of memory, others read, by and by
    fewer of them. Raises FuseScopeError where a single one is ended, too."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fusescope.app.fleet.reading"])
    place_for_sockets()
    _start_servers()
    # The largest first, so that none is left alone in the end.
    left = {unit.path: unit for unit in sorted(todo, key=lambda unit: -unit.size)}
    for processes in (count, *(count >> halved for halved in range(count.bit_length()))):
        with ProcessPoolExecutor(processes, context, _end_with_parent) as pool:
            try:
                futures = _submitted(pool, work, tuple(left.values()))
                for future in as_completed(futures):
                    if not isinstance(future.exception(), BrokenProcessPool):
                        del left[futures[future].path]
                        yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        if not left:
            return
    raise FuseScopeError("readers_lost", where=next(iter(left.values())).name)


def _submitted(
    pool: ProcessPoolExecutor, work: Work, units: Sequence[Unit]
) -> dict[Future[Entry], Unit]:
    """Return what the pool is to read: all units, or those before a process of it ended, since it
    takes no more then."""
    futures: dict[Future[Entry], Unit] = {}
    for unit in units:
        try:
            futures[pool.submit(read_unit, work, unit)] = unit
        except BrokenProcessPool:
            break
    return futures


def abandon() -> None:
    """End the processes of a pool, and remove what they talk to each other by: this process ends.
    What is in the store stays; what was being written has no name yet."""
    for child in multiprocessing.active_children():
        child.kill()
    if _sockets is not None:
        shutil.rmtree(_sockets, ignore_errors=True)


def place_for_sockets() -> None:
    """Make the folder in which the processes talk to each other, once: the temporary folder, or
    another one if its path is too long for a socket. `abandon` removes it; it does not ask for its
    name, since a signal may come while Python's `tempfile` holds the lock that this would take.
    Raises FuseScopeError where there is none."""
    global _sockets
    if _sockets is None:
        _sockets = _short_folder()


def _short_folder() -> str:
    try:
        own = tempfile.gettempdir()
    except OSError as error:
        where = os.environ.get("TMPDIR", "/tmp")
        raise FuseScopeError("temporary_folder_missing", where=where) from error
    length = len(os.fsencode(own))
    before, tempfile.tempdir = tempfile.tempdir, own if length <= _LONGEST else _SHORT
    try:
        return util.get_temp_dir()  # which makes one, and removes it when this process ends
    except OSError as error:
        if length <= _LONGEST:
            raise FuseScopeError("temporary_folder_missing", where=own) from error
        raise FuseScopeError(
            "temporary_folder_long", where=own, n=length, limit=_LONGEST
        ) from error
    finally:
        tempfile.tempdir = before


def _start_servers() -> None:
    """Starts Python's process that removes what a pool leaves behind when this one is killed, and
    the one that makes the processes of the pool. The first does so without the warning of 'leaked
    semaphore objects', of which nothing is to be done, and the second without a word: either would
    come into the terminal after the end."""
    sys.warnoptions.append(_TRACKER_WARNING)
    kept = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        resource_tracker.ensure_running()
        os.dup2(nothing, 2)
        forkserver.ensure_running()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)
        sys.warnoptions.remove(_TRACKER_WARNING)


def _end_with_parent() -> None:
    """Has this process of a pool end at once when the one that fills the store is gone, even
    killed. Waiting for work alone it would never notice: it holds both ends of that pipe. What it
    was writing has no name yet, and the next ingest removes it."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _by_scheduler(work: Work, todo: Sequence[Unit], address: str) -> Iterator[Entry]:
    """By the workers of a Dask scheduler, which must reach the files, the store and FuseScope. What
    a lost worker was reading, another one reads."""
    try:
        import distributed
    except ImportError as error:
        raise FuseScopeError("package_missing", package="distributed", extra="cluster") from error
    dask: Any = distributed  # which has no types of its own
    try:
        client = dask.Client(address, timeout=3, set_as_default=False)
    except Exception as error:
        raise FuseScopeError("scheduler_unreachable", where=address[:120]) from error
    with client:
        futures = client.map(
            functools.partial(read_unit, work), todo, pure=False, retries=_RETRIES, batch_size=64
        )
        for future in dask.as_completed(futures, loop=client.loop):
            try:
                yield future.result()
            except FuseScopeError:
                raise
            except dask.scheduler.KilledWorker as error:
                raise FuseScopeError("workers_lost", where=address[:120]) from error
            finally:
                future.release()


def _clean(place: Place, before: dict[str, Entry], read: Sequence[Entry]) -> None:
    """Removes tables of files that have changed since, which nobody names any more."""
    now = before | {entry.path: entry for entry in read}
    kept = {entry.sha256 for entry in now.values()}
    for entry in read:
        old = before.get(entry.path)
        if old is not None and old.facts is not None and old.sha256 not in kept:
            store.remove_tables(place, old.facts)
