"""Ascend tables in a folder: what `--ascend DIR` writes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from errno import EINVAL, EISDIR
from functools import partial
from itertools import count
from pathlib import Path

from analysis.errors import FuseScopeError
from analysis.messages import say
from analysis.report.exports.ascend_tables import ascend_tables
from analysis.trace import Trace
from analysis.wording import diagnostic_sentence
from app.cli.outputs import refuse_lost

_MAX_CHARS = 60


def write_ascend(
    folder: Path, traces: Mapping[str, Trace], inputs: Iterable[Path | None]
) -> list[str]:
    """Writes the tables of each trace to its own folder below `folder`; '' is `folder` itself.

    All of them are written, or none. Files of other names stay. Returns sentences on what the
    tables lack. Raises FuseScopeError where they cannot be written, or would replace `inputs`,
    which are what was read.
    """
    texts: dict[Path, bytes] = {}
    sentences: list[str] = []
    for name, place in _folders(traces).items():
        tables = ascend_tables(traces[name])
        texts |= {folder / place / file: data for file, data in tables.files.items()}
        told = [diagnostic_sentence(note) for note in tables.diagnostics]
        sentences += [
            say("{variant:name}: {note}", variant=name, note=t) if name else t for t in told
        ]
    read = tuple(inputs)
    for path in texts:
        refuse_lost({"--ascend": path}, read)
    try:
        _write_all(texts)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FuseScopeError(
            "ascend_tables_unwritable", where=str(folder), reason=reason
        ) from error
    return sentences


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


def _folders(traces: Mapping[str, Trace]) -> dict[str, str]:
    """A folder name for each trace: its name without what a file name should not hold."""
    taken: dict[str, str] = {}
    for name in traces:
        base = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:_MAX_CHARS]
        place, number = base or ("trace" if name else ""), 2
        while place in taken.values():
            place, number = f"{base or 'trace'}-{number}", number + 1
        taken[name] = place
    return taken
