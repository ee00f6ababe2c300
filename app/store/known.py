"""Known files: which entry a path led to, while neither it nor what lies beside it has changed."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from fusescope.app.store.settings import KEY
from fusescope.collectors.files import folder as folders
from fusescope.collectors.files import publication

FOLDER = "known"
_MAX_BYTES = 64 * 1024
_SETTLED_NS = 2_000_000_000  # a file may change again within one tick of its clock

Facts = tuple[int, ...]


class Around(NamedTuple):
    """What lies around a file: a hash that changes with any of it, and when the last of it did."""

    hash: str = ""
    changed_ns: int = 0


class Known(msgspec.Struct, frozen=True):
    """The key that a path led to, for a file with these facts. `beside` is the hash of what lay
    around it, '' where that does not matter; `content` the key of the file alone."""

    facts: Facts
    beside: str
    key: str
    content: str = ""


def facts_of(path: Path) -> Facts | None:
    """What tells whether a file has changed; None for what is not a regular file."""
    try:
        found = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def around(path: Path, above: Path | None) -> Around:
    """The other files in the folder of `path`, and in the one `above`."""
    found = []
    changed_ns = 0
    for folder in filter(None, (path.parent, above)):
        try:
            with os.scandir(folder) as files:
                for file in files:
                    facts = file.stat(follow_symlinks=False)
                    if file.name != path.name and stat.S_ISREG(facts.st_mode):
                        when = facts.st_mtime_ns, facts.st_ctime_ns
                        found.append((str(folder), file.name, facts.st_size, *when))
                        changed_ns = max(changed_ns, *when)
        except OSError:
            return Around()
    return Around(hashlib.sha256(repr(sorted(found)).encode()).hexdigest(), changed_ns)


def of(library: Path, way: str, facts: Facts) -> Known | None:
    """What was kept of `way`, where the file is as it was then."""
    try:
        with _path(library, way).open("rb") as file:
            found = msgspec.json.decode(file.read(_MAX_BYTES), type=Known)
    except (OSError, msgspec.MsgspecError):
        return None
    keys = (found.key, found.content) if found.content else (found.key,)
    return found if found.facts == facts and all(map(KEY.fullmatch, keys)) else None


def remember(library: Path, way: str, known: Known, changed_ns: int = 0) -> None:
    """Keep which key `way` leads to; `changed_ns` is when the last file around it changed. Raises
    OSError."""
    if time.time_ns() - max(*known.facts[3:], changed_ns) < _SETTLED_NS:
        return
    path = _path(library, way)
    folders.make(path.parent)
    publication.replace(path, msgspec.json.encode(known))


def _path(library: Path, way: str) -> Path:
    told = hashlib.sha256(way.encode(errors="replace")).hexdigest()
    return library / FOLDER / f"{told[:32]}.json"
