"""Memory over time: what each device had allocated at every change, from operator_memory.csv, else
memory_record.csv."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.limits import Limits
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.readers.building.memory_use import memory_use, most_used
from fusescope.analysis.readers.input.csv_table import CsvTable
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic

_DEVICE = ("Device Type", "Device")
# Of units in heads; decimal, so that figures read as in the file.
_SIZES = {"b": 1, "byte": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_MAX_BYTES = 1e18
# When, the totals behind it, and the name of what allocated; a change of a device.
_Change = tuple[int, float, float | None, str]


Memory = tuple[tuple[MemoryUse, ...], list[Diagnostic]]  # of each device, and notes


def memory_of(table: CsvTable, limits: Limits) -> Memory:
    """The memory of each device, most first; at its peak the operator that allocated last."""
    devices, names = table.texts(*_DEVICE), table.texts("Name")
    changes: dict[str, list[_Change]] = {}
    for when in ("Allocation", "Release"):
        columns = zip(
            table.ns(f"{when} Time"),
            sizes(table, f"{when} Total Allocated"),
            sizes(table, f"{when} Total Reserved"),
            devices,
            names,
            strict=True,
        )
        for time_ns, allocated, reserved, device, name in columns:
            if time_ns is not None and allocated is not None:
                by = (name or "") if when == "Allocation" else ""
                changes.setdefault(device or "NPU", []).append((time_ns, allocated, reserved, by))
    found = []
    most, notes = most_used(
        {device: max(row[1] for row in rows) for device, rows in changes.items()}
    )
    for device in most:
        rows = changes[device]
        known = all(row[2] is not None for row in rows)
        use = memory_use(
            clean_text(device, limits.name_chars),
            [row[0] for row in rows],
            [round(row[1]) for row in rows],
            [round(row[2] or 0.0) for row in rows] if known else None,
        )
        if use is not None:
            highest = max(rows, key=lambda row: row[1])
            found.append(replace(use, peak_in=clean_text(highest[3], limits.name_chars)))
    return tuple(found), notes


def recorded_memory(table: CsvTable, limits: Limits) -> Memory:
    """The memory of each device of memory_record.csv, most first; what ran at its peak is not told.

    A device has a series a component (PTA, GE, PTA+GE, WORKSPACE, APP), some of which hold others:
    the one that had most allocated is taken. One of which only the reserved memory is known is not.
    """
    series: dict[str, dict[str, list[tuple[int, float, float | None]]]] = {}
    columns = zip(
        table.ns("Timestamp"),
        sizes(table, "Total Allocated"),
        sizes(table, "Total Reserved"),
        table.texts(*_DEVICE),
        table.texts("Component"),
        strict=True,
    )
    for time_ns, size, held, device, component in columns:
        if time_ns is None or size is None:
            continue
        of_device = series.setdefault(device or "NPU", {})
        of_device.setdefault(component or "", []).append((time_ns, size, held))
    found = []
    of_devices = {
        device: max(components.values(), key=lambda rows: max(row[1] for row in rows))
        for device, components in series.items()
    }
    most, notes = most_used(
        {device: max(row[1] for row in rows) for device, rows in of_devices.items()}
    )
    for device in most:
        rows = of_devices[device]
        known = all(row[2] is not None for row in rows)
        use = memory_use(
            clean_text(device, limits.name_chars),
            [row[0] for row in rows],
            [round(row[1]) for row in rows],
            [round(row[2] or 0.0) for row in rows] if known else None,
        )
        if use is not None:
            found.append(use)
    return tuple(found), notes


def sizes(table: CsvTable, name: str) -> list[float | None]:
    """The cells of a column in bytes, of MB where its head names no unit; None for what is not a
    size, and for all of them where the unit is unknown."""
    column = table.find(name)
    scale = None if column is None else _SIZES.get(column.unit.lower() or "mb")
    if column is None or scale is None:
        return [None] * len(table)
    bytes_of = (None if cell is None else cell * scale for cell in column.numbers())
    return [size if size is not None and 0 <= size < _MAX_BYTES else None for size in bytes_of]
