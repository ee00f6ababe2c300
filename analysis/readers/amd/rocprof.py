"""AMD's GPU profilers, dispatch by dispatch: rocprofv3 (JSON, CSV), rocprofv2 and rocprof.

Times are ns. One recording may be several files: the same dispatches as JSON and as a table,
counters, copies of memory, and the agents of the machine.
"""

from __future__ import annotations

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.readers.amd.rocprofv3 import add_json, is_json
from fusescope.analysis.readers.amd.rows import RocprofRows
from fusescope.analysis.readers.amd.tables import (
    add_agents,
    add_calls,
    add_copies,
    add_dispatches,
    is_agents,
    is_calls,
    is_copies,
    is_dispatches,
)
from fusescope.analysis.readers.amd.timeline import add_timeline, is_timeline
from fusescope.analysis.readers.amd.units import trace_of
from fusescope.analysis.readers.input.beside import Beside, headed
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.trace import Trace


def _sniff(head: bytes) -> bool:
    """The JSON of rocprofv3 or of rocprof, or a table of dispatches."""
    return is_json(head) or is_timeline(head) or is_dispatches(head)


def _read(source: Source) -> Trace:
    """The trace; all of a file is one run, for rocprof marks none."""
    rows = _rows(source)
    if not rows.columns["name"]:
        raise FuseScopeError("rocprof_empty", where=source.name)
    beside = Beside(source, rows.notes)
    for other in beside.those(_may_add):
        if beside.load(other, lambda file: _joined(rows, file)):
            rows.files.append(other.path)
    return trace_of(rows, ROCPROF.name, source)


ROCPROF = Reader(
    name="rocprof",
    title=mark("rocprofv3 and rocprof (JSON, CSV)"),
    fields={
        **dict.fromkeys(("start", "stream", "types", "communication"), ALWAYS),
        "counters": mark("Record with `--pmc SQ_WAVES FETCH_SIZE`."),
        "members": mark("Compile with torch.compile: inductor names its kernels by their members."),
    },
    recording=(
        "`rocprofv3 --kernel-trace --memory-copy-trace --output-format json csv -- <command>`; "
        "with `--hip-trace` calls of the host explain idle time; for counters in a second run "
        "`--pmc <names>`. Give results.json, or kernel_trace.csv with the tables beside it."
    ),
    covers=("rocprof_stats",),
    sniff=_sniff,
    read=_read,
    takes=headed(_sniff, is_copies, is_calls, is_agents),
)


def _may_add(head: bytes) -> bool:
    """True for what may tell more of a recording of rocprof."""
    return _sniff(head) or is_copies(head) or is_calls(head) or is_agents(head)


def _rows(source: Source) -> RocprofRows:
    """The dispatches of one file."""
    rows = RocprofRows(source.limits)
    if is_timeline(source.head):
        add_timeline(rows, source)
    elif utf8(source.content).lstrip().startswith(b"{"):
        add_json(rows, source.content, source.name)
    else:
        add_dispatches(rows, source)
    return rows


def _joined(rows: RocprofRows, other: Source) -> bool:
    """True when a file beside this one is of the same recording; what it says is added."""
    head = other.head
    if is_json(head) or is_timeline(head) or is_dispatches(head):
        return rows.merge(_rows(other))
    if is_copies(head):
        return add_copies(rows, other)
    if is_calls(head):
        return add_calls(rows, other)
    if is_agents(head):
        add_agents(rows, other)
        return True
    return False
