"""Keys of what is read: hashes of all that the result rests on, and of nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.readers import taken_beside
from fusescope.analysis.readers.input.source import Source


def of_content(source: Source) -> str:
    """The key of a file that is read alone: the hash of what it holds, and of the limits."""
    return "-".join(filter(None, (source.sha256, of_limits(source.limits))))


def with_others(source: Source, alone: str, around: str) -> str:
    """The key of a file that may be read with others beside it; `alone` is its key without them.

    Their names and contents count, and its own name, by which readers tell whose they are; where it
    is not known which of them matter, `around`, a hash of all. The same as `alone` where none does.
    """
    taken = taken_beside(source)
    if taken == () or not source.neighbours:
        told: list[str] = []
    elif taken is None:
        told = [around]
    else:
        told = [source.path, *(f"{other.path}|{_hash(other)}" for other in taken)]
    told += [repr(note) for note in source.noted]
    if not told:
        return alone
    joined = hashlib.sha256("\n".join((alone, *told)).encode(errors="replace")).hexdigest()
    return "-".join(filter(None, (joined, of_limits(source.limits))))


def of_limits(limits: Limits) -> str:
    """A hash of limits that were set; '' for those by default."""
    if limits == DEFAULT_LIMITS:
        return ""
    return hashlib.sha256(repr(limits).encode()).hexdigest()[:8]


def way(path: Path, limits: Limits, *, above: bool) -> str:
    """What a file is asked for as."""
    return f"{path.absolute()}|{above}|{of_limits(limits)}"


def _hash(source: Source) -> str:
    try:
        return source.sha256 if source.load(1) else ""
    except FuseScopeError:
        return "unreadable"
