"""Ranks of a job in the library: those that are there, and how those that are open get there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.trace import Trace
from fusescope.app.fleet.keeping import KEEPER, Ranks
from fusescope.app.server.same_origin import is_local
from fusescope.app.sources import places
from fusescope.app.state.opened import Fate, Opened
from fusescope.app.store import settings
from fusescope.app.store.store import Store
from fusescope.collectors.files import folder as folders

_FIRST_NS, _LAST_NS = 10**18, 41 * 10**17  # times since 1970 that are dates
_HASH_CHARS = 8


def is_offered() -> bool:
    """Return whether ranks can be kept: in the library of one user, where it is on."""
    return is_local() and settings.is_on()


def stores() -> dict[str, Path]:
    """Return all stores of ranks by their shown names: those that were given, and those in the
    library."""
    given = places.fleets()
    return given | {name: path for name, path in kept().items() if name not in given}


def kept() -> dict[str, Path]:
    """Return those in the library by their names, the newest first."""
    if not is_offered():
        return {}
    try:
        with os.scandir(settings.fleets()) as there:
            found = [one for one in there if not one.name.startswith(".")]
            found = [one for one in found if one.is_dir(follow_symlinks=False)]
            found.sort(key=lambda one: (-one.stat().st_mtime_ns, one.name))
    except OSError:
        return {}
    paths = (Path(one.path) for one in found)
    return {path.name: path for path in paths if places.is_fleet(path)}


def is_kept(path: Path) -> bool:
    """Return whether a store lies in the library."""
    return path in kept().values()


def target(ranks: Mapping[int, Opened]) -> Path:
    """Return where these ranks are kept: how many they are, when they ran and what they contain is
    the name, so that the same ranks have the same place."""
    traces = [one.value for one in ranks.values() if isinstance(one.value, Trace)]
    contents = "\n".join(sorted(trace.meta.sha256 for trace in traces))
    starts = [trace.meta.started_ns for trace in traces if trace.meta.started_ns is not None]
    dates = [ns for ns in starts if _FIRST_NS <= ns < _LAST_NS]
    date = f"-{datetime.fromtimestamp(min(dates) / 1e9, UTC):%Y-%m-%d}" if dates else ""
    hash_ = hashlib.sha256(contents.encode()).hexdigest()[:_HASH_CHARS]
    return settings.fleets() / f"{len(traces)}-ranks{date}-{hash_}"


def keep(ranks: Mapping[int, Opened], fates: Iterable[Fate]) -> bool:
    """Begin to keep ranks that are open, and to name the files that were refused beside them; False
    while others are kept. Raises FuseScopeError for a setting of the library that says nothing."""
    traces = {
        rank: (one.name, one.value) for rank, one in ranks.items() if isinstance(one.value, Trace)
    }
    unread = [
        (fate.name, fate.sentence)
        for fate in fates
        if fate.read is False and isinstance(fate.sentence, FuseScopeError)
    ]
    library = Store(settings.folder(), settings.max_bytes())
    library.check()
    left = max(0, library.max_bytes - library.bytes)
    return KEEPER.start(Ranks(traces, unread), target(ranks), places.limits(), left)


def remove(name: str) -> None:
    """Remove a store of ranks from the library. Raises FuseScopeError where the disk refuses."""
    path = kept().get(name)
    if path is None:
        raise FuseScopeError("not_kept")
    try:
        folders.remove(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FuseScopeError("kept_unwritable", where=str(path.parent), reason=reason) from error
