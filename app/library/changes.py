"""Changes that a user makes: names, tags, notes, and what goes."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.folder import source_with_neighbours
from fusescope.analysis.text import display_name
from fusescope.app.library.items import KEPT, RECORDED, Item, items, recording_hash, store
from fusescope.app.recording import kept
from fusescope.app.sources import places
from fusescope.app.store import facts, keeping, keys, settings
from fusescope.app.store.entries import Beside
from fusescope.app.store.facts import Facts
from fusescope.collectors.files import folder as folders
from fusescope.collectors.files.publication import Draft


def rename(item: Item, name: str, others: Iterable[Item]) -> str:
    """Give it another name, a recording also to its file; the id that it has now. Raises
    FuseScopeError for a name that another one has, and where the disk refuses."""
    if item.kind == "experiment":
        return f"{RECORDED}{kept.rename(item.id.removeprefix(RECORDED), name)}"
    wanted = facts.cleaned(Facts(name=name)).name
    if any(other.name == wanted for other in others if other.id != item.id):
        raise FuseScopeError("kept_name_taken")
    _put(item, name=wanted)
    return item.id


def tag(item: Item, tags: Iterable[str]) -> None:
    """Give it these tags in place of those it has. Raises FuseScopeError."""
    _put(item, tags=tuple(tags))


def note(item: Item, text: str) -> None:
    """Give it this note in place of the one it has. Raises FuseScopeError."""
    _put(item, note=text)


def describe(item: Item, tags: Iterable[str], text: str) -> None:
    """Give it these tags and this note. Raises FuseScopeError."""
    _put(item, tags=tuple(tags), note=text)


def delete(item: Item) -> None:
    """Remove it, a recording with its file. Raises FuseScopeError where the disk refuses."""
    if item.kind == "experiment":
        kept.delete(item.id.removeprefix(RECORDED))
    with _writing():
        if item.kind == "trace":
            store().remove(item.id.removeprefix(KEPT))
        facts.put(store().folder, item.facts_id, facts.NONE)


def clear() -> int:
    """Remove every trace that is kept, and what users said of them; recordings stay. The bytes that
    this frees. Raises FuseScopeError."""
    with _writing():
        return store().clear()


def add(path: Path, limits: Limits) -> str:
    """Keep what is at `path`, however small; an experiment among the recordings. The name that it
    has there. Raises FuseScopeError."""
    kept_in = store()
    source = None if path.is_dir() else source_with_neighbours(path, limits)
    value = read_path(path, limits) if source is None else read(source)
    if isinstance(value, Experiment):
        if not path.is_file() or not zipfile.is_zipfile(path):
            raise FuseScopeError("kept_wants_zip", where=display_name(str(path)))
        own = recording_hash(value.record)
        known = (item for item in items() if item.kind == "experiment" and item.hash == own)
        there = next(known, None)
        return _copied(path) if there is None else there.name
    name = display_name(str(path.resolve()))
    beside: Beside = "some"
    if source is None:
        key = value.meta.sha256
    else:
        key = keys.of_content(source)
        if not source.rests_on_others:
            beside = "never"
        elif keys.with_others(source, key, "unknown") == key:
            beside = "none"
    with _writing():
        if not keeping.keep(kept_in, key, value, beside, name=name):
            raise FuseScopeError(
                "kept_too_large", size=kept_in.max_bytes, variable=settings.SIZE_VARIABLE
            )
    return name


def _copied(path: Path) -> str:
    target = places.experiments_folder() / f"{path.stem}.zip"
    with _writing(target.parent):
        folders.make(target.parent)
        with Draft(target) as draft:
            with draft.opened() as file, path.open("rb") as given:
                shutil.copyfileobj(given, file)
            return draft.publish_numbered().name


def _put(item: Item, **said: str | tuple[str, ...]) -> None:
    """Replaces these of its facts, and keeps the others as they are by now."""
    with _writing():
        folder = store().folder
        known = facts.of(folder, item.facts_id)
        facts.put(folder, item.facts_id, msgspec.structs.replace(known, **said))


@contextmanager
def _writing(folder: Path | None = None) -> Iterator[None]:
    """Raises FuseScopeError where the disk refuses; `folder` is the library's if none is given."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or os.strerror(error.errno or 0)).lower()
        raise FuseScopeError(
            "kept_unwritable", where=str(folder or settings.folder()), reason=reason
        ) from error
