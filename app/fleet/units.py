"""Units: which files and folders below what was given are one rank each."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.text import display_name
from fusescope.app.fleet.place import filesystem, is_remote, reachable

# Into such a folder Ascend's and MindSpore's profilers put all that they write of one rank.
_WHOLE = re.compile(r".*_ascend_(?:pt|ms)|ASCEND_PROFILER_OUTPUT")
_INSIDE = re.compile(
    r"profiler_info(?:_\d{1,6})?\.json|ascend_(?:pytorch|mindspore)_profiler\w*\.db"
)


@dataclass(frozen=True)
class Unit:
    """A file or folder of one rank: `size` and `changed_ns` tell whether it is still the same."""

    path: str
    size: int
    changed_ns: int
    is_folder: bool = False

    @property
    def id(self) -> str:
        """The path as text: a name that is not UTF-8 has its bytes as \\xff."""
        return self.path.encode(errors="surrogateescape").decode(errors="backslashreplace")

    @property
    def name(self) -> str:
        """What to call it."""
        return display_name(self.path)


def units(given: Sequence[str], limits: Limits, *, without: Path | None = None) -> list[Unit]:
    """Every rank's file or folder, by path; hidden files are left out, and what is below `without`.

    Raises FuseScopeError where something is missing, and where there is none.
    """
    found: dict[str, Unit] = {}
    for text in given:
        for unit in _remote(text) if is_remote(text) else _local(text, without, limits):
            found[unit.path] = unit
    if not found:
        raise FuseScopeError("fleet_without_files", where=display_name(given[0]))
    return [found[path] for path in sorted(found)]


def _local(text: str, without: Path | None, limits: Limits) -> list[Unit]:
    path = Path(text.removeprefix("file://")).expanduser()
    path = path.absolute()
    try:
        if not path.exists():
            raise FuseScopeError("no_such_file", where=display_name(text))
        if not path.is_dir():
            if not path.is_file():
                raise FuseScopeError("not_regular_file", where=display_name(text))
            return [_unit(path)]
        return _below(path, without.resolve() if without else None, limits)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FuseScopeError("folder_unlisted", where=display_name(text), reason=reason) from error


def _below(root: Path, without: Path | None, limits: Limits) -> list[Unit]:
    found: list[Unit] = []
    for folder, names, files in os.walk(root):
        here = Path(folder)
        if without is not None and here.resolve() == without:
            names[:] = []
            continue
        if _WHOLE.fullmatch(here.name) or any(map(_INSIDE.fullmatch, files)):
            found.append(_folder(here))
            names[:] = []
            continue
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            path = here / name
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                found.append(_unit(path))
        check_count(len(found), str(root), limits)
    return found


def check_count(count: int, where: str, limits: Limits) -> None:
    """Raises FuseScopeError for more files than one store takes."""
    if count > limits.zip_members:
        raise FuseScopeError(
            "too_many_folder_files",
            where=display_name(where),
            limit=limits.zip_members,
            raised=limits.raised("zip_members"),
        )


def _unit(path: Path) -> Unit:
    facts = path.stat()
    return Unit(str(path), facts.st_size, facts.st_mtime_ns)


def _folder(path: Path) -> Unit:
    """A folder is the same while no file in it changed."""
    facts = [
        (Path(folder) / name).stat()
        for folder, _, files in os.walk(path)
        for name in files
        if not name.startswith(".") and (Path(folder) / name).is_file()
    ]
    newest = max((one.st_mtime_ns for one in facts), default=0)
    return Unit(str(path), sum(one.st_size for one in facts), newest, is_folder=True)


def _remote(text: str) -> list[Unit]:
    """Files that fsspec finds; each is a unit by itself."""
    system, protocol, path = filesystem(text)
    with reachable(text):
        listed = system.find(path, detail=True)
    found = []
    for name, facts in listed.items():
        if not name.rpartition("/")[2].startswith("."):
            changed = facts.get("mtime") or facts.get("LastModified") or facts.get("created") or 0
            stamp = changed.timestamp() if hasattr(changed, "timestamp") else float(changed or 0)
            found.append(
                Unit(f"{protocol}://{name}", int(facts.get("size") or 0), int(stamp * 1e9))
            )
    if not found:
        raise FuseScopeError("no_such_file", where=display_name(text))
    return found
