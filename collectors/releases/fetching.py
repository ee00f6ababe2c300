"""Fetching releases: pip puts each into a folder of its own, without what the engine depends on,
which is there with the engine that FuseScope came with."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Said
from fusescope.collectors.environments.pip_process import FULL, NO_VERSION
from fusescope.collectors.files import scratch
from fusescope.collectors.files.folder import FolderDraft
from fusescope.collectors.releases import index, kept
from fusescope.collectors.releases.version import ENGINE, Span

# Of one release, roughly: the largest that there are, on Linux (x86-64).
DOWNLOAD_BYTES = 30_000_000
DISK_BYTES = 80_000_000


def missing(versions: Sequence[str]) -> tuple[str, ...]:
    """Those that would have to be fetched."""
    return tuple(version for version in versions if not kept.is_kept(version))


def check_disk(count: int) -> None:
    """Raises FuseScopeError where the disk has no room for so many releases."""
    place = kept.root()
    while not place.exists() and place != place.parent:
        place = place.parent
    free, needed = shutil.disk_usage(place).free, count * DISK_BYTES + DOWNLOAD_BYTES
    if count and free < needed:
        raise FuseScopeError(
            "release_little_disk", where=str(kept.root()), needed=needed, free=free
        )


def fetch(version: str, on_step: Callable[[Said], None]) -> bool:
    """Fetches a release where it is not there yet; False where the index has it not for this
    Python and machine. Raises FuseScopeError, also where there is no such release, and then nothing
    of it stays."""
    target = kept.folder_to_import(version)
    if kept.is_kept(version):
        return True
    try:
        with FolderDraft(target) as draft:
            code, text = _install(version, draft.path, on_step)
            if code != 0:
                if FULL.search(text):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                if NO_VERSION.search(text):
                    _check_listed(version)
                    return False
                raise index.refusal(text, code)
            draft.publish()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        where = str(target.parent)
        if error.errno in scratch.FULL:
            raise FuseScopeError("release_disk_full", where=where, reason=reason) from None
        raise FuseScopeError("release_folder_unwritable", where=where, reason=reason) from None
    return True


def _check_listed(version: str) -> None:
    """pip says the same of a release without a wheel, of none, and of an index that it does not
    reach. Raises FuseScopeError for the latter two."""
    with scratch.folder() as folder:
        index.listing(folder).within(Span(version, version))


def _install(version: str, folder: Path, on_step: Callable[[Said], None]) -> tuple[int, str]:
    """pip has a folder for what is half done inside the new one; it is gone before it counts."""
    arguments = ["install", "--no-deps", "--no-compile", "--only-binary", ":all:"]
    try:
        return index.process(folder, on_step).run(
            [*arguments, "--no-warn-conflicts", "--target", str(folder), f"{ENGINE}=={version}"]
        )
    finally:
        shutil.rmtree(folder / "fusescope-temporary", ignore_errors=True)
