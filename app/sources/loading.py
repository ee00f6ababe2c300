"""Paths and stored files -> traces and experiments, cached.

Ids come from the address of the page, so they are only ever looked up among what there is.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

import msgspec
import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.files import check_apart, side_of_files
from fusescope.analysis.compare.files.names import common_name, named_apart
from fusescope.analysis.compare.multiple.comparison import MAX_SIDES
from fusescope.analysis.compare.side import Side, label_of, side_of_trace, side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import MIB
from fusescope.analysis.messages import Message, Said, listed, paragraph
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.recordings import Found
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.doctor import files_sentence
from fusescope.app.server.same_origin import is_local
from fusescope.app.server.shelf import megabytes
from fusescope.app.sources import examples, nsys, places, sides
from fusescope.app.state.opened import Fate, History, Opened, in_each
from fusescope.app.state.session import MAX_OPENED, MAX_OPENED_BYTES
from fusescope.app.store.keeping import is_kept

_NUMBER: WeakKeyDictionary[Trace | Experiment, int] = WeakKeyDictionary()
_COUNT = itertools.count()
_ID_CHARS = 12
_UPLOAD = re.compile(r"upload:[0-9a-f]{12}(/|$)")
# Folders of the command line beyond this are opened only when their path is given.
_MAX_FILES = 500
_MAX_BYTES = 512 * MIB

LEFT_ASIDE = ("covered", "unknown")  # files that no recording needed
KEPT_KIND = "library"  # of the ids of what is in the library
NOT_HERE = Fate(
    "link",
    False,
    Message("The link names something that is not here. That part of the link is ignored.").of(),
)
_CLOSED = Message(
    "To make room, these files were closed: {names:name}. Open them again to use them. {keeps}"
)
_NO_TRACE = Message("The folder {folder:name} does not contain a trace.")
_LARGE_FOLDER = Message(
    "The folder {folder:name} is large. Give the path of a recording inside it."
)
_COVERED = Message(
    "Not used, because a file beside them has the same data in more detail: {files:name}."
)
_NOT_NEEDED = Message("Not used, because no recording needs them: {files:name}.")
KEPT = Message("It is kept on the page {page}.")
LIBRARY_PAGE = Message("Library")
_KEEPS = Message("The dashboard keeps {kept:count} files and {size} of them in memory.")
_TAB_KEEPS = Message("A tab keeps {kept:count} files and {size} of them in memory.")


def closed(files: Iterable[Opened]) -> list[Fate]:
    """What is said of files that were closed to make room; nothing where none was."""
    names = ", ".join(file.name for file in files)
    return [Fate("closed", None, _CLOSED.of(names=names, keeps=_keeps()))] if names else []


def keeps() -> str:
    """Who keeps how many opened files."""
    return str(_keeps())


def _keeps() -> Said:
    return (_KEEPS if is_local() else _TAB_KEEPS).of(
        kept=MAX_OPENED, size=megabytes(MAX_OPENED_BYTES)
    )


class Missing(FuseScopeError):
    """An id names something that is not here."""

    def __init__(self) -> None:
        super().__init__("link_to_unopened_file")


# From an id to a side.


def side(id_: str, opened: Mapping[str, Opened]) -> Side:
    """The side that `id_` names. Raises Missing, or FuseScopeError for a file that is damaged, and
    for files that are not one side together."""
    if sides.is_several(id_):
        return _side_of_several([opened_as(one, opened) for one in sides.members(id_)])
    kind, _, rest = id_.partition(":")
    if kind in ("upload", "file", examples.PREFIX, KEPT_KIND):
        file = opened_as(id_, opened)
        if file is None:
            raise Missing()
        return _side(file.value, id_[len(file.id) + 1 :], file.name)
    name, _, variant = rest.partition("/")
    path = {
        "sample": lambda: places.samples().get(name),
        "engines": lambda: places.engine_samples().get(name),
        "recorded": lambda: places.recording(name),
        "recipe": lambda: places.recipe_samples().get(name),
    }.get(kind, lambda: None)()
    if path is None:
        raise Missing()
    return _side(_value_at(path), variant, name)


def pair(baseline: str, candidate: str, opened: Mapping[str, Opened]) -> tuple[Side, Side]:
    """Both sides, as `side`; those of several files under names that differ. Raises FuseScopeError
    for a file that stands on both of them, too."""
    first, second = side(baseline, opened), side(candidate, opened)
    check_apart(first, second)
    return named_apart(first, second)


def several(ids: Iterable[str], opened: Mapping[str, Opened]) -> list[Side]:
    """Each side, as `side`. Raises FuseScopeError for a file that stands on two of them, one of
    which is of several, too."""
    found = [side(id_, opened) for id_ in ids]
    for one, other in itertools.combinations(found, 2):
        check_apart(one, other)
    return found


def open_links(
    ids: Iterable[str], opened: Callable[[], Mapping[str, Opened]]
) -> Iterator[tuple[list[Opened], list[Fate]]]:
    """`open_link` for every file of these sides, among those `opened` by then."""
    ids = tuple(ids)
    of_several = any(map(sides.is_several, ids))
    known = opened()
    linked = [one for side_ in ids for one in sides.members(side_)]
    paths = [
        path
        for id_ in linked
        if id_.startswith("file:") and opened_as(id_, known) is None
        if (path := places.linked_file(id_.removeprefix("file:"))) is not None
    ]
    with _reading_ahead(paths):
        for id_ in linked:
            yield open_link(id_, opened(), is_one_of_several=of_several)


def _side_of_several(files: Sequence[Opened | None]) -> Side:
    known = [file for file in files if file is not None]
    if len(known) < len(files):
        raise Missing()
    numbers = tuple(_NUMBER.setdefault(file.value, next(_COUNT)) for file in known)
    return _pooled([file.value for file in known], numbers, tuple(file.name for file in known))


# As many as are compared at once: each holds its files a second time.
@st.cache_resource(max_entries=MAX_SIDES, show_spinner=False)
def _pooled(
    _values: Sequence[Trace | Experiment], numbers: tuple[int, ...], names: tuple[str, ...]
) -> Side:
    """One side of files, by the numbers of what was read of them."""
    return side_of_files(_values, common_name(names), names, places.limits())


def opened_as(id_: str, opened: Mapping[str, Opened]) -> Opened | None:
    """The opened file that an id names, with or without a variant, process or device behind it."""
    if id_ in opened:
        return opened[id_]
    parted = (f for f in opened.values() if isinstance(f.value, Experiment) or f.value.others)
    return next((file for file in parted if id_.startswith(f"{file.id}/")), None)


def _side(value: Trace | Experiment, variant: str, name: str) -> Side:
    if isinstance(value, Experiment):
        if variant not in value.traces:
            raise Missing()
        return side_of_variant(value, variant)
    if variant and variant not in value.units:
        raise Missing()
    trace = value.units[variant] if variant else value
    return replace(side_of_trace(trace), label=label_of(name, trace))


def experiment_at(path: Path) -> Experiment:
    """The experiment at `path`, read once. Raises FuseScopeError where it is none."""
    value = _value_at(path)
    if not isinstance(value, Experiment):
        raise FuseScopeError("profile_instead_of_experiment", where=display_name(path.name))
    return value


def _value_at(path: Path) -> Trace | Experiment:
    """What a file holds, or a folder with a single recording."""
    if not path.is_dir():
        return _read_path(str(path), _state(path))
    recordings = _folder(path).recordings
    if len(recordings) != 1:
        raise FuseScopeError(
            "recordings_in_folder", where=display_name(str(path)), count=len(recordings)
        )
    return recordings[0].value


def _state(path: Path) -> str:
    """A hash that changes with the file, or with any file below the folder.

    Raises FuseScopeError for a folder with more files than are read of one.
    """
    maximum = places.limits().zip_members
    try:
        below = (Path(f, n) for f, _, ns in os.walk(path) for n in ns)
        files = [path] if not path.is_dir() else list(itertools.islice(below, maximum + 1))
        if len(files) > maximum:
            raise FuseScopeError(
                "too_many_folder_files",
                where=display_name(str(path)),
                limit=maximum,
                raised=places.limits().raised("zip_members"),
            )
        facts = [
            (str(file), (of := file.lstat()).st_mtime_ns, of.st_size) for file in sorted(files)
        ]
    except OSError as error:
        raise FuseScopeError("file_gone", where=display_name(str(path))) from error
    return hashlib.sha256(repr(facts).encode()).hexdigest()


@st.cache_resource(max_entries=6, show_spinner=False)
def _read_path(path: str, state: str) -> Trace | Experiment:
    from fusescope.analysis.readers import read_path
    from fusescope.app.store.keeping import read_through

    # What lies above the file may be outside the folders that are open to this dashboard.
    if is_local():
        return read_through(Path(path), places.limits(), above=False).value
    return read_path(Path(path), places.limits(), above=False)


def _folder(path: Path) -> Found:
    return _find_in(str(path), _state(path))


@st.cache_resource(max_entries=3, show_spinner=False)
def _find_in(path: str, state: str) -> Found:
    from fusescope.analysis.readers import find
    from fusescope.analysis.readers.input.folder import folder_sources

    found = find(folder_sources(Path(path), places.limits()))
    for recording in found.recordings:  # what is cached here stays for long
        for source in (recording.source, *recording.companions):
            source.forget()
    return found


# Opening files.


def _files_at(path: Path, link: str, name: str) -> list[Opened]:
    """What a file holds under the name that links have for it: several files for some reports."""
    held = _held_at(path)
    if len(held) > 1:
        return [replace(one, id=f"file:{link}/{one.role}") for one in held]
    if held:
        return [replace(held[0], id=f"file:{link}", name=name, value=_value_at(path))]
    return [Opened(f"file:{link}", name, _value_at(path))]


def _held_at(path: Path) -> tuple[Opened, ...]:
    """What a report holds; nothing for any other file."""
    from fusescope.analysis.readers.input.source import HEAD_BYTES, load_file
    from fusescope.analysis.readers.packed.report import is_report

    if not path.is_file():
        return ()
    head = load_file(path, display_name(path.name), places.limits())(HEAD_BYTES)
    return _read_report(str(path), _state(path)) if is_report(head) else ()


@st.cache_resource(max_entries=3, show_spinner=False)
def _read_report(path: str, state: str) -> tuple[Opened, ...]:
    from fusescope.analysis.readers import read
    from fusescope.analysis.readers.input.source import load_file
    from fusescope.analysis.readers.packed.report import contents

    name, limits = display_name(path), places.limits()
    held = contents(Source(name, load_file(Path(path), name, limits), limits)).sources
    return tuple(opened_of("", "", one, read(one)) for one in held)


def opened_of(id_: str, name: str, source: Source, value: Trace | Experiment) -> Opened:
    """What was read of a file, with what the report says of it that it comes from; without a name
    under the one that it has there."""
    from fusescope.analysis.readers.packed.report import assumed_of, places_of, role_of

    told = assumed_of(source)
    assumed = None if told is None else msgspec.convert(msgspec.to_builtins(told), Assumptions)
    own = value.file_name if isinstance(value, Experiment) else source.name
    return Opened(id_, name or own, value, role_of(source), assumed, places_of(source))


def open_paths(texts: Iterable[str]) -> tuple[list[Opened], list[Fate]]:
    """What was read at these paths below the configured folders, folders too, and the fates."""
    opened: list[Opened] = []
    told: list[Fate] = []
    for text in texts:
        try:
            path = places.path_below_folders(text, or_folder=True)
            if path.is_dir():
                files, fates = _open_folder(path)
                opened += files
                told += fates
            else:
                files = _files_at(path, places.link_name(path), display_name(path.name))
                opened += files
                told += map(fate, files)
        except FuseScopeError as error:
            told.append(_refused(display_name(text), error, lambda text=text: _path_of(text)))  # type: ignore[misc]
    return opened, told


def history_at(text: str) -> History | None:
    """Return the file of releases at this path below the configured folders; None for another
    file, or none."""
    try:
        path = places.path_below_folders(text)
        return (
            History(display_name(path.name), path.read_bytes()) if places.is_history(path) else None
        )
    except (FuseScopeError, OSError):
        return None


def _refused(name: str, error: FuseScopeError, path: Callable[[], Path | None]) -> Fate:
    """The fate of a file that was not read, with its path where `nsys` may export it: on a server
    of one's own, where it is there."""
    may_export = error.code == nsys.REPORT and is_local() and nsys.program() is not None
    return Fate(name, False, error, report=path() if may_export else None)


def _path_of(text: str) -> Path | None:
    try:
        return places.path_below_folders(text)
    except FuseScopeError:
        return None


def open_report(path: Path) -> tuple[list[Opened], list[Fate]]:
    """What `nsys` exports of the report at `path`, opened like an upload, and its fate."""
    name = display_name(path.name)
    try:
        value = nsys.read_report(path, places.limits())
        file = Opened(f"upload:{_state(path)[:_ID_CHARS]}", name, value)
    except FuseScopeError as error:
        return [], [Fate(name, False, error)]
    return [file], [fate(file)]


def _open_folder(path: Path) -> tuple[list[Opened], list[Fate]]:
    """The recordings below a folder. Its link names the folder where there is a single one."""
    found = _folder(path)
    name = display_name(path.name)
    alone = len(found.recordings) == 1
    files = []
    for recording in found.recordings:
        main = path if alone else path / recording.source.path
        label = name if alone else f"{name}/{recording.source.path}"
        files.append(Opened(f"file:{places.link_name(main)}", label, recording.value))
    told = [fate(file) for file in files]
    if not files and not found.failed:
        told = [Fate(name, None, _NO_TRACE.of(folder=name))]
    told += [Fate(path, False, error.at(path)) for path, error in found.failed]
    return files, [*told, *left_aside(found.covered, found.unknown if files else ())]


def open_link(
    id_: str, opened: Mapping[str, Opened], *, is_one_of_several: bool = False
) -> tuple[list[Opened], list[Fate]]:
    """The file that a `file:` id names, where it is not among those opened, and its fate. One of
    several has its folder in front of its name, which may be all that tells sides apart."""
    kind, _, rest = id_.partition(":")
    if kind == KEPT_KIND and opened_as(id_, opened) is None:
        return _open_kept(rest.partition("/")[0])  # with a process or device behind it
    if (example := examples.path_of(id_)) is not None and opened_as(id_, opened) is None:
        return [Opened(id_, display_name(example.name), _value_at(example))], []
    if kind != "file" or opened_as(id_, opened) is not None:
        return [], []
    above = rest.rpartition("/")[0]
    for name in (rest, above, above.rpartition("/")[0]):  # a variant of one file in a report
        path = places.linked_file(name)
        if name and path is not None:
            try:
                shown = display_name(path.name)
                if is_one_of_several:
                    shown = f"{display_name(path.parent.name)}/{shown}"
                return _files_at(path, name, shown), []
            except FuseScopeError as error:
                return [], [Fate(display_name(path.name), False, error)]
    return [], []


def _open_kept(key: str) -> tuple[list[Opened], list[Fate]]:
    """What is in the library under this key, where the library is this user's."""
    from fusescope.app.store.keeping import named_trace

    id_ = f"{KEPT_KIND}:{key}"
    if not is_local():
        return [], []
    try:
        name, trace = named_trace(key)
    except FuseScopeError as error:
        return [], [Fate(id_, False, error)]
    return [Opened(id_, name, trace)], []


def open_given() -> tuple[list[Opened], list[Fate]]:
    """What can be read of the files and folders of the command line, and the fate of each."""
    given = places.given_files()
    with _reading_ahead(given.values()):
        return _open_all(given)


def _open_all(given: Mapping[str, Path]) -> tuple[list[Opened], list[Fate]]:
    opened: list[Opened] = []
    told: list[Fate] = []
    for name, path in given.items():
        try:
            if not path.is_dir():
                files = _files_at(path, name, name)
                opened += files
                told += map(fate, files)
            elif _is_large(path):
                told.append(Fate(name, None, _LARGE_FOLDER.of(folder=name)))
            else:
                files, fates = _open_folder(path.resolve())
                opened += files
                told += fates
        except FuseScopeError as error:
            told.append(_refused(name, error, lambda path=path: path))  # type: ignore[misc]
    return opened, told


def _reading_ahead(paths: Iterable[Path]) -> AbstractContextManager[None]:
    """While this lasts, large ones of these files are read at once, for `_read_path`."""
    from fusescope.app.store.keeping import reading_ahead

    if not is_local():
        return nullcontext()
    return reading_ahead(paths, places.limits(), above=False)


def _is_large(path: Path) -> bool:
    """True for a folder that takes too long to read without having been asked for."""
    count = size = 0
    for folder, _, files in os.walk(path):
        for name in files:
            count += 1
            try:
                size += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # gone since it was listed
            if count > _MAX_FILES or size > _MAX_BYTES:
                return True
    return False


def fate(file: Opened) -> Fate:
    """What was read, and from which files."""
    value = file.value  # not kept: what was told outlives the file

    kept = isinstance(value, Trace) and is_local() and is_kept(value.meta.sha256)
    first = value if isinstance(value, Trace) else next(iter(value.traces.values()))
    files = first.meta.files

    def read() -> str:
        return paragraph(
            wording.opened_sentence(value),
            wording.units_opened_text(value) if isinstance(value, Trace) else "",
            files_sentence(files),
            KEPT.text(page=LIBRARY_PAGE) if kept else "",
        )

    ends_early = isinstance(value, Trace) and value.ends_early
    return Fate(file.name, True, in_each(read), file.id, ends_early)


def left_aside(covered: tuple[str, ...], unknown: tuple[str, ...]) -> list[Fate]:
    """What is said of files that no recording needed."""
    told = []
    if covered:
        told.append(Fate(LEFT_ASIDE[0], None, _COVERED.of(files=listed(covered))))
    if unknown:
        told.append(Fate(LEFT_ASIDE[1], None, _NOT_NEEDED.of(files=listed(unknown))))
    return told


def is_upload(id_: str) -> bool:
    """True for the id of an uploaded file, or of several with one among them, whether or not this
    session has it."""
    return any(_UPLOAD.match(one) is not None for one in sides.members(id_))
