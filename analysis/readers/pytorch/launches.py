"""Launches: which operator of the host had a kernel run on the device, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from fusescope.analysis.readers.building.coded import Coded
from fusescope.analysis.readers.building.nesting import Nesting
from fusescope.analysis.readers.building.timetable import Ints, Timetable
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.spans import NONE, Lane, Spans


@dataclass(frozen=True, slots=True)
class Launch:
    """What is known of a kernel's launch: the operator's position among the ops, the time, and the
    thread."""

    op: int | None
    time_ns: int | None
    lane: Lane | None = None


@dataclass(frozen=True)
class Launched(Sequence[Launch]):
    """The launches of all kernels as columns: operators as positions, threads as numbers, NONE
    where it is not told; times where a thread is."""

    ops: Ints
    times: Ints
    lanes: Ints
    names: Sequence[Lane]

    def __len__(self) -> int:
        return len(self.ops)

    @overload
    def __getitem__(self, at: int) -> Launch: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Launch]: ...
    def __getitem__(self, at: int | slice) -> Launch | Sequence[Launch]:
        if isinstance(at, slice):
            return [self[place] for place in range(len(self))[at]]
        op, lane = int(self.ops[at]), int(self.lanes[at])
        if lane == NONE:
            return Launch(None if op == NONE else op, None)
        return Launch(None if op == NONE else op, int(self.times[at]), self.names[lane])


class Launches:
    """Finds the launch of each kernel.

    The call to the runtime that has the kernel's correlation says when and on which thread, an
    arrow (`ac2g`) with that id where the call is missing; where neither has a correlation, the
    only call with the kernel's external id does. The operator is the one with the
    kernel's external id if it was running then, else the innermost one running on that thread.
    External ids alone are not trusted where they repeat, or where they are the correlation itself
    as in 2022.
    """

    def __init__(self, events: Sorted) -> None:
        self._ops = events.ops
        self._flows = events.flows
        self._lanes = events.tables.lanes
        ops, calls = events.ops, events.launches
        self._nesting = Nesting(ops.lanes, ops.starts, ops.lengths)
        self._by_external = _Only(ops.external)
        has_id = np.flatnonzero(calls.correlation != NONE)
        self._calls = calls.take(has_id)
        self._table = Timetable(self._calls.correlation, self._calls.starts)
        self._unnamed = calls.take(np.flatnonzero(calls.correlation == NONE))
        self._unnamed_by_external = _Only(self._unnamed.external)

    def all(self, kernels: Spans) -> Launched:
        """The launch of each kernel."""
        correlation, external = kernels.correlation, kernels.external
        named = self._by_external.places(external)
        lanes, times = self._called(correlation, kernels.starts)
        call = np.where(correlation == NONE, self._unnamed_by_external.places(external), NONE)
        told = np.flatnonzero(call >= 0)
        told = told[self._unnamed.starts[call[told]] <= kernels.starts[told]]
        lanes[told] = self._unnamed.lanes[call[told]]
        times[told] = self._unnamed.starts[call[told]]
        ops = np.full(len(kernels), NONE, dtype="int64")
        timed = np.flatnonzero(lanes != NONE)
        of = named[timed]
        runs = (of >= 0) & (self._ops.starts[of] <= times[timed]) if len(self._ops) else of >= 0
        runs[runs] = times[timed[runs]] <= self._ops.ends[of[runs]]
        ops[timed[runs]] = of[runs]
        rest = timed[~runs]
        ops[rest] = self._nesting.holders(lanes[rest], times[rest])
        by_name = np.flatnonzero((ops == NONE) & (named >= 0) & (external != correlation))
        ops[by_name] = named[by_name]
        untimed = by_name[lanes[by_name] == NONE]
        times[untimed] = self._ops.starts[named[untimed]]
        lanes[untimed] = self._ops.lanes[named[untimed]]
        return Launched(ops, times, lanes, self._lanes)

    @cached_property
    def parents(self) -> list[int]:
        """The operator around each operator; -1 for none."""
        return self._nesting.parents

    @property
    def around_ops(self) -> Ints:
        """The same as an array."""
        return self._nesting.around

    def around(self, calls: Spans) -> Ints:
        """The innermost operator that ran when each call of its thread began; NONE for none."""
        return self._nesting.holders(calls.lanes, calls.starts)

    def _called(self, correlation: Ints, starts: Ints) -> tuple[Ints, Ints]:
        """Thread and time of the call that launched; of several the last before the kernel ran."""
        lanes = np.full(len(starts), NONE, dtype="int64")
        times = np.zeros(len(starts), dtype="int64")
        places = self._table.last_or_first(correlation, starts)
        found = np.flatnonzero(places >= 0)
        call = self._table.order[places[found]]
        lanes[found], times[found] = self._calls.lanes[call], self._calls.starts[call]
        flows = self._flows
        rest = np.flatnonzero((places < 0) & (correlation != NONE))
        if len(flows.ids) and len(rest):
            at = np.minimum(np.searchsorted(flows.ids, correlation[rest]), len(flows.ids) - 1)
            is_it = (flows.ids[at] == correlation[rest]) & (flows.times[at] <= starts[rest])
            lanes[rest[is_it]], times[rest[is_it]] = flows.lanes[at[is_it]], flows.times[at[is_it]]
        return lanes, times


def launching_names(ops: Spans, found: Ints) -> Coded:
    """The name of each of these operators, None for NONE."""
    names = np.where(found >= 0, ops.names[found], NONE) if len(ops) else found
    return Coded(names, ops.tables.names)


class _Only:
    """The place of each id that comes only once."""

    def __init__(self, ids: Ints) -> None:
        distinct, first, counts = np.unique(ids, return_index=True, return_counts=True)
        is_one = (counts == 1) & (distinct != NONE)
        self._ids, self._places = distinct[is_one], first[is_one]

    def places(self, ids: Ints) -> Ints:
        """The place of each of these ids, NONE for others."""
        if not len(self._ids):
            return np.full(len(ids), NONE, dtype="int64")
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[at] == ids, self._places[at], NONE)
