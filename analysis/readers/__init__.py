"""Readers: bytes -> Trace or Experiment. One file a format, one entry in `formats`.

Content decides, the most specific format first; names only label messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.readers.experiment import (
    EXPERIMENT,
    Wanted,
    holds_experiment,
    read_variants,
    refuse_releases,
)
from fusescope.analysis.readers.input.folder import (
    folder_sources,
    source_with_neighbours,
    zip_sources,
)
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.tar import is_tar, tar_sources
from fusescope.analysis.readers.packed.report import contents, expanded, is_report
from fusescope.analysis.readers.reader import anything
from fusescope.analysis.readers.recordings import Found, find_recordings, read_value
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Trace

_ZIP = b"PK\x03\x04"
_MAX_NAMED = 5
_PART_LOST = ("zip_damaged", "zip_understated", "zip_packing")
# What is kept of a trace was read by it: raise it when a reader reads otherwise.
READER_VERSION = 23


def read(source: Source, wanted: Wanted | None = None) -> Trace | Experiment:
    """The trace or experiment in `source`, with the variants that are `wanted`: all without it.
    Raises FuseScopeError that says what it is instead.

    A zip may hold one recording of several files; a report is read as what it holds.
    """
    if not source.load(1):
        raise _unknown(source)
    if is_report(source.head):
        held = contents(source).sources
        if len(held) == 1:
            return read(held[0], wanted)
        found = find(held)
        return _only(
            replace(found, recordings=() if found.failed else found.recordings), source.name, held
        )
    if _is_folder(source):
        members = _unpacked(source)
        found = find(members)
        _check_parts(found, source.name)
        return _only(found, source.name, members)
    head = source.whole_head
    if EXPERIMENT.sniff(head):
        return read_value(EXPERIMENT, source) if wanted is None else read_variants(source, wanted)
    from fusescope.analysis.readers.formats import ALL_READERS

    for reader in ALL_READERS:
        if reader.sniff(head):
            return read_value(reader, source, ALL_READERS)
    raise _unknown(source)


def taken_beside(source: Source) -> tuple[Source, ...] | None:
    """The files beside `source` on which its reading may rest; None where that may be any. What
    its reader does not look at is among them: only the whole file tells."""
    from fusescope.analysis.readers.formats import ALL_READERS

    heads = {source.head, source.whole_head}
    readers = [reader for reader in ALL_READERS if any(map(reader.sniff, heads))]
    tests = [reader.takes for reader in readers if reader.takes is not None]
    if not tests or anything in tests:
        return None

    def may_matter(other: Source) -> bool:
        try:
            return any(test(source, other) for test in tests)
        except FuseScopeError:  # cannot be looked at, of which the reading may tell
            return True

    return tuple(other for other in source.neighbours if may_matter(other))


def read_path(
    path: Path,
    limits: Limits = DEFAULT_LIMITS,
    *,
    above: bool = True,
    wanted: Wanted | None = None,
) -> Trace | Experiment:
    """The trace or experiment in the file or folder at `path`; `wanted` and errors as in `read`.

    Files in the same folder are read with it where they belong to the same recording; `above`
    lets a reader look one folder up as well.
    """
    if path.is_dir():
        files = folder_sources(path, limits)
        # The other files of the folder are most likely those that the report was made from.
        found = find([file for file in files if not is_report(file.head)])
        if not (found.recordings or found.failed):
            found = find(files)
        return _only(found, display_name(str(path.resolve())), files)
    return read(source_with_neighbours(path, limits, above=above), wanted)


def read_all(sources: Sequence[Source]) -> Found:
    """Every recording among files given together, zips among them unpacked first."""
    files: list[Source] = []
    failed: list[tuple[str, FuseScopeError]] = []
    inside: dict[str, list[Source]] = {}
    for source in sources:
        try:
            if _is_folder(source):
                members = _unpacked(source)
                prefix = f"{source.path}/"
                inside[source.path] = [_below(prefix, member) for member in members]
            else:
                inside[source.path] = [source]
            files += inside[source.path]
        except FuseScopeError as error:
            failed.append((source.path, error))
    found = find(files)
    unknown = set(found.unknown)
    lost = []
    for source in sources:
        held = inside.get(source.path)
        if held is not None and unknown.issuperset(one.path for one in held):
            is_file = held == [source]
            told = _unknown(source) if is_file else _no_trace(source.name, held, source.path)
            lost.append((source.path, told))
    return replace(found, failed=(*failed, *found.failed), lost=tuple(lost))


def find(sources: Sequence[Source]) -> Found:
    """The recordings among files of one folder, reports among them opened."""
    from fusescope.analysis.readers.formats import ALL_READERS

    files, failed = expanded(sources)
    found = find_recordings(files, ALL_READERS)
    return replace(found, failed=(*failed, *found.failed)) if failed else found


def _below(prefix: str, source: Source) -> Source:
    return Source(
        source.name,
        source.load,
        source.limits,
        path=prefix + source.path,
        on_disk=source.on_disk,
    )


def _is_folder(source: Source) -> bool:
    """True for a tar, and for a zip that is not an experiment of our own."""
    if is_tar(source.head):
        return True
    return source.head.startswith(_ZIP) and not holds_experiment(source)


def _unpacked(source: Source) -> tuple[Source, ...]:
    """The members of a zip or tar. Raises FuseScopeError for a zip that holds no recording, and as
    `zip_sources` and `tar_sources`."""
    if is_tar(source.head):
        return tar_sources(source)
    refuse_releases(source)
    return zip_sources(source)


def _check_parts(found: Found, name: str) -> None:
    """Raises FuseScopeError for an archive with a damaged member, which may be a part of its
    recording."""
    for _, error in found.failed:
        if error.code in _PART_LOST:
            raise error.at(name)


def _only(found: Found, name: str, files: Sequence[Source]) -> Trace | Experiment:
    """The one recording of `files`; FuseScopeError where there is none, or more than one."""
    if len(found.recordings) == 1:
        return found.recordings[0].value
    if found.recordings:
        names = [
            display_name(r.source.path) if "/" not in r.source.path else r.source.path
            for r in found.recordings
        ]
        listed = ", ".join(names[:_MAX_NAMED]) + (", …" if len(names) > _MAX_NAMED else "")
        raise FuseScopeError("several_recordings", where=name, n=len(names), names=listed)
    if found.failed:
        raise found.failed[0][1].at(name)
    raise _no_trace(name, files)


def _no_trace(name: str, files: Sequence[Source], zip_: str = "") -> FuseScopeError:
    from fusescope.analysis.readers.unknown import no_trace

    return no_trace(name, files, zip_)


def _unknown(source: Source) -> FuseScopeError:
    from fusescope.analysis.readers.unknown import unknown_file

    return unknown_file(source)
