"""Who owns a file or folder that is only there for a while: whoever holds its lock.

The system drops a lock however a process ends, and a lock, unlike a process number, means the same
in every container. So what nobody holds was left behind by a process that was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def take(path: Path) -> int:
    """Locks a file or folder that this process has just made, and returns the handle to close.

    -1 where it is gone: somebody took it for stale before it was locked; make another. A file
    system without locks is not an error: there nothing counts as stale.
    """
    try:
        handle = os.open(path, _OPEN)
    except FileNotFoundError:
        return -1
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        is_there = os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        is_there = False
    if not is_there:
        os.close(handle)
        return -1
    return handle


def remove(path: str | Path) -> None:
    """Removes a folder with all that is in it, as far as the system lets us."""
    shutil.rmtree(path, ignore_errors=True)


def remove_stale(index: str | Path, is_ours: Callable[[str], bool]) -> None:
    """Removes this user's files and folders in `place` whose name is ours and whose owner is gone.
    Follows no links."""
    with contextlib.suppress(OSError), os.scandir(index) as entries:
        for entry in entries:
            if is_ours(entry.name):
                with contextlib.suppress(OSError):
                    _remove_if_stale(entry)


def _remove_if_stale(entry: os.DirEntry[str]) -> None:
    handle = os.open(entry.path, _OPEN)
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            return
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: its owner lives
        if stat.S_ISDIR(status.st_mode):
            remove(entry.path)
        elif stat.S_ISREG(status.st_mode):
            os.unlink(entry.path)
    finally:
        os.close(handle)
