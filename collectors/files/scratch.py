"""Temporary folders that go in the end, and those that killed processes left behind."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.files import ownership

RECORDING = "fusescope-recording-"
WORKER = "fusescope-worker-"
UPLOAD = "fusescope-upload-"
EXPORT = "fusescope-nsys-"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_PROBE_BYTES = 1 << 16


@contextlib.contextmanager
def folder(prefix: str = RECORDING) -> Iterator[Path]:
    """A private, empty temporary folder that goes in the end; that of a recording or of an export
    removes stale ones first.

    Raises FuseScopeError where there is no room for one, or where the body runs out of it.
    """
    if prefix in (RECORDING, EXPORT):
        remove_stale()
    try:
        path = _name(prefix)
    except OSError as error:
        raise refused(error) from None
    lock = -1
    try:  # from before it is made: an interruption may come right after that
        while (lock := _made(path)) < 0:
            path = _name(prefix)
        yield path
    except OSError as error:
        if lock < 0 or is_full(path):
            raise refused(error) from None
        raise
    finally:
        ownership.remove(path)
        if lock >= 0:
            os.close(lock)


def _made(path: Path) -> int:
    """Makes a private folder, and returns the handle of its lock, or -1 (`ownership.take`)."""
    path.mkdir(0o700)
    return ownership.take(path)


def _name(prefix: str) -> Path:
    """Return a name in the temporary folder that nothing has yet."""
    return Path(tempfile.gettempdir(), f"{prefix}{secrets.token_hex(6)}")


def remove_stale() -> None:
    """Removes this user's folders whose owner is gone. Follows no links."""
    with contextlib.suppress(OSError):
        ownership.remove_stale(
            tempfile.gettempdir(), lambda name: name.startswith((RECORDING, WORKER, UPLOAD, EXPORT))
        )


def is_full(path: Path) -> bool:
    """Whether a folder takes no more data."""
    try:
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError as error:
        return error.errno in FULL
    return False


def refused(error: OSError) -> FuseScopeError:
    """The temporary folder takes nothing more."""
    try:
        index = tempfile.gettempdir()
        if os.path.basename(index).startswith(WORKER):  # its own folder, from inside
            index = os.path.dirname(index)
    except OSError:  # none of the places that Python tries can be written to
        index = os.environ.get("TMPDIR", "/tmp")
        return FuseScopeError("temporary_folder_missing", where=index)
    return FuseScopeError(
        "temporary_folder_unwritable", where=index, reason=(error.strerror or str(error)).lower()
    )
