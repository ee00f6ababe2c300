"""msprof: op_summary_*.csv, one row a task of the device, with the tables of its folder.

Long tables are cut into slices (op_summary_slice_0_*.csv), and older toolkits wrote one file an
iteration; both are put together again. fusion_op_*.csv names what a fused operator is made of,
l2_cache_*.csv its hit rate, step_trace_*.csv when each iteration ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from fusescope.analysis.messages import mark
from fusescope.analysis.operators.members import Members, fusion_ops, members_text
from fusescope.analysis.readers.ascend.beside import may_add, nearest_first, read_beside
from fusescope.analysis.readers.ascend.rows import AscendRows, ascend_rows
from fusescope.analysis.readers.building.coded import Coded
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.iterations import Span, iteration_runs, run_of
from fusescope.analysis.readers.building.processes import devices_of, rows_of, taken_apart
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.beside import Beside, headed
from fusescope.analysis.readers.input.csv_table import CsvTable, has_columns, read_csv
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.trace import Diagnostic, Trace, merged, noted

_TASK_LEVEL = mark("Record with --task-time=l1.")
_OF_A_TASK = ("Task Start Time", "Start Time", "Task Type", "Task Wait Time", "Task ID")
_HEADS = ("Op Name", ("Task Duration", "Duration"))
_BLOCKS = ("Block Dim", "Block Num")
_SLICE = re.compile(r"(op_summary)_slice_\d{1,9}_(\d+)\.csv")
_ITERATION = re.compile(r"op_summary_(\d+)_(\d+)_(\d{1,9})\.csv")
_MAX_PARTS = 10_000


def _sniff(head: bytes) -> bool:
    """A table with op_summary's own heads; kernel_details.csv calls them Name and Type.

    A table that was cut down to names and durations is one, too; with the number of blocks it
    is OpBasicInfo.csv of `msprof op`.
    """
    if has_columns(head, "Op Name", "Task Duration"):
        return has_columns(head, "Op Name", "Task Duration", _OF_A_TASK) or not has_columns(
            head, "Op Name", "Task Duration", _BLOCKS
        )
    return has_columns(head, "Op Name", "OP Type", "Task Type", "Duration")


def _tells_of_members(head: bytes) -> bool:
    return has_columns(head, "Fusion Op", "Original Ops")


def _tells_of_iterations(head: bytes) -> bool:
    return has_columns(head, "Iteration ID", "Iteration End", "Iteration Time")


def _read(source: Source) -> Trace:
    """The trace; steps, inference ids or iterations are runs where the files tell them."""
    tables = [(source, read_csv(source, *_HEADS))]
    notes: list[Diagnostic] = []
    others = Beside(source, notes)
    for part in _parts(others):
        table = others.load(part, lambda file: read_csv(file, *_HEADS))
        tables += [] if table is None else [(part, table)]
    parts = [ascend_rows(table) for _, table in tables]
    kind, labels = _labels(tables, parts)
    rows = _joined(parts)
    beside = read_beside(source, rows, _sniff)
    files = [part.path for part, _ in tables[1:]] + beside.files
    del tables, parts  # with all cells
    columns = {**rows.columns, **beside.columns, **_members(source, rows, files, notes)}
    runs: pd.DataFrame | None = None
    if labels is None:
        spans = _iterations(source, columns["start_ns"], files, notes)
        if spans:
            runs, labels = iteration_runs(spans), list(run_of(columns["start_ns"], spans))
    if labels is not None:
        columns["run"] = labels
        notes += noted("warning", "outside_runs", labels.count(None))
    version = beside.settings.get("cann")
    meta = source.meta(
        OP_SUMMARY.name,
        "msprof",
        version=str(version) if version is not None else None,
        files=dict.fromkeys(files),
        job=beside.job,
    )
    found = [*rows.notes, *notes, *beside.notes]

    def build(at: Sequence[int]) -> Trace:
        own = rows_of(columns, at)
        trace = build_trace(meta, own, runs=runs, run_kind=kind, notes=found, limits=source.limits)
        return replace(trace, memory=beside.memory, collectives=beside.collectives)

    return taken_apart(devices_of(columns["device"]), build)


def _parts(beside: Beside) -> list[Source]:
    """Other slices of the same table, or other iterations of the same device and model."""
    family = _family(beside.source)
    found = beside.those(_sniff) if family is not None else []
    return [other for other in found if _family(other) == family][:_MAX_PARTS]


OP_SUMMARY = Reader(
    name="ascend_op_summary",
    title=mark("msprof, op_summary_*.csv"),
    fields={
        **dict.fromkeys(("start", "communication"), ALWAYS),
        "runs": mark("Record in graph mode, and give the step_trace_*.csv as well."),
        **dict.fromkeys(("types", "shapes", "dtypes", "stream", "sizes"), _TASK_LEVEL),
        "memory": mark("Give the operator_memory_*.csv as well, else the memory_record_*.csv."),
        "flops": mark("Record with --task-time=l1 or --aic-metrics=ArithmeticUtilization."),
        "counters": mark("Record with --aic-metrics=PipeUtilization and --l2=on."),
        "members": mark("Record in graph mode, and give the fusion_op_*.csv as well."),
    },
    recording=(
        "`msprof --output=DIR --aic-metrics=PipeUtilization --task-time=l1 --l2=on ./application`, "
        "and give the whole `mindstudio_profiler_output` folder."
    ),
    covers=(
        "ascend_db",
        "ascend_trace_view",
        "msprof_timeline",
        "msprof_task_time",
        "ascend_op_statistic",
    ),
    sniff=_sniff,
    read=_read,
    takes=headed(_sniff, may_add, _tells_of_members, _tells_of_iterations),
)


def _family(source: Source) -> tuple[str, ...] | None:
    """What parts of one table share: folder, and time, or device and model, in the name."""
    folder, _, name = source.path.rpartition("/")
    name = name.removesuffix(".gz")
    if match := _SLICE.fullmatch(name):
        return (folder, "slices", match[2])
    if match := _ITERATION.fullmatch(name):
        return (folder, "iterations", match[1], match[2])
    return None


def _joined(parts: Sequence[AscendRows]) -> AscendRows:
    """The rows of all parts, one after the other; notes of one code as one."""
    if len(parts) == 1:
        return parts[0]
    columns = Columns()
    for part in parts:
        columns.extend(part.columns)
    return AscendRows(
        columns,
        [task for part in parts for task in part.tasks],
        [step for part in parts for step in part.steps],
        merged(note for part in parts for note in part.notes),
    )


def _labels(
    tables: Sequence[tuple[Source, CsvTable]], parts: Sequence[AscendRows]
) -> tuple[str, list[object] | None]:
    """The kind of runs and each row's run: its step, its inference, or its file's iteration."""
    if any(Coded.of(part.steps).present().values for part in parts):
        return "step", [step for part in parts for step in part.steps]
    inferences: list[object] = []
    if any(table.find("Infer ID") is not None for _, table in tables):
        for (_, table), part in zip(tables, parts, strict=True):
            of_row = dict(zip(table.rows, table.texts("Infer ID"), strict=True))
            inferences += [of_row.get(row) for row in part.columns["source_row"]]
    if any(label is not None for label in inferences):
        return "iteration", inferences
    if len(tables) > 1 and all(_iteration(source) for source, _ in tables):
        rows = zip(tables, parts, strict=True)
        return "iteration", [_iteration(s) for (s, _), part in rows for _ in part.tasks]
    return "iteration", None


def _iteration(source: Source) -> str | None:
    match = _ITERATION.fullmatch(source.path.rpartition("/")[2].removesuffix(".gz"))
    return match[3] if match else None


def _members(
    source: Source, rows: AscendRows, files: list[str], notes: list[Diagnostic]
) -> dict[str, list[object]]:
    """Columns of the original operators of fused ones, by the fusion_op tables that fit."""
    names = set(map(str, Coded.of(rows.columns["name"]).present().values))
    known: dict[str, Members] = {}
    unmatched: list[str] = []
    for other, _ in _beside(source, _tells_of_members, notes):
        listed = fusion_ops(utf8(other.content).decode("utf-8", errors="replace"))
        fused = {name: members for name, members in listed.items() if members.members != (name,)}
        if names.isdisjoint(fused):
            continue
        files.append(other.path)
        known.update({name: members for name, members in fused.items() if name in names})
        unmatched += [name for name in fused if name not in names]
    notes += noted("info", "companion_unmatched", unmatched, chars=80)
    if not known:
        return {}
    told = [known.get(str(name)) for name in rows.columns["name"]]
    return {
        "members": [members_text(members) if members else None for members in told],
        "members_source": [members.kind if members else None for members in told],
    }


def _iterations(
    source: Source, starts: Sequence[object], files: list[str], notes: list[Diagnostic]
) -> list[Span]:
    """Iterations out of step_trace_*.csv in which at least one of these tasks begins."""
    for other, table in _beside(source, _tells_of_iterations, notes):
        ends, times = table.ns("Iteration End"), table.ns("Iteration Time")
        lines = zip(table.texts("Iteration ID"), ends, times, strict=True)
        spans = [
            Span(label or "", end - dur, dur)
            for label, end, dur in lines
            if end is not None and dur is not None and dur >= 0
        ]
        spans.sort(key=lambda span: span.start_ns)
        if any(run is not None for run in run_of(starts, spans)):
            files.append(other.path)
            return spans
    return []


def _beside(
    source: Source, known: Callable[[bytes], bool], notes: list[Diagnostic]
) -> list[tuple[Source, CsvTable]]:
    """Tables whose head is `known` beside the file, those of its own folder first."""
    found = Beside(source, notes).each(known, read_csv)
    near = nearest_first(source)
    return sorted(found, key=lambda item: near(item[0]))
