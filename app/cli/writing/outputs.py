"""Files that a verb writes: none may take the place of what it reads, or of a recording."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say

_HEAD_BYTES = 64
_ZIP = b"PK"
_OF_GRAPHS = ("--keep", "--out")  # options that write graphs of releases
_REPORT = b"<!doctype html"


def refuse_lost(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuses, by its option, an output that is one of the inputs, links too, or any zip.

    In a folder that is read, only an earlier report may be replaced; graphs that were kept may by
    newer ones. Call it before anything is
    written. Raises FuseScopeError.
    """
    given = [path for path in inputs if path is not None]
    for option, output in outputs.items():
        if output is None:
            continue
        if any(_is_part(output, path) for path in given):
            raise FuseScopeError("output_is_an_input", where=str(output), option=option)
        if _head(output).startswith(_ZIP) and not (option in _OF_GRAPHS and _has_graphs(output)):
            raise FuseScopeError("output_is_a_zip", where=str(output), option=option)


def write_whole(
    path: Path,
    data: bytes,
    *,
    option: str,
    code: Literal["report_unwritable", "table_unwritable"],
) -> None:
    """Writes to the file that `option` names, complete or not at all. Raises FuseScopeError, of
    `code` where the file cannot be written.

    A link stays one, and what it leads to is replaced. What is not a regular file (a device, a
    pipe) is written to and never replaced.
    """
    from fusescope.collectors.files import publication

    if path.is_dir():
        raise FuseScopeError("output_is_a_folder", where=str(path), option=option)
    try:
        if _is_stdout(path):
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        elif publication.is_special(path):
            with open(os.open(path, os.O_WRONLY), "wb") as special:  # neither made nor cut
                special.write(data)
        else:
            publication.replace(Path(os.path.realpath(path)), data)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise FuseScopeError(code, where=str(path), reason=reason, option=option) from error


def print_report(path: Path, *, redact: bool) -> None:
    """Says where the report is; with `redact` without its folders."""
    print(f"\n{say('Report: {file:name}', file=path.name if redact else str(path))}")


def _is_stdout(path: Path) -> bool:
    """Whether the path is what we print to, by name or by redirection."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError, AttributeError):
        return False


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


def _has_graphs(path: Path) -> bool:
    """Whether it is a zip of graphs alone, without a time."""
    from fusescope.analysis.releases.history import is_history

    try:
        return is_history(path.read_bytes())
    except (OSError, ValueError):
        return False


def _head(path: Path) -> bytes:
    """The first bytes of a regular file; nothing of what cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return b""
