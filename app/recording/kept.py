"""Experiments that were recorded from a page: given another name, and deleted."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.sources import places

MAX_LISTED = 2_000  # by the library, which has more than the pages that list the newest
_NAME = re.compile(r"\w[\w .+()-]{0,99}")


def rename(name: str, wanted: str) -> str:
    """Give the experiment `name` another name; returns the one it has now, which ends in '.zip'.

    Raises FuseScopeError for a name that is taken or is not a file's name.
    """
    path = _path(name)
    stem = wanted.strip().removesuffix(".zip").strip()
    if not _NAME.fullmatch(stem):
        raise FuseScopeError("recording_name_impossible")
    target = path.with_name(f"{stem}.zip")
    if target.name == path.name:
        return path.name
    alike = {other.casefold() for other in places.experiments(MAX_LISTED)} - {path.name.casefold()}
    if target.name.casefold() in alike or (target.exists() and not target.samefile(path)):
        raise FuseScopeError("recording_exists")
    try:
        os.rename(path, target)
    except OSError as error:
        raise _refused("recording_cannot_be_renamed", path, error) from None
    return target.name


def delete(name: str) -> None:
    """Delete the experiment `name`. Raises FuseScopeError where the disk refuses."""
    path = _path(name)
    try:
        path.unlink()
    except OSError as error:
        raise _refused("recording_cannot_be_deleted", path, error) from None


def _path(name: str) -> Path:
    """The file of an experiment: no other name leads to a file."""
    path = places.recording(name)
    if path is None:
        raise FuseScopeError("recording_gone")
    return path


def _refused(
    code: Literal["recording_cannot_be_deleted", "recording_cannot_be_renamed"],
    path: Path,
    error: OSError,
) -> FuseScopeError:
    return FuseScopeError(code, where=path.name, reason=(error.strerror or str(error)).lower())
