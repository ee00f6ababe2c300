"""A folder that appears complete or not at all, in place of one that is there."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Self

from fusescope.collectors.files import ownership

_ENDING = ".fusescope.partial"
_NAME_CHARS = 80
_DRAFT = re.compile(rf"\..*\.[0-9a-f]{{8}}{re.escape(_ENDING)}", re.DOTALL)


class FolderDraft:
    """A new, empty folder, hidden beside `target`; gone with the end of the block.

    Makes the folder around it where that is missing, for this user alone, and removes what killed
    processes left there. Raises OSError.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        make(target.parent)
        ownership.remove_stale(target.parent, lambda name: _DRAFT.fullmatch(name) is not None)
        self._lock = -1
        while self._lock < 0:
            self.path = _hidden(target)
            self.path.mkdir(mode=0o700)
            self._lock = ownership.take(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        ownership.remove(self.path)
        os.close(self._lock)

    @contextlib.contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """A new file in it, to be filled; what was written is on the disk in the end."""
        with (self.path / name).open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def publish(self) -> None:
        """Gives the folder its name, in place of one that has it; where the system can exchange two
        folders, somebody who looks always finds one. Raises OSError, and then what was there
        stays."""
        _sync(self.path)
        if self.target.is_dir() and _exchange(self.path, self.target):
            _sync(self.target.parent)
            return  # what was there goes with the end of the block
        before = _hidden(self.target)
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.target, before)
        try:
            os.rename(self.path, self.target)
        except OSError:
            with contextlib.suppress(OSError):
                os.rename(before, self.target)
            raise
        _sync(self.target.parent)
        ownership.remove(before)


def make(folder: Path) -> None:
    """Makes a folder, and those around it that are missing, for this user alone."""
    if not folder.is_dir():
        make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def remove(folder: Path) -> None:
    """Removes a folder: nobody ever sees a part of it. One that is gone is not an error."""
    gone = _hidden(folder)
    try:
        os.rename(folder, gone)
    except FileNotFoundError:
        return
    ownership.remove(gone)


def _hidden(target: Path) -> Path:
    return target.with_name(f".{target.name[:_NAME_CHARS]}.{secrets.token_hex(4)}{_ENDING}")


def _exchange(one: Path, other: Path) -> bool:
    """Gives two folders each other's name in one step. False where that was not done."""
    library = ctypes.CDLL(None)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        swap: Any = getattr(library, "renamex_np", None)
        return swap is not None and swap(*names, 2) == 0  # RENAME_SWAP
    rename: Any = getattr(library, "renameat2", None)
    here = -100  # AT_FDCWD
    return rename is not None and rename(here, names[0], here, names[1], 2) == 0  # RENAME_EXCHANGE


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
