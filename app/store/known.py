"""Known files: which entry a path led to, while neither it nor what lies beside it has changed."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.store.settings import KEY
from collectors.files import folder as folders
from collectors.files import publication

FOLDER = "known"
_MAX_BYTES = 64 * 1024
_SETTLED_NS = 2_000_000_000  # a file may change again within one tick of its clock

Facts = tuple[int, ...]


class _Known(msgspec.Struct, frozen=True):
    facts: Facts
    beside: str
    key: str


def facts_of(path: Path) -> Facts | None:
    """What tells whether a file has changed; None for what is no regular file."""
    try:
        found = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def beside(path: Path, above: Path | None) -> str:
    """A hash that changes with any other file in the folder of `path`, or in the one `above`."""
    found = []
    for folder in filter(None, (path.parent, above)):
        try:
            with os.scandir(folder) as files:
                found += [
                    (str(folder), file.name, facts.st_size, facts.st_mtime_ns)
                    for file in files
                    if file.name != path.name
                    and stat.S_ISREG((facts := file.stat(follow_symlinks=False)).st_mode)
                ]
        except OSError:
            return ""
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()


def key_of(library: Path, way: str, facts: Facts, around: Callable[[], str]) -> str | None:
    """The key that `way` led to, where the file, and what is around it, are as they were then;
    what is around is not asked where it did not matter."""
    try:
        with _path(library, way).open("rb") as file:
            found = msgspec.json.decode(file.read(_MAX_BYTES), type=_Known)
    except (OSError, msgspec.MsgspecError):
        return None
    is_same = found.facts == facts and (not found.beside or found.beside == around())
    return found.key if is_same and KEY.fullmatch(found.key) else None


def remember(library: Path, way: str, facts: Facts, around: str, key: str) -> None:
    """Keep which key `way` leads to; `around` is '' where it does not matter. Raises OSError."""
    if time.time_ns() - max(facts[3:]) < _SETTLED_NS:
        return
    path = _path(library, way)
    folders.make(path.parent)
    publication.replace(path, msgspec.json.encode(_Known(facts, around, key)))


def _path(library: Path, way: str) -> Path:
    told = hashlib.sha256(way.encode(errors="replace")).hexdigest()
    return library / FOLDER / f"{told[:32]}.json"
