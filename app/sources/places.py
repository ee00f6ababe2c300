"""Where files lie: samples, experiments, configured folders, files of the command line.

Imports nothing heavy: the command line needs it before there is a page.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import fusescope
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits, parse_limits

ROOT = Path(fusescope.__file__).parent
SAMPLES = ROOT / "sample_traces"
FIRST_SAMPLE = "mobilenetv2"
FOLDERS_VARIABLE = "FUSESCOPE_FOLDERS"
FILES_VARIABLE = "FUSESCOPE_FILES"
FLEETS_VARIABLE = "FUSESCOPE_FLEETS"
HISTORIES_VARIABLE = "FUSESCOPE_RELEASES"
EXPERIMENTS_VARIABLE = "FUSESCOPE_RECORDINGS"
LIMITS_VARIABLE = "FUSESCOPE_LIMITS"
MAX_EXPERIMENTS = 40
MAX_RULE_FILES = 40
MAX_FLEETS = 200
MAX_HISTORIES = 100
FLEET_MARK = "fusescope-fleet.json"
_RULE_FILE = re.compile(r"\w[\w.+-]{0,79}\.toml", re.ASCII)  # what a variant may be called
_NUMBERED = re.compile(r"([0-9]{1,4}):(.*)", re.DOTALL)


def limits() -> Limits:
    """The limits under which files are read, as this process was told. Raises FuseScopeError."""
    return parse_limits(os.environ.get(LIMITS_VARIABLE, ""))


def data_folder() -> Path:
    """Return where FuseScope keeps what is to last; made by whoever writes first."""
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "fusescope"


def experiments_folder() -> Path:
    """Where the experiments of the Record page lie; made by whoever writes the first."""
    given = os.environ.get(EXPERIMENTS_VARIABLE)
    return Path(given).expanduser() if given else data_folder() / "recordings"


def folders() -> tuple[Path, ...]:
    """Folders below which paths may be opened (`fusescope serve --folder`), links resolved."""
    return tuple(numbered_folders().values())


def numbered_folders() -> dict[int, Path]:
    """The configured folders that are there, by their place in the configuration, from 1."""
    found = enumerate((Path(text).resolve() for text in _listed(FOLDERS_VARIABLE)), start=1)
    return {number: folder for number, folder in found if folder.is_dir()}


def given_files() -> dict[str, Path]:
    """Files and folders of the command line (`fusescope serve PATH`), by their shown names."""
    from fusescope.analysis.text import display_name

    found: dict[str, Path] = {}
    for text in _listed(FILES_VARIABLE):
        name = display_name(text)
        found[name if name not in found else f"{len(found) + 1} {name}"] = Path(text)
    return found


def is_fleet(path: Path) -> bool:
    """Whether a folder is a store of the ranks of a job (`fusescope ingest`)."""
    return (path / FLEET_MARK).is_file()


def fleets() -> dict[str, Path]:
    """Stores of ranks by their shown names: of the command line, and those that lie in the
    configured folders, themselves and not below."""
    from fusescope.analysis.text import display_name

    given = [Path(text) for text in _listed(FLEETS_VARIABLE)]
    for folder in folders():
        try:
            inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        except OSError:
            continue
        given += [path for path in inside[:MAX_FLEETS] if not path.is_symlink()]
    found: dict[str, Path] = {}
    for path in filter(is_fleet, dict.fromkeys(given)):
        name = display_name(str(path))
        found[name if name not in found else f"{len(found) + 1} {name}"] = path
    return dict(list(found.items())[:MAX_FLEETS])


def is_history(path: Path) -> bool:
    """Whether a file holds what releases made of a model (`fusescope bisect --out`)."""
    from zipfile import BadZipFile, ZipFile

    from fusescope.analysis.releases.history import MAX_BYTES, RECORD_NAME

    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return False
        with ZipFile(path) as archive:
            return RECORD_NAME in archive.namelist()
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def histories() -> dict[str, Path]:
    """Files of releases by their shown names: of the command line, those that lie in the configured
    folders, themselves and not below."""
    from fusescope.analysis.text import display_name

    given = [Path(text) for text in _listed(HISTORIES_VARIABLE)]
    for folder in folders():
        try:
            inside = sorted(folder.glob("[!.]*.zip"))
        except OSError:
            continue
        given += [path for path in inside[:MAX_HISTORIES] if not path.is_symlink()]
    found: dict[str, Path] = {}
    for path in filter(is_history, dict.fromkeys(given)):
        name = display_name(path.name)
        found[name if name not in found else f"{len(found) + 1} {name}"] = path
    return dict(list(found.items())[:MAX_HISTORIES])


def samples() -> dict[str, Path]:
    """Sample experiments by name, the one to show first in front."""
    paths = {path.stem: path for path in sorted(SAMPLES.glob("*.zip"))}
    return dict(sorted(paths.items(), key=lambda item: item[0] != FIRST_SAMPLE))


def recipe_samples() -> dict[str, Path]:
    """Recorded recipes that come with FuseScope, by name of the recipe."""
    return {path.stem: path for path in sorted((SAMPLES / "recipes").glob("*.zip"))}


def engine_samples() -> dict[str, Path]:
    """One model in several engines, by name."""
    return {path.stem: path for path in sorted((SAMPLES / "engines").glob("*.zip"))}


def release_samples() -> dict[str, Path]:
    """Files of releases that come with FuseScope, by name of the model."""
    return {path.stem: path for path in sorted((SAMPLES / "releases").glob("*.zip"))}


def experiments(maximum: int | None = MAX_EXPERIMENTS) -> dict[str, Path]:
    """Recorded experiments by file name, newest first; every one with None."""
    found = []
    for path in experiments_folder().glob("[!.]*.zip"):
        try:
            if path.is_file():
                found.append((path.stat().st_mtime_ns, path.name, path))
        except OSError:
            continue  # gone since it was listed
    return {name: path for _, name, path in sorted(found, reverse=True)[:maximum]}


def recording(name: str) -> Path | None:
    """The recorded experiment of this file name, however old it is; None where there is none."""
    if "/" in name or name.startswith(".") or not name.endswith(".zip"):
        return None
    path = experiments_folder() / name
    return path if path.is_file() else None


def rule_files() -> dict[str, Path]:
    """Rule files that lie in the configured folders, themselves and not below, by file name; of
    those with one name, capitals aside, the first."""
    found: dict[str, Path] = {}
    for folder in folders():
        try:
            entries = sorted(folder.glob("[!.]*.toml"))
        except OSError:
            continue
        for path in entries:
            known = {name.casefold() for name in found}
            if not _RULE_FILE.fullmatch(path.name) or path.name.casefold() in known:
                continue
            if below_folders(path.name, (folder,)) is not None:
                found[path.name] = path
    return dict(list(found.items())[:MAX_RULE_FILES])


def path_below_folders(text: str, *, or_folder: bool = False) -> Path:
    """The file that `text` names below a configured folder, links resolved; or such a folder.

    Absolute paths are fine as long as they lie below such a folder, and so is what `link_name`
    makes. Raises FuseScopeError.
    """
    if not folders():
        raise FuseScopeError("no_open_folder")
    numbered = _NUMBERED.match(text.strip())
    folder = numbered_folders().get(int(numbered[1])) if numbered else None
    path = None
    if numbered and folder is not None:
        path = below_folders(numbered[2], (folder,), or_folder=or_folder)
    path = path or below_folders(text.strip(), or_folder=or_folder)
    if path is None:
        raise FuseScopeError("not_below_folders", where=text.strip()[:120])
    return path


def link_name(path: Path) -> str:
    """How a link names a file below the configured folders: its path there.

    The number of the folder stands in front where that alone could name another file.
    """
    number, folder = next(
        item for item in numbered_folders().items() if path.is_relative_to(item[1])
    )
    relative = path.relative_to(folder).as_posix()
    unclear = len(_listed(FOLDERS_VARIABLE)) > 1 or relative in given_files()
    return f"{number}:{relative}" if unclear or _NUMBERED.match(relative) else relative


def linked_file(name: str) -> Path | None:
    """The file or folder that a link names: of the command line or below a folder, else None."""
    numbered = _NUMBERED.match(name)
    if numbered is not None:
        folder = numbered_folders().get(int(numbered[1]))
        return below_folders(numbered[2], (folder,), or_folder=True) if folder is not None else None
    return given_files().get(name) or below_folders(name, or_folder=True)


def below_folders(
    text: str, among: tuple[Path, ...] | None = None, *, or_folder: bool = False
) -> Path | None:
    """The regular file, or folder, that `text` names below a folder, links resolved, else None.

    `among` are folders as `folders()` gives them, which are the ones asked by default.
    """
    if not text or "\0" in text:
        return None
    for folder in folders() if among is None else among:
        try:
            path = (folder / text).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            continue
        if path.is_relative_to(folder) and (path.is_file() or (or_folder and path.is_dir())):
            return path
    return None


def add_to(variable: str, paths: list[Path]) -> None:
    """Add paths to a list of paths in the environment, which the pages of this process read."""
    for path in paths:
        if os.pathsep in str(path):
            raise FuseScopeError("path_with_separator", where=str(path), separator=os.pathsep)
    os.environ[variable] = os.pathsep.join([*_listed(variable), *map(str, paths)])


def _listed(variable: str) -> list[str]:
    return [text for text in os.environ.get(variable, "").split(os.pathsep) if text]
