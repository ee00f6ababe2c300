"""Memory over time, from the records of a profiler: in order of time, and small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fusescope.analysis.memory import MAX_DEVICES, MAX_POINTS, MemoryUse
from fusescope.analysis.trace import Diagnostic, noted


def most_used(peaks: Mapping[str, float]) -> tuple[list[str], list[Diagnostic]]:
    """The MAX_DEVICES that had most allocated at once, most first, and a note on the others."""
    order = sorted(peaks, key=lambda device: -peaks[device])
    return order[:MAX_DEVICES], noted("info", "memory_beyond", order[MAX_DEVICES:], chars=80)


def memory_use(
    device: str,
    times_ns: Sequence[int],
    allocated: Sequence[int],
    reserved: Sequence[int] | None = None,
) -> MemoryUse | None:
    """The memory of one device; None without records. Of more than MAX_POINTS the highest of each
    group of neighbours is kept, so the peak stays what it is."""
    if not len(times_ns):
        return None
    times = np.array(times_ns, dtype="int64")
    order = np.argsort(times, kind="stable")
    columns = [times[order], np.array(allocated, dtype="int64")[order]]
    if reserved is not None:
        columns.append(np.array(reserved, dtype="int64")[order])
    if len(times) > MAX_POINTS:
        starts = np.unique(np.linspace(0, len(times), MAX_POINTS, endpoint=False).astype("int64"))
        ends = np.append(starts[1:], len(times))
        kept = np.array(
            [start + columns[1][start:end].argmax() for start, end in zip(starts, ends)]
        )
        columns = [column[kept] for column in columns]
    return MemoryUse(device, columns[0], columns[1], columns[2] if reserved is not None else None)
