"""Facts: the name, the tags and the note that a user gave to something in the library.

A file each, so that one that is damaged costs one, and replaced as a whole.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import msgspec

from fusescope.analysis.text import clean_text
from fusescope.collectors.files import folder as folders
from fusescope.collectors.files import publication

FOLDER = "facts"
MAX_NAME, MAX_TAG, MAX_NOTE = 120, 40, 2000  # characters
MAX_TAGS = 20
_MAX_BYTES = 64 * 1024


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a user said of it; an empty name where it keeps its own."""

    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""


NONE = Facts()


def of(library: Path, id_: str) -> Facts:
    """The facts of what has this id."""
    try:
        return _read(_path(library, id_))
    except (OSError, msgspec.MsgspecError):
        return NONE


def every(library: Path) -> dict[str, Facts]:
    """All facts there are, by the name of their file; `file_name` is that of an id."""
    found = {}
    with suppress(OSError), os.scandir(library / FOLDER) as files:
        for file in files:
            with suppress(OSError, msgspec.MsgspecError):
                found[file.name] = _read(file.path)
    return found


def put(library: Path, id_: str, facts: Facts) -> None:
    """Keep these facts in place of the others. Raises OSError."""
    facts = cleaned(facts)
    path = _path(library, id_)
    if facts == NONE:
        path.unlink(missing_ok=True)
        return
    folders.make(path.parent)
    publication.replace(path, msgspec.json.encode(facts))


def cleaned(facts: Facts) -> Facts:
    """The facts fit to be shown: whoever wrote the file may have written anything."""
    tags = (_line(tag, MAX_TAG) for tag in facts.tags[: 2 * MAX_TAGS])
    return Facts(
        _line(facts.name, MAX_NAME),
        tuple(dict.fromkeys(filter(None, tags)))[:MAX_TAGS],
        _line(facts.note, MAX_NOTE),
    )


def _line(text: str, chars: int) -> str:
    return clean_text(" ".join(text.split()), chars, is_name=False)


def file_name(id_: str) -> str:
    """The name of the file with the facts of what has this id."""
    return f"{hashlib.sha256(id_.encode()).hexdigest()[:32]}.json"


def _path(library: Path, id_: str) -> Path:
    return library / FOLDER / file_name(id_)


def _read(path: Path | str) -> Facts:
    with open(path, "rb") as file:
        return cleaned(msgspec.json.decode(file.read(_MAX_BYTES), type=Facts))
