"""Nsight Systems reports exported as SQLite (`nsys export --type sqlite`).

Kernels, copies and fills stand in tables of CUPTI's activities, in ns; names are numbers into
StringIds. The set of tables and columns varies with the version. The host's call that launched
an activity has its correlationId; the NVTX range around that call says what launched it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pandas as pd

from analysis.errors import FuseScopeError
from analysis.messages import mark
from analysis.readers.building.columns import Columns
from analysis.readers.building.iterations import profiled_runs, span_at
from analysis.readers.building.kernels import kernel_columns
from analysis.readers.building.launch_calls import (
    LaunchCall,
    is_launch,
    launch_calls,
    with_launches,
)
from analysis.readers.building.processes import several_processes
from analysis.readers.building.trace_tables import build_trace
from analysis.readers.building.wait_calls import host_waits, is_wait
from analysis.readers.input.source import Source
from analysis.readers.input.sqlite import Database, Table, open_database, schema_names
from analysis.readers.input.sqlite_wal import is_of_database
from analysis.readers.reader import ALWAYS, Declined, Reader
from analysis.text import clean_text
from analysis.trace import Diagnostic, Meta, Trace, noted

_SIGNS = (b"CUPTI_ACTIVITY_KIND_", b"TARGET_INFO_", b"EXPORT_META_DATA", b"NVTX_EVENTS")
_KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
_MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
_MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"
_GRAPH = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"  # launches of graphs, without the kernels in them
_SESSION = "TARGET_INFO_SESSION_START_TIME"
_RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
_ACTIVITY = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes")
# CUpti_ActivityMemcpyKind
_WAYS = {
    1: "Host-to-Device", 2: "Device-to-Host", 3: "Host-to-Array", 4: "Array-to-Host",
    5: "Array-to-Array", 6: "Array-to-Device", 7: "Device-to-Array", 8: "Device-to-Device",
    9: "Host-to-Host", 10: "Peer-to-Peer", 11: "Unified Host-to-Device",
    12: "Unified Device-to-Host", 13: "Unified Device-to-Device",
}  # fmt: skip
_COUNTERS = ("registersPerThread", "staticSharedMemory", "dynamicSharedMemory")  # bytes
# NVTX push/pop and start/end ranges, NVTX's own and those that carry a domain's string.
_RANGES = frozenset((59, 60, 70, 71))
_PUSH_POP = frozenset((59, 70))
_MARK = re.compile(
    r"(?P<stem>(?:[\w.]{0,40}[\s:_.#-])?(?:profiler_?step|step|iter(?:ation)?|batch|inference|"
    r"request|forward_?pass))(?P<number>[\s:_.#=()\[\]-]*\d{1,12}\W?)?",
    re.IGNORECASE,
)
_VERSION = re.compile(r"_v\d{1,6}$")  # cudaLaunchKernel_v7000
_PID = ~0xFFFFFF  # globalTid without its thread
_MAX_DEPTH = 256


def _sniff(head: bytes) -> bool:
    """An SQLite database with tables of Nsight Systems, or one whose head names no table."""
    return schema_names(head, _SIGNS) is not False


def _read(source: Source) -> Trace:
    """The trace; NVTX ranges that number steps or iterations are its runs."""
    with open_database(source) as database:
        if not _holds_nsys(database) and not schema_names(source.head, _SIGNS):
            raise Declined("not_nsys_database", where=source.name)
        strings = database.strings("StringIds")
        launches = _launches(database, strings)
        notes: list[Diagnostic] = list(database.notes)
        columns = _activities(database, strings, notes)
        if not columns["name"]:
            raise FuseScopeError("nsys_empty", where=source.name)
        if not database.read(_KERNEL, "start") and notes == database.notes:
            notes.append(Diagnostic("warning", "no_kernels"))
        notes += several_processes(columns["process"])
        ranges = _ranges(database, strings)
        marks = _marks(ranges)
        marking = {id(mark) for mark in marks}
        _add_launchers(columns, launches, [r for r in ranges if id(r) not in marking])
        runs = None
        if marks:
            runs, columns["run"] = _runs(columns, launches, marks, notes)
        del columns["correlation"], columns["process"]
        meta = _meta(NSYS.name, database, source)
    trace = build_trace(meta, columns, runs=runs, notes=notes, limits=source.limits)
    if launches:
        waits = (
            (call.name, call.start, call.end)
            for call in launches.values()
            if call.name is not None and call.end is not None and is_wait(call.name)
        )
        trace = replace(trace, host_waits=host_waits(waits, source.limits))
    return with_launches(trace, launch_calls(_launch_calls(launches, marks)))


NSYS = Reader(
    name="nsys_db",
    title=mark("Nsight Systems report (SQLite)"),
    fields={
        **dict.fromkeys(("start", "stream", "types", "communication"), ALWAYS),
        "members": mark("Compile with torch.compile: inductor names its kernels by their members."),
        "runs": mark("Put an NVTX range named 'iteration 0', 'iteration 1', … around each run."),
    },
    recording=(
        "`nsys profile --trace=cuda,nvtx --output=report <command>`, then `nsys export --type "
        "sqlite report.nsys-rep`; mark each run with `torch.cuda.nvtx.range_push(f'iteration "
        "{i}')` and `range_pop()`, or `nvtxRangePushA`."
    ),
    covers=("nsys_stats",),
    sniff=_sniff,
    read=_read,
    takes=is_of_database,
)


def _holds_nsys(database: Database) -> bool:
    """True for a report of Nsight Systems."""
    return database.has("StringIds") and (
        database.has(_KERNEL)
        or any(name.startswith(("CUPTI_", "TARGET_INFO_")) for name in database.names)
    )


@dataclass(frozen=True)
class _Launch:
    """A call of the host that launched something: when, on which thread, its name."""

    start: int
    thread: int
    name: str | None
    end: int | None = None


@dataclass(frozen=True)
class _Range:
    """An NVTX range of the host; `thread` is None where its ends may be on two threads."""

    start: int
    end: int
    text: str
    process: int
    thread: int | None


def _activities(
    database: Database, strings: Mapping[int, str], notes: list[Diagnostic]
) -> dict[str, list[object]]:
    """Kernels, copies and fills as columns of a trace, with correlation and process.

    Graphs that were recorded as a whole stand for the kernels in them.
    """
    kernels = database.read(
        _KERNEL, *_ACTIVITY, "demangledName", "shortName", "mangledName", "name", *_COUNTERS
    )
    copies = database.read(_MEMCPY, *_ACTIVITY, "copyKind")
    fills = database.read(_MEMSET, *_ACTIVITY)
    graphs = database.read(_GRAPH, *_ACTIVITY, "graphId")
    notes += noted("warning", "graphs_whole", len(graphs))
    kinds = copies.integers("copyKind")
    ways = [_WAYS.get(kind) if kind is not None else None for kind in kinds]
    tables = (
        (kernels, _kernel_names(kernels, strings)),
        (copies, [f"[CUDA memcpy {way}]" if way else "[CUDA memcpy]" for way in ways]),
        (fills, ["[CUDA memset]"] * len(fills)),
        (graphs, [f"[CUDA graph {number}]" for number in graphs.texts("graphId")]),
    )
    columns = Columns("name", "process")
    devices = _device_names(database)
    several = len({pid for table, _ in tables for pid in table.integers("globalPid")}) > 1
    for table, names in tables:
        starts, ends = table.integers("start"), table.integers("end")
        pids = table.integers("globalPid")
        rows = kernel_columns(names)
        if table is graphs:
            rows["op_type"] = ["CUDA graph"] * len(table)
        rows |= {
            "device": [
                None if number is None else devices.get(number, str(number))
                for number in table.integers("deviceId")
            ],
            "stream": [
                f"{pid}:{stream}" if several and stream is not None else stream
                for stream, pid in zip(table.texts("streamId"), pids, strict=True)
            ],
            "start_ns": list(starts),
            "dur_ns": [
                None if start is None or end is None else end - start
                for start, end in zip(starts, ends, strict=True)
            ],
            "source_row": list(range(1, len(table) + 1)),
            "correlation": list(table.integers("correlationId")),
            "process": [None if pid is None else pid & _PID for pid in pids],
            **{counter: list(table.numbers(counter)) for counter in ("bytes", *_COUNTERS)},
        }
        columns.extend(rows)
    return columns


def _kernel_names(kernels: Table, strings: Mapping[int, str]) -> list[str]:
    """Demangled where the report has it, else short or mangled; 'unnamed' without any."""
    names: list[str] = ["unnamed"] * len(kernels)
    for column in ("name", "mangledName", "shortName", "demangledName"):
        for row, number in enumerate(kernels.integers(column)):
            text = strings.get(number) if number is not None else None
            if text:
                names[row] = text
    if "demangledName" not in kernels and "shortName" not in kernels:
        names = [text or name for text, name in zip(kernels.texts("name"), names, strict=True)]
    return names


def _device_names(database: Database) -> dict[int, str]:
    """Number of a device -> 'NVIDIA A100 (0)', as the profiler's own tables write it."""
    gpus = database.read("TARGET_INFO_GPU", "id", "name", "cuDevice")
    columns = zip(gpus.integers("id"), gpus.integers("cuDevice"), gpus.texts("name"), strict=True)
    found: dict[int, str] = {}
    for number, cuda, name in columns:
        key = cuda if cuda is not None else number
        if key is not None and name is not None:
            found[key] = f"{name} ({key})"
    return found


def _launches(database: Database, strings: Mapping[int, str]) -> dict[tuple[int, int], _Launch]:
    """(process, correlationId) -> the call that launched it."""
    calls = database.read(_RUNTIME, "start", "end", "globalTid", "correlationId", "nameId")
    found = {}
    for start, end, thread, correlation, name in zip(
        calls.integers("start"),
        calls.integers("end"),
        calls.integers("globalTid"),
        calls.integers("correlationId"),
        calls.integers("nameId"),
        strict=True,
    ):
        if start is not None and thread is not None and correlation is not None:
            text = strings.get(name) if name is not None else None
            call = _VERSION.sub("", text) if text else None
            found[thread & _PID, correlation] = _Launch(start, thread, call, end)
    return found


def _ranges(database: Database, strings: Mapping[int, str]) -> list[_Range]:
    """NVTX ranges with both ends and a text, by start, the outer before the inner."""
    table = database.read("NVTX_EVENTS", "start", "end", "eventType", "text", "textId", "globalTid")
    found = []
    for start, end, kind, text, number, thread in zip(
        table.integers("start"),
        table.integers("end"),
        table.integers("eventType"),
        table.texts("text"),
        table.integers("textId"),
        table.integers("globalTid"),
        strict=True,
    ):
        text = text or (strings.get(number) if number is not None else None)
        if start is None or end is None or end < start or not text or thread is None:
            continue
        if kind in _RANGES or kind is None:
            own = thread if kind in _PUSH_POP else None
            found.append(_Range(start, end, text, thread & _PID, own))
    return sorted(found, key=lambda r: (r.start, -r.end))


def _marks(ranges: Iterable[_Range]) -> list[_Range]:
    """The ranges that mark runs: numbered or repeated, of one kind, one after the other.

    The most numerous such kind, so steps inside epochs; none where they overlap.
    """
    kinds: dict[tuple[str, int], list[_Range]] = defaultdict(list)
    for r in ranges:
        match = _MARK.fullmatch(r.text.strip()[:120])
        if match:
            kinds[match["stem"].lower(), r.process].append(r)
    usable = [
        found
        for found in kinds.values()
        if len(found) > 1 and all(a.end <= b.start for a, b in pairwise(found))
    ]
    return max(usable, key=len, default=[])


def _add_launchers(
    columns: dict[str, list[object]],
    launches: Mapping[tuple[int, int], _Launch],
    ranges: Iterable[_Range],
) -> None:
    """What launched each activity: the innermost NVTX range, else the call of the host."""
    inside = _innermost(launches, ranges)
    keys = zip(columns["process"], columns["correlation"], strict=True)
    found: list[object] = []
    for key in keys:
        launch = launches.get(key)  # type: ignore[arg-type]
        found.append(inside.get(key) or (launch.name if launch is not None else None))
    columns["launched_by"] = found


def _innermost(
    launches: Mapping[tuple[int, int], _Launch], ranges: Iterable[_Range]
) -> dict[tuple[object, object], str]:
    """(process, correlationId) -> the text of the innermost push/pop range around its launch."""
    by_thread: dict[int, list[_Range]] = defaultdict(list)
    for r in ranges:
        if r.thread is not None:
            by_thread[r.thread].append(r)
    calls: dict[int, list[tuple[int, tuple[int, int]]]] = defaultdict(list)
    for key, launch in launches.items():
        if launch.thread in by_thread:
            calls[launch.thread].append((launch.start, key))
    found: dict[tuple[object, object], str] = {}
    for thread, starts in calls.items():
        open_ranges: list[_Range] = []
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
                found[key] = open_ranges[-1].text
    return found


def _runs(
    columns: Mapping[str, list[object]],
    launches: Mapping[tuple[int, int], _Launch],
    marks: list[_Range],
    notes: list[Diagnostic],
) -> tuple[pd.DataFrame, list[object]]:
    """One run a mark, from its first activity to its last, and each activity's run.

    Activities belong to the mark that was open when they were launched: the device works behind
    the host, so the mark's own times say little about it.
    """
    begins, lasts = [mark.start for mark in marks], [mark.end - 1 for mark in marks]
    labels: list[object] = []
    first, last = list(begins), [mark.end for mark in marks]
    seen: set[int] = set()
    for process, correlation, start, dur in zip(
        columns["process"], columns["correlation"], columns["start_ns"], columns["dur_ns"],
        strict=True,
    ):  # fmt: skip
        launch = launches.get((process, correlation))  # type: ignore[arg-type]
        run = span_at(begins, lasts, launch.start if launch is not None else start)
        if run is not None and process not in (None, marks[run].process):
            run = None
        labels.append(run)
        if run is not None and isinstance(start, int) and isinstance(dur, int) and dur >= 0:
            first[run] = min(first[run], start) if run in seen else start
            last[run] = max(last[run], start + dur) if run in seen else start + dur
            seen.add(run)
    notes += noted("info", "outside_runs", sum(label is None for label in labels))
    kind = "step" if "step" in Counter(m.text.lower() for m in marks).most_common(1)[0][0] else ""
    lengths = [end - start for start, end in zip(first, last, strict=True)]
    return profiled_runs(kind or "iteration", first, lengths), labels


def _launch_calls(
    launches: Mapping[tuple[int, int], _Launch], marks: Sequence[_Range]
) -> list[LaunchCall]:
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


def _meta(name: str, database: Database, source: Source) -> Meta:
    facts: dict[str, str] = {}
    for table in ("TARGET_INFO_SYSTEM_ENV", "EXPORT_META_DATA", "META_DATA_EXPORT"):
        rows = database.read(table, "name", "value")
        for key, value in zip(rows.texts("name"), rows.texts("value"), strict=True):
            if key and value:
                facts[key] = clean_text(value, 200)
    private = {
        label: next(facts[key] for key in keys if key in facts)
        for label, keys in (
            ("host", ("Hostname", "EXPORT_HOST")),
            ("user", ("EXPORT_USER",)),
            ("path", ("EXPORT_INPUT_PATH_ABS", "EXPORT_INPUT_PATH")),
        )
        if any(key in facts for key in keys)
    }
    gpus = dict.fromkeys(
        name for name in database.read("TARGET_INFO_GPU", "name").texts("name") if name
    )
    return source.meta(
        name,
        "Nsight Systems",
        version=facts.get("EXPORT_PRODUCT_VERSION"),
        device=clean_text(", ".join(gpus), 120) or None,
        files=database.files,
        private=private,
        started_ns=next(iter(database.read(_SESSION, "utcEpochNs").integers("utcEpochNs")), None),
    )
