"""Several opened files on one side: their id in a link, and which side files dropped together are
of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote, unquote

from fusescope.analysis.compare.files.names import common_name, group_of
from fusescope.analysis.messages import Message
from fusescope.analysis.trace import Trace
from fusescope.app.state.opened import Opened

_PREFIX = "several:"
_LABEL = Message("{side:name} · {n:count} file", "{side:name} · {n:count} files")
_FEWEST = 2  # files of each of two sides that files dropped together are taken for


def id_of(ids: Sequence[str]) -> str:
    """The id of a side of these files; of a single one its own."""
    if len(ids) == 1:
        return ids[0]
    return _PREFIX + ",".join(quote(id_, safe=":/") for id_ in ids)


def is_several(id_: str) -> bool:
    """True for the id of a side of several files."""
    return id_.startswith(_PREFIX)


def members(id_: str) -> tuple[str, ...]:
    """Ids of the files of a side: itself for one file."""
    if not is_several(id_):
        return (id_,)
    parts = id_.removeprefix(_PREFIX).split(",")
    return tuple(dict.fromkeys(unquote(part) for part in parts if part))


def label_of(id_: str, labels: Mapping[str, str]) -> str | None:
    """What a side of several files is called; None where one of them cannot be chosen."""
    ids = members(id_)
    if len(ids) < _FEWEST or any(one not in labels for one in ids):
        return None
    return _LABEL.text(side=common_name([labels[one] for one in ids]), n=len(ids))


def profiles(opened: Iterable[Opened]) -> list[Opened]:
    """The files that can be one of several: profiles."""
    return [file for file in opened if isinstance(file.value, Trace)]


def groups(opened: Iterable[Opened]) -> list[str]:
    """Return ids of the sides of several files that the opened profiles make: those of one folder,
    and of no folder those of one beginning of names, where they are two or more. A file that is
    opened twice, as a sample that was dropped, too, is one recording."""
    files_by_key: dict[str, dict[str, str]] = {}
    for file in profiles(opened):
        folder = file.name.rpartition("/")[0]
        key = f"{folder}/" if folder else group_of(file.name)
        if key:
            content = (isinstance(file.value, Trace) and file.value.meta.sha256) or file.id
            files_by_key.setdefault(key, {}).setdefault(content, file.id)
    return [id_of([*ids.values()]) for ids in files_by_key.values() if len(ids) >= _FEWEST]


def two_sides(files: Sequence[Opened]) -> tuple[list[Opened], list[Opened]] | None:
    """Profiles that were opened together, as two sides of several, in the order of their names:
    those of two folders, else of two beginnings of names. None where they do not fall into two
    with two files or more each."""
    if len(files) < 2 * _FEWEST or len(profiles(files)) < len(files):
        return None
    by_folder: dict[str, list[Opened]] = {}
    by_beginning: dict[str, list[Opened]] = {}
    for file in files:
        by_folder.setdefault(file.name.rpartition("/")[0], []).append(file)
        by_beginning.setdefault(group_of(file.name), []).append(file)
    for groups in (by_folder, by_beginning):
        named = "" not in groups
        if named and len(groups) == 2 and min(map(len, groups.values())) >= _FEWEST:
            first, second = (groups[name] for name in sorted(groups))
            return first, second
    return None
