"""Tar archives of trace files as Sources, under the limits of zips.

The archive is in memory already, unpacked under the limit of its packing; what is read of it is
never written to a disk.
"""

from __future__ import annotations

import io
import tarfile

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.folder import check_size, shown_path
from fusescope.analysis.readers.input.source import Load, Source
from fusescope.analysis.text import clean_text, display_name

_MAGIC_AT, _MAGIC = 257, b"ustar"
_BLOCK = 512  # bytes
_ERRORS = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError)


def is_tar(head: bytes) -> bool:
    """True for the head of a tar archive, unpacked."""
    return head.startswith(_MAGIC, _MAGIC_AT)


def tar_sources(source: Source) -> tuple[Source, ...]:
    """The regular files of a tar; links, devices, sparse files, folders, hidden files and second
    members of one name are left out.

    Raises FuseScopeError for one that is damaged or ends early, and for one beyond the limits.
    """
    limits = source.limits
    content = source.content
    found: dict[str, Source] = {}
    size = count = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            while (member := archive.next()) is not None:
                count += 1
                if count > limits.zip_members:
                    raise FuseScopeError(
                        "too_many_zip_members",
                        where=source.name,
                        n=count,
                        limit=limits.zip_members,
                        raised=limits.raised("zip_members", count),
                    )
                archive.members = []  # type: ignore[attr-defined]  # it would keep them all
                path = shown_path(member.name)
                if not member.isreg() or member.issparse() or not path or path in found:
                    continue
                size += member.size
                check_size(size, size, limits, source.name)
                end = member.offset_data + member.size
                if end > len(content):
                    raise FuseScopeError("tar_cut_short", where=source.name)
                name = display_name(path.rpartition("/")[2])
                found[path] = Source(name, _load(content, member), limits, path=path)
    except _ERRORS as error:
        reason = clean_text(str(error), 120)
        raise FuseScopeError("tar_damaged", where=source.name, reason=reason) from error
    is_cut = any(note.code in ("gzip_cut_short", "zstd_cut_short") for note in source.notes)
    if is_cut or content[-_BLOCK:].strip(b"\0"):  # an archive ends with empty blocks
        raise FuseScopeError("tar_cut_short", where=source.name)
    return tuple(found.values())


def _load(content: bytes, member: tarfile.TarInfo) -> Load:
    begin, size = member.offset_data, member.size

    def load(count: int | None) -> bytes:
        return content[begin : begin + (size if count is None else min(size, count))]

    return load
