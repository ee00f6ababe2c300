"""Rank of a trace: what its file says of the job, else what a name says."""

from __future__ import annotations

import re

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.job import Job
from fusescope.analysis.ranks.names import USUAL, rank_in
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Trace

_MAX_PATTERN = 200


def compiled(pattern: str | None) -> re.Pattern[str]:
    """Return the pattern of a file's name with its rank in the first group, or the one called
    `rank`.

    Raises FuseScopeError for one that is not a pattern or has no group.
    """
    if pattern is None:
        return USUAL
    try:
        found = re.compile(pattern) if len(pattern) <= _MAX_PATTERN else None
    except re.error:
        found = None
    if found is None or not found.groups:
        raise FuseScopeError("rank_pattern_invalid", pattern=pattern[:80])
    return found


def job_of(trace: Trace, source: Source, pattern: re.Pattern[str]) -> Job:
    """Return the rank of a trace that was read from `source`, and what its file says of the job.

    Raises FuseScopeError where neither the file nor its name says the rank.
    """
    found = trace.meta.job or Job()
    rank = found.rank if found.rank is not None else rank_in(source.path, pattern)
    if rank is None and source.on_disk is not None:
        rank = rank_in(str(source.on_disk), pattern)
    if rank is None:
        raise FuseScopeError("rank_unknown", where=display_name(source.path))
    return Job(rank, found.world, found.groups, found.ids)
