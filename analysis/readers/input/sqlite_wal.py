"""The write-ahead log of an SQLite database, laid over it in memory.

A database that was open when it was copied, or whose writer died, has its last commits in a file
of its name with `-wal` behind it; without that file it is an older state of itself. The format is
that of sqlite.org/fileformat2.html#walformat: frames of one page each, of which those up to the
last commit count whose salts and checksums are right.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic

LOG_MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")  # checksums of little and of big words
_JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_HEADER, _FRAME = 32, 24
_VERSION = 3007000
_PAGE_SIZES = tuple(512 << power for power in range(8))
_AT_ONCE = 16 * 1024 * 1024  # bytes of frames whose checksums are computed together


@dataclass(frozen=True)
class WholeDatabase:
    """The bytes of a database with its log laid over it, and what was read and noticed for it."""

    data: bytes
    files: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


def is_of_database(source: Source, other: Source) -> bool:
    """Whether a file beside a database is its log or journal, for Reader.takes."""
    return other.path in (f"{source.path}-wal", f"{source.path}-journal")


def with_log(source: Source) -> WholeDatabase:
    """The database in `source` with the log that lies beside it, where one does.

    A log that is none or belongs to no state of this database is left aside with a note; so is the
    journal of a write that was interrupted. Raises FuseScopeError where a log cannot be loaded.
    """
    data = source.content
    beside = {other.path: other for other in source.beside}
    notes: list[Diagnostic] = []
    journal = beside.get(f"{source.path}-journal")
    if journal is not None and journal.head.startswith(_JOURNAL_MAGIC):
        notes.append(Diagnostic("warning", "database_half_written", 1, journal.name))
    log = beside.get(f"{source.path}-wal")
    if log is None or not log.head:
        return WholeDatabase(data, (), tuple(notes))
    merged, count = laid_over(data, log.content)
    if merged is None:
        notes.append(Diagnostic("warning", "log_unreadable", 1, log.name))
        return WholeDatabase(data, (log.path,), tuple(notes))
    if count:
        notes.append(Diagnostic("info", "log_read", count, log.name))
    return WholeDatabase(merged, (log.path,), tuple(notes))


def laid_over(data: bytes, log: bytes) -> tuple[bytes | None, int]:
    """The database after the commits in its log, and how many pages those wrote.

    None for what is not a log of a database with pages of this size.
    """
    if len(log) < _HEADER or log[:4] not in LOG_MAGIC:
        return None, 0
    _, version, page_size, _, *salts = struct.unpack(">6I", log[:24])
    own_size = struct.unpack(">H", data[16:18])[0] if len(data) >= 100 else 0
    own_size = 65536 if own_size == 1 else own_size
    if version != _VERSION or page_size not in _PAGE_SIZES or own_size != page_size:
        return None, 0
    word = "<u4" if log[:4] == LOG_MAGIC[0] else ">u4"
    state = _checksums(np.frombuffer(log[:24], word)[None, :])[0]
    if tuple(state) != struct.unpack(">2I", log[24:32]):
        return None, 0
    frame_size = _FRAME + page_size
    count = (len(log) - _HEADER) // frame_size
    frames = np.frombuffer(log, np.uint8, count * frame_size, _HEADER).reshape(count, frame_size)
    heads = frames[:, :_FRAME].copy().view(">u4").reshape(count, 6)
    last, pages, wanted = _valid_until(frames, heads, salts, state, word)
    if last == 0:
        return data, 0
    if pages * page_size > len(data) + last * page_size:
        return None, 0
    merged = bytearray(data[: pages * page_size].ljust(pages * page_size, b"\0"))
    for index in wanted:
        at = (int(heads[index, 0]) - 1) * page_size
        if 0 <= at < len(merged):
            merged[at : at + page_size] = frames[index, _FRAME:].tobytes()
    return bytes(merged), len(wanted)


def _valid_until(
    frames: np.ndarray, heads: np.ndarray, salts: list[int], state: np.ndarray, word: str
) -> tuple[int, int, list[int]]:
    """Frames up to the last valid commit, the database's pages after it, the last of each page."""
    last = pages = 0
    page_size = frames.shape[1] - _FRAME
    multiplier = _powers((8 + page_size) // 8 + 1)[0]
    step = max(1, _AT_ONCE // frames.shape[1])
    for begin in range(0, len(frames), step):
        part = frames[begin : begin + step]
        summed = np.concatenate((part[:, :8], part[:, _FRAME:]), axis=1)
        own = _checksums(np.ascontiguousarray(summed).view(word))
        for offset in range(len(part)):
            index = begin + offset
            state = (multiplier * state[None, :]).sum(axis=1, dtype=np.uint32) + own[offset]
            head = heads[index]
            if list(head[2:4]) != salts or list(head[4:6]) != list(state):
                return last, pages, _last_of_each(heads, last)
            if head[1]:
                last, pages = index + 1, int(head[1])
    return last, pages, _last_of_each(heads, last)


def _last_of_each(heads: np.ndarray, count: int) -> list[int]:
    newest = {int(page): index for index, page in enumerate(heads[:count, 0])}
    return list(newest.values())


def _checksums(words: np.ndarray) -> np.ndarray:
    """The checksum of each row of words, begun at 0.

    Each pair (a, b) takes the state (s, t) to (s + t + a, s + 2t + a + b) modulo 2^32, which is
    linear, so the sum is that of the pairs times powers of the matrix ((1, 1), (1, 2)).
    """
    first = words[:, 0::2].astype(np.uint32)
    second = first + words[:, 1::2].astype(np.uint32)
    powers = _powers(first.shape[1])
    columns = [
        (first * powers[:, row, 0]).sum(axis=1, dtype=np.uint32)
        + (second * powers[:, row, 1]).sum(axis=1, dtype=np.uint32)
        for row in (0, 1)
    ]
    return np.stack(columns, axis=1)


def _powers(count: int) -> np.ndarray:
    """Powers count - 1, …, 1, 0 of the matrix, modulo 2^32."""
    powers = np.empty((count, 2, 2), np.uint32)
    matrix = [[1, 0], [0, 1]]
    for index in reversed(range(count)):
        powers[index] = matrix
        (a, b), (c, d) = matrix
        matrix = [[(a + c) % 2**32, (b + d) % 2**32], [(a + 2 * c) % 2**32, (b + 2 * d) % 2**32]]
    return powers
