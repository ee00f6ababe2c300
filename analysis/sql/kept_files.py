"""Files that DuckDB may read: those it was given, as they were written, and no others.

DuckDB reaches them by a file system of ours, which cannot write, and by nothing else. A file is
compared with its checksum when it is opened for the first time, so a question pays only for what it
reads.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fsspec import AbstractFileSystem

PROTOCOL = "kept"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class _KeptFile:
    """A file, the CRC-32 of its bytes, and the entry that it belongs to."""

    path: Path
    crc32: int
    entry: str


class KeptFiles(AbstractFileSystem):  # type: ignore[misc]
    """The files by the addresses that `add` gave them. `lost` are the entries of those that could
    not be opened: damaged, or gone since."""

    protocol = PROTOCOL
    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, _KeptFile] = {}
        self._right: set[tuple[str, int, int, int]] = set()
        self.lost: set[str] = set()

    def add(self, name: str, path: Path, crc32: int, entry: str) -> str:
        """Make a file known by a name; its address."""
        self._files[f"/{name}"] = _KeptFile(path, crc32, entry)
        return f"{PROTOCOL}:///{name}"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path.removeprefix(f"{PROTOCOL}://")

    def info(self, path: str, **_kwargs: Any) -> Mapping[str, Any]:
        """Raises FileNotFoundError for a file that was not given."""
        found = self._file(path).path.stat()
        return {"name": path, "size": found.st_size, "type": "file", "mtime": found.st_mtime}

    def modified(self, path: str) -> datetime:
        """When the file was changed."""
        return datetime.fromtimestamp(self.info(path)["mtime"], UTC)

    def glob(self, path: str, **_kwargs: Any) -> list[str]:
        """The file itself: patterns match nothing."""
        name = self._strip_protocol(path)
        return [name] if name in self._files else []

    def ls(self, path: str, detail: bool = True, **_kwargs: Any) -> list[Any]:
        """The file itself."""
        return [self.info(path)] if detail else [path]

    def open(self, path: str, mode: str = "rb", **_kwargs: Any) -> _Reader:
        """The file, to be read. Raises OSError to whoever would write, and for a damaged file."""
        if mode != "rb":
            raise PermissionError("files of the library are read only")
        file = self._file(path)
        try:
            return self._checked(file)
        except OSError:
            self.lost.add(file.entry)
            raise

    def _file(self, path: str) -> _KeptFile:
        found = self._files.get(self._strip_protocol(path))
        if found is None:
            raise FileNotFoundError("no file of the library")
        return found

    def _checked(self, file: _KeptFile) -> _Reader:
        handle = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            facts = os.fstat(handle)
            state = (str(file.path), facts.st_ino, facts.st_size, facts.st_mtime_ns)
            if state not in self._right:
                if _crc32(handle, facts.st_size) != file.crc32:
                    raise OSError("the file was changed")
                self._right.add(state)
            return _Reader(handle, facts.st_size)
        except BaseException:
            os.close(handle)
            raise


class _Reader:
    """A file that several threads of DuckDB read at once: each has a place of its own in it."""

    def __init__(self, handle: int, size: int) -> None:
        self._handle = handle
        self._size = size
        self._places: dict[int, int] = {}
        self.closed = False

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """The new place."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self._size}[whence]
        self._places[threading.get_ident()] = base + offset
        return base + offset

    def tell(self) -> int:
        """The place of this thread."""
        return self._places.get(threading.get_ident(), 0)

    def read(self, size: int = -1) -> bytes:
        """The next bytes; fewer at the end."""
        place = self.tell()
        wanted = self._size - place if size < 0 else min(size, self._size - place)
        parts = []
        while wanted > 0 and (part := os.pread(self._handle, wanted, place)):
            parts.append(part)
            place, wanted = place + len(part), wanted - len(part)
        self._places[threading.get_ident()] = place
        return b"".join(parts)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self.closed = True
            os.close(self._handle)

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            self.close()


def _crc32(handle: int, size: int) -> int:
    found = place = 0
    while place < size and (part := os.pread(handle, _BLOCK, place)):
        found = zlib.crc32(part, found)
        place += len(part)
    return found
