"""Publication: a file gets its name once it is complete; another's only where that is asked."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Self

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.files import ownership

_MAX_NUMBERS = 10_000
_ENDING = ".fusescope.partial"
_NAME_CHARS = 56  # a name may be as long as the system allows (255 bytes), and ours is longer
_DRAFT = re.compile(rf"\..*\.[0-9a-f]{{8}}{re.escape(_ENDING)}", re.DOTALL)


def replace(path: Path, data: bytes) -> None:
    """Puts `data` at `path`, in place of a file that is there; nobody ever sees half of it. Raises
    OSError, and then what was there stays."""
    with Draft(path) as draft:
        with draft.opened() as file:
            file.write(data)
        draft.path.replace(path)


def is_special(path: Path) -> bool:
    """Whether something is there that is neither a regular file nor a folder: it is written to, and
    never replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def draft_for_out(target: Path) -> Draft:
    """A draft of what --out names. Raises FuseScopeError where its folder refuses."""
    try:
        return Draft(target)
    except OSError as error:
        raise FuseScopeError(
            "output_folder_unwritable",
            where=str(target.parent),
            reason=(error.strerror or str(error)).lower(),
        ) from None


class Draft:
    """A new, empty file at `path`, hidden beside `target`; gone with the end of the block.

    Made at once, so that a folder that refuses is found before any work. Raises OSError there.
    Removes what killed processes left in that folder.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        ownership.remove_stale(target.parent, lambda name: _DRAFT.fullmatch(name) is not None)
        self._lock = -1
        while self._lock < 0:
            self.path = target.with_name(
                f".{target.name[:_NAME_CHARS]}.{secrets.token_hex(4)}{_ENDING}"
            )
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            self._lock = ownership.take(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        os.close(self._lock)

    @contextlib.contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The file, to be filled; what was written is on the disk in the end."""
        # in a folder that others write to, no link of theirs is followed
        with open(os.open(self.path, os.O_RDWR | os.O_NOFOLLOW), "r+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def publish(self) -> Path:
        """Gives the file the name of the target, and returns that. Raises FileExistsError where
        there is something of that name, another OSError where the folder refuses."""
        return self._named(self.target)

    def publish_numbered(self) -> Path:
        """Likewise, under the first free name of x.zip, x-2.zip, x-3.zip, …"""
        target = self.target
        for number in range(1, _MAX_NUMBERS):
            with contextlib.suppress(FileExistsError):
                end = f"-{number}" if number > 1 else ""
                return self._named(target.with_name(f"{target.stem}{end}{target.suffix}"))
        raise FileExistsError(f"no free name beside {target.name}")

    def _named(self, name: Path) -> Path:
        try:
            os.link(self.path, name)  # unlike a rename, never replaces
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(name):
                raise FileExistsError(f"there is {name.name} already") from None
            os.rename(self.path, name)
        return name
