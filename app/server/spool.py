"""Spool: files that a browser sends are written to the disk as they come, and wait for their page.

A page has a ticket, without which nothing is taken and nobody gets what was sent.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from fusescope.collectors.files import ownership, scratch

MAX_WAITING = 8  # files of all pages together that were sent and not read yet
_MAX_TICKETS = 1000


@dataclass(frozen=True)
class Received:
    """A file that was sent whole, and what its sender calls it."""

    path: Path
    name: str


class Spool:
    """What the server has received; `is_served` while there is a route to send to."""

    def __init__(self) -> None:
        self.is_served = False
        self._lock = threading.Lock()
        self._tickets: OrderedDict[str, None] = OrderedDict()
        self._files: dict[tuple[str, str], Received] = {}
        self._coming: set[Path] = set()
        self._folder: tuple[Path, int] | None = None

    def ticket(self) -> str:
        """A new ticket."""
        ticket = secrets.token_hex(16)
        with self._lock:
            self._tickets[ticket] = None
            if len(self._tickets) > _MAX_TICKETS:
                self._tickets.popitem(last=False)
        return ticket

    def knows(self, ticket: str) -> bool:
        """Whether this is a ticket."""
        with self._lock:
            return ticket in self._tickets

    def begin(self) -> Path | None:
        """Where the next file is written; None where too many are waiting. Raises OSError."""
        with self._lock:
            if len(self._files) + len(self._coming) >= MAX_WAITING:
                return None
            path = self._place() / secrets.token_hex(8)
            self._coming.add(path)
            return path

    def complete(self, ticket: str, path: Path, name: str) -> str:
        """The file at `path` is there whole; the number by which its page asks for it."""
        number = secrets.token_hex(8)
        with self._lock:
            self._coming.discard(path)
            self._files[ticket, number] = Received(path, name)
        return number

    def drop(self, path: Path) -> None:
        """The file at `path` is not wanted any more."""
        with self._lock:
            self._coming.discard(path)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

    def expire(self, ticket: str, number: str) -> None:
        """Nobody has taken the file of this number for long: it goes."""
        found = self.take(ticket, number)
        if found is not None:
            self.drop(found.path)

    def leave(self, ticket: str) -> int:
        """The page of this ticket takes nothing that was sent so far; how many files went."""
        with self._lock:
            numbers = [number for of, number in self._files if of == ticket]
        found = [self.take(ticket, number) for number in numbers]
        for one in found:
            if one is not None:
                self.drop(one.path)
        return sum(one is not None for one in found)

    def take(self, ticket: str, number: str) -> Received | None:
        """The file of this number, once; whoever takes it drops it."""
        with self._lock:
            return self._files.pop((ticket, number), None)

    def close(self) -> None:
        """Remove everything."""
        with self._lock:
            self._files.clear()
            if self._folder is not None:
                path, handle = self._folder
                ownership.remove(path)
                os.close(handle)
            self._folder = None

    def _place(self) -> Path:
        """A folder of this user alone, made for the first file."""
        if self._folder is None:
            scratch.remove_stale()
            handle = -1
            while handle < 0:
                path = Path(tempfile.mkdtemp(prefix=scratch.UPLOAD))
                handle = ownership.take(path)
            self._folder = path, handle
        return self._folder[0]


SPOOL = Spool()
