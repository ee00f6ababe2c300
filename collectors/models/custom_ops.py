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
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import shown

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
            raise FuseScopeError("library_changed", where=self.name)


def read(path: Path) -> Library:
    """The library at that path. Raises FuseScopeError for what is not a readable file."""
    name = shown(path, 200)
    try:
        os.fsencode(path).decode()
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise FuseScopeError("library_missing", where=name) from None
    except ValueError:  # bytes that are not text, or NUL
        raise FuseScopeError("library_path_not_text", where=name) from None
    except OSError as error:
        raise FuseScopeError(
            "library_unreadable", where=name, reason=(error.strerror or str(error)).lower()
        ) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            is_folder = stat.S_ISDIR(status.st_mode)
            code: Literal["library_is_a_folder", "library_not_regular"]
            code = "library_is_a_folder" if is_folder else "library_not_regular"
            raise FuseScopeError(code, where=name)
        if status.st_size == 0:
            raise FuseScopeError("library_empty", where=name)
        digest = hashlib.sha256()
        while chunk := os.read(handle, _CHUNK_BYTES):
            digest.update(chunk)
    finally:
        os.close(handle)
    absolute = path.absolute()
    return Library(str(absolute), absolute.name, digest.hexdigest(), _stamp(status))


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
