"""Owners: which process of a Kineto trace launched each kernel.

A file that was put together of several ranks has the host of each. Ids of calls then repeat from
rank to rank, and so may the numbers of devices.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.readers.building.coded import Bools, Coded
from fusescope.analysis.readers.building.processes import MAX_UNITS
from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.spans import NONE, Spans
from fusescope.analysis.trace import Diagnostic, noted

_NUMBER_AT_END = re.compile(rb"\d{0,40}\Z")
_NOT = int(np.iinfo("int64").max)  # no call of this process has the id
_OTHER_TEXT = 2**61  # further away than any row
_MAX_GROUPS = 64 * MAX_UNITS


@dataclass(frozen=True)
class Owner:
    """A process that launched kernels: its name, and which of the trace's lanes are its host's."""

    name: str
    lanes: Bools


def owners_of(events: Sorted, devices: Coded) -> tuple[Ints, list[Owner], list[Diagnostic]]:
    """For each kernel the position of its owner, and notes; `devices` are their devices. A single
    owner has every lane; of more than MAX_UNITS all kernels are the first one's."""
    processes = [process for process, _ in events.tables.lanes]
    kernels, calls = events.kernels, events.launches
    is_used = (calls.correlation != NONE) & np.isin(calls.correlation, kernels.correlation)
    calls = calls.take(np.flatnonzero(is_used))
    hosts = sorted({processes[at] for at in distinct(calls.lanes).tolist()}, key=_rank)
    if len(hosts) < 2:
        return *_by_text(kernels, processes), []
    owners = [
        Owner(_text(host), np.array([process == host for process in processes], dtype=bool))
        for host in hosts[: MAX_UNITS + 1]
    ]
    if len(hosts) > MAX_UNITS:
        return np.zeros(len(kernels), dtype="int64"), owners, []
    groups, count = _groups(kernels, devices, processes)
    found, assumed = _nearest(_distances(kernels, calls, owners, processes), groups, count)
    return found, owners, noted("warning", "launchers_assumed", assumed)


def _groups(kernels: Spans, devices: Coded, processes: Sequence[bytes]) -> tuple[Ints, int]:
    """A number for each kernel, equal for those of one process and device, in order of these; and
    how many there are."""
    places = {process: at for at, process in enumerate(sorted(set(processes), key=_rank))}
    ranked = sorted(devices.values, key=lambda label: _rank(str(label).encode()))
    labels = {label: at for at, label in enumerate(ranked)}
    of_lane = np.array([places[process] for process in processes], dtype="int64")
    of_label = np.array([labels[label] for label in devices.values], dtype="int64")
    both = of_lane[kernels.lanes] * len(labels) + of_label[devices.codes]
    each, groups = np.unique(both, return_inverse=True)
    return groups, len(each)


def _distances(
    kernels: Spans, calls: Spans, owners: Sequence[Owner], processes: Sequence[bytes]
) -> Ints:
    """How far from each kernel, in rows of the file, each owner has a call with its id: further
    than any row where their processes are named in other ways, _NOT where it has none."""
    texts = [_before_number(process) for process in processes]
    far = np.full((len(kernels), len(owners)), _NOT, dtype="int64")
    for place, owner in enumerate(owners):
        own = calls.take(np.flatnonzero(owner.lanes[calls.lanes]))
        order = np.lexsort((own.rows, own.correlation))
        ids, rows = own.correlation[order], own.rows[order]
        at = np.minimum(np.searchsorted(ids, kernels.correlation), len(ids) - 1)
        has = np.flatnonzero(ids[at] == kernels.correlation)
        text = texts[int(np.flatnonzero(owner.lanes)[0])]
        is_other = np.array([one != text for one in texts], dtype=bool)[kernels.lanes[has]]
        far[has, place] = np.abs(rows[at[has]] - kernels.rows[has]) + is_other * _OTHER_TEXT
    return far


def _nearest(far: Ints, groups: Ints, count: int) -> tuple[Ints, int]:
    """The owner of each kernel: the only one that has its call; of several the one that its device
    belongs to, or the nearest where devices are fewer than owners; where none has, as most others
    of that device. How many of several have another one nearer."""
    nearest, has = far.argmin(axis=1), far < _NOT
    is_known, is_shared = has.any(axis=1), has.sum(axis=1) > 1
    if count > _MAX_GROUPS:
        return np.where(is_known, nearest, 0), int(is_shared.sum())
    votes = np.zeros((count, far.shape[1]), dtype="int64")
    np.add.at(votes, (groups[is_known], nearest[is_known]), 1)
    if count < far.shape[1]:
        found = np.where(is_known, nearest, votes.argmax(axis=1)[groups])
        return found, int((~is_known).sum())
    can = np.zeros(votes.shape, dtype=bool)
    np.logical_or.at(can, groups, has)
    home = _one_each(votes, can)[groups]
    at_home = np.take_along_axis(has, home[:, None], axis=1)[:, 0]
    by_device = ~is_known | (is_shared & at_home)
    return np.where(by_device, home, nearest), int((by_device & is_known & (home != nearest)).sum())


def _one_each(votes: Ints, can: Bools) -> Ints:
    """The column of each row: the highest cells first, of equal ones that nearest to the diagonal,
    each column once where it `can` be; then each row's highest, where columns are fewer."""
    found: Ints = votes.argmax(axis=1)
    places = np.indices(votes.shape)
    off = np.abs(places[0] * votes.shape[1] - places[1] * votes.shape[0])
    left, is_set = set(range(votes.shape[1])), np.zeros(len(votes), dtype=bool)
    for cell in np.lexsort((off.ravel(), -votes.ravel())).tolist():
        row, column = divmod(cell, votes.shape[1])
        if column in left and not is_set[row] and can[row, column]:
            found[row], is_set[row] = column, True
            left.discard(column)
        if not left:
            break
    return found


def _by_text(kernels: Spans, processes: Sequence[bytes]) -> tuple[Ints, list[Owner]]:
    """The same where no more than one host launched: by the text in front of a number, as programs
    that join traces of ranks name the processes of each."""
    texts = [_before_number(process) for process in processes]
    used = list(dict.fromkeys(texts[at] for at in distinct(kernels.lanes).tolist()))
    if len(used) < 2 or not all(used):
        every = np.ones(len(processes), dtype=bool)
        return np.zeros(len(kernels), dtype="int64"), [Owner("", every)]
    numbers = {text: at for at, text in enumerate(used)}
    of_lane = np.array([numbers.get(text, 0) for text in texts], dtype="int64")
    owners = [
        Owner(_text(text).rstrip(" :-_/"), np.array([one == text for one in texts], dtype=bool))
        for text in used[: MAX_UNITS + 1]
    ]
    if len(used) > MAX_UNITS:
        return np.zeros(len(kernels), dtype="int64"), owners
    return of_lane[kernels.lanes], owners


def _rank(process: bytes) -> tuple[bytes, int]:
    """The order of processes: by the text in front of a number, then by that."""
    text = _before_number(process)
    digits = process[len(text) :]
    return text, int(digits) if digits else -1


def _before_number(process: bytes) -> bytes:
    return _NUMBER_AT_END.sub(b"", process, count=1)


def _text(process: bytes) -> str:
    return process.decode("utf-8", "replace")
