"""Lanes of an Ascend timeline: in which one each event lies, and what a task of the device is.

They are told apart by their process: `Ascend Hardware` holds the tasks of the device, `HCCL` or
`Communication` collective operations (and, in planes, the tasks that they consist of), `Overlap
Analysis` sums of both, the others the host and counters. Tasks also tell by their arguments.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import numpy as np

from fusescope.analysis.readers.ascend.columns import task_kind
from fusescope.analysis.readers.ascend.events import Cell, EventColumns, Group, Spans, Told
from fusescope.analysis.readers.building.coded import distinct_rows
from fusescope.analysis.readers.building.timetable import Ints

DEVICE, COMMUNICATION, OVERLAP, STEPS, HOST, _OTHER, _UNNAMED = range(7)
OPERATOR, COLLECTIVE, CONTROL, PART = range(4)

_CORES = ("AI_", "AIV", "AICPU", "MIX_", "KERNEL", "DSA", "DVPP", "FFTS")
_COPIES = re.compile(r"DMA|MEMCPY|MEMSET|REDUCE[_ ]|WRITE|READ_VALUE", re.IGNORECASE)
# Parts of a collective, where neither an argument nor the name of their lane says so.
_PARTS = re.compile(
    r"notify|event|wait|record|(\w+[_ ])?memcpy|sdma|rdma|reduce[_ ](inline|tbe)"
    r"|local[_ ]?(copy|reduce)|write[_ ]?(value|with)",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"(?:(?:event|notify|stream|remote|mem\w*|capture)[ _]?)*(?:wait|record)(?:[ _]\w+)?",
    re.IGNORECASE,
)


class Lanes:
    """Lanes of the spans of a file, `of` each; `processes` are names of processes, and `threads`
    of the threads of groups, '' for none."""

    def __init__(
        self, found: EventColumns, groups: list[Group], names: list[str], spans: Spans, told: Told
    ) -> None:
        self.processes = found.processes
        self.threads = [found.threads.get((group.pid, group.tid), "") for group in groups]
        self._names, self._spans, self._told = names, spans, told
        self._cells = found.kinds.cells()
        kinds = {pid: _process_lane(name) for pid, name in found.processes.items()}
        of_groups = [
            _lane(kinds.get(group.pid), group.cat, thread)
            for group, thread in zip(groups, self.threads, strict=True)
        ]
        self.of = self._by_arguments(np.array(of_groups, dtype="int8")[spans.groups])

    def tasks(self) -> tuple[Ints, Ints]:
        """Places of the spans on lanes of devices and of communication, and what each is."""
        spans = self._spans
        places = np.flatnonzero(self.of <= COMMUNICATION)
        kinds = np.full(len(places), -1, dtype="int64")
        is_part = np.zeros(len(places), dtype=bool)
        args = spans.args[places]
        kinds[args >= 0] = self._told.kinds[args[args >= 0]]
        is_part[args >= 0] = self._told.is_part[args[args >= 0]]
        is_plane = np.array([name.startswith("Plane") for name in self.threads], dtype=bool)
        on_plane = is_part | is_plane[spans.groups[places]]
        names, lanes = spans.names[places], self.of[places].astype("int64")
        numbers, first = distinct_rows(
            [lanes, names, kinds, on_plane.astype("int64")],
            [2, len(self._names), len(self._cells), 2],
            len(places),
        )
        found = []
        for at in first.tolist():
            name = self._names[names[at]]
            if lanes[at] == COMMUNICATION:
                is_task = not on_plane[at] and _PARTS.match(name) is None
                found.append(COLLECTIVE if is_task else PART)
            else:
                found.append(_kind(self._cells[kinds[at]] if kinds[at] >= 0 else None, name))
        return places, np.array(found, dtype="int64")[numbers]

    def _by_arguments(self, lanes: np.ndarray) -> np.ndarray:
        """The same, with spans of other processes told apart by their arguments."""
        told = np.flatnonzero((lanes >= _OTHER) & (self._spans.args >= 0))
        args = self._spans.args[told]
        is_kind = np.array([cell is not None for cell in self._cells], dtype=bool)
        is_task = is_kind[self._told.kinds[args]] if len(told) else np.zeros(0, dtype=bool)
        is_part = self._told.is_part[args] if len(told) else np.zeros(0, dtype=bool)
        is_part &= lanes[told] == _UNNAMED
        lanes[lanes >= _OTHER] = HOST
        lanes[told] = np.select([is_task, is_part], [DEVICE, COMMUNICATION], HOST)
        return lanes


def _process_lane(name: str) -> int:
    lower = name.lower()
    if lower.startswith(("ascend hardware", "task scheduler")):
        return DEVICE
    if lower.startswith(("hccl", "communication")):
        return COMMUNICATION
    if lower.startswith("overlap"):
        return OVERLAP
    return STEPS if lower.startswith("step trace") else _OTHER


def _lane(process: int | None, cat: Cell, thread: str) -> int:
    """The lane of a group of events, where their arguments do not tell another one."""
    if cat == "Iteration Time" or process == STEPS:
        return STEPS
    if process == DEVICE and thread.startswith("Step Trace"):
        return STEPS
    return _UNNAMED if process is None else process


def _kind(task_type: Cell, name: str) -> int:
    """What a task on a device is by its type; a collective has a lane of its own, and what is one
    by its type is a part of it."""
    if not isinstance(task_type, str):
        return CONTROL
    kind = device_task(task_type)
    if kind == "operator" and not task_type.upper().startswith(_CORES) and _WAITS.fullmatch(name):
        return CONTROL  # the type says nothing, the name does
    return {"operator": OPERATOR, "control": CONTROL, "communication": PART}[kind]


@lru_cache(maxsize=4096)
def device_task(task_type: str) -> Literal["operator", "communication", "control"]:
    """What a task of the device is by its type; a copy is not an operator of the network."""
    kind = task_kind(task_type)
    if kind == "operator" and not task_type.upper().startswith(_CORES):
        return "control" if _COPIES.search(task_type) else "operator"
    return kind
