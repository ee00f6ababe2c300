"""Executions that begin while their stream still runs another one.

A stream runs one kernel after the other, so many of them are of several devices told as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.trace import Diagnostic

_HOSTS = r"CPU|Host|\w*ExecutionProvider"  # as tables that we wrote name the core
_MANY = 8
_MUCH = 0.25  # of all executions
# An H200 begins a kernel up to 960 ns before the last one ends, and one that need not wait for it
# (programmatic dependent launch) in its second half; what lies nearly inside of another is of two
# devices.
_SHORT_NS = 1000
_MOSTLY = 0.8  # of its duration


@dataclass(frozen=True)
class Overlaps:
    """How many executions overlap the one before them, and how many lie nearly inside of it."""

    any: int = 0
    nearly_inside: int = 0


def overlaps_of(by_ns: Ints, dur_ns: Ints) -> Overlaps:
    """Of executions that overlap the one before them: by how much, and their durations."""
    is_inside = (by_ns >= _SHORT_NS) & (by_ns >= _MOSTLY * dur_ns)
    return Overlaps(len(by_ns), int(is_inside.sum()))


def overlap_notes(found: Overlaps, calls: int, operators: pd.DataFrame) -> Iterator[Diagnostic]:
    """A note where executions overlap, serious where many kernels of a device do; `calls` is how
    many there are."""
    if not found.any:
        return
    on_host = operators["provider"].astype("object").fillna("").str.fullmatch(_HOSTS)
    is_device = (operators["level"] == "device_kernel").all() and not on_host.any()
    count = found.nearly_inside
    if is_device and count >= _MANY and count >= _MUCH * calls:
        yield Diagnostic("warning", "streams_overlap", count, values={"of": calls})
    else:
        yield Diagnostic("info", "overlapping_calls", found.any)
