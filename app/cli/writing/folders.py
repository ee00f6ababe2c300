"""Several files that an option writes into a folder: all of them, or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from errno import EINVAL, EISDIR
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.writing.outputs import refuse_lost


def write_files(
    files: Mapping[Path, bytes],
    inputs: Iterable[Path | None],
    *,
    option: str,
    code: Literal["ascend_tables_unwritable", "tables_unwritable"],
    where: Path | None = None,
) -> None:
    """Writes every file that `option` names, or leaves all as they were; files of other names stay.
    Raises FuseScopeError, of `code` for `where`, where they cannot be written, or would replace
    `inputs`, which are what was read."""
    read = tuple(inputs)
    for path in files:
        refuse_lost({option: path}, read)
    try:
        _write_all(files)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        folder = where or next(iter(files)).parent
        raise FuseScopeError(code, where=str(folder), reason=reason, option=option) from error


def _write_all(files: Mapping[Path, bytes]) -> None:
    """Writes every file, or leaves all as they were: what a file replaces is kept until the end.

    Raises OSError or ValueError.
    """
    made: list[Path] = []  # folders, the outermost first
    parts: list[Path] = []
    before: dict[Path, Path | None] = {}  # where a file that was replaced lies; None for a new one
    try:
        for path, data in files.items():
            if path.is_dir():
                raise IsADirectoryError(EISDIR, "a folder has this name", str(path))
            if path.exists() and not path.is_file():
                raise OSError(EINVAL, "it is not a regular file", str(path))
            missing = [one for one in (path.parent, *path.parent.parents) if not one.exists()]
            for folder in reversed(missing):
                folder.mkdir()
                made.append(folder)
            parts.append(_beside(path, "part"))
            parts[-1].write_bytes(data)
        for path, part in zip(files, parts, strict=True):
            kept = _beside(path, "old") if os.path.lexists(path) else None
            if kept is not None:
                path.replace(kept)
            before[path] = kept
            part.replace(path)
    except BaseException:
        for path, kept in before.items():
            _quietly(path.unlink if kept is None else partial(kept.replace, path))
        for part in parts:
            _quietly(part.unlink)
        for folder in reversed(made):
            _quietly(folder.rmdir)
        raise
    for kept in before.values():
        if kept is not None:
            _quietly(kept.unlink)


def _beside(path: Path, ending: str) -> Path:
    """A name in the same folder that nothing has."""
    names = (path.with_name(f".{path.name}.{n}.{ending}") for n in count(os.getpid()))
    return next(name for name in names if not os.path.lexists(name))


def _quietly(act: Callable[[], object]) -> None:
    with suppress(OSError, ValueError):
        act()
