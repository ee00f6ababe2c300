"""Files that a verb writes: none may take the place of what it reads, or of a recording."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from analysis.errors import FuseScopeError

_HEAD_BYTES = 64
_ZIP = b"PK"
_REPORT = b"<!doctype html"


def refuse_lost(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuses, by its option, an output that is one of the inputs, links too, or any zip.

    In a folder that is read, only an earlier report may be replaced. Call it before anything is
    written. Raises FuseScopeError.
    """
    given = [path for path in inputs if path is not None]
    for option, output in outputs.items():
        if output is None:
            continue
        if any(_is_part(output, path) for path in given):
            raise FuseScopeError(
                f"{option} would overwrite a file that is read",
                where=str(output),
                hint="Give it another name.",
            )
        if _head(output).startswith(_ZIP):
            raise FuseScopeError(
                f"{option} would overwrite a zip file, perhaps a recording",
                where=str(output),
                hint="Give it another name, or remove that file first.",
            )


def write_whole(path: Path, data: bytes, *, what: str, option: str) -> None:
    """Writes `what`, 'report' say, to the file that `option` names, complete or not at all. Raises
    FuseScopeError."""
    if path.is_dir():
        raise FuseScopeError(
            "This is a folder", where=str(path), hint=f"Give {option} the name of a file."
        )
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FuseScopeError(
            f"The {what} cannot be written: {error.strerror or error}",
            where=str(path),
            hint=f"Choose another place with {option}.",
        ) from error


def _is_part(output: Path, given: Path) -> bool:
    """Whether `output` is the file that is given, or one in the folder that is given."""
    try:
        here, there = output.resolve(), given.resolve()
        if here == there or (output.exists() and given.exists() and os.path.samefile(here, there)):
            return not output.is_dir()
        is_inside = given.is_dir() and here.is_relative_to(there)
    except (OSError, RuntimeError, ValueError):
        return False  # whoever reads or writes it says so
    return is_inside and output.is_file() and not _head(output).lower().startswith(_REPORT)


def _head(path: Path) -> bytes:
    """The first bytes of a regular file; nothing of what cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return b""
