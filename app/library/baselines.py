"""Named baselines: copies of traces and recordings that later ones are compared with."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.spelling import nearest
from fusescope.analysis.text import display_name
from fusescope.app.sources import places

PREFIX = "baseline:"  # in front of a name, where a path may stand
FOLDER_VARIABLE = "FUSESCOPE_BASELINES"
_NAME = re.compile(r"\w[\w.+-]{0,79}")
_MAIN = "path.txt"  # beside what was copied: where in it the trace lies
_MAX_PATH = 4096  # bytes of what it says
_LEVELS_ABOVE = 2  # that files read with a trace lie above its own folder at most


def place() -> Path:
    """Return the folder of all baselines, which may not be there yet."""
    given = os.environ.get(FOLDER_VARIABLE)
    return Path(given).expanduser() if given else places.data_folder() / "baselines"


def names() -> list[str]:
    """Return the names of all baselines, from A."""
    if not place().is_dir():
        return []
    return sorted(path.name for path in place().iterdir() if _is_saved(path))


def path_of(name: str) -> Path:
    """Return where the trace or recording of a baseline lies. Raises FuseScopeError for none."""
    home = _home(name)
    found = places.below_folders(_main_of(home), (home.resolve(),), or_folder=True)
    if found is None:
        raise FuseScopeError("baseline_damaged", where=name)
    return found


def save(name: str, path: Path) -> None:
    """Copy what is at `path`, with the files that are read with it, in the place of a baseline of
    that name. Raises FuseScopeError for what cannot be read, is not whole, or cannot be written."""
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.readers import read_path
    from fusescope.collectors.files import (
        folder as folders,  # a comparison loads nothing of collectors
    )

    if not _NAME.fullmatch(name):
        raise FuseScopeError("baseline_name_impossible", name=name[:60])
    value = read_path(path, places.limits())
    if not isinstance(value, Experiment) and value.ends_early:
        raise FuseScopeError("side_ends_early", where=display_name(str(path)))
    beside = () if isinstance(value, Experiment) else value.meta.files
    with _writing():
        source = path.resolve()
        files = _files_below(source) if source.is_dir() else [source, *_found(source, beside)]
        top = Path(os.path.commonpath([source.parent, *(file.parent for file in files)]))
        with folders.FolderDraft(place() / name) as draft:
            for file in files:
                copy = draft.path / file.relative_to(top)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
            with draft.opened(_MAIN) as main:
                main.write(os.fsencode(source.relative_to(top)))
            draft.publish()


def remove(name: str) -> None:
    """Remove a baseline. Raises FuseScopeError for none."""
    from fusescope.collectors.files import folder as folders

    home = _home(name)
    with _writing():
        folders.remove(home)


def _home(name: str) -> Path:
    """Return the folder of a baseline. Raises FuseScopeError for none."""
    home = place() / name
    if _NAME.fullmatch(name) and _is_saved(home):
        return home
    known = names()
    raise FuseScopeError(
        "no_such_baseline",
        name=name[:60],
        known=", ".join(known) or "–",
        nearest=nearest(name, known),
    )


def _is_saved(home: Path) -> bool:
    is_ours = not home.name.startswith(".") and not home.is_symlink()
    return is_ours and (home / _MAIN).is_file()


def _main_of(home: Path) -> str:
    """Return where in a baseline its trace lies; '' where the file that says it is not ours."""
    with (home / _MAIN).open("rb") as file:
        text = file.read(_MAX_PATH + 1)
    return os.fsdecode(text) if len(text) <= _MAX_PATH else ""


def _files_below(folder: Path) -> list[Path]:
    """Return what is read of a folder: no links, which may lead to files of somebody else or into
    the folder itself, and nothing that never ends."""
    from fusescope.analysis.readers.input.folder import folder_sources

    listed = folder_sources(folder, places.limits())
    return [source.on_disk for source in listed if source.on_disk is not None]


def _found(path: Path, beside: Iterable[str]) -> Iterator[Path]:
    """Yield the files that were read with a trace, by their names in its folder or in one above.
    Names can come from the trace: none leads elsewhere."""
    above = (path.parent, *list(path.parents)[1 : 1 + _LEVELS_ABOVE])
    for name in beside:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            continue
        places_of = (folder / name for folder in above)
        found = next((file for file in places_of if _is_regular(file)), None)
        if found is not None:
            yield found


def _is_regular(path: Path) -> bool:
    """Return whether that is a file, and no link on the way leads to it."""
    return path.is_file() and path.resolve() == path


@contextmanager
def _writing() -> Iterator[None]:
    """Raises FuseScopeError where the disk refuses."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FuseScopeError("baseline_unwritable", where=str(place()), reason=reason) from error
