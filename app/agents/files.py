"""Files that agents may have read: those below the folders that the server was started with."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.analysis.readers.input.folder import folder_sources
from fusescope.analysis.trace import Trace
from fusescope.app.library import baselines
from fusescope.app.library.reading import IN_LIBRARY, read_at
from fusescope.app.sources import places
from fusescope.app.store import known

_HELD = 4  # files that are kept in memory, so that several questions on one read it once


@dataclass(frozen=True)
class Files:
    """The folders, links resolved."""

    folders: tuple[Path, ...]

    @classmethod
    def below(cls, folders: Sequence[Path]) -> Files:
        """Return those of these folders. Raises FuseScopeError for what is no folder."""
        for folder in folders:
            if not folder.is_dir():
                raise FuseScopeError("not_a_folder", where=str(folder))
        return cls(tuple(folder.resolve() for folder in folders))

    def read(self, name: str) -> Trace | Experiment:
        """Return what lies at a path below a folder, in the library as `library:NAME`, or under a
        name as `baseline:NAME`; nothing is written for it. Raises FuseScopeError."""
        name = name.strip()
        if name.startswith(IN_LIBRARY):
            return read_at(Path(name)).value
        if name.startswith(baselines.PREFIX):
            path = baselines.path_of(name.removeprefix(baselines.PREFIX))
            return _read(path, _state(path))
        path = self._below(name)
        value = _read(path, _state(path))
        if self._below(name) != path:  # a link has taken its place meanwhile
            raise FuseScopeError("not_below_folders", where=name[:120])
        return value

    def _below(self, name: str) -> Path:
        """Return the path that a name leads to. Raises FuseScopeError for one elsewhere."""
        path = places.below_folders(name, self.folders, or_folder=True)
        if path is None:
            raise FuseScopeError("not_below_folders", where=name[:120])
        return path


@lru_cache(maxsize=_HELD)
def _read(path: Path, state: str) -> Trace | Experiment:
    """Return what is there, read again once it has changed; its neighbours above the folder that it
    lies in are not looked at."""
    return read_path(path, places.limits(), above=False)


def _state(path: Path) -> str:
    """Return a hash that changes with the file and those beside it, or with any file of a
    folder."""
    if not path.is_dir():
        return f"{known.facts_of(path)} {known.around(path, None).hash}"
    files = [source.on_disk for source in folder_sources(path, places.limits())]
    facts = [(str(file), known.facts_of(file)) for file in files if file is not None]
    return hashlib.sha256(repr(facts).encode(errors="surrogateescape")).hexdigest()
