"""Folders and zips of trace files as Sources: listed first, loaded when a reader asks for them."""

from __future__ import annotations

import io
import lzma
import os
import stat
import zipfile
import zlib
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS, MIB, Limits
from fusescope.analysis.readers.input.source import Load, Source, load_file
from fusescope.analysis.text import clean_text, display_name
from fusescope.analysis.trace import Diagnostic

_MAX_DEPTH = 100  # folders in folders; what bounds a walk is the number of files
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack without a bound on memory
_MAX_PATH = 400
_ZIP_BEGIN = b"PK\x03\x04"
_NO_LIST = "File is not a zip file"  # as zipfile says it
_NEIGHBOURS = 5_000  # each is looked at, which takes 64 KiB of memory
_NO_BOMB_BYTES = 16 * MIB  # a few pages of a database that are nearly empty pack well
_OUTPUT_FOLDERS = ("ASCEND_PROFILER_OUTPUT", "FRAMEWORK", "mindstudio_profiler_output")


# What a damaged, encrypted or oddly packed zip raises; RuntimeError holds NotImplementedError.
ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError,
)  # fmt: skip


def folder_sources(path: Path, limits: Limits = DEFAULT_LIMITS) -> tuple[Source, ...]:
    """The regular files below `path`, by name; links are not followed.

    Raises FuseScopeError for more files than the limit and for a folder that cannot be listed.
    """
    found: list[Source] = []

    def refuse(error: OSError) -> None:
        raise FuseScopeError(
            "folder_unlisted", where=display_name(str(path)), reason=error.strerror or str(error)
        ) from error

    for folder, names, files in os.walk(path, onerror=refuse):
        here = Path(folder)
        depth = len(here.relative_to(path).parts)
        names[:] = [] if depth >= _MAX_DEPTH else sorted(n for n in names if n[0] != ".")
        for name in sorted(files):
            file = here / name
            if name[0] != "." and _is_regular(file):
                found.append(_file(file, file.relative_to(path).as_posix(), limits))
        if len(found) > limits.zip_members:
            raise FuseScopeError(
                "too_many_folder_files",
                where=display_name(str(path)),
                limit=limits.zip_members,
                raised=limits.raised("zip_members"),
            )
    return tuple(found)


def source_with_neighbours(
    path: Path, limits: Limits = DEFAULT_LIMITS, *, above: bool = True
) -> Source:
    """The file at `path`; `beside` are the files of its folder, listed when a reader asks.

    An Ascend profiler keeps some files one folder up, which are looked at unless `above` is False.

    Raises FuseScopeError where it cannot be read.
    """
    name = display_name(str(path))
    data = load_file(path, name, limits)
    data(1)  # says now what is wrong
    noted: list[Diagnostic] = []

    def neighbours() -> tuple[Source, ...]:
        folders = [path.parent]
        if above and path.parent.name in _OUTPUT_FOLDERS:
            folders.append(path.parent.parent)
        found = []
        for folder in folders:
            near, left = _nearest(path, folder)
            found += [_file(file, file.name, limits) for file in near]
            if left:
                index = display_name(str(folder.resolve()))
                noted.append(Diagnostic("warning", "neighbours_left", left, index))
        return tuple(found)

    return Source(name, data, limits, beside=neighbours, noted=noted, on_disk=path)


def _nearest(path: Path, folder: Path) -> tuple[list[Path], int]:
    """The other files of the folder by name, and how many there are more.

    Of very many those written closest to `path` in time, as the files of one recording are.
    """
    try:
        written_ns = path.stat().st_mtime_ns
        names = sorted(os.listdir(folder))
    except OSError:
        return [], 0
    apart: dict[Path, int] = {}
    for name in names:
        file = folder / name
        try:
            facts = file.lstat()
        except OSError:
            continue
        if name[0] != "." and stat.S_ISREG(facts.st_mode) and not _is_same(file, path):
            apart[file] = abs(facts.st_mtime_ns - written_ns)
    near = sorted(apart, key=lambda file: apart[file])[:_NEIGHBOURS]
    return sorted(near), len(apart) - len(near)


def zip_sources(source: Source) -> tuple[Source, ...]:
    """The regular members of a zip, read in memory one by one; headers are not believed.

    Links, folders, hidden files and second members of one name are left out. Raises
    FuseScopeError for a damaged or encrypted zip and for one beyond the limits.
    """
    limits = source.limits
    try:
        archive = zipfile.ZipFile(io.BytesIO(source.data))
        infos = archive.infolist()
    except ZIP_ERRORS as error:
        raise damaged_zip(source.name, error, source.data) from error
    unpacked = sum(info.file_size for info in infos)
    if len(infos) > limits.zip_members:
        raise FuseScopeError(
            "too_many_zip_members",
            where=source.name,
            n=len(infos),
            limit=limits.zip_members,
            raised=limits.raised("zip_members", len(infos)),
        )
    check_size(unpacked, len(source.data), limits, source.name)
    budget = [limits.unpacked_bytes]
    found: dict[str, Source] = {}
    for info in infos:
        path = shown_path(info.filename)
        mode = info.external_attr >> 16
        is_link = stat.S_ISLNK(mode) if mode else False
        if info.is_dir() or is_link or not path or path in found:
            continue
        name = display_name(path.rpartition("/")[2])
        found[path] = Source(name, _member(archive, info, name, budget), limits, path=path)
    return tuple(found.values())


def shown_path(name: str) -> str:
    """The path of a member below its archive, parts joined by '/'; '' for a hidden one."""
    parts = [
        part
        for part in clean_text(name.replace("\\", "/"), _MAX_PATH).split("/")
        if part not in ("", ".", "..")
    ]
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return "" if hidden else "/".join(parts)


def check_size(unpacked: int, packed: int, limits: Limits, where: str | None = None) -> None:
    """Refuse a zip by the bytes that it says it unpacks to: too many, or too many a packed one."""
    if unpacked > limits.unpacked_bytes:
        raise FuseScopeError(
            "zip_too_large",
            where=where,
            size_mib=unpacked // MIB,
            limit_mib=limits.unpacked_bytes // MIB,
            raised=limits.raised("unpacked_bytes", unpacked),
        )
    ratio = -(-unpacked // max(1, packed))
    if ratio > limits.zip_ratio and unpacked > _NO_BOMB_BYTES:
        raise FuseScopeError(
            "zip_ratio_too_high",
            where=where,
            size_mib=unpacked // MIB,
            ratio=ratio,
            limit=limits.zip_ratio,
            raised=limits.raised("zip_ratio", ratio),
        )


def _is_regular(path: Path) -> bool:
    """True for a file that is not a link; False, too, for one that is gone or hidden from us."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _file(path: Path, label: str, limits: Limits) -> Source:
    name = display_name(path.name)
    # Names on a disk may hold anything, and paths are shown.
    return Source(
        name,
        load_file(path, name, limits),
        limits,
        path=clean_text(label, _MAX_PATH),
        on_disk=path,
    )


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, budget: list[int]) -> Load:
    def load(count: int | None) -> bytes:
        if info.compress_type not in _PACKINGS:
            raise FuseScopeError("zip_packing", where=name)
        try:
            with archive.open(info) as member:
                data = member.read((budget[0] if count is None else count) + 1)
        except ZIP_ERRORS as error:
            raise damaged_zip(name, error) from error
        if count is not None:
            return data[:count]
        budget[0] -= len(data)
        if budget[0] < 0:
            raise FuseScopeError("zip_understated", where=name)
        return data

    return load


def damaged_zip(name: str, error: Exception, data: bytes = b"") -> FuseScopeError:
    """What to say of a zip, or of a member, that cannot be read: the list of members stands at the
    end, so a zip that begins as one and has none was cut off."""
    if str(error) == _NO_LIST and data.startswith(_ZIP_BEGIN):
        return FuseScopeError("zip_cut_short", where=name)
    return FuseScopeError("zip_damaged", where=name, reason=clean_text(str(error), 120))
