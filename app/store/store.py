"""The store: entries by the hash of what was read, bounded in size, shared by processes.

An entry appears complete or not at all, and is replaced as a whole. Whoever changes which entries
there are holds the lock; whoever reads one does not, and finds it, or finds it gone. Entries of
several versions of the readers may stand beside each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import READER_VERSION
from fusescope.analysis.trace import Trace
from fusescope.app.store import entries, facts
from fusescope.app.store.entries import UNREADABLE, Entry
from fusescope.app.store.settings import FLEETS, KEY
from fusescope.collectors.files import folder as folders
from fusescope.collectors.files import publication
from fusescope.collectors.files.folder import FolderDraft

if TYPE_CHECKING:
    from fusescope.analysis.columnar.tables import Columnar

VERSION = 1
TRACES = "traces"
_MARK = "library.json"
_LOCK = "lock"
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_COUNT = "bytes"
_COUNT_AGAIN_S = 24 * 3600.0  # others may have put entries there
_PATIENCE_S = 10.0
_STEP_S = 0.02
_LOOKS = 5  # at an entry that is replaced while it is read
_MOST_HELD = 8192  # entries whose descriptions, of 2 to 10 kB, are kept in memory


class _Mark(msgspec.Struct):
    version: int


@dataclass(frozen=True, eq=False)
class Held:
    """An entry that is there: its folder, its bytes on the disk, when it was used last, in ns."""

    folder: Path
    entry: Entry
    bytes: int
    used_ns: int


class Store:
    """The store below a folder, of `max_bytes` at most."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes

    def check(self) -> None:
        """Raises FuseScopeError where a newer FuseScope made the store, which stays as it is."""
        version = self._version()
        if version > VERSION:
            raise FuseScopeError(
                "kept_newer", where=str(self.folder), version=version, known=VERSION
            )

    def _version(self) -> int:
        try:
            data = (self.folder / _MARK).read_bytes()
            return msgspec.json.decode(data, type=_Mark).version
        except (OSError, msgspec.MsgspecError):
            return VERSION

    def trace(self, key: str) -> Trace | None:
        """The trace that was kept under this key, by any version of the readers, the newest first;
        None where there is none, or it is damaged. Counts as a use of it."""
        for _ in range(_LOOKS):
            there = self._there(key)
            for folder, *_ in there:
                with contextlib.suppress(*UNREADABLE):
                    found = entries.trace(folder, entries.described(folder))
                    with contextlib.suppress(OSError):  # gone since, or of another user
                        os.utime(folder / entries.DESCRIPTION)
                    return found
            if self._there(key) == there:
                break
        return None

    def entry(self, key: str, reader: int | None = None) -> Entry | None:
        """What is known of the trace of this key, of this version of the readers or of any."""
        for held in self._named(key):
            if reader is None or held.parent.name == f"reader={reader}":
                with contextlib.suppress(*UNREADABLE):
                    return entries.described(held)
        return None

    def put(self, entry: Entry, kept: Columnar, others: Sequence[Columnar] = ()) -> bool:
        """Keep a trace, with the others of its file, in place of one of its key; what was used
        longest ago goes to make room. False where it is larger than the store may be. Raises
        OSError, and then the store is as it was."""
        self.check()
        target = self._path(entry.reader, entry.key)
        folders.make(self.folder)
        with FolderDraft(target) as draft:
            entries.write(draft, entry, kept, others)
            own = _bytes(draft.path)
            most = self.max_bytes - self.fleet_bytes
            if own > most:
                return False
            with self._locked():
                self._marked()
                total = self._count(self._counted() + own)
                draft.publish()
                for older in self._named(entry.key):
                    if older != target:
                        folders.remove(older)
                if total > most:
                    self._count(self._make_room(target, most))
        return True

    def held(self) -> list[Held]:
        """All entries that can be read, the last one used in front; of each key the newest."""
        found: dict[str, Held] = {}
        for folder in self._folders():
            with contextlib.suppress(*UNREADABLE):
                held = _held(folder)
                found.setdefault(held.entry.key, held)
        return sorted(found.values(), key=lambda one: (-one.used_ns, one.entry.key))

    def damaged(self) -> list[str]:
        """Return the keys of entries that no description can be read of."""
        read, unread = set(), set()
        for folder in self._folders():
            try:
                read.add(_held(folder).entry.key)
            except UNREADABLE:
                unread.add(folder.name.removeprefix("hash="))
        return sorted(unread - read)

    @property
    def bytes(self) -> int:
        """What all entries and stores of ranks take on the disk."""
        total = self.fleet_bytes
        for folder in self._folders():
            try:
                total += _held(folder).bytes
            except UNREADABLE:  # damaged
                total += _bytes(folder)
        return total

    @property
    def fleet_bytes(self) -> int:
        """What stores of ranks take on the disk."""
        return sum(_bytes(Path(here)) for here, _, _ in os.walk(self.folder / FLEETS))

    def remove(self, key: str) -> bool:
        """Remove the trace of this key; False where there is none. Raises OSError."""
        there = self._named(key)
        if there:
            with self._locked():
                for folder in there:
                    folders.remove(folder)
        return bool(there)

    def clear(self) -> int:
        """Remove all that is kept, ranks too, with names, tags and notes; the bytes that this
        frees. Raises OSError."""
        if not self.folder.is_dir():
            return 0
        freed = self.bytes
        with self._locked():
            for name in (TRACES, FLEETS, facts.FOLDER, "known"):
                _remove(self.folder / name)
            (self.folder / _COUNT).unlink(missing_ok=True)
        return freed

    def _path(self, reader: int, key: str) -> Path:
        return self.folder / TRACES / f"reader={reader}" / f"hash={key}"

    def _named(self, key: str) -> list[Path]:
        """Folders of this key, of the newest version of the readers first."""
        if not KEY.fullmatch(key):
            return []
        there = (reader / f"hash={key}" for reader in self._readers())
        return [folder for folder in there if folder.is_dir()]

    def _there(self, key: str) -> list[tuple[Path, int, int]]:
        """The same, with what tells whether one was replaced."""
        found = []
        for folder in self._named(key):
            with contextlib.suppress(OSError):
                state = folder.stat()
                found.append((folder, state.st_ino, state.st_ctime_ns))
        return found

    def _readers(self) -> list[Path]:
        """Folders of the versions of the readers, this one first, then the newest of the others."""

        def rank(path: Path) -> tuple[bool, int]:
            version = int(path.name.removeprefix("reader="))
            return version == READER_VERSION, version

        if self._version() > VERSION:
            return []
        with contextlib.suppress(OSError):
            found = [
                path
                for path in (self.folder / TRACES).iterdir()
                if path.name.removeprefix("reader=").isdecimal()
            ]
            return sorted(found, key=rank, reverse=True)
        return []

    def _folders(self) -> list[Path]:
        found: list[Path] = []
        for reader in self._readers():
            with contextlib.suppress(OSError), os.scandir(reader) as there:
                names = [
                    one.name
                    for one in there
                    if KEY.fullmatch(one.name.removeprefix("hash=")) and one.is_dir()
                ]
                found += [reader / name for name in sorted(names)]
        return found

    def _counted(self) -> int:
        """Bytes of all entries at the most: to look at each whenever one is put takes longer the
        more there are. What went away is counted until there seems to be no room."""
        with (
            contextlib.suppress(OSError, msgspec.MsgspecError),
            open(os.open(self.folder / _COUNT, _READ), "rb") as file,
        ):
            if time.time() - os.fstat(file.fileno()).st_mtime < _COUNT_AGAIN_S:
                return max(0, msgspec.json.decode(file.read(64), type=int))
        return sum(map(_bytes, self._folders()))

    def _count(self, total: int) -> int:
        """Keeps how many there are; where a crash damages that, they are counted again."""
        publication.replace(self.folder / _COUNT, msgspec.json.encode(total))
        return total

    def _make_room(self, newest: Path, most: int) -> int:
        """Remove entries until what is left takes `most` bytes, and return how many it takes. Those
        with a name, tags or a note of the user's go last, `newest` never."""
        sizes = {folder: _bytes(folder) for folder in self._folders()}
        total = sum(sizes.values())
        if total <= most:
            return total

        def rank(folder: Path) -> tuple[bool, int]:
            key = folder.name.removeprefix("hash=")
            with contextlib.suppress(OSError):
                used = (folder / entries.DESCRIPTION).stat().st_mtime_ns
                return facts.of(self.folder, f"trace:{key}") != facts.NONE, used
            return False, 0  # damaged

        for folder in sorted(sizes, key=rank):
            if total <= most:
                break
            if folder != newest:
                folders.remove(folder)
                total -= sizes[folder]
        return total

    def _marked(self) -> None:
        if not (self.folder / _MARK).exists():
            publication.replace(self.folder / _MARK, msgspec.json.encode(_Mark(VERSION)))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """While nobody else changes which entries there are. Raises OSError where somebody does so
        for too long."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(self.folder / _LOCK, flags, 0o600)
        try:
            deadline = time.monotonic() + _PATIENCE_S
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(_STEP_S)
            yield
        finally:
            os.close(handle)


def _remove(folder: Path) -> None:
    """Removes a folder; of one that a link leads to, as to another disk, what is in it. Raises
    OSError."""
    if not folder.is_symlink():
        folders.remove(folder)
        return
    there = folder.resolve()
    for one in list(there.iterdir()) if there.is_dir() else []:
        if one.is_dir() and not one.is_symlink():
            folders.remove(one)
        else:
            one.unlink(missing_ok=True)


def _held(folder: Path) -> Held:
    """The entry in a folder. Raises one of UNREADABLE."""
    found = os.stat(f"{folder}/{entries.DESCRIPTION}")
    return _described(folder, found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=_MOST_HELD)
def _described(folder: Path, inode: int, size: int, used_ns: int) -> Held:
    """The same, read once for each description that lies there: the one with these facts."""
    return Held(folder, entries.described(folder), _bytes(folder), used_ns)


def _bytes(folder: Path) -> int:
    """Bytes of the files in a folder; 0 of one that is gone."""
    with contextlib.suppress(OSError), os.scandir(folder) as files:
        return sum(file.stat(follow_symlinks=False).st_size for file in files)
    return 0
