"""Lanes of a Chrome trace: which are of a device, and which repeat what others of them tell.

TensorFlow's timelines show a kernel on its stream, on `stream:all` and as the operator that the
host scheduled; the `trace.json.gz` of JAX and TensorFlow 2 shows steps, modules, operators and
scopes of one device above each other. Adding them up counts the same time several times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fusescope.analysis.readers.building.coded import Coded
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.xla.lines import operator_lines

Lane = tuple[bytes, bytes]  # process and thread
Bools = npt.NDArray[np.bool_]

# '/job:localhost/replica:0/task:0/device:GPU:0 Compute', '/device:GPU:0/stream:13 Compute',
# '/gpu:0/memcpy Compute', '/device:TPU:0'
_DEVICE = re.compile(r"/(?:device:)?((?!CPU|CUSTOM)[A-Za-z_]{2,20}:\d{1,4})(?=[/ (]|$)")
_TRACED = re.compile(r"/(?:stream:(?:\d{1,6}|all)|memcpy)(?= |$)")
_SUMMARY = re.compile(r"/(?:stream:all|memcpy)(?= |$)")
_JOB = re.compile(r"/job:|/replica:|/task:")
_STEPS = "Steps"
_LEAST_REPEATED = 2  # events of a lane that stand on others as well
_MOSTLY = 0.95


@dataclass(frozen=True)
class DeviceLanes:
    """What counts of the timed events of a file.

    `kept` are the events that are operators, `of_device` which events lie on lanes of a device, by
    the file's own labels; `steps` the events that mark a run. `repeated` and `host` say how many
    were left out since others tell the same, and since the device has lanes of its own.
    Where no label tells a device, `covering` are lanes as busy as all others of their process
    together, at the same time: what they mean nobody knows.
    """

    kept: Bools
    of_device: Bools
    steps: Ints
    repeated: int
    host: int
    example: str  # a lane that repeats others
    covering: list[str]  # lanes that may sum up the others of their process


def device_lanes(
    lanes: Sequence[Lane],
    processes: Mapping[bytes, str],
    threads: Mapping[Lane, str],
    names: Sequence[str],
    starts: Ints,
    lengths: Ints,
    of_xla: Bools,
) -> DeviceLanes:
    """The lanes of events that count; `of_xla` are events that name an instruction of a program
    (`hlo_op`), which on a host are its operators."""
    coded = Coded.of(lanes)
    known: list[Lane] = list(coded.values)  # type: ignore[arg-type]
    labels = [processes.get(process, "") for process, _ in known]
    is_traced = any(map(_TRACED.search, labels))
    groups = [_group(label, lane[0], is_traced) for label, lane in zip(labels, known, strict=True)]
    is_device = np.array([isinstance(group, str) for group in groups], dtype=bool)
    kept = _operators(known, threads, is_device)
    if not kept.any():  # all of the device's lanes sum up what is not there
        is_device[:], kept[:] = False, True
    is_step = is_device & [threads.get(lane) == _STEPS for lane in known]
    summary = np.array([_SUMMARY.search(label) is not None for label in labels], dtype=bool)
    names_coded = Coded.of(names)
    repeats = _repeating(coded.codes, groups, summary, kept, names_coded.codes, starts, lengths)
    kept[repeats] = False
    chosen = kept[coded.codes]
    host = ~is_device[coded.codes] if is_device.any() else np.zeros(len(lanes), dtype=bool)
    if not is_device.any() and of_xla.any():
        host = ~of_xla
        chosen &= of_xla
    steps = is_step[coded.codes]
    left = ~chosen & ~host & ~steps

    def shown(at: int) -> str:
        process, thread = known[at]
        return (
            threads.get(known[at]) or labels[at] or (thread or process).decode("utf-8", "replace")
        )

    first = np.flatnonzero(left)
    covering = [] if host.any() else _covering(coded.codes, groups, kept, starts, lengths)
    return DeviceLanes(
        chosen,
        is_device[coded.codes],
        np.flatnonzero(steps),
        int(left.sum()),
        int(host.sum()),
        shown(int(coded.codes[first[0]])) if len(first) else "",
        [shown(lane) for lane in covering],
    )


def _group(label: str, process: bytes, is_traced: bool) -> str | bytes:
    """The device of a process with this label as text, with the machine where the label says it;
    the process where it is none that shows what ran on a device."""
    match = _DEVICE.search(label)
    is_of_host = (is_traced or _JOB.search(label)) and not _TRACED.search(label)
    return process if match is None or is_of_host else label[: match.end()]


def _operators(known: Sequence[Lane], threads: Mapping[Lane, str], is_device: Bools) -> Bools:
    """Return which lanes hold operators of a device; all where there is no device."""
    if not is_device.any():
        return np.ones(len(known), dtype=bool)
    of_process: dict[bytes, set[str]] = {}
    for lane, is_own in zip(known, is_device, strict=True):
        if is_own:
            of_process.setdefault(lane[0], set()).add(threads.get(lane, ""))
    shown = {process: operator_lines(labels) for process, labels in of_process.items()}
    return is_device & [threads.get(lane, "") in shown.get(lane[0], ()) for lane in known]


def _repeating(
    lanes: Ints,
    groups: Sequence[object],
    summary: Bools,
    kept: Bools,
    names: Ints,
    starts: Ints,
    lengths: Ints,
) -> list[int]:
    """Lanes of which every event stands on other lanes of their group with the same name, start
    and length: those that sum up others first, then the longest."""
    keys = np.stack([Coded.of(groups).codes[lanes], names, starts, lengths], axis=1)
    shown = np.flatnonzero(kept[lanes])
    if not len(shown):
        return []
    _, number = np.unique(keys[shown], axis=0, return_inverse=True)
    number = number.reshape(-1)
    own = lanes[shown]
    pairs = np.unique(np.stack([number, own], axis=1), axis=0)
    holders = np.bincount(pairs[:, 0])
    if holders.max(initial=0) < 2:
        return []
    events = np.bincount(pairs[:, 1], minlength=len(kept))
    order = np.lexsort((-np.arange(len(kept)), -events, ~summary))
    found = []
    for lane in order.tolist():
        of_lane = pairs[pairs[:, 1] == lane, 0]
        if len(of_lane) >= _LEAST_REPEATED and (holders[of_lane] > 1).all():
            holders[of_lane] -= 1
            found.append(lane)
    return found


def _covering(
    lanes: Ints, groups: Sequence[object], kept: Bools, starts: Ints, lengths: Ints
) -> list[int]:
    """The busiest lane of each group where it is busy whenever the others are, and nearly never
    when they are not."""
    group = Coded.of(groups).codes
    ends = starts + lengths
    rows = np.flatnonzero(kept[lanes] & (lengths > 0))
    rows = rows[np.argsort(group[lanes[rows]], kind="stable")]
    bounds = np.flatnonzero(np.diff(group[lanes[rows]], prepend=-1, append=-1))
    found = []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        own = rows[begin:end]
        of_lane = lanes[own]
        members = np.unique(of_lane)
        if len(members) < 2:
            continue
        busy = np.bincount(of_lane, weights=lengths[own].astype("float64"))
        candidate = int(busy.argmax())
        is_candidate = of_lane == candidate
        above = _union_ns(starts[own[is_candidate]], ends[own[is_candidate]])
        below = _union_ns(starts[own[~is_candidate]], ends[own[~is_candidate]])
        all_of_them = _union_ns(starts[own], ends[own])
        if all_of_them <= above and below >= _MOSTLY * above and is_candidate.sum() > 1:
            found.append(candidate)
    return found


def _union_ns(starts: Ints, ends: Ints) -> int:
    """The time in which at least one of these spans runs."""
    order = np.argsort(starts, kind="stable")
    starts, until = starts[order], np.maximum.accumulate(ends[order])
    gaps = np.maximum(starts[1:] - until[:-1], 0)
    return int(until[-1] - starts[0] - gaps.sum()) if len(starts) else 0
