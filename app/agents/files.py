"""Files that agents may have read: those below the folders that the server was started with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace
from fusescope.app.library import baselines
from fusescope.app.library.reading import IN_LIBRARY, read_at
from fusescope.app.sources import places

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
        """Return what lies at a path below a folder, or in the library as `library:NAME`; nothing
        is written for it. Raises FuseScopeError."""
        if name.startswith((IN_LIBRARY, baselines.PREFIX)):
            return read_at(Path(name)).value
        path = places.below_folders(name.strip(), self.folders, or_folder=True)
        if path is None:
            raise FuseScopeError("not_below_folders", where=name.strip()[:120])
        stamp = path.stat()
        return _read(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=_HELD)
def _read(path: Path, mtime_ns: int, size: int) -> Trace | Experiment:
    """Return what is there, read again once it has changed; its neighbours above the folder that it
    lies in are not looked at."""
    return read_path(path, places.limits(), above=False)
