"""Lookup: which entry a path leads to, by what is known of it, without reading the file."""

from __future__ import annotations

import contextlib
import logging
from functools import cached_property
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import READER_VERSION
from fusescope.analysis.readers.input.folder import source_with_neighbours
from fusescope.app.store import keys, known
from fusescope.app.store.known import Around, Facts, Known
from fusescope.app.store.store import Store

_LOG = logging.getLogger("fusescope")


class Lookup:
    """One path that a store is asked for; `facts` are those of its file now."""

    def __init__(
        self, kept_in: Store, path: Path, limits: Limits, facts: Facts, *, above: bool
    ) -> None:
        self._store = kept_in
        self._path = path
        self._limits = limits
        self._facts = facts
        self._above = above

    @cached_property
    def way(self) -> str:
        """What the file is asked for as."""
        return keys.way(self._path, self._limits, above=self._above)

    def around(self) -> Around:
        """What lies around the file now."""
        return known.around(
            self._path, self._path.absolute().parent.parent if self._above else None
        )

    def key(self) -> str | None:
        """The key of an entry of this version of the readers, where one is known to be of this file
        and of all that is read with it."""
        found = known.of(self._store.folder, self.way, self._facts)
        if found is None:
            return None
        if not found.beside or found.beside == (near := self.around()).hash:
            return found.key if self._is_current(found.key, found.content) else None
        with contextlib.suppress(FuseScopeError):
            source = source_with_neighbours(self._path, self._limits, above=self._above)
            key = keys.with_others(source, found.content, near.hash) if found.content else ""
            if key and self._is_current(key, found.content):
                self.remember(key, found.content, near)
                return key
        return None

    def remember(self, key: str, content: str, near: Around | None) -> None:
        """Keep which key the path leads to; `content` is the key of the file alone, `near` what
        lies around it, None where that does not matter."""
        if near is not None and not near.hash:  # could not be listed
            return
        told = Known(self._facts, near.hash if near else "", key, content)
        try:
            known.remember(self._store.folder, self.way, told, near.changed_ns if near else 0)
        except OSError as error:
            _LOG.warning("a path was not kept", exc_info=error)

    def _is_current(self, key: str, alone: str) -> bool:
        entry = self._store.entry(key, READER_VERSION)
        return entry is not None and not (key == alone and entry.beside == "some")
