"""The traces that a command writes: where they lie, and what is kept of them."""

from __future__ import annotations

import glob
import os
import shutil
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import shown

FOLDER = "{trace_dir}"  # in the command, its arguments and settings
VARIABLE = "FUSESCOPE_TRACE_DIR"


def written(pattern: str, folder: Path, since_ns: int, leave_out: str = "") -> list[Path]:
    """Return the files that a run wrote and that match the pattern, in order of their names: below
    the run's own `folder`, all of it without a pattern; with one that is absolute or begins with
    './', those of the working folder that changed since then (ns since 1970)."""
    if is_elsewhere(pattern):
        found = [Path(one).absolute() for one in glob.glob(pattern, recursive=True)]
        return sorted(one for one in found if _is_file(one) and one.stat().st_mtime_ns >= since_ns)
    names = glob.glob(pattern or "**", root_dir=folder, recursive=True, include_hidden=False)
    return sorted(folder / name for name in names if name != leave_out and _is_file(folder / name))


def is_elsewhere(pattern: str) -> bool:
    """Return True for a pattern of files in the user's own folders."""
    return os.path.isabs(pattern) or pattern.startswith(("./", "../"))


def keep(files: list[Path], folder: Path, into: Path) -> None:
    """Brings the files into the new folder `into`: those of the run's own folder are moved, with
    their places below it, others copied by their names."""
    into.mkdir(parents=True)
    for file in files:
        inside = file.is_relative_to(folder)
        target = into / (file.relative_to(folder) if inside else file.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if inside:
            shutil.move(file, target)
        else:
            shutil.copyfile(file, target)


def check_pattern(pattern: str) -> None:
    """Raises FuseScopeError for a pattern that leads out of the run's own folder unsaid."""
    if not is_elsewhere(pattern) and ".." in Path(pattern).parts:
        raise FuseScopeError("command_trace_form", pattern=shown(pattern, 80))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
