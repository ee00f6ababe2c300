"""Sums by kernel of rocprofv3 (kernel_stats.csv) and rocprof (results.stats.csv)."""

from __future__ import annotations

import re
from collections.abc import Callable

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.readers.amd.rows import COPY, kernel_name
from fusescope.analysis.readers.building.kernels import kernel_columns
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.beside import Beside
from fusescope.analysis.readers.input.csv_table import (
    column_key,
    has_columns,
    head_cells,
    is_head,
    read_csv,
)
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader, anything
from fusescope.analysis.trace import Diagnostic, Trace, noted

_STATS = (("Name", "Kernel_Name", "KernelName"), ("Calls",), ("TotalDurationNs", "Total_Duration"))
# Functions of the host (HIP, HSA, markers), and whole domains of them.
_HOST = re.compile(
    r"(__)?hip[A-Z]\w*$|hsa_\w+$|roctx\w+$|MEMORY_COPY$"
    r"|(HIP|HSA|MARKER|RCCL|ROCDECODE|ROCJPEG|KERNEL|SCRATCH|MEMORY|OMPT)_"
    r"(\w+_)?(API|DISPATCH|MEMORY|ALLOCATION|API_EXT)\w*$"
)
_NAMES = frozenset(column_key(name) for name in _STATS[0])


def _sniff(head: bytes) -> bool:
    """A table of calls and total ns by name, not all of them of the host or copies."""
    if not has_columns(head, *_STATS):
        return False
    rows = head_cells(head)
    begin = next((index for index, row in enumerate(rows) if is_head(row, *_STATS)), len(rows))
    keys = [column_key(cell) for cell in rows[begin]] if begin < len(rows) else []
    index = next((at for at, key in enumerate(keys) if key in _NAMES), 0)
    names = [row[index] for row in rows[begin + 1 :] if len(row) > index]
    return not names or any(_is_kernel(name) for name in names)


def _read(source: Source) -> Trace:
    """The trace: totals of n calls. Functions of the HIP and HSA runtimes are left out."""
    notes: list[Diagnostic] = []
    columns = _sums(source, _is_kernel, notes)
    if not columns["name"]:
        raise FuseScopeError("rocprof_table_empty", where=source.name)
    beside = Beside(source, notes)
    copies = beside.those(_is_copies)
    for other in copies if len(copies) == 1 else ():
        more = beside.load(other, lambda file: _sums(file, _is_copy, notes))
        if more is not None:
            beside.files.append(other.path)
            columns = {name: [*cells, *more[name]] for name, cells in columns.items()}
    return build_trace(
        source.meta(ROCPROF_STATS.name, "rocprof", files=beside.files),
        columns,
        notes=notes,
        limits=source.limits,
    )


def _is_copies(head: bytes) -> bool:
    """True for memory_copy_stats.csv."""
    return has_columns(head, *_STATS) and COPY.encode() in head


ROCPROF_STATS = Reader(
    name="rocprof_stats",
    title=mark("rocprofv3 and rocprof sums by kernel (CSV)"),
    fields={
        **dict.fromkeys(("types", "communication"), ALWAYS),
        "members": mark("Compile with torch.compile: inductor names its kernels by their members."),
    },
    recording=(
        "`rocprofv3 --kernel-trace --stats --output-format csv -- <command>`. Better: give "
        "kernel_trace.csv or results.json of the same recording."
    ),
    sniff=_sniff,
    read=_read,
    takes=anything,
)


def _sums(
    source: Source, wanted: Callable[[str], bool], notes: list[Diagnostic]
) -> dict[str, list[object]]:
    """The wanted rows of a table of sums as columns of a trace; the others are counted."""
    table = read_csv(source, *_STATS)
    notes += table.notes
    names = [kernel_name(name) for name in table.texts(*_STATS[0])]
    columns: dict[str, list[object]] = {
        **kernel_columns(names),
        "dur_ns": list(table.times(*_STATS[2], unit="ns")),
        "n": list(table.integers(*_STATS[1])),
        "source_row": list(table.rows),
    }
    kept = [row for row, name in enumerate(names) if wanted(name)]
    others = [name for name in names if not wanted(name)]
    notes += noted("info", "not_operators", others, chars=80)
    return {name: [cells[row] for row in kept] for name, cells in columns.items()}


def _is_kernel(name: str) -> bool:
    return not _is_copy(name) and _HOST.match(name) is None


def _is_copy(name: str) -> bool:
    return name.startswith(COPY) and name != COPY
