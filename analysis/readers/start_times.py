"""When a recording began: what puts recordings of one machine in order."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Trace

# Between 2001 and 2100 a start is one since 1970, whatever else the format may call it.
_EARLIEST_NS, _LATEST_NS = 10**18, 41 * 10**17
# Formats whose clock runs since the machine started.
_OF_MACHINE = ("msprof_timeline", "rocpd", "rocprof")
# ONNX Runtime tells when a session began only in the name that it gives its file.
_STAMPED = ("onnxruntime",)
_STAMP = re.compile(
    r"_(\d{4})-(\d\d)-(\d\d)_(\d\d)-(\d\d)-(\d\d)(?:_(\d{3}))?\.json(?:\.gz)?$", re.ASCII
)


def with_start(trace: Trace) -> Trace:
    """The trace with `meta.started_ns` where its reader, its times or its name tell it.

    Times count where they are since 1970, or of a clock of the machine.
    """
    meta = trace.meta
    if meta.started_ns is not None:
        is_time = 0 <= meta.started_ns < _LATEST_NS
        return trace if is_time else replace(trace, meta=replace(meta, started_ns=None))
    first = min(
        (
            int(starts.min())
            for starts in (trace.runs["start_ns"].dropna(), trace.calls["start_ns"].dropna())
            if len(starts)
        ),
        default=None,
    )
    started = None
    if first is not None and (
        _EARLIEST_NS <= first < _LATEST_NS or (meta.format in _OF_MACHINE and first > 0)
    ):
        started = first
    elif meta.format in _STAMPED:
        started = _stamped_ns(meta.file_name)
    return trace if started is None else replace(trace, meta=replace(meta, started_ns=started))


def _stamped_ns(name: str) -> int | None:
    """The time in a name, in the zone of whoever wrote it, as if that were UTC."""
    found = _STAMP.search(clean_text(name))
    if found is None:
        return None
    *date, ms = (int(part or 0) for part in found.groups())
    year, month, day, hour, minute, second = date
    try:
        at = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return (round(at.timestamp()) * 1000 + ms) * 10**6
