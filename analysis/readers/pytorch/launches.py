"""Launches: which operator of the host had a kernel run on the device, and when."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.readers.building.nesting import Nesting
from analysis.readers.pytorch.events import Sorted, Span, plain


@dataclass(frozen=True, slots=True)
class Launch:
    """What is known of a kernel's launch: the operator's position among the ops, the time, and the
    thread."""

    op: int | None
    time_ns: int | None
    lane: tuple[bytes, bytes] | None = None


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
        self._nesting = Nesting(
            [op.lane for op in events.ops],
            [op.start_ns for op in events.ops],
            [op.dur_ns for op in events.ops],
        )
        self._by_external: dict[bytes, int | None] = {}
        for position, op in enumerate(events.ops):
            if external := op.args.external:
                known = external in self._by_external
                self._by_external[external] = None if known else position
        self._calls: dict[bytes, list[Span]] = {}
        self._calls_by_external: dict[bytes, Span | None] = {}
        for call in events.launches:
            if correlation := plain(call.args.correlation):
                self._calls.setdefault(correlation, []).append(call)
            elif external := call.args.external:
                known = external in self._calls_by_external
                self._calls_by_external[external] = None if known else call
        for calls in self._calls.values():
            calls.sort(key=lambda call: call.start_ns)

    def of(self, kernel: Span) -> Launch:
        """The launch of one kernel; its parts are None where the file does not tell them."""
        correlation = plain(kernel.args.correlation)
        external = kernel.args.external
        named = self._by_external.get(external) if external else None
        lane, time = self._call(correlation, kernel.start_ns)
        call = self._calls_by_external.get(external) if not correlation else None
        if call is not None and call.start_ns <= kernel.start_ns:
            lane, time = call.lane, call.start_ns
        if time is not None and lane is not None:
            if named is not None and self._runs(named, time):
                return Launch(named, time, lane)
            inside = self._nesting.holder(lane, time)
            if inside is not None:
                return Launch(inside, time, lane)
        if named is not None and external != correlation:
            op = self._ops[named]
            return Launch(named, time if time is not None else op.start_ns, lane or op.lane)
        return Launch(None, time, lane)

    @property
    def parents(self) -> Sequence[int]:
        """For each operator the one around it; -1 for none."""
        return self._nesting.parents

    def parent(self, op: int) -> int:
        """The operator around an operator; -1 for none."""
        return self._nesting.parents[op]

    def around(self, call: Span) -> str | None:
        """Name of the innermost operator that ran when a call of its thread began."""
        inside = self._nesting.holder(call.lane, call.start_ns)
        return None if inside is None else self._ops[inside].name

    def _call(
        self, correlation: bytes, start_ns: int
    ) -> tuple[tuple[bytes, bytes] | None, int | None]:
        """Thread and time of the call that launched; of several the last before the kernel ran."""
        calls = self._calls.get(correlation)
        if calls is not None:
            index = bisect_right(calls, start_ns, key=lambda call: call.start_ns)
            call = calls[max(0, index - 1)]
            return call.lane, call.start_ns
        flow = self._flows.get(correlation) if correlation else None
        return flow if flow is not None and flow[1] <= start_ns else (None, None)

    def _runs(self, op: int, time_ns: int) -> bool:
        span = self._ops[op]
        return span.start_ns <= time_ns <= span.end_ns
