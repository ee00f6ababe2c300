"""ONNX files of the user's own, below the folders that the dashboard was started with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import ModelFacts
from fusescope.app.server.sent_models import MODELS
from fusescope.app.sources import places

MAX_MODELS = 200
_MAX_ENTRIES = 20_000  # of all folders together, so that a page does not wait for a disk
_MAX_DEPTH = 6
_FRESH_S = 5.0
PREFIX, SENT = "file:", "sent:"  # of their names in the form; of those that a browser sent


@dataclass(frozen=True)
class OwnModels:
    """`bytes_of` is the size of each file by its path below a configured folder, as a link names
    it; `is_cut` where there may be more."""

    bytes_of: dict[str, int]
    is_cut: bool


@st.cache_data(ttl=_FRESH_S, max_entries=4, show_spinner=False)
def found(folders: tuple[Path, ...]) -> OwnModels:
    """The files of those folders, by name. Links that lead out of a folder are left out."""
    sizes: dict[str, int] = {}
    walk = _Walk()
    for folder in folders:
        for path in walk.files(folder):
            inside = places.below_folders(str(path.relative_to(folder)), (folder,))
            if inside is not None and len(sizes) < MAX_MODELS:
                sizes[places.link_name(inside)] = inside.stat().st_size
            elif inside is not None:
                walk.is_cut = True
    return OwnModels(dict(sorted(sizes.items())), walk.is_cut)


def in_form(listed: OwnModels) -> dict[str, tuple[str, int]]:
    """Return by their names in the form what is shown of models that were sent, the last in front,
    and of those that are listed: a name, and the bytes."""
    sent = {f"{SENT}{name}": (name.partition("/")[2], n) for name, n in MODELS.found().items()}
    return sent | {f"{PREFIX}{name}": (name, n) for name, n in listed.bytes_of.items()}


def path_of(name: str) -> Path:
    """Return where the model lies that the form calls so, or a path below a configured folder.
    Raises FuseScopeError."""
    if not name.startswith(SENT):
        return places.path_below_folders(name.removeprefix(PREFIX))
    path = MODELS.path(name.removeprefix(SENT))
    if path is None:
        raise FuseScopeError("no_such_file", where=name.partition("/")[2])
    return path


def name_in_form(model: ModelFacts) -> str | None:
    """How the form calls the file of a recorded model; None where no file, or several, could be it.
    Its content is compared when it is recorded."""
    if model.source != "file":
        return None
    files = in_form(found(places.folders()))
    named = [name for name, (shown, _) in files.items() if Path(shown).stem == model.name]
    return named[0] if len(named) == 1 else None


class _Walk:
    """Looks at so many entries at most."""

    def __init__(self) -> None:
        self.left = _MAX_ENTRIES
        self.is_cut = False

    def files(self, folder: Path) -> Iterator[Path]:
        for here, folders, files in os.walk(folder):
            depth = len(Path(here).relative_to(folder).parts)
            hidden = [name for name in folders if name.startswith(".")]
            folders[:] = sorted(set(folders) - set(hidden)) if depth < _MAX_DEPTH else []
            self.left -= len(files) + len(folders)
            if self.left < 0:
                self.is_cut = True
                return
            for name in sorted(files):
                if name.endswith(".onnx") and not name.startswith("."):
                    yield Path(here, name)
