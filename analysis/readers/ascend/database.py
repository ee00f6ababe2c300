"""Ascend databases: ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db, msprof_*.db.

TASK holds what ran on the device, in ns; COMPUTE_TASK_INFO says which tasks are operators, and
TASK_PMU_INFO holds their counters, one a row. Names are numbers into STRING_IDS. Collectives stand
in COMMUNICATION_OP; their tasks, and waits and records of events, are not operators. Columns differ
by toolkit, viewers add some and rename tables, and times may be text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.job import MAX_RANKS, Job
from fusescope.analysis.messages import mark
from fusescope.analysis.readers.ascend.columns import (
    check_core_times,
    device_classes,
    message_text,
    plain_type,
    task_kind,
    tensor_text,
)
from fusescope.analysis.readers.ascend.host.tables import host_of_database
from fusescope.analysis.readers.ascend.host.threads import AscendHost
from fusescope.analysis.readers.ascend.host.waits import HostSpans, Wait, wait_calls
from fusescope.analysis.readers.ascend.pmu import Task, counters
from fusescope.analysis.readers.ascend.ranks import FACTS, job_of_facts, joined, rank_of_name
from fusescope.analysis.readers.building.coded import Coded, Whole
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.host.wait_calls import host_waits
from fusescope.analysis.readers.building.iterations import (
    before_file_notes,
    launched_before,
    profiled_runs,
    span_at,
)
from fusescope.analysis.readers.building.numbering import Numbered
from fusescope.analysis.readers.building.processes import devices_of, rows_of, taken_apart
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.sqlite import (
    Database,
    Table,
    integer,
    open_database,
    schema_names,
)
from fusescope.analysis.readers.input.sqlite_wal import is_of_database
from fusescope.analysis.readers.reader import ALWAYS, Declined, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Meta, Trace, noted

_SIGNS = (b"COMPUTE_TASK_INFO", b"TASK_PMU_INFO", b"COMMUNICATION_OP", b"globalTaskId")
# Tables of Nsight Systems and of rocpd.
_FOREIGN = (
    b"CUPTI_ACTIVITY_KIND_", b"StringIds", b"TARGET_INFO_", b"EXPORT_META_DATA", b"rocpd_",
)  # fmt: skip
_RENAMED = re.compile(r"_COMPUTE_TASK_INFO_old_\d+")
_OPERATOR_API = 50001  # ENUM_API_TYPE: an operator of the framework
_BLOCKS, _MIX_BLOCKS = ("blockDim", "blockNum"), ("mixBlockDim", "mixBlockNum")
_KERNEL = re.compile(r"(KERNEL_)?(AI_?(CORE|CPU|VEC|VECTOR_CORE)|AIV|MIX_AI[CV])\b|DSA", re.ASCII)
_SCOPED = re.compile(r"(?:Default|Gradients|recompute_Default)/.*-op\d")  # of MindSpore graphs
_VERSIONS = ("torch_npu_version", "cann_version", "CANN_VERSION", "mindspore_version")


def _sniff(head: bytes) -> bool:
    """An SQLite database with Ascend's tables, or one whose tables are not in its head.

    These profilers write the schema after the data, so the head often names no table.
    """
    return schema_names(head, _SIGNS, _FOREIGN) is not False


def _read(source: Source) -> Trace:
    """The trace; every step of STEP_TIME is a run."""
    with open_database(source) as database:
        if not database.has("TASK") and not database.has("COMMUNICATION_OP"):
            if not database.names:
                raise FuseScopeError("database_without_tables", where=source.name)
            raise Declined("database_of_nobody", where=source.name)
        rows = _Rows(database)
        rows.add_operators()
        rows.add_collectives()
        if not rows.columns["name"]:
            raise FuseScopeError("ascend_database_empty", where=source.name)
        runs, labels = rows.steps()
        if runs is not None:
            rows.columns["run"] = labels
        rows.columns["op_class"] = device_classes(rows.columns)
        waits = rows.waits()
        threads = rows.host()
        meta = _meta(ASCEND_DATABASE.name, database, source, rows.columns["name"])

    source_rows = np.array(rows.columns["source_row"], dtype="int64")
    host, left = threads.activity(source_rows, source.limits) if threads else (None, [])
    stacks = threads.stacks(source_rows, source.limits) if threads else None

    def build(at: Sequence[int]) -> Trace:
        trace = build_trace(
            meta,
            rows_of(rows.columns, at),
            runs=runs,
            notes=[*database.notes, *rows.notes, *left],
            limits=source.limits,
        )
        known = None if waits is None else host_waits(waits, source.limits)
        return replace(trace, host=host, host_waits=known, stacks=stacks)

    return taken_apart(devices_of(rows.columns["device"]), build)


ASCEND_DATABASE = Reader(
    name="ascend_db",
    title=mark("Ascend profiler database (SQLite)"),
    fields={
        **dict.fromkeys(("start", "stream", "communication"), ALWAYS),
        "runs": mark("Record with a schedule and call prof.step() after each step."),
        **dict.fromkeys(
            ("types", "shapes", "dtypes", "flops", "sizes"), mark("Record with Level1 or Level2.")
        ),
        "counters": mark("Record with Level1 and aic_metrics=PipeUtilization."),
    },
    recording=(
        "`torch_npu.profiler._ExperimentalConfig(export_type=torch_npu.profiler.ExportType.Db, "
        "profiler_level=torch_npu.profiler.ProfilerLevel.Level1, "
        "aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization)`; MindSpore: the same names "
        "in `mindspore.profiler`, and `AicoreMetrics` in place of `AiCMetrics`; without a "
        "framework: `msprof --type=db --task-time=l1 "
        "--aic-metrics=PipeUtilization <command>`."
    ),
    covers=("ascend_trace_view", "msprof_task_time", "msprof_timeline", "ascend_op_statistic"),
    sniff=_sniff,
    read=_read,
    takes=is_of_database,
)


@dataclass
class _Operator:
    """A row of COMPUTE_TASK_INFO, its names looked up."""

    name: str | None
    op_type: str | None
    core: str | None
    inputs: str
    outputs: str
    blocks: int | None = None
    mix_blocks: int | None = None


@dataclass
class _Rows:
    """Collects the columns of a trace out of the tables of one database."""

    database: Database
    columns: Columns = field(default_factory=lambda: Columns("name", "dur_ns", "device"))
    notes: list[Diagnostic] = field(default_factory=list)
    strings: dict[int, str] = field(default_factory=dict)
    _connections: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.strings = self.database.strings("STRING_IDS")

    def add_operators(self) -> None:
        """Tasks that COMPUTE_TASK_INFO describes, with their counters."""
        task = self.database.read(
            "TASK", "startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType",
            "streamId",
        )  # fmt: skip
        described = self._described()
        collective = set(
            self.database.read("COMMUNICATION_TASK_INFO", "globalTaskId").cells("globalTaskId")
        )
        ids, kinds = task.cells("globalTaskId"), self._texts(task, "taskType")
        starts, ends = task.integers("startNs"), task.integers("endNs")
        devices, streams = task.texts("deviceId"), task.texts("streamId")
        connections = task.integers("connectionId")
        launchers = self._launchers()
        kept: list[Task] = []
        other: list[str] = []
        parts = 0
        for row, (task_id, kind) in enumerate(zip(ids, kinds, strict=True)):
            operator = described.get(task_id)
            if operator is None and task_id in collective:
                parts += 1
                continue
            if operator is None and (described or kind is None or not _KERNEL.match(kind)):
                other.append(kind or "?")
                continue
            operator = operator or _Operator(kind, None, kind, "", "")
            core = operator.core or kind
            start, end, connection = starts[row], ends[row], connections[row]
            self.columns.add(
                name=operator.name or operator.op_type or core or "unnamed",
                op_type=operator.op_type,
                provider=core,
                level="device_kernel",
                launched_by=launchers.get(connection),
                inputs=operator.inputs,
                outputs=operator.outputs,
                is_communication=task_kind(core, operator.op_type, operator.name)
                == "communication",
                device=devices[row],
                stream=streams[row],
                start_ns=start,
                dur_ns=_duration(start, end),
                source_row=row + 1,
                block_dim=operator.blocks,
                mix_block_dim=operator.mix_blocks,
            )
            self._connections.append(connection)
            kept.append(Task(task_id, start, end))
        self.notes += noted("info", "not_operators", other, chars=80)
        self.notes += noted("info", "communication_tasks", parts)
        if kept and not described:
            self.notes.append(Diagnostic("warning", "operators_unnamed", len(kept)))
        self.columns.update(counters(self.database, self._texts, kept, self.notes))
        check_core_times(self.columns, self.notes)

    def add_collectives(self) -> None:
        """Whole collectives; their parts on the device are tasks of their own."""
        table = self.database.read(
            "COMMUNICATION_OP", "opName", "startNs", "endNs", "connectionId", "opType",
            "dataType", "count", "deviceId",
        )  # fmt: skip
        dtypes = self.database.strings("ENUM_HCCL_DATA_TYPE", "id", "name")
        starts, ends = table.integers("startNs"), table.integers("endNs")
        names, types = self._texts(table, "opName"), self._texts(table, "opType")
        devices = table.texts("deviceId")
        device = next((value for value in self.columns["device"] if value), None)
        connections = table.integers("connectionId")
        counts, kinds = table.integers("count"), table.integers("dataType")
        # Rows are counted through both tables: each call has one of its own.
        before = len(self.database.read("TASK", "startNs"))
        for row, name in enumerate(names):
            kind = dtypes.get(kinds[row] or 0) if kinds[row] is not None else None
            op_type = (types[row] or "").rstrip("_") or None
            self.columns.add(
                name=name or op_type or "communication",
                op_type=op_type,
                provider="COMMUNICATION",
                level="device_kernel",
                inputs=message_text(str(counts[row]), str(kind)) or "",
                is_communication=True,
                device=devices[row] or device,
                start_ns=starts[row],
                dur_ns=_duration(starts[row], ends[row]),
                source_row=before + row + 1,
            )
            self._connections.append(connections[row])

    def steps(self) -> tuple[pd.DataFrame | None, list[object]]:
        """The runs of STEP_TIME, and each row's: that of its launch, else of its start."""
        table = self.database.read("STEP_TIME", "id", "startNs", "endNs")
        found = [
            (start, end, label)
            for label, start, end in zip(
                table.cells("id"), table.integers("startNs"), table.integers("endNs"), strict=True
            )
            if start is not None and end is not None and 0 <= end - start
        ]
        if len(found) < len(table):
            lost = len(table) - len(found)  # marks of steps, no executions
            self.notes.append(Diagnostic("warning", "bad_time", lost, "step", {"lost": 0}))
        if not found:
            return None, []
        found.sort(key=lambda step: (step[0], step[1]))
        begins = [start for start, _, _ in found]
        launched = self._launch_times()
        lasts = [end - 1 for _, end, _ in found]
        earlier = self._before_file(launched)
        labels: list[object] = [
            None if is_earlier else span_at(begins, lasts, launched.get(connection, start))
            for start, connection, is_earlier in zip(
                self.columns["start_ns"], self._connections, earlier.tolist(), strict=True
            )
        ]
        lengths = Whole.of(self.columns["dur_ns"])
        if lengths is not None:
            self.notes += before_file_notes(earlier, lengths.numbers)
        outside = sum(label is None for label in labels) - int(earlier.sum())
        self.notes += noted("info", "outside_runs", outside)
        return profiled_runs("step", begins, [end - start for start, end, _ in found]), labels

    def _before_file(self, launched: Mapping[int | None, int]) -> np.ndarray:
        """Return which tasks were launched before the file begins."""
        starts = Whole.of(self.columns["start_ns"])
        if starts is None:
            return np.zeros(len(self._connections), dtype=bool)
        streams = Coded.of(self.columns["stream"]).codes.astype("int64") + 1
        is_known = np.array([each in launched for each in self._connections], dtype=bool)
        found: np.ndarray = launched_before(streams, starts.numbers, is_known) & starts.known
        return found

    def host(self) -> AscendHost | None:
        """What the threads of the host did; None where the file holds nothing of it."""
        return host_of_database(self.database, self._texts, self._connections)

    def waits(self) -> list[Wait] | None:
        """Calls of AscendCL that waited for the device; None where the file holds no call to it."""
        threads = Numbered()
        calls = self._host_spans("CANN_API", threads)
        return wait_calls(calls, self._host_spans("PYTORCH_API", threads))

    def _host_spans(self, name: str, threads: Numbered) -> HostSpans:
        """The calls of a table that have a name, a start and an end."""
        table = self.database.read(name, "startNs", "endNs", "globalTid", "name")
        columns = (table.texts("globalTid"), self._texts(table, "name"))
        times = (table.integers("startNs"), table.integers("endNs"))
        found = [
            (thread or "", told, start, end - start)
            for thread, told, start, end in zip(*columns, *times, strict=True)
            if told is not None and start is not None and end is not None and end >= start
        ]
        starts, lengths = (np.array([span[at] for span in found], dtype="int64") for at in (2, 3))
        names = Coded.of(told for _, told, _, _ in found)
        of_threads = threads.of([thread for thread, *_ in found])
        return HostSpans(names, of_threads, starts, lengths, np.ones(len(found), dtype=bool))

    def _texts(self, table: Table, *names: str) -> list[str | None]:
        """A column of numbers into STRING_IDS; text stands for itself."""
        known = self.strings
        out: list[str | None] = []
        for cell in table.cells(*names):
            number = integer(cell)
            text = known.get(number) if number is not None else None
            if text is None and isinstance(cell, str):
                text = cell
            out.append(None if text is None or text in ("", "N/A", "NULL") else text)
        return out

    def _described(self) -> dict[object, _Operator]:
        """COMPUTE_TASK_INFO by task; where a viewer has renamed it, the newest that it left."""
        name = "COMPUTE_TASK_INFO"
        if not self.database.has(name):
            name = max(filter(_RENAMED.fullmatch, self.database.names), default=name)
        sides = [
            f"{side}{what}"
            for side in ("input", "output")
            for what in ("Shapes", "DataTypes", "Formats")
        ]
        table = self.database.read(
            name, "name", "globalTaskId", "taskType", "opType", *_BLOCKS, *_MIX_BLOCKS, *sides
        )
        tensors = list(zip(*(self._texts(table, column) for column in sides), strict=True))
        known: dict[tuple[str | None, ...], str] = {}
        for row in tensors:
            for cells in (row[:3], row[3:]):
                if cells not in known:
                    known[cells] = tensor_text(*cells)
        columns = (
            table.cells("globalTaskId"),
            self._texts(table, "name"),
            [kind and plain_type(kind) for kind in self._texts(table, "opType")],
            self._texts(table, "taskType"),
            tensors,
            table.integers(*_BLOCKS),
            table.integers(*_MIX_BLOCKS),
        )
        return {
            task: _Operator(name, op_type, core, known[row[:3]], known[row[3:]], *split)
            for task, name, op_type, core, row, *split in zip(*columns, strict=True)
            if task is not None
        }

    def _launchers(self) -> dict[int | None, str]:
        """The framework's operator behind each connection."""
        api = self.database.read("PYTORCH_API", "name", "connectionId", "type")
        names, keys, kinds = (
            self._texts(api, "name"),
            api.integers("connectionId"),
            api.cells("type"),
        )
        of_key = {
            key: name
            for name, key, kind in zip(names, keys, kinds, strict=True)
            if key is not None and name is not None and kind == _OPERATOR_API
        }
        links = self.database.read("CONNECTION_IDS", "id", "connectionId")
        pairs = zip(links.integers("id"), links.integers("connectionId"), strict=True)
        return {
            connection: of_key[key]
            for key, connection in pairs
            if key in of_key and connection is not None
        }

    def _launch_times(self) -> dict[int | None, int]:
        """When the host launched what stands behind each connection, in ns."""
        times: dict[int | None, int] = {}
        cann = self.database.read("CANN_API", "startNs", "connectionId")
        for start, key in zip(cann.integers("startNs"), cann.integers("connectionId"), strict=True):
            if start is not None and key is not None:
                times.setdefault(key, start)
        api = self.database.read("PYTORCH_API", "startNs", "connectionId")
        begins = zip(api.integers("connectionId"), api.integers("startNs"), strict=True)
        first: dict[int, int] = {}
        for key, start in begins:
            if key is not None and start is not None:
                first[key] = min(first.get(key, start), start)
        links = self.database.read("CONNECTION_IDS", "id", "connectionId")
        pairs = zip(links.integers("id"), links.integers("connectionId"), strict=True)
        for number, connection in pairs:
            if number in first and connection is not None:
                times[connection] = first[number]
        return times


def _duration(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start


def _tool(database: Database, facts: Mapping[str, str], names: Iterable[object]) -> str | None:
    """The profiler by what only it writes; None where the tables are those of all of them."""
    if database.has("PYTORCH_API") or "torch_npu_version" in facts:
        return "Ascend PyTorch Profiler"
    if "mindspore_version" in facts or any(_SCOPED.match(str(name)) for name in names):
        return "MindSpore Profiler"
    return None


def _tool_of_name(file_name: str) -> str:
    lower = file_name.lower()
    if "mindspore" in lower:
        return "MindSpore Profiler"
    return "Ascend PyTorch Profiler" if "pytorch" in lower else "msprof"


def _meta(name: str, database: Database, source: Source, names: Iterable[object]) -> Meta:
    facts = dict(_pairs(database, "META_DATA", "name", "value"))
    chips = [text for _, text in _pairs(database, "NPU_INFO", "id", "name")]
    hosts = [text for _, text in _pairs(database, "HOST_INFO", "hostUid", "hostName")]
    return source.meta(
        name,
        _tool(database, facts, names) or _tool_of_name(source.name),
        version=next((clean_text(facts[key], 40) for key in _VERSIONS if facts.get(key)), None),
        device=clean_text(", ".join(dict.fromkeys(chips)), 120) or None,
        files=database.files,
        private={"host": clean_text(hosts[0], 120)} if hosts else {},
        job=_job(database, facts, source),
    )


def _job(database: Database, facts: Mapping[str, str], source: Source) -> Job | None:
    """Return the rank of a database of one rank, else that in its name, and its groups."""
    ranks = {rank for rank in database.read("RANK_DEVICE_MAP", "rankId").integers("rankId")}
    rank = ranks.pop() if len(ranks) == 1 else None
    if rank is None or not 0 <= rank < MAX_RANKS:
        rank = rank_of_name(source.path)
    told = {name: facts[name].encode() for name in FACTS if name in facts}
    return joined(rank, None, job_of_facts(told))


def _pairs(database: Database, table: str, key: str, value: str) -> list[tuple[str, str]]:
    rows = database.read(table, key, value)
    return [
        (left or "", right)
        for left, right in zip(rows.texts(key), rows.texts(value), strict=True)
        if right is not None
    ]
