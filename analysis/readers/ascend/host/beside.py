"""What a timeline beside a table of kernels says of the host (waits, threads, and launches) and
of messages of collectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fusescope.analysis.host_activity import HostActivity
from fusescope.analysis.host_waits import HostWaits
from fusescope.analysis.limits import MIB
from fusescope.analysis.readers.ascend.timeline import Timeline, read_timeline
from fusescope.analysis.readers.building.host.wait_calls import host_waits
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.input.beside import Beside
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import holds_times
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import Diagnostic


@dataclass(frozen=True)
class HostBeside:
    """What the host did, each None where the timeline does not say it."""

    waits: HostWaits | None = None
    host: HostActivity | None = None
    stacks: Stacks | None = None
    messages: Mapping[int, str] = field(default_factory=dict)  # of collectives, by their row


def host_beside(
    beside: Beside, known: Callable[[bytes], bool], columns: Mapping[str, Any]
) -> HostBeside:
    """The host in the first file beside kernels whose head is `known` and that holds their starts;
    `columns` are those of the kernels, whose rows launches are of."""

    def read(other: Source) -> HostBeside | None:
        if not holds_times(other.blocks(MIB), columns["start_ns"]):
            return None
        timeline = read_timeline(other, launched=True)
        if any(note.code == "cut_short" for note in timeline.notes):
            beside.notes.append(Diagnostic("warning", "companion_unreadable", 1, other.name))
            return None
        waits = None if timeline.waits is None else host_waits(timeline.waits, other.limits)
        rows = _rows(timeline, columns)
        told = zip(rows.tolist(), timeline.columns["inputs"], strict=True)
        messages = {row: str(text) for row, text in told if row >= 0 and text}
        if timeline.host is None:
            is_known = waits is not None or messages
            return HostBeside(waits, messages=messages) if is_known else None
        host, notes = timeline.host.activity(rows, other.limits)
        beside.notes += notes
        return HostBeside(waits, host, timeline.host.stacks(rows, other.limits), messages)

    return beside.first(known, read) or HostBeside()


def _rows(timeline: Timeline, columns: Mapping[str, Any]) -> Ints:
    """The row of the kernel that each task is, by its name and its start, which one of the files
    rounds down; -1 for none, and where several are alike."""
    of: dict[tuple[object, object], int] = {}
    told = zip(columns["start_ns"], columns["name"], columns["source_row"], strict=True)
    for start, name, row in told:
        of[start, name] = row if (start, name) not in of else -1
    tasks: Sequence[Any] = list(
        zip(timeline.columns["start_ns"], timeline.columns["name"], strict=True)
    )
    found = [of.pop(task, -1) for task in tasks]
    for at, (start, name) in enumerate(tasks):
        if found[at] < 0 and isinstance(start, int):
            near = [each for each in ((start - 1, name), (start + 1, name)) if each in of]
            found[at] = of.pop(near[0]) if len(near) == 1 else -1
    return np.array(found, dtype="int64")
