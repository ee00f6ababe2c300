"""Uploaded files -> the recordings among them, and what became of each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read_all
from fusescope.analysis.readers.input.source import Source, load_file
from fusescope.analysis.readers.packed.report import role_of
from fusescope.analysis.readers.recordings import Found, Recording
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Trace
from fusescope.app.server.same_origin import is_local
from fusescope.app.server.spool import SPOOL, Received
from fusescope.app.sources import loading, places
from fusescope.app.sources.loading import left_aside
from fusescope.app.state.opened import Fate, Opened
from fusescope.app.store.keeping import keep_uploads, of_upload

_ID_CHARS = 12
_FEW = 3  # unknown files that are told of one by one


def open_uploads(uploads: Iterable[Any]) -> tuple[list[Opened], list[Fate]]:
    """The recordings among uploaded files, and what became of each; their buffers are dropped.

    Files of one recording are read together, and a zip of a profiler's folder is unpacked.
    """
    given: dict[str, Source] = {}
    for upload in uploads:
        name, path = _label(upload.name, given)
        given[path] = Source(name, upload.getvalue(), places.limits(), path=path)
        _drop(upload)
    return _open(given)


def open_received(files: Iterable[Received]) -> tuple[list[Opened], list[Fate]]:
    """The same for files that were sent to the disk of the server, from which they go."""
    files = list(files)
    given: dict[str, Source] = {}
    limits = places.limits()
    try:
        for file in files:
            name, path = _label(file.name, given)
            load = load_file(file.path, name, limits)
            given[path] = Source(name, load, limits, path=path, on_disk=file.path)
        return _open(given)
    except FuseScopeError as error:
        return [], [Fate(next(iter(given), ""), False, error)]
    finally:
        for file in files:
            SPOOL.drop(file.path)


def _label(name: str, given: Mapping[str, Source]) -> tuple[str, str]:
    """The name of an upload fit to be shown, and what tells it from those given before."""
    shown = display_name(name)
    return shown, shown if shown not in given else f"{shown} ({len(given) + 1})"


def _open(given: Mapping[str, Source]) -> tuple[list[Opened], list[Fate]]:
    alone = next(iter(given.values())) if len(given) == 1 and is_local() else None
    known = of_upload(alone) if alone is not None else None
    if alone is not None and known is not None:
        opened = [Opened(f"upload:{known.meta.sha256[:_ID_CHARS]}", alone.path, known)]
        return opened, [loading.fate(opened[0])]
    try:
        found = read_all(list(given.values()))
    except FuseScopeError as error:
        return [], [Fate(next(iter(given), ""), False, error)]
    inside: Counter[str] = Counter()  # recordings of each zip
    for recording in found.recordings:
        inside[_top(recording.source.path)] += 1
    opened = []
    for recording in found.recordings:
        top, role = _top(recording.source.path), role_of(recording.source)
        name = top if inside[top] == 1 else "" if role else recording.source.path
        # Beside what a report was made of stands what it holds, perhaps without names.
        hash_ = recording.source.sha256 if role else recording.sha256
        id_ = f"upload:{hash_[:_ID_CHARS]}"
        opened.append(loading.opened_of(id_, name, recording.source, recording.value))
    if is_local():
        keep_uploads(_alone(found.recordings, given))
    told = [loading.fate(file) for file in opened]
    told += [Fate(path, False, error) for path, error in found.failed]
    return opened, told + _not_read(found)


def _alone(
    recordings: Iterable[Recording], given: Mapping[str, Source]
) -> list[tuple[Source, Trace]]:
    """Return the given files that are a recording each, which rests on no other file."""
    return [
        (source, one.value)
        for one in recordings
        if (source := given.get(one.source.path)) is not None
        and isinstance(one.value, Trace)
        and one.source.sha256 == source.sha256
        and not one.companions
        and not one.value.meta.files
    ]


def _not_read(found: Found) -> list[Fate]:
    """What is said of uploads that no recording needed: zips without one, and unknown files."""
    if found.recordings and len(found.lost) > _FEW:
        return left_aside(found.covered, found.unknown)
    told = [Fate(path, False, error) for path, error in found.lost]
    lost = dict(found.lost)
    rest = tuple(path for path in found.unknown if _top(path) not in lost)
    return told + left_aside(found.covered, rest)


def _top(path: str) -> str:
    """The uploaded file that a path lies in: itself, or a zip."""
    return path.partition("/")[0]


def _drop(upload: Any) -> None:
    """Free the memory of an upload now; Streamlit keeps it until the session ends."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    if context is not None and hasattr(context.uploaded_file_mgr, "remove_file"):
        context.uploaded_file_mgr.remove_file(context.session_id, upload.file_id)
    upload.close()
