"""A user's own library of operators, as a file: what it is, and that it stays what it was.

It is code that runs with the user's rights, so it is named on the command line and nowhere else:
no model, upload or experiment file leads to one. This module loads nothing; workers do.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import FuseScopeError
from analysis.text import shown

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Library:
    """The file at `path` (absolute) when it was read; `stamp` is what its status said then."""

    path: str
    name: str
    sha256: str
    stamp: tuple[int, ...]

    @property
    def settings(self) -> dict[str, str]:
        """What the experiment file says of it: no folder travels."""
        return {"custom_op_library": self.name, "custom_op_library_sha256": self.sha256}

    def check_unchanged(self) -> None:
        """Raises FuseScopeError when the file is another one than was read: the blocks of a
        recording must run the same code."""
        try:
            now = _stamp(os.stat(self.path))
        except OSError:
            now = ()
        if now != self.stamp:
            raise FuseScopeError(
                "The custom-op library was changed while it was recorded",
                where=self.name,
                hint="Nothing was written; record again, and build into another file meanwhile.",
            )


def read(path: Path) -> Library:
    """The library at that path. Raises FuseScopeError for what is no readable file."""
    name = shown(path, 200)
    try:
        os.fsencode(path).decode()
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise FuseScopeError(
            "The custom-op library does not exist", where=name, hint="Check its path."
        ) from None
    except ValueError:  # bytes that are no text, or NUL
        raise FuseScopeError(
            "The path of the custom-op library is no UTF-8 text", where=name, hint="Rename it."
        ) from None
    except OSError as error:
        raise FuseScopeError(
            f"The custom-op library cannot be read: {(error.strerror or str(error)).lower()}",
            where=name,
            hint="Check its path and who may read it.",
        ) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
            raise FuseScopeError(
                f"The custom-op library is {kind}", where=name, hint="Name the library's file."
            )
        if status.st_size == 0:
            raise FuseScopeError(
                "The custom-op library is empty", where=name, hint="Build or copy it again."
            )
        digest = hashlib.sha256()
        while chunk := os.read(handle, _CHUNK_BYTES):
            digest.update(chunk)
    finally:
        os.close(handle)
    absolute = path.absolute()
    return Library(str(absolute), absolute.name, digest.hexdigest(), _stamp(status))


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
