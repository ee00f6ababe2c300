"""communication.json of Ascend's profilers: when data moved inside each collective.

Steps -> p2p or collective -> name of a task and the number of its group -> times in ms. Of the time
of a task all is waiting for other ranks but that in which its parts moved data: over links inside
a node (SDMA, which HCCS, PCIe and SIO are parts of) and between nodes (RDMA). Its `Wait Time` is
that of one of its planes before the first transfer, so it is less. A MB is 10^6 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from fusescope.analysis.job import Collectives, collectives_frame
from fusescope.analysis.ranks.kinds import SEND_RECEIVE, HcclName, hccl_name
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source

_SIGN = re.compile(rb'"Communication Time Info"\s*:')
_MAX_BYTES = 256 * 2**20
_WAYS = ("SDMA", "RDMA")
_NS = 1_000_000  # of a ms
_MOST_MS = 10**9
_MB = 1_000_000
_MOST_MB = 10**9
_OFF = 0.02  # by which the time of a task may differ from that of its kernel


class _Times(msgspec.Struct):
    elapsed: float = msgspec.field(default=-1.0, name="Elapse Time(ms)")


class _Link(msgspec.Struct):
    time: float = msgspec.field(default=0.0, name="Transit Time(ms)")
    size: float = msgspec.field(default=0.0, name="Transit Size(MB)")


class _Task(msgspec.Struct):
    times: _Times = msgspec.field(default_factory=_Times, name="Communication Time Info")
    links: dict[str, _Link] = msgspec.field(
        default_factory=dict, name="Communication Bandwidth Info"
    )


@dataclass(frozen=True)
class Task:
    """One execution of a collective: its group's number as text, how long it took, and the time in
    which data moved, in ns, with the bytes that moved."""

    group: str
    elapsed_ns: int
    transfer_ns: int
    link_bytes: int


# By step without the word in front, and name.
Tasks = Mapping[tuple[str, str], Task]


def holds_transfers(head: bytes) -> bool:
    """Return whether this is the head of communication.json."""
    return utf8(head).lstrip()[:1] == b"{" and _SIGN.search(head) is not None


def read_communication(source: Source) -> Tasks | None:
    """Return the tasks of the file; None for a file too large to be one."""
    content = source.content
    if len(content) > _MAX_BYTES:
        return None
    steps = decode(content, dict[str, dict[str, dict[str, msgspec.Raw]]], {})
    found: dict[tuple[str, str], Task] = {}
    for step, kinds in steps.items():
        for tasks in kinds.values():
            for name, raw in tasks.items():
                task = decode(raw, _Task, None)
                if task is not None and 0 <= task.times.elapsed < _MOST_MS:
                    plain, _, group = name.partition("@")
                    found[step.removeprefix("step"), plain] = _task(group, task)
    return found


def _task(group: str, task: _Task) -> Task:
    links = [task.links[way] for way in _WAYS if way in task.links]
    moving = sum(min(max(0.0, link.time), _MOST_MS) for link in links)
    elapsed = task.times.elapsed
    return Task(
        group if group.isdecimal() and len(group) <= 20 else "",
        round(elapsed * _NS),
        round(min(moving, elapsed) * _NS),
        round(sum(min(max(0.0, link.size), _MOST_MB) for link in links) * _MB),
    )


def collectives_of(
    names: Sequence[object],
    steps: Sequence[object],
    rows: Sequence[object],
    durations: Sequence[object],
    tasks: Tasks,
) -> Collectives | None:
    """Return what `tasks` say of the kernels with these names, steps, source rows and times in ns;
    None where they are not those of this file: the times of fewer than half of them agree."""
    told: list[tuple[int, HcclName, Task]] = []
    known = 0
    for name, step, row, dur_ns in zip(names, steps, rows, durations, strict=True):
        parts = hccl_name(name) if isinstance(name, str) else None
        if parts is None:
            continue
        known += 1
        task = tasks.get((str(step or ""), str(name)))
        if task is not None and _is_of(task, dur_ns):
            told.append((int(str(row)), parts, task))
    if not told or 2 * len(told) < known:
        return None
    told.sort(key=lambda one: one[0])
    return Collectives(
        collectives_frame(
            source_row=np.array([row for row, _, _ in told], dtype="int64"),
            group=[parts.group for _, parts, _ in told],
            members=[task.group for _, _, task in told],
            kind=[parts.kind for _, parts, _ in told],
            is_pair=[parts.kind == SEND_RECEIVE for _, parts, _ in told],
            number=[parts.number for _, parts, _ in told],
            transfer_ns=[task.transfer_ns for _, _, task in told],
            link_bytes=[task.link_bytes for _, _, task in told],
        )
    )


def _is_of(task: Task, dur_ns: object) -> bool:
    """Return whether a task takes as long as a kernel, whose time is `dur_ns` where it is known."""
    if not isinstance(dur_ns, int | np.integer):
        return False
    return abs(task.elapsed_ns - int(dur_ns)) <= _OFF * max(task.elapsed_ns, int(dur_ns))


def ids_of(tasks: Tasks) -> tuple[str, ...]:
    """Return the numbers of the groups, which are those of all ranks of a job."""
    return tuple(dict.fromkeys(task.group for task in tasks.values() if task.group))
