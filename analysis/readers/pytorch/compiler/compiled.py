"""Members of compiled kernels from the compiler's files beside a recording."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fusescope.analysis.originals import Original
from fusescope.analysis.readers.input.beside import Beside
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.pytorch.compiler.compiled_graph import (
    CompiledGraph,
    graphs_of_folders,
    graphs_of_log,
    is_log,
    is_map,
)
from fusescope.analysis.readers.pytorch.compiler.provenance import Ran, joined
from fusescope.analysis.readers.pytorch.dispatch import GENERATED, HostOps, is_dispatch
from fusescope.analysis.readers.pytorch.event import Span
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.launches import Launch, Launches
from fusescope.analysis.readers.pytorch.steps import Steps
from fusescope.analysis.trace import Diagnostic, noted

Calls = list[tuple[Span, list[Ran]]]


def calls_on_host(found: Sorted, host: HostOps) -> Calls:
    """The calls of compiled graphs in order of time, with the operators that ran in each."""
    by_lane: dict[object, list[int]] = {}
    for at in sorted(range(len(host.ops)), key=lambda at: (host.ops[at].start_ns, at)):
        by_lane.setdefault(host.ops[at].lane, []).append(at)
    parents, names = host.parents.tolist(), list(map(str, host.names))
    starts = {lane: [host.ops[at].start_ns for at in places] for lane, places in by_lane.items()}
    calls: Calls = []
    for call in sorted(found.calls, key=lambda call: call.start_ns):
        places = by_lane.get(call.lane, [])
        lane = starts.get(call.lane, [])
        inside = places[bisect_left(lane, call.start_ns) : bisect_right(lane, call.end_ns)]
        rows: dict[int, list[int]] = {}
        for at in inside:
            rows.setdefault(_outermost(at, parents, host.ops, call), []).append(at)
        ran = [Ran(host.ops[top].start_ns, names[top], tuple(at)) for top, at in rows.items()]
        calls.append((call, ran))
    return calls


def _outermost(at: int, parents: Sequence[int], ops: Sequence[Span], call: Span) -> int:
    while parents[at] >= 0 and ops[parents[at]].start_ns >= call.start_ns:
        at = parents[at]
    return at


def calls_on_device(found: Sorted, launches: Launches, launched: Sequence[Launch]) -> Calls:
    """The same with the kernels that were launched in each call."""
    by_lane: dict[object, list[int]] = {}
    known = [at for at, launch in enumerate(launched) if launch.time_ns is not None]
    for at in sorted(known, key=lambda at: (launched[at].time_ns or 0, found.kernels[at].start_ns)):
        by_lane.setdefault(launched[at].lane, []).append(at)
    times = {lane: [launched[at].time_ns or 0 for at in places] for lane, places in by_lane.items()}
    calls: Calls = []
    for call in sorted(found.calls, key=lambda call: call.start_ns):
        places, lane = by_lane.get(call.lane, []), times.get(call.lane, [])
        inside = places[bisect_left(lane, call.start_ns) : bisect_right(lane, call.end_ns)]
        ran: dict[tuple[str, int], list[int]] = {}
        for at in inside:
            name, op = found.kernels[at].name, _launcher(launched[at].op, found, launches, call)
            alone = GENERATED.match(name) is not None or op < 0
            ran.setdefault(("kernel", at) if alone else ("op", op), []).append(at)
        calls.append((call, list(_ran_on_device(ran, found, launched))))
    return calls


def _launcher(op: int | None, found: Sorted, launches: Launches, call: Span) -> int:
    """The outermost operator around a launch that began in the call; -1 for none."""
    top, at = -1, -1 if op is None else op
    while at >= 0 and found.ops[at].start_ns >= call.start_ns:
        if not is_dispatch(found.ops[at].name):
            top = at
        at = launches.parents[at]
    return top


def _ran_on_device(
    ran: Mapping[tuple[str, int], list[int]], found: Sorted, launched: Sequence[Launch]
) -> Iterator[Ran]:
    for (kind, at), rows in ran.items():
        span = found.ops[at] if kind == "op" else found.kernels[at]
        yield Ran(launched[rows[0]].time_ns or 0, span.name, tuple(rows), kind == "kernel")


def with_members(
    rows: dict[str, Any], calls_of: Callable[[], Calls] | None, steps: Steps, source: Source
) -> tuple[tuple[Original, ...], Beside]:
    """Sets the members of `rows` where a file beside the recording tells them; the originals that
    they name, and what was read and noticed. `calls_of` finds the calls of compiled graphs, None
    where there are none: it is asked only where a file tells of graphs."""
    beside = Beside(source)
    is_generated = {
        str(name) for name in rows["name"] if isinstance(name, str) and GENERATED.match(name)
    }
    if not is_generated:
        return (), beside
    lacking, foreign = 0, []
    calls: Calls | None = None
    for name, files, graphs, without in _told(beside) if calls_of is not None else ():
        lacking += without
        if not graphs:
            continue
        calls = calls_of() if calls_of is not None and calls is None else calls or []
        told = joined(calls, graphs, steps)
        if told is None:
            foreign.append(name)
            continue
        for column in ("members", "members_source"):
            rows[column] = list(rows[column])
        for at, text in told.members.items():
            rows["members"][at], rows["members_source"][at] = text, "names"
        beside.files += files
        values = {"of": len(calls)}
        beside.notes.append(Diagnostic("info", "compiler_map", told.fitting, values=values))
        return told.originals, beside
    beside.notes += noted("warning", "compiler_map_foreign", foreign)
    if not foreign:
        beside.notes += noted("warning", "compiler_map_lacks", lacking)
        if not lacking:
            beside.notes.append(Diagnostic("info", "compiler_map_missing", len(is_generated)))
    return (), beside


def _told(beside: Beside) -> Iterator[tuple[str, list[str], list[CompiledGraph], int]]:
    """What each log tells, then all debug folders together: name, paths, graphs, graphs lacking."""
    for log in beside.those(is_log):
        found = beside.load(log, graphs_of_log)
        log.forget()
        if found is not None:
            yield log.name, [log.path], *found
    maps = beside.those(is_map)
    if maps:
        first = maps[0]
        read = beside.load(first, lambda _: graphs_of_folders(maps, beside.source.beside))
        if read is not None:
            graphs, lacking, used = read
            yield first.name, [one.path for one in used], graphs, lacking
