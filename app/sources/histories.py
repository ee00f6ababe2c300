"""Files of releases (`fusescope bisect --out`): those that are here, and what changed in each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.releases.changes import Change, changes
from fusescope.analysis.releases.history import MAX_BYTES, History, is_history, parse_history
from fusescope.analysis.text import display_name
from fusescope.app.server.spool import SPOOL, Received
from fusescope.app.sources import places
from fusescope.app.state.opened import History as Dropped

_KEPT = 8
_ZIP = b"PK"


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


def taken(file: UploadedFile | Received) -> Dropped | None:
    """Return a file that was sent if it is one of releases, by what lies in the archive, whatever
    it is called; it goes from the disk of the server then. None for any other file."""
    if isinstance(file, Received):
        if not places.is_history(file.path):
            return None
        data = file.path.read_bytes()
        SPOOL.drop(file.path)
    else:
        data = file.getvalue()
        if len(data) > MAX_BYTES or not data.startswith(_ZIP) or not is_history(data):
            return None
    return Dropped(display_name(file.name), data)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def parse(data: bytes, name: str) -> Compared:
    """What these bytes hold. Raises FuseScopeError."""
    history = parse_history(data, name)
    if not history.compared:
        raise FuseScopeError("release_none_compared", n=0)
    return Compared(history, changes(history), hashlib.sha256(data).hexdigest()[:12])
