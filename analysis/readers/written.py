"""The one trace among the files that a recorded command wrote."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.recordings import find_recordings
from fusescope.analysis.trace import Trace


def trace_of(files: Sequence[Source], where: str) -> Trace:
    """Return the trace of these files in whatever format they are. Raises FuseScopeError, with
    `where`, for none, for several, and for one that ends early."""
    from fusescope.analysis.readers.profilers import PROFILERS  # which take long to load

    found = find_recordings(files, PROFILERS)
    traces = [one.value for one in found.recordings if isinstance(one.value, Trace)]
    if len(traces) > 1:
        names = ", ".join(one.source.name for one in found.recordings[:5])
        raise FuseScopeError("several_recordings", where=where, n=len(traces), names=names)
    if traces:
        if traces[0].ends_early:
            raise FuseScopeError("side_ends_early", where=where)
        return traces[0]
    if found.failed:
        raise found.failed[0][1]
    from fusescope.analysis.readers.unknown import no_trace

    raise no_trace(where, files, "")
