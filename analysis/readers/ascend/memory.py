"""Memory over time from operator_memory.csv: what each device had allocated at every change."""

from __future__ import annotations

from dataclasses import replace

from analysis.limits import Limits
from analysis.memory import MemoryUse
from analysis.readers.building.memory_use import memory_use
from analysis.readers.input.csv_table import CsvTable
from analysis.text import clean_text

_MB = 10**6  # bytes, so that figures read as in the file
_MAX_MB = 1e12
_MAX_DEVICES = 16
# When, the totals behind it, and the name of what allocated; a change of a device.
_Change = tuple[int, float, float | None, str]


def memory_of(table: CsvTable, limits: Limits) -> tuple[MemoryUse, ...]:
    """The memory of each device, most first; at its peak the operator that allocated last."""
    devices, names = table.texts("Device Type"), table.texts("Name")
    changes: dict[str, list[_Change]] = {}
    for when in ("Allocation", "Release"):
        columns = zip(
            table.ns(f"{when} Time"),
            table.numbers(f"{when} Total Allocated"),
            table.numbers(f"{when} Total Reserved"),
            devices,
            names,
            strict=True,
        )
        for time_ns, allocated, reserved, device, name in columns:
            if time_ns is not None and allocated is not None and 0 <= allocated < _MAX_MB:
                by = (name or "") if when == "Allocation" else ""
                changes.setdefault(device or "NPU", []).append((time_ns, allocated, reserved, by))
    found = []
    for device, rows in list(changes.items())[:_MAX_DEVICES]:
        known = all(row[2] is not None and 0 <= row[2] < _MAX_MB for row in rows)
        use = memory_use(
            clean_text(device, limits.name_chars),
            [row[0] for row in rows],
            [round(row[1] * _MB) for row in rows],
            [round((row[2] or 0.0) * _MB) for row in rows] if known else None,
        )
        if use is not None:
            highest = max(rows, key=lambda row: row[1])
            found.append(replace(use, peak_in=clean_text(highest[3], limits.name_chars)))
    return tuple(sorted(found, key=lambda use: -use.peak))
