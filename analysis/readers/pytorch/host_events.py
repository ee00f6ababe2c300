"""The activity of the host in a Kineto trace: operators, Python, annotations, runtime calls."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.host_activity import ANNOTATION, RUNTIME, HostActivity
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.call_stacks import Frames, Moments
from fusescope.analysis.readers.building.host.spans import HostSpans, host_activity
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.trace import Diagnostic


def host_of(
    found: Sorted, moments: Moments, limits: Limits
) -> tuple[HostActivity | None, list[Diagnostic]]:
    """The activity of the host and notes; `moments` say when and on which thread calls of the trace
    were launched."""
    marks, calls = found.annotations, found.runtime
    runtime = HostSpans(
        calls.lanes.astype("int32"),
        calls.starts,
        calls.lengths,
        calls.names.astype("int32"),
        np.full(len(calls), RUNTIME, dtype="int8"),
    )
    annotations = _spans(marks, np.full(len(marks.starts), ANNOTATION, dtype="int8"))
    spans = HostSpans.joined([_spans(found.frames, found.frame_kinds), annotations, runtime])
    threads = [
        (process.decode("utf-8", "replace"), thread.decode("utf-8", "replace"))
        for process, thread in found.tables.lanes
    ]
    return host_activity(spans, moments, found.tables.names, threads, limits)


def _spans(frames: Frames, kinds: Ints) -> HostSpans:
    return HostSpans(frames.lanes, frames.starts, frames.lengths, frames.name_of, kinds)
