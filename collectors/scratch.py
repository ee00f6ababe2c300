"""The folder of a recording in progress, and those that killed recorders left behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "fusescope-recording-"
OWNER = "owner.pid"


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A private temporary folder that goes in the end; removes stale ones first.

    Its pid file is locked as long as the recorder lives. The system drops the lock however a
    process ends, and a lock, unlike a number, means the same in every container.
    """
    remove_stale()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        unready = Path(name, f".{OWNER}")
        with unready.open("w") as owner:
            owner.write(f"{os.getpid()}\n")
            owner.flush()
            fcntl.flock(owner, fcntl.LOCK_EX)
            unready.rename(Path(name, OWNER))  # nobody sees it unlocked
            yield Path(name)


def remove_stale() -> None:
    """Removes this user's recording folders whose owner is gone. Follows no links."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                with contextlib.suppress(OSError):
                    _remove_if_stale(entry)


def _remove_if_stale(entry: os.DirEntry[str]) -> None:
    mine = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    if mine and entry.is_dir(follow_symlinks=False):
        path = os.path.join(entry.path, OWNER)
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle) as owner:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: its recorder lives
            shutil.rmtree(entry.path, ignore_errors=True)
