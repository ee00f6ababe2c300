"""Files of releases (`fusescope bisect --out`): those that are here, and what changed in each."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from analysis.errors import FuseScopeError
from analysis.releases.changes import Change, changes
from analysis.releases.history import MAX_BYTES, RECORD_NAME, History, parse_history

_KEPT = 8


@dataclass(frozen=True)
class Compared:
    """A history and its changes; `number` is of its content, for keys of what shows it."""

    history: History
    changes: tuple[Change, ...]
    number: str


def load(path: Path) -> Compared:
    """What a file holds, read once for each content. Raises FuseScopeError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FuseScopeError("releases_file_damaged", where=path.name, reason="too large")
        data = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FuseScopeError("releases_file_damaged", where=path.name, reason=reason) from None
    return parse(data, path.name)


def is_history(name: str, data: bytes) -> bool:
    """Return True for bytes that `parse` takes, by what lies in the archive."""
    if not name.lower().endswith(".zip") or len(data) > MAX_BYTES:
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return RECORD_NAME in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def parse(data: bytes, name: str) -> Compared:
    """What these bytes hold. Raises FuseScopeError."""
    history = parse_history(data, name)
    if not history.compared:
        raise FuseScopeError("release_none_compared", n=0)
    return Compared(history, changes(history), hashlib.sha256(data).hexdigest()[:12])
