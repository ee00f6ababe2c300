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
    home = place() / name
    if not _NAME.fullmatch(name) or not _is_saved(home):
        known = names()
        raise FuseScopeError(
            "no_such_baseline",
            name=name[:60],
            known=", ".join(known) or "–",
            nearest=nearest(name, known),
        )
    inside = (home / _MAIN).read_text(encoding="utf-8")
    found = places.below_folders(inside, (home.resolve(),), or_folder=True)
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
    target = place() / name
    with _writing(), folders.FolderDraft(target) as draft:
        main = _copied(path.resolve(), beside, draft.path)
        with draft.opened(_MAIN) as file:
            file.write(str(main).encode())
        draft.publish()


def remove(name: str) -> None:
    """Remove a baseline. Raises FuseScopeError for none."""
    from fusescope.collectors.files import folder as folders

    path_of(name)
    with _writing():
        folders.remove(place() / name)


def _is_saved(home: Path) -> bool:
    return not home.name.startswith(".") and (home / _MAIN).is_file()


def _copied(path: Path, beside: Iterable[str], target: Path) -> Path:
    """Copy a trace, and those of the files beside it that are there, as they lie to one another;
    return where the trace is below `target`."""
    if path.is_dir():
        shutil.copytree(path, target / path.name, symlinks=False)
        return Path(path.name)
    others = list(filter(None, (_found(path.parent, name) for name in beside)))
    top = Path(os.path.commonpath([path.parent, *(other.parent for other in others)]))
    for source in (path, *others):
        copy = target / source.relative_to(top)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    return path.relative_to(top)


def _found(folder: Path, name: str) -> Path | None:
    """Return a file that was read with a trace, by its name in that folder or in one above."""
    for above in (folder, *list(folder.parents)[:_LEVELS_ABOVE]):
        if (above / name).is_file():
            return above / name
    return None


@contextmanager
def _writing() -> Iterator[None]:
    """Raises FuseScopeError where the disk refuses."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or os.strerror(error.errno or 0)).lower()
        raise FuseScopeError("baseline_unwritable", where=str(place()), reason=reason) from error
