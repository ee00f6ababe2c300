"""Memory over time in a Kineto trace that was recorded with `profile_memory=True`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fusescope.analysis.limits import Limits
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.readers.building.call_stacks import Moments, stacks_of
from fusescope.analysis.readers.building.memory_use import memory_use, most_used
from fusescope.analysis.readers.pytorch.event import Allocation
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.trace import Diagnostic

_MODULE = "nn.Module: "
_MAX_BYTES = 2**60
_MIN_PEAK = 2**20  # bytes, below which the host only keeps counters there


def memory_of(events: Sorted, limits: Limits) -> tuple[tuple[MemoryUse, ...], list[Diagnostic]]:
    """The memory of the host and of each device, most first, and notes. At the peak the innermost
    module of the model ran, or, where none did, the outermost operator."""
    by_device: dict[tuple[int, int], list[Allocation]] = {}
    for one in events.memory:
        of_type = one.args.device_type or 0
        by_device.setdefault((of_type, one.args.device or 0 if of_type else 0), []).append(one)
    numbered = len({device for of_type, device in by_device if of_type}) > 1
    named: dict[str, list[Allocation]] = {}
    for (of_type, device), records in by_device.items():
        name = (f"GPU {device}" if numbered else "GPU") if of_type else "CPU"
        named.setdefault(name, []).extend(records)
    peaks = {name: max(map(_allocated, records)) for name, records in named.items()}
    most, notes = most_used({name: peak for name, peak in peaks.items() if peak >= _MIN_PEAK})
    found = []
    for name in most:
        records = named[name]
        reserved = [one.args.reserved or 0 for one in records]
        usable = any(reserved) and all(0 <= one < _MAX_BYTES for one in reserved)
        use = memory_use(
            name,
            [one.time_ns for one in records],
            list(map(_allocated, records)),
            reserved if usable else None,
        )
        if use is not None:
            highest = max(records, key=_allocated)
            found.append(replace(use, peak_in=_running(events, highest, limits)))
    return tuple(found), notes


def _allocated(record: Allocation) -> int:
    return record.args.allocated or 0


def _running(events: Sorted, record: Allocation, limits: Limits) -> str:
    lane, moment = events.lane_numbers[record.lane], record.time_ns
    lanes, times, rows = np.array([[lane], [moment], [0]], dtype="int64")
    stacks = stacks_of(events.frames, Moments(lanes, times, rows), limits)
    if stacks is None:
        return ""
    modules = [name for name in stacks.names if name.startswith(_MODULE)]
    if modules:
        return modules[-1].removeprefix(_MODULE)
    operators = set(events.ops.distinct_names())
    return next((name for name in stacks.names if name in operators), stacks.names[-1])
