"""Rank of a trace: from what the profiler says of the job, else from the name of the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from analysis.errors import FuseScopeError
from analysis.readers.input.json_value import decode
from analysis.readers.input.source import Source
from analysis.text import display_name

# A number behind one of these words: rank_3, worker3, device-3, gpu3, r3.
PATTERN = r"(?:^|[^A-Za-z])(?:rank|worker|device|gpu|npu|r)[-_ ]?(\d{1,6})(?!\d)"
MAX_RANK = 10**6
_MAX_PATTERN = 200
_MAX_HEADER = 4 * 2**20
_HEADER = re.compile(rb'"distributedInfo"\s*:\s*(?=\{)')
_INFO = re.compile(
    r"profiler_info_(\d{1,6})\.json|(?:ascend_(?:pytorch|mindspore)_profiler)_(\d{1,6})\.db"
)


class _Group(msgspec.Struct):
    name: str | int = msgspec.field(default="", name="pg_name")
    ranks: list[int] = []


class _Job(msgspec.Struct):
    rank: int | None = None
    world_size: int | None = None
    pg_config: msgspec.Raw = msgspec.Raw(b"[]")


class _Settings(msgspec.Struct):
    rank_id: int | str | None = None
    world_size: int | str | None = None


@dataclass(frozen=True)
class Identity:
    """Which rank a trace is of, of how many, and the ranks of its groups where the file lists
    them."""

    rank: int | None = None
    world: int | None = None
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def compiled(pattern: str | None) -> re.Pattern[str]:
    """The pattern of a file's name with its rank in the first group, or the one called `rank`.

    Raises FuseScopeError for one that is not a pattern or has no group.
    """
    if pattern is None:
        return re.compile(PATTERN, re.IGNORECASE)
    try:
        found = re.compile(pattern) if len(pattern) <= _MAX_PATTERN else None
    except re.error:
        found = None
    if found is None or not found.groups:
        raise FuseScopeError("rank_pattern_invalid", pattern=pattern[:80])
    return found


def rank_in(name: str, pattern: re.Pattern[str]) -> int | None:
    """The rank that a path names; the last part that has one counts."""
    for part in reversed(name.replace("\\", "/").split("/")[-3:]):
        match = pattern.search(part[:255])
        if match is not None:
            text = match["rank"] if "rank" in pattern.groupindex else match[1]
            if text and text.isdecimal() and int(text) < MAX_RANK:
                return int(text)
    return None


def identity_of(source: Source, pattern: re.Pattern[str]) -> Identity:
    """Who recorded it: Kineto's header, Ascend's settings beside it, else its name.

    Raises FuseScopeError where nothing tells the rank.
    """
    found = _from_header(source)
    if found.rank is None:
        found = _from_beside(source)
    rank = found.rank if found.rank is not None else rank_in(source.path, pattern)
    if rank is None and source.on_disk is not None:
        rank = rank_in(str(source.on_disk), pattern)
    if rank is None:
        raise FuseScopeError("rank_unknown", where=display_name(source.path))
    return Identity(rank, found.world, found.groups)


def _from_header(source: Source) -> Identity:
    """What `distributedInfo` says, which stands in front of a Kineto trace's events or behind."""
    text = _told_in(source.head) or _told_in(source.content)  # most say it in the first bytes
    if not text:
        return Identity()
    job = decode(msgspec.Raw(text), _Job, _Job())
    rank = job.rank if job.rank is not None and 0 <= job.rank < MAX_RANK else None
    world = job.world_size if job.world_size and 0 < job.world_size <= MAX_RANK else None
    listed = decode(job.pg_config, list[_Group], [])
    groups = {str(group.name): tuple(group.ranks[:MAX_RANK]) for group in listed}
    return Identity(rank, world, groups)


def _told_in(data: bytes) -> bytes:
    """The object `distributedInfo`; b'' where there is none that is whole."""
    at = _HEADER.search(data[:_MAX_HEADER])
    if at is None and len(data) > _MAX_HEADER:
        at = _HEADER.search(data, len(data) - _MAX_HEADER)
    return _object(data, at.end()) if at is not None else b""


def _object(data: bytes, start: int) -> bytes:
    """The JSON object that begins there, at most so many bytes; b'' where it does not end."""
    depth, at, is_text = 0, start, False
    end = min(len(data), start + _MAX_HEADER)
    mark = re.compile(rb'["{}\\]')
    while (found := mark.search(data, at, end)) is not None:
        char, at = found[0], found.end()
        if char == b"\\":
            at += 1
        elif char == b'"':
            is_text = not is_text
        elif not is_text:
            depth += 1 if char == b"{" else -1
            if depth == 0:
                return data[start:at]
    return b""


def _from_beside(source: Source) -> Identity:
    """What Ascend's and MindSpore's profilers write beside: profiler_info_0.json has rank_id."""
    for other in (source, *source.beside):
        name = other.path.rpartition("/")[2]
        match = _INFO.fullmatch(name)
        if match is None:
            continue
        rank, world = int(match[1] or match[2]), None
        if match[1]:
            try:
                text = other.content
            except FuseScopeError:
                text = b""
            settings = decode(msgspec.Raw(text[:_MAX_HEADER]), _Settings, _Settings())
            rank, world = _whole(settings.rank_id, rank), _whole(settings.world_size, 0) or None
        return Identity(rank, world)
    return Identity()


def _whole(value: int | str | None, otherwise: int) -> int:
    text = str(value)
    is_number = text.isdecimal() and len(text) <= 6
    return int(text) if is_number else otherwise
