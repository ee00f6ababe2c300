"""Processes and devices in a Kineto trace, and the events of each.

One process may run several devices: what its host did belongs to each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fusescope.analysis.readers.building.coded import Bools, Coded
from fusescope.analysis.readers.building.processes import MAX_UNITS, Units, units_of
from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.readers.pytorch.dispatch import host_ops
from fusescope.analysis.readers.pytorch.event import Allocation
from fusescope.analysis.readers.pytorch.events import Flows, Sorted
from fusescope.analysis.readers.pytorch.kernels import device_labels
from fusescope.analysis.readers.pytorch.spans import KINDS, Spans
from fusescope.analysis.readers.pytorch.units.owners import Owner, owners_of
from fusescope.analysis.trace import Diagnostic


class Parts:
    """The processes and devices of a trace. `units` has positions of kernels, copies and fills;
    of operators where no device is told of."""

    def __init__(self, events: Sorted) -> None:
        self._events = events
        self._processes = [process for process, _ in events.tables.lanes]
        self._owner_of = np.zeros(0, dtype="int64")
        self._owners: list[Owner] = []
        self._devices = Coded.same(None, 0)
        self.notes: list[Diagnostic] = []  # what is said of who launched what
        self.units = self._of_devices() if len(events.kernels) else self._of_hosts()

    def events_of(self, rows: Sequence[int]) -> Sorted:
        """The events of the unit of these rows; all of them where it is the only one."""
        events = self._events
        if self.units.is_one:
            return events
        if len(events.kernels):
            return self._of_device(np.asarray(rows, dtype="int64"))
        lanes = distinct(events.ops.lanes[np.asarray(rows, dtype="int64")]).tolist()
        own = {self._processes[at] for at in lanes}
        return self._of_host(np.array([one in own for one in self._processes], dtype=bool))

    def _of_hosts(self) -> Units:
        ops = self._events.ops
        processes = ops.processes()
        several = len(processes.present().values) > 1
        if not several or len(host_ops(self._events).ops.processes().present().values) < 2:
            return Units.one(len(ops))
        count = len(ops)
        return units_of(list(processes.mapped(_text)), [None] * count, [True] * count)

    def _of_devices(self) -> Units:
        kernels = self._events.kernels
        self._devices = device_labels(self._events)
        devices = self._devices.mapped(_number)
        self._owner_of, self._owners, self.notes = owners_of(self._events, self._devices)
        count = max(len(devices.present().values), len(self._owners))
        if count < 2:
            return Units.one(len(kernels))
        if count > MAX_UNITS:
            return Units.one(len(kernels), count)
        names = {at: owner.name or str(at) for at, owner in enumerate(self._owners)}
        is_kernel = (kernels.kinds == KINDS.index("kernel")).tolist()
        owners = tuple(self._owner_of.tolist())
        return units_of(owners, list(devices), is_kernel, lambda at: names[int(str(at))])

    def _of_host(self, lanes: Bools) -> Sorted:
        """What a process did whose lanes these are, without devices."""
        events = self._events
        own = {process for process, is_own in zip(self._processes, lanes, strict=True) if is_own}
        flows = events.flows
        kept = np.flatnonzero(lanes[flows.lanes])
        framed = np.flatnonzero(lanes[events.frames.lanes])
        marked = np.flatnonzero(lanes[events.annotations.lanes])
        launches = _on(events.launches, lanes)
        return replace(
            events,
            ops=_on(events.ops, lanes),
            calls=_on(events.calls, lanes),
            launches=launches,
            runtime=launches,
            frames=events.frames.take(framed),
            frame_kinds=events.frame_kinds[framed],
            annotations=events.annotations.take(marked),
            steps=[(number, span) for number, span in events.steps if span.lane[0] in own],
            flows=Flows(flows.ids[kept], flows.lanes[kept], flows.times[kept]),
            memory=[one for one in events.memory if one.lane[0] in own],
        )

    def _of_device(self, rows: Ints) -> Sorted:
        """The kernels at these places, and what the host did that launched them: a call that
        launched something on another device is of that one."""
        events, owner = self._events, int(self._owner_of[rows[0]])
        host = events if len(self._owners) == 1 else self._of_host(self._owners[owner].lanes)
        kernels = events.kernels.take(rows)
        ids = host.launches.correlation
        is_here = np.isin(ids, kernels.correlation)
        is_there = np.isin(ids, events.kernels.correlation[self._owner_of == owner])
        processes = {self._processes[at] for at in distinct(kernels.lanes).tolist()}
        devices = {str(label) for label in self._devices.take(rows).present().values}
        return replace(
            host,
            kernels=kernels,
            launches=host.launches.take(np.flatnonzero(is_here | ~is_there)),
            device_steps=[each for each in events.device_steps if each[1].lane[0] in processes],
            memory=[one for one in host.memory if _is_of(one, devices)],
            ranges=[one for one in events.ranges if one.device in processes],
        )


def _on(spans: Spans, lanes: Bools) -> Spans:
    """Those on these lanes."""
    return spans.take(np.flatnonzero(lanes[spans.lanes]))


def _is_of(record: Allocation, devices: set[str]) -> bool:
    """True for memory of the host, and of these devices where it tells its own."""
    args = record.args
    return not args.device_type or args.device is None or str(args.device) in devices


def _number(label: object) -> object:
    """The number of a device, else its name."""
    text = str(label)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _text(process: object) -> str:
    return process.decode("utf-8", "replace") if isinstance(process, bytes) else str(process)
