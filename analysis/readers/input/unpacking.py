"""What is inside a file that is packed with gzip or zstd, part by part and under the limits."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import MIB, Limits
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
MAGIC_BYTES = 4
_BLOCK = 1024 * 1024
_FIRST_BLOCK = 4096  # of a gzip member: many may be tiny, and what is behind each is copied
_ENDS_EARLY = "Truncated"  # in what Arrow says of a stream without its end


def is_packed(first: bytes) -> bool:
    """True for what begins as a file packed with gzip or zstd does."""
    return first.startswith((GZIP, ZSTD))


def unpacked(data: bytes, name: str, limits: Limits, notes: list[Diagnostic]) -> Iterator[bytes]:
    """The content part by part, bounded; `notes` takes what was odd.

    Raises FuseScopeError for a bomb, for damaged data, and where zstd cannot be unpacked here.
    """
    parts = _gunzip(data, notes) if data.startswith(GZIP) else _unzstd(data, name, notes)
    size = 0
    code = "gzip_damaged" if data.startswith(GZIP) else "zstd_damaged"
    try:
        for part in parts:
            size += len(part)
            if size > limits.unpacked_bytes:
                raise FuseScopeError(
                    "gzip_too_large",
                    where=name,
                    limit_mib=limits.unpacked_bytes // MIB,
                    raised=limits.raised("unpacked_bytes"),
                )
            yield part
    except (zlib.error, OSError) as error:
        reason = clean_text(str(error), 120)
        if code == "gzip_damaged":
            raise FuseScopeError("gzip_damaged", where=name, reason=reason) from error
        raise FuseScopeError("zstd_damaged", where=name, reason=reason) from error


def _gunzip(data: bytes, notes: list[Diagnostic]) -> Iterator[bytes]:
    """All members of a gzip file."""
    at = 0
    while data.startswith(GZIP, at):
        member = zlib.decompressobj(wbits=31)
        pending, step = b"", _FIRST_BLOCK
        while not member.eof:
            if not pending:
                pending = data[at : at + step]
                at, step = at + len(pending), _BLOCK
            block = member.decompress(pending, _BLOCK)
            yield block
            if not block and not pending:
                break
            pending = member.unconsumed_tail
        if not member.eof:
            notes.append(Diagnostic("warning", "gzip_cut_short"))
        at -= len(member.unused_data)
    junk = data[at:]
    if junk.strip(b"\0"):
        notes.append(Diagnostic("warning", "gzip_junk", len(junk)))


def _unzstd(data: bytes, name: str, notes: list[Diagnostic]) -> Iterator[bytes]:
    """All frames of a zstd file, by Arrow."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise FuseScopeError("zstd_not_installed", where=name) from error
    stream = pa.CompressedInputStream(pa.BufferReader(data), "zstd")
    try:
        while block := stream.read(_BLOCK):
            yield block
    except OSError as error:
        if _ENDS_EARLY not in str(error):
            raise
        notes.append(Diagnostic("warning", "zstd_cut_short"))
