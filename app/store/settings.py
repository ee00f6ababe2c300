"""Settings of the library: where it lies, whether it is on, how large it may become.

Imports nothing heavy: whoever reads a small file asks this and no more.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import whole_number

FOLDER_VARIABLE = "FUSESCOPE_LIBRARY"
SIZE_VARIABLE = "FUSESCOPE_LIBRARY_SIZE"
OFF = "off"
FLEETS = "fleets"
DEFAULT_BYTES = 5 * 1024**3
KEY = re.compile(r"[0-9a-f]{64}(?:-[0-9a-f]{8})?")  # of what is kept


def is_on() -> bool:
    """Whether what is read is kept."""
    return os.environ.get(FOLDER_VARIABLE, "").strip().lower() != OFF


def folder() -> Path:
    """Where the library lies, beside the recordings; made by whoever keeps the first trace."""
    given = os.environ.get(FOLDER_VARIABLE, "").strip()
    if given and given.lower() != OFF:
        return Path(given).expanduser().absolute()
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser().absolute() / "fusescope" / "library"


def fleets() -> Path:
    """Where stores of ranks lie that were kept."""
    return folder() / FLEETS


def max_bytes() -> int:
    """The size that the library may reach. Raises FuseScopeError for a setting that says none."""
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_BYTES
    size = whole_number(text)
    if size is None:
        raise FuseScopeError("kept_size_wrong", variable=SIZE_VARIABLE, value=text[:40])
    return size
