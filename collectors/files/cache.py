"""The user's cache folder: zoo models, kernels and quiet references, written atomically."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


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
    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        if name:
            Path(name).unlink(missing_ok=True)
        return False
    return True
