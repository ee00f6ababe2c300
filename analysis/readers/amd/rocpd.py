"""rocpd databases (SQLite), which rocprofv3, rocprof-sys and rocprof-compute of ROCm 7 write.

Kernels, copies, calls of HIP, markers and counters stand in tables of their own; times are ns. A
kernel and the call that launched it have the same number of a call stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.readers.amd.rocpd_tables import (
    COPIES,
    DISPATCHES,
    REGIONS,
    Rows,
    Tables,
    suffixes,
    told_in,
)
from fusescope.analysis.readers.amd.rows import (
    MAX_COUNTERS,
    agent_name,
    copy_name,
    durations,
    kernel_name,
)
from fusescope.analysis.readers.building.activities import Recorded
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.host.calls import HostCall, HostRange, Key
from fusescope.analysis.readers.building.kernels import kernel_columns
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.sqlite import Database, open_database, schema_names
from fusescope.analysis.readers.input.sqlite_wal import is_of_database
from fusescope.analysis.readers.reader import ALWAYS, Declined, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, Diagnostic, Trace, noted

_SIGNS = (b"rocpd_",)
_FOREIGN = (b"CUPTI_ACTIVITY_KIND_", b"TARGET_INFO_", b"COMPUTE_TASK_INFO")
_MARKER_CALLS = ("roctx", "rocprofiler")


def _sniff(head: bytes) -> bool:
    """An SQLite database with tables of rocpd, or one whose head names no table."""
    return schema_names(head, _SIGNS, _FOREIGN) is not False


def _read(source: Source) -> Trace:
    """The trace; markers that number steps or iterations are its runs."""
    with open_database(source) as database:
        sets = suffixes(database)
        if not sets:
            raise Declined("not_rocpd_database", where=source.name)
        read = _Read(source)
        for suffix in sets:
            read.add(Tables(database, suffix), several=len(sets) > 1)
        return read.recorded(database).trace(thread_name=_thread_number)


ROCPD = Reader(
    name="rocpd",
    title=mark("rocpd database (rocprofv3, rocprof-sys, rocprof-compute)"),
    fields={
        **dict.fromkeys(("start", "stream", "types", "communication"), ALWAYS),
        "runs": mark(
            "Record with `--marker-trace`, with a roctx range named 'iteration 0', "
            "'iteration 1', … around each run."
        ),
        "counters": mark("Record with `--pmc SQ_WAVES FETCH_SIZE`."),
        "members": mark("Compile with torch.compile: inductor names its kernels by their members."),
    },
    recording=(
        "`rocprofv3 --kernel-trace --memory-copy-trace --hip-trace --marker-trace --output-format "
        'rocpd -- <command>`; mark each run with `roctxRangePush("iteration 0")` and '
        "`roctxRangePop()`; for counters in a second run `--pmc <names>`."
    ),
    covers=("rocprof", "rocprof_stats"),
    sniff=_sniff,
    read=_read,
    takes=is_of_database,
)


class _Read:
    """What was read of the sets of tables of one database."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._columns = Columns("name", "process", "correlation", "number", "is_kernel")
        self._calls: dict[Key, HostCall] = {}
        self._ranges: list[HostRange] = []
        self._notes: list[Diagnostic] = []
        self._hosts: dict[str, None] = {}
        self._products: dict[str, str] = {}

    def add(self, tables: Tables, *, several: bool) -> None:
        """The records of one set of tables; `several` are told apart where processes are alike."""
        known = set(map(str, self._columns["process"])) if several else set()
        own = {
            number: _process(pid if pid is not None else number, known)
            for number, pid in tables.processes.items()
        }
        agents = self._agents(tables)
        self._add_dispatches(tables, own, agents)
        self._add_copies(tables, own, agents)
        self._add_regions(tables, own)
        self._hosts.update(
            dict.fromkeys(
                filter(None, tables.read("rocpd_info_node", "hostname").texts("hostname"))
            )
        )

    def recorded(self, database: Database) -> Recorded:
        """All of it. Raises FuseScopeError where nothing ran on a device."""
        if not self._columns["name"]:
            raise FuseScopeError("rocprof_empty", where=self._source.name)
        hosts = ", ".join(self._hosts)
        meta = self._source.meta(
            ROCPD.name,
            "ROCm profiler (rocpd)",
            device=clean_text(", ".join(dict.fromkeys(self._products.values())), 120) or None,
            files=database.files,
            private={"host": clean_text(hosts, 120)} if hosts else {},
        )
        ranges = sorted(self._ranges, key=lambda one: (one.start, -one.end))
        notes = (*database.notes, *self._notes)
        limits = self._source.limits
        return Recorded(meta, self._columns, self._calls, ranges, notes, limits)

    def _agents(self, tables: Tables) -> dict[object, str]:
        """Names of agents by their id, as rocprofv3's tables write them; products of GPUs."""
        table = tables.read(
            "rocpd_info_agent", "id", "type", "absolute_index", "product_name", "name"
        )
        found: dict[object, str] = {}
        for number, kind, index, *products in zip(
            table.integers("id"),
            table.texts("type"),
            table.integers("absolute_index"),
            table.texts("product_name"),
            table.texts("name"),
            strict=True,
        ):
            name = agent_name(str(index if index is not None else number)) or ""
            found[number] = name
            product = next(filter(None, products), None)
            if kind == "GPU" and product:
                self._products[name] = clean_text(product, 80)
        return found

    def _add_dispatches(
        self, tables: Tables, processes: Mapping[object, object], agents: Mapping[object, str]
    ) -> None:
        rows = Rows(tables, DISPATCHES, "kernel_id", "dispatch_id")
        symbols = _symbols(tables)
        names = [
            symbols.get(number) or f"kernel {number}" for number in rows.table.integers("kernel_id")
        ]
        counters = self._counters(tables, rows)
        self._add(rows, names, "agent_id", "queue_id", processes, agents, True, counters)

    def _add_copies(
        self, tables: Tables, processes: Mapping[object, object], agents: Mapping[object, str]
    ) -> None:
        rows = Rows(tables, COPIES, "name_id", "size", "dst_agent_id")
        names = [copy_name(name) for name in tables.names(rows.table.integers("name_id"))]
        more = {"bytes": rows.table.integers("size")}
        self._add(rows, names, "dst_agent_id", "stream_id", processes, agents, False, more)

    def _add(
        self,
        rows: Rows,
        names: Sequence[str],
        agent: str,
        stream: str,
        processes: Mapping[object, object],
        agents: Mapping[object, str],
        is_kernel: bool,
        more: Mapping[str, Sequence[object]],
    ) -> None:
        numbers = rows.place(agent)
        before = len(self._columns["name"])
        known = before + len(rows)
        self._source.limits.check_events(known, "more_events_than_limit", self._source.name)
        self._columns.extend(
            {
                **kernel_columns(names),
                **more,
                "process": [processes.get(number, number) for number in rows.place("pid")],
                "correlation": [event.stack for event in rows.events()],
                "number": numbers,
                "is_kernel": [is_kernel] * len(rows),
                "device": [
                    None if number is None else agents.get(number) or agent_name(str(number))
                    for number in numbers
                ],
                "stream": [None if one is None else str(one) for one in rows.place(stream)],
                "start_ns": rows.starts,
                "dur_ns": durations(rows.starts, rows.ends),
                # Rows of all tables, one after the other, so that each number is there once.
                "source_row": list(range(before + 1, before + len(rows) + 1)),
            }
        )

    def _counters(self, tables: Tables, rows: Rows) -> dict[str, Sequence[object]]:
        """Counters of dispatches by the names of their columns: sums over units of the device."""
        values = tables.read("rocpd_pmc_event", "event_id", "pmc_id", "value")
        if not len(values):
            return {}
        info = tables.read("rocpd_info_pmc", "id", "name", "symbol")
        pairs = zip(info.texts("name"), info.texts("symbol"), strict=True)
        names = dict(zip(info.integers("id"), (a or b or "" for a, b in pairs), strict=True))
        places = {event: at for at, event in enumerate(rows.table.integers("event_id"))}
        places.pop(None, None)
        found: dict[str, list[object]] = {}
        beyond: list[str] = []
        for event, number, value in zip(
            values.integers("event_id"),
            values.integers("pmc_id"),
            values.numbers("value"),
            strict=True,
        ):
            at, name = places.get(event), names.get(number) or ""
            if at is None or value is None or not name:
                continue
            if name in OPERATOR_COLUMNS or name in CALL_COLUMNS:
                continue
            if name not in found and len(found) >= MAX_COUNTERS:
                beyond.append(name)
                continue
            column = found.setdefault(name, [None] * len(rows))
            before = column[at]
            column[at] = value + before if isinstance(before, float) else value
        self._notes += noted("warning", "counters_beyond", beyond, chars=80)
        return dict(found)

    def _add_regions(self, tables: Tables, processes: Mapping[object, object]) -> None:
        """Calls of the host, by the stack that kernels name, and ranges that the program marked."""
        rows = Rows(tables, REGIONS, "name_id")
        for name, event, pid, thread, start, end in zip(
            tables.names(rows.table.integers("name_id")),
            rows.events(),
            rows.place("pid"),
            rows.place("tid"),
            rows.starts,
            rows.ends,
            strict=True,
        ):
            if start is None or not name:
                continue
            process = processes.get(pid, pid)
            whole = end if end is not None and end >= start else None
            lane = (process, thread)
            if "MARKER" in event.category.upper() or name.startswith(_MARKER_CALLS):
                text = event.message or ("" if name.startswith(_MARKER_CALLS) else name)
                if text and whole is not None:
                    self._ranges.append(HostRange(start, whole, text, process, lane))
            elif event.stack is not None:
                known = self._calls.get((process, event.stack))
                if known is None or not (known.name or "").startswith("hip"):
                    call = HostCall(start, lane, name, whole)
                    self._calls[process, event.stack] = call


def _thread_number(lane: object) -> str:
    """The thread of a lane, which is a process and a thread."""
    return str(lane[1]) if isinstance(lane, tuple) else str(lane)


def _process(number: object, known: Iterable[str]) -> object:
    """The process's number, told apart from that of another set of tables."""
    taken = set(known)
    if str(number) not in taken:
        return number
    return next(text for n in range(2, len(taken) + 3) if (text := f"{number}#{n}") not in taken)


def _symbols(tables: Tables) -> dict[object, str]:
    """Names of kernels by their id: demangled where the database has it."""
    table = tables.read("rocpd_info_kernel_symbol", "id", "display_name", "kernel_name", "extdata")
    found: dict[object, str] = {}
    for number, shown, mangled, extdata in zip(
        table.integers("id"),
        table.texts("display_name"),
        table.texts("kernel_name"),
        table.texts("extdata"),
        strict=True,
    ):
        told = told_in(extdata)
        names = chain((told.formatted_kernel_name, told.demangled_kernel_name), (shown, mangled))
        name = next((text for text in names if isinstance(text, str) and text), "")
        found[number] = kernel_name(name)
    return found
