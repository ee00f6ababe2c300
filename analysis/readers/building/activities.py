"""Activities of a device, the calls of the host that launched them, and the ranges around those.

Profilers of GPUs write all three, joined by the number that a process gives each call.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat

import numpy as np
import pandas as pd

from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.checks.clocks import clock_skew
from fusescope.analysis.readers.building.checks.graph_launches import graph_notes, is_graph_launch
from fusescope.analysis.readers.building.coded import Coded, Whole
from fusescope.analysis.readers.building.host.calls import Host, HostCall, HostRange, Key
from fusescope.analysis.readers.building.host.launch_calls import (
    LaunchCall,
    is_launch,
    launch_calls,
    with_launches,
)
from fusescope.analysis.readers.building.host.wait_calls import host_waits, is_wait
from fusescope.analysis.readers.building.iterations import (
    before_file_notes,
    launched_before,
    profiled_runs,
    span_at,
)
from fusescope.analysis.readers.building.processes import rows_of, taken_apart, units_of
from fusescope.analysis.readers.building.range_names import MARK, MARK_CHARS, name_of_range
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.trace import Diagnostic, Meta, Trace, noted

_MAX_DEPTH = 256
_COPIES = ("Memcpy", "Memset")  # how every reader names copies and fills of memory


@dataclass(frozen=True)
class Recorded:
    """What a file holds: `columns` of a trace, one entry an activity, with its `process` and
    `correlation`, the `number` of its device and `is_kernel`; `calls` of the host by process and
    correlation, and its `ranges` by start, the outer before the inner."""

    meta: Meta
    columns: Mapping[str, Sequence[object]]
    calls: Mapping[Key, HostCall]
    ranges: Sequence[HostRange]
    notes: Sequence[Diagnostic]
    limits: Limits

    def trace(
        self,
        process_name: Callable[[object], str] = str,
        thread_name: Callable[[Hashable], str] = str,
    ) -> Trace:
        """The trace of the process or device that is shown, with the others; ranges that number
        steps or iterations are its runs. Raises FuseScopeError where no activity has a valid
        time."""
        names = (process_name, thread_name)
        columns = dict(self.columns)
        numbers, kernels = columns.pop("number"), columns.pop("is_kernel")
        units = units_of(columns["process"], numbers, kernels, process_name)
        if units.is_one:
            known = {process for process in columns["process"] if process is not None}
            own = [one for one in self.ranges if not known or one.process in known]
            host = Host(self.calls, own, *names)
            return taken_apart(units, lambda _: self._unit(columns, self.calls, host))
        owner: dict[object, int] = {}
        for at, (_, rows) in enumerate(units.parts):
            owner.update(dict.fromkeys(_keys(columns, rows), at))
        place = {id(rows): at for at, (_, rows) in enumerate(units.parts)}

        def build(rows: Sequence[int]) -> Trace:
            at = place[id(rows)]
            processes = {columns["process"][row] for row in rows}
            every = {key: call for key, call in self.calls.items() if key[0] in processes}
            # A call that launched something on another device is of that one.
            calls = {key: call for key, call in every.items() if owner.get(key, at) == at}
            ranges = [one for one in self.ranges if one.process in processes]
            return self._unit(rows_of(columns, rows), calls, Host(every, ranges, *names))

        return taken_apart(units, build)

    def _unit(
        self,
        activities: Mapping[str, Sequence[object]],
        calls: Mapping[Key, HostCall],
        host: Host,
    ) -> Trace:
        """The trace of one process or device; `host` is all that its process did."""
        columns, notes, ranges = dict(activities), list(self.notes), host.ranges
        notes += _checked(columns, calls)
        marks = _marks(ranges)
        earlier = _before_file(columns, calls) if marks else np.zeros(0, dtype=bool)
        if any(is_launch(call.name) for call in calls.values()):
            without = _without_call(columns, host.calls, earlier)
            notes += noted("info", "kernels_without_call", without)
        activity, left = host.activity(columns, self.limits)
        notes += left
        marking = {id(mark) for mark in marks}
        _add_launchers(columns, calls, [r for r in ranges if id(r) not in marking])
        runs = None
        if marks:
            runs, columns["run"] = _runs(columns, calls, marks, earlier, notes)
        del columns["correlation"], columns["process"]
        trace = build_trace(self.meta, columns, runs=runs, notes=notes, limits=self.limits)
        trace = replace(trace, host=activity)
        if calls:
            waits = (
                (call.name, call.start, call.end)
                for call in calls.values()
                if call.name is not None and call.end is not None and is_wait(call.name)
            )
            trace = replace(trace, host_waits=host_waits(waits, self.limits))
        return with_launches(trace, launch_calls(_launch_calls(calls, marks)))


def _without_call(
    columns: Mapping[str, Sequence[object]], calls: Mapping[Key, HostCall], earlier: np.ndarray
) -> int:
    """Return how many kernels, without copies and fills and those launched before the file
    begins, have no call of the host in the file."""
    keys = _keys(columns, range(len(columns["correlation"])))
    left = zip(keys, columns["op_type"], earlier if len(earlier) else repeat(False), strict=False)
    return sum(
        key not in calls and not is_earlier and not str(op_type).startswith(_COPIES)
        for key, op_type, is_earlier in left
    )


def _before_file(
    columns: Mapping[str, Sequence[object]], calls: Mapping[Key, HostCall]
) -> np.ndarray:
    """Return which activities were launched before the file begins."""
    rows = range(len(columns["correlation"]))
    devices, streams = (Coded.of(columns[name]).codes for name in ("device", "stream"))
    starts = Whole.of(columns["start_ns"])
    if starts is None:
        return np.zeros(len(rows), dtype=bool)
    of_device = devices.astype("int64") + 1
    lanes = of_device * (int(streams.max(initial=0)) + 2) + streams.astype("int64") + 1
    is_known = np.array([key in calls for key in _keys(columns, rows)], dtype=bool)
    found: np.ndarray = launched_before(lanes, starts.numbers, is_known) & starts.known
    return found


def _keys(columns: Mapping[str, Sequence[object]], rows: Sequence[int]) -> Iterable[Key]:
    """Process and correlation of these activities."""
    return ((columns["process"][row], columns["correlation"][row]) for row in rows)


def _marks(ranges: Iterable[HostRange]) -> list[HostRange]:
    """The ranges that mark runs: numbered or repeated, of one kind, one after the other.

    The most numerous such kind, so steps inside epochs; none where they overlap.
    """
    kinds: dict[tuple[str, Hashable], list[HostRange]] = defaultdict(list)
    for r in ranges:
        match = MARK.fullmatch(r.text.strip()[:MARK_CHARS])
        if match:
            kinds[match["stem"].lower(), r.process].append(r)
    usable = [
        found
        for found in kinds.values()
        if len(found) > 1 and all(a.end <= b.start for a, b in pairwise(found))
    ]
    return max(usable, key=len, default=[])


def _checked(
    columns: dict[str, Sequence[object]], launches: Mapping[Key, HostCall]
) -> list[Diagnostic]:
    """Notes on launches of graphs without activities, and on activities that begin before their
    launch, whose starts are moved."""
    keys = list(zip(columns["process"], columns["correlation"], strict=True))
    calls = [launches.get(key) for key in keys]
    starts, lengths = Whole.of(columns["start_ns"]), Whole.of(columns["dur_ns"])
    if starts is None or lengths is None:
        return []
    moves, notes = clock_skew(
        starts.numbers,
        np.array([call.start if call is not None else 0 for call in calls], dtype="int64"),
        np.array([call is not None for call in calls], dtype=bool) & starts.known,
        Coded.of(columns["device"]).codes,
    )
    if moves.any():
        columns["start_ns"] = list(Whole(starts.numbers + moves, starts.known))
    numbers = {key: at for at, key in enumerate(launches)}
    graphs = [numbers[key] for key, call in launches.items() if is_graph_launch(call.name)]
    launched = np.array([numbers.get(key, -1) for key in keys], dtype="int64")
    own = np.where(lengths.known, np.maximum(lengths.numbers, 0), 0)
    return [*notes, *graph_notes(np.array(graphs, dtype="int64"), launched, own)]


def _add_launchers(
    columns: dict[str, Sequence[object]],
    launches: Mapping[Key, HostCall],
    ranges: Iterable[HostRange],
) -> None:
    """What launched each activity: the innermost NVTX range, else the call of the host."""
    inside = _innermost(launches, ranges)
    keys = zip(columns["process"], columns["correlation"], strict=True)
    found: list[object] = []
    for key in keys:
        launch = launches.get(key)
        found.append(inside.get(key) or (launch.name if launch is not None else None))
    columns["launched_by"] = found


def _innermost(launches: Mapping[Key, HostCall], ranges: Iterable[HostRange]) -> dict[Key, str]:
    """(process, correlationId) -> the text of the innermost push/pop range around its launch."""
    by_thread: dict[Hashable, list[HostRange]] = defaultdict(list)
    for r in ranges:
        if r.thread is not None:
            by_thread[r.thread].append(r)
    calls: dict[Hashable, list[tuple[int, Key]]] = defaultdict(list)
    for key, launch in launches.items():
        if launch.thread in by_thread:
            calls[launch.thread].append((launch.start, key))
    found: dict[Key, str] = {}
    for thread, starts in calls.items():
        open_ranges: list[HostRange] = []
        pending = iter(by_thread[thread])
        following = next(pending, None)
        for start, key in sorted(starts):
            while following is not None and following.start <= start:
                while open_ranges and open_ranges[-1].end <= following.start:
                    open_ranges.pop()
                if len(open_ranges) < _MAX_DEPTH:
                    open_ranges.append(following)
                following = next(pending, None)
            while open_ranges and open_ranges[-1].end <= start:
                open_ranges.pop()
            if open_ranges:
                found[key] = name_of_range(open_ranges[-1].text)
    return found


def _runs(
    columns: Mapping[str, Sequence[object]],
    launches: Mapping[Key, HostCall],
    marks: list[HostRange],
    earlier: np.ndarray,
    notes: list[Diagnostic],
) -> tuple[pd.DataFrame, list[object]]:
    """One run a mark, from its first activity to its last, and each activity's run.

    Activities belong to the mark that was open when they were launched: the device works behind
    the host, so the mark's own times say little about it. Those of `earlier` are of none.
    """
    begins, lasts = [mark.start for mark in marks], [mark.end - 1 for mark in marks]
    labels: list[object] = []
    first, last = list(begins), [mark.end for mark in marks]
    seen: set[int] = set()
    for process, correlation, start, dur, is_earlier in zip(
        columns["process"], columns["correlation"], columns["start_ns"], columns["dur_ns"],
        earlier.tolist(), strict=True,
    ):  # fmt: skip
        launch = launches.get((process, correlation))
        run = span_at(begins, lasts, launch.start if launch is not None else start)
        if is_earlier or (run is not None and process not in (None, marks[run].process)):
            run = None
        labels.append(run)
        if run is not None and isinstance(start, int) and isinstance(dur, int) and dur >= 0:
            first[run] = min(first[run], start) if run in seen else start
            last[run] = max(last[run], start + dur) if run in seen else start + dur
            seen.add(run)
    took = Whole.of(columns["dur_ns"])
    if took is not None:
        notes += before_file_notes(earlier, took.numbers)
    outside = sum(label is None for label in labels) - int(earlier.sum())
    notes += noted("info", "outside_runs", outside)
    kind = "step" if "step" in Counter(m.text.lower() for m in marks).most_common(1)[0][0] else ""
    lengths = [end - start for start, end in zip(first, last, strict=True)]
    return profiled_runs(kind or "iteration", first, lengths), labels


def _launch_calls(launches: Mapping[Key, HostCall], marks: Sequence[HostRange]) -> list[LaunchCall]:
    """Calls that launch kernels, each in the run that was open then."""
    begins, lasts = [mark.start for mark in marks], [mark.end - 1 for mark in marks]
    found = []
    for (process, _), launch in launches.items():
        if not is_launch(launch.name):
            continue
        run: int | None = 0
        if marks:
            run = span_at(begins, lasts, launch.start)
            run = run if run is not None and process == marks[run].process else None
        ended = launch.end is not None and launch.end >= launch.start
        dur_ns = (launch.end or 0) - launch.start if ended else None
        found.append(LaunchCall(launch.thread, launch.start, dur_ns, run))
    return found
