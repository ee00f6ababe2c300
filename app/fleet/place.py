"""Place: a folder of this machine, or what a path of fsspec names (s3://…); files in it are whole.

A file gets its name once all of it is there. Where a store of objects takes an object in one piece
that is so by itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import display_name
from fusescope.collectors.files import publication

_WHOLE = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "memory")  # an object, or none
_LOCK = ".writing"
_PARTIAL = ".fusescope.partial"


def is_remote(text: str) -> bool:
    """Whether a path is one of fsspec and not of this machine."""
    return "://" in text and not text.startswith("file://")


@contextlib.contextmanager
def reachable(text: str) -> Iterator[None]:
    """Around what is asked of a file system of fsspec, whose packages raise errors of all kinds.
    Raises FuseScopeError."""
    try:
        yield
    except FuseScopeError:
        raise
    except Exception as error:
        reason = str(error).split("\n")[0][:160] or type(error).__name__
        raise FuseScopeError("store_unreachable", where=text[:120], reason=reason) from error


def filesystem(text: str) -> tuple[Any, str, str]:
    """fsspec's file system for a path, its protocol, and the path there. Raises FuseScopeError."""
    try:
        import fsspec
    except ImportError as error:
        raise FuseScopeError("package_missing", package="fsspec", extra="tables") from error
    with reachable(text):
        system, path = fsspec.core.url_to_fs(text)
    return system, text.partition("://")[0], path


class Place:
    """Files below one folder, by relative names. Every method raises OSError."""

    def __init__(self, text: str) -> None:
        """Raises FuseScopeError for a path that fsspec does not know."""
        self.text = text
        self._system: Any = None
        self._protocol = ""
        if is_remote(text):
            self._system, self._protocol, self._root = filesystem(text.rstrip("/"))
        else:
            self._root = str(Path(text.removeprefix("file://")).expanduser().absolute())

    @property
    def name(self) -> str:
        """What to call it."""
        return display_name(self._root)

    @property
    def folder(self) -> Path | None:
        """The folder on this machine; None of a path of fsspec."""
        return Path(self._root) if self._system is None else None

    def read(self, name: str) -> bytes:
        """The content of a file."""
        if self._system is None:
            return Path(self._root, name).read_bytes()
        data: bytes = self._system.cat_file(f"{self._root}/{name}")
        return data

    def write(self, name: str, data: bytes) -> None:
        """Puts `data` there, in place of what is there."""
        if self._system is None:
            path = Path(self._root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            publication.replace(path, data)
            return
        there = f"{self._root}/{name}"
        self._system.makedirs(there.rpartition("/")[0], exist_ok=True)
        if self._protocol in _WHOLE:
            self._system.pipe_file(there, data)
            return
        draft = f"{there}.{secrets.token_hex(4)}{_PARTIAL}"
        self._system.pipe_file(draft, data)
        self._system.mv(draft, there)

    def remove(self, name: str) -> None:
        """Removes a file; one that is gone is not an error."""
        with contextlib.suppress(FileNotFoundError):
            if self._system is None:
                Path(self._root, name).unlink()
            else:
                self._system.rm_file(f"{self._root}/{name}")

    def names(self, folder: str = "") -> list[str]:
        """Names in a folder, without hidden ones; none where it is missing."""
        if self._system is None:
            path = Path(self._root, folder)
            found = os.listdir(path) if path.is_dir() else []
        else:
            path_there = f"{self._root}/{folder}".rstrip("/")
            with contextlib.suppress(FileNotFoundError):
                self._system.invalidate_cache()
            try:
                listed = self._system.ls(path_there, detail=False)
            except FileNotFoundError:
                listed = []
            found = [str(each).rstrip("/").rpartition("/")[2] for each in listed]
        return sorted(n for n in found if not n.startswith(".") and not n.endswith(_PARTIAL))

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Holds the folder for one writer. Raises FuseScopeError while another one writes. Stores
        of objects have no locks; there, writers write other files or the same content."""
        if self._system is not None:
            yield
            return
        Path(self._root).mkdir(parents=True, exist_ok=True)
        handle = os.open(Path(self._root, _LOCK), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FuseScopeError("store_being_written", where=self.name) from None
            yield
        finally:
            os.close(handle)

    def is_being_written(self) -> bool:
        """Whether somebody holds it for writing."""
        if self._system is not None:
            return False
        try:
            handle = os.open(Path(self._root, _LOCK), os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(handle)
        return False
