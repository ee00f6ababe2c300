"""Releases that were fetched: a folder each in the cache, complete or not there."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments.adding import disk_bytes
from fusescope.collectors.files import cache, folder, trust
from fusescope.collectors.releases.version import ENGINE, ascending


@dataclass(frozen=True)
class Kept:
    """A release on the disk. `folder` holds its package, to be put before others on the path."""

    version: str
    folder: Path

    @property
    def disk_bytes(self) -> int:
        """What it takes there."""
        return disk_bytes(self.folder)


def root() -> Path:
    """Where releases for the Python that runs FuseScope lie. It may not exist yet."""
    python = f"py{sys.version_info[0]}.{sys.version_info[1]}"
    return cache.folder() / "releases" / f"{ENGINE}-{python}"


def folder_of(version: str) -> Path:
    """Where a release lies, or would lie."""
    return root() / version


def is_kept(version: str) -> bool:
    """Whether it is there: what is, is complete."""
    return (folder_of(version) / ENGINE / "__init__.py").is_file()


def folder_to_import(version: str) -> Path:
    """Where a release lies that is about to be imported. Raises FuseScopeError where others could
    have changed it."""
    place = folder_of(version)
    trust.check(place)
    return place


def library_of(version: str) -> Path | None:
    """The library of a release that is there; None where its package has none, as some of old.
    Raises FuseScopeError where others could have changed it."""
    found = sorted((folder_to_import(version) / ENGINE / "capi").glob(f"lib{ENGINE}.*"))
    return next((path for path in found if path.is_file()), None)


def all_kept() -> tuple[Kept, ...]:
    """Those that are there, oldest first."""
    if not root().is_dir():
        return ()
    names = [path.name for path in root().iterdir() if is_kept(path.name)]
    return tuple(Kept(version, folder_of(version)) for version in ascending(names))


def remove(version: str) -> int:
    """Removes a release, and returns the bytes that it took; 0 where it was not there. Raises
    FuseScopeError where it cannot be removed."""
    place = folder_of(version)
    if not place.exists():
        return 0
    taken = disk_bytes(place)
    try:
        folder.remove(place)
    except OSError as error:
        raise FuseScopeError(
            "release_not_removed",
            where=str(place),
            version=version,
            reason=(error.strerror or str(error)).lower(),
        ) from None
    return taken
