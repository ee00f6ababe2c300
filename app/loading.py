"""Uploads, paths and stored files -> traces, experiments and comparisons, cached.

Ids come from the address of the page, so they are only ever looked up among what there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from analysis import wording
from analysis.compare.assumptions import Assumptions
from analysis.compare.comparison import Comparison, Side, side_of_trace, side_of_variant
from analysis.errors import FuseScopeError
from analysis.experiment import Experiment
from analysis.readers.source import display_name
from analysis.trace import Trace
from app import places
from app.state import MAX_OPENED, Fate, Opened

if TYPE_CHECKING:
    from analysis.advice import NearMiss

_ID_CHARS = 12
_UPLOAD = re.compile(r"upload:[0-9a-f]{12}(/|$)")


NOT_HERE = Fate(
    "link", False, "The link names something that is not here, so that part of it is left out."
)


def closed(files: Iterable[Opened]) -> list[Fate]:
    """What is said of files that this session closed to make room; nothing where it closed none."""
    names = ", ".join(file.name for file in files)
    text = f"Closed to make room, a tab keeps {MAX_OPENED} files: {names}. Open them again to use."
    return [Fate("closed", None, text)] if names else []


class Missing(FuseScopeError):
    """An id names something that is not here."""

    def __init__(self) -> None:
        super().__init__("This link names a file that is not here", hint="Open it again.")


# From an id to a side.


def side(id_: str, opened: Mapping[str, Opened]) -> Side:
    """The side that `id_` names. Raises Missing, or FuseScopeError for a file that is damaged."""
    kind, _, rest = id_.partition(":")
    if kind in ("upload", "file"):
        for file in opened.values():
            if id_ == file.id or id_.startswith(f"{file.id}/"):
                return _side(file.value, id_[len(file.id) + 1 :])
        raise Missing()
    known = {"sample": places.samples, "recorded": places.recordings}.get(kind)
    name, _, variant = rest.partition("/")
    if known is None or name not in (files := known()):
        raise Missing()
    return _side(_value_at(files[name]), variant)


def _side(value: Trace | Experiment, variant: str) -> Side:
    if isinstance(value, Experiment):
        if variant not in value.traces:
            raise Missing()
        return side_of_variant(value, variant)
    if variant:
        raise Missing()
    return side_of_trace(value)


def _value_at(path: Path) -> Trace | Experiment:
    try:
        facts = path.stat()
    except OSError as error:
        raise FuseScopeError(
            "This file is no longer there", where=display_name(str(path)), hint="Open another."
        ) from error
    return _read_path(str(path), facts.st_mtime_ns, facts.st_size)


@st.cache_resource(max_entries=6, show_spinner=False)
def _read_path(path: str, mtime_ns: int, size: int) -> Trace | Experiment:
    from analysis.readers import read_path

    return read_path(Path(path))


# Opening files.


def open_upload(name: str, data: bytes) -> Opened:
    """An uploaded file. Raises FuseScopeError when it is nothing that can be read."""
    from analysis.readers import read
    from analysis.readers.source import Source

    source = Source(display_name(name), data)
    return Opened(f"upload:{source.sha256[:_ID_CHARS]}", source.name, read(source))


def open_path(text: str) -> Opened:
    """A file below a configured folder. Raises FuseScopeError where there is none to read."""
    path = places.path_below_folders(text)
    return Opened(f"file:{places.link_name(path)}", display_name(path.name), _value_at(path))


def open_paths(texts: Iterable[str]) -> tuple[list[Opened], list[Fate]]:
    """What was read of the files at these paths below the configured folders, and their fates."""
    read, told = [], []
    for text in texts:
        try:
            file = open_path(text)
            read.append(file)
            told.append(_fate(file))
        except FuseScopeError as error:
            told.append(Fate(display_name(text), False, error.text))
    return read, told


def open_link(id_: str, opened: Mapping[str, Opened]) -> tuple[list[Opened], list[Fate]]:
    """The file that a `file:` id names, where this session has not opened it, and its fate."""
    kind, _, rest = id_.partition(":")
    if kind != "file" or any(id_ == own or id_.startswith(f"{own}/") for own in opened):
        return [], []
    for name in (rest, rest.rpartition("/")[0]):
        path = places.linked_file(name)
        if name and path is not None:
            try:
                return [Opened(f"file:{name}", display_name(path.name), _value_at(path))], []
            except FuseScopeError as error:
                return [], [Fate(display_name(path.name), False, error.text)]
    return [], []


def open_given() -> tuple[list[Opened], list[Fate]]:
    """The files of the command line that can be read, and the fate of each."""
    read, told = [], []
    for name, path in places.given_files().items():
        try:
            file = Opened(f"file:{name}", name, _value_at(path))
            read.append(file)
            told.append(_fate(file))
        except FuseScopeError as error:
            told.append(Fate(name, False, error.text))
    return read, told


def _fate(file: Opened) -> Fate:
    return Fate(file.name, True, wording.opened_sentence(file.value))


def open_uploads(uploads: Iterable[Any]) -> tuple[list[Opened], list[Fate]]:
    """What was read of the uploaded files, and the fate of each; their buffers are dropped."""
    read, told = [], []
    for upload in uploads:
        name = display_name(upload.name)
        try:
            file = open_upload(upload.name, upload.getvalue())
            read.append(file)
            told.append(_fate(file))
        except FuseScopeError as error:
            told.append(Fate(name, False, error.text))
        finally:
            _drop(upload)
    return read, told


def is_upload(id_: str) -> bool:
    """True for the id of an uploaded file, whether or not this session has it."""
    return _UPLOAD.match(id_) is not None


def _drop(upload: Any) -> None:
    """Free the memory of an upload now; Streamlit keeps it until the session ends."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    if context is not None and hasattr(context.uploaded_file_mgr, "remove_file"):
        context.uploaded_file_mgr.remove_file(context.session_id, upload.file_id)
    upload.close()


# Comparing.


@dataclass(frozen=True, eq=False)
class Shown:
    """A comparison and what the page draws of it."""

    comparison: Comparison
    payload: dict[str, Any]
    key: str

    @cached_property
    def near_misses(self) -> tuple[NearMiss, ...]:
        """Patterns that the candidate did not fuse, found when they are first asked for."""
        from analysis.advice import near_misses

        return near_misses(self.comparison)


def compare(baseline: Side, candidate: Side, assumptions: Assumptions, *, private: bool) -> Shown:
    """The comparison of two sides, computed once. `private` ones stay with their session."""
    parts = (
        baseline.trace.meta.sha256,
        baseline.label,
        candidate.trace.meta.sha256,
        candidate.label,
    )
    return (_own if private else _shared)(baseline, candidate, "|".join(parts), assumptions)


@st.cache_resource(max_entries=12, show_spinner=False)
def _shared(_baseline: Side, _candidate: Side, key: str, assumptions: Assumptions) -> Shown:
    return _compute(_baseline, _candidate, key, assumptions)


@st.cache_resource(max_entries=4, show_spinner=False, scope="session")
def _own(_baseline: Side, _candidate: Side, key: str, assumptions: Assumptions) -> Shown:
    return _compute(_baseline, _candidate, key, assumptions)


def _compute(baseline: Side, candidate: Side, key: str, assumptions: Assumptions) -> Shown:
    from analysis.compare import compare as compare_sides
    from analysis.timeline.payload import timeline_payload

    comparison = compare_sides(baseline, candidate, assumptions)
    return Shown(comparison, timeline_payload(comparison), key)
