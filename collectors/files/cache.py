"""The user's cache folder: zoo models, kernels and quiet references, written atomically."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fusescope.collectors.files import folder as folders
from fusescope.collectors.files import publication


def folder() -> Path:
    """$XDG_CACHE_HOME/fusescope, or the platform's place for caches. It may not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and os.path.isabs(base):
        return Path(base) / "fusescope"
    home = Path(os.path.expanduser("~"))
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "fusescope"


def write_atomic(path: Path, data: bytes) -> bool:
    """Puts `data` at `path` so that no reader ever sees half of it.

    Returns False when the place is not writable: a cache is a convenience, never a condition.
    """
    try:
        folders.make(path.parent)
        publication.replace(path, data)
    except OSError:
        return False
    return True
