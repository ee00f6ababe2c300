"""Nsight Systems reports exported as SQLite (`nsys export --type sqlite`).

Kernels, copies and fills stand in tables of CUPTI's activities, in ns; names are numbers into
StringIds. The set of tables and columns varies with the version. The host's call that launched
an activity has its correlationId; the NVTX range around that call says what launched it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.readers.building.activities import Recorded
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.host.calls import HostCall, HostRange
from fusescope.analysis.readers.building.kernels import kernel_columns
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.sqlite import Database, Table, open_database, schema_names
from fusescope.analysis.readers.input.sqlite_wal import is_of_database
from fusescope.analysis.readers.reader import ALWAYS, Declined, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Meta, Trace, noted

_SIGNS = (b"CUPTI_ACTIVITY_KIND_", b"TARGET_INFO_", b"EXPORT_META_DATA", b"NVTX_EVENTS")
_FOREIGN = (b"rocpd_",)
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
_VERSION = re.compile(r"_v\d{1,6}$")  # cudaLaunchKernel_v7000
_PID = ~0xFFFFFF  # globalTid without its thread


def _sniff(head: bytes) -> bool:
    """An SQLite database with tables of Nsight Systems, or one whose head names no table."""
    return schema_names(head, _SIGNS, _FOREIGN) is not False


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
        ranges = _ranges(database, strings)
        meta = _meta(NSYS.name, database, source)
    recorded = Recorded(meta, columns, launches, ranges, notes, source.limits)
    return recorded.trace(_process_number, _thread_number)


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


def _activities(
    database: Database, strings: Mapping[int, str], notes: list[Diagnostic]
) -> dict[str, list[object]]:
    """Kernels, copies and fills as columns of a trace, with correlation, process and `number` of
    the device.

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
    for table, names in tables:
        starts, ends = table.integers("start"), table.integers("end")
        pids = table.integers("globalPid")
        rows, before = kernel_columns(names), len(columns["name"])
        if table is graphs:
            rows["op_type"] = ["CUDA graph"] * len(table)
        rows |= {
            "device": [
                None if number is None else devices.get(number, str(number))
                for number in table.integers("deviceId")
            ],
            "stream": list(table.texts("streamId")),
            "start_ns": list(starts),
            "dur_ns": [
                None if start is None or end is None else end - start
                for start, end in zip(starts, ends, strict=True)
            ],
            # Rows of all tables, one after the other, so that each number is there once.
            "source_row": list(range(before + 1, before + len(table) + 1)),
            "correlation": list(table.integers("correlationId")),
            "process": [None if pid is None else pid & _PID for pid in pids],
            "number": list(table.integers("deviceId")),
            "is_kernel": [table is kernels or table is graphs] * len(table),
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


def _launches(
    database: Database, strings: Mapping[int, str]
) -> dict[tuple[object, object], HostCall]:
    """(process, correlationId) -> the call that launched it."""
    calls = database.read(_RUNTIME, "start", "end", "globalTid", "correlationId", "nameId")
    found: dict[tuple[object, object], HostCall] = {}
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
            found[thread & _PID, correlation] = HostCall(start, thread, call, end)
    return found


def _process_number(process: object) -> str:
    """The number that the machine gave a process: the middle of its globalPid."""
    return str(int(str(process)) >> 24 & 0xFFFFFF)


def _thread_number(thread: object) -> str:
    """The number that the machine gave a thread: the end of its globalTid."""
    return str(int(str(thread)) & 0xFFFFFF)


def _ranges(database: Database, strings: Mapping[int, str]) -> list[HostRange]:
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
            found.append(HostRange(start, end, text, thread & _PID, own))
    return sorted(found, key=lambda r: (r.start, -r.end))


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
