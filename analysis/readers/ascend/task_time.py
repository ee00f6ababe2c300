"""msprof: task_time_*.csv, one row a task of the device with its begin and end.

It is what --task-time=l0 records: names and times, no types, shapes or counters. Copies, events and
the profiler's own tasks are counted as no operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis.messages import Message, mark
from fusescope.analysis.readers.ascend.columns import device_classes
from fusescope.analysis.readers.ascend.lanes import device_task
from fusescope.analysis.readers.building.processes import devices_of, rows_of, taken_apart
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.csv_table import has_columns, read_csv
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Trace, noted

_HEADS = ("kernel_name", "kernel_type", "task_time")
_NOISE_NS = 1  # begin and end are rounded one by one


def _sniff(head: bytes) -> bool:
    """A table with task_time's own heads."""
    return has_columns(head, *_HEADS)


def _read(source: Source) -> Trace:
    """The trace of tasks that a core executed, the whole file as one run; of several devices each
    is a trace of its own."""
    table = read_csv(source)
    types = table.texts("kernel_type")
    names = [
        name or kind or "unnamed"
        for name, kind in zip(table.texts("kernel_name"), types, strict=True)
    ]
    kinds = [device_task(kind) if kind else "operator" for kind in types]
    rows: dict[str, list[object]] = {
        "name": list(names),
        "provider": list(types),
        "level": ["device_kernel"] * len(names),
        "is_communication": [kind == "communication" for kind in kinds],
        "device": list(table.texts("Device_id")),
        "stream": list(table.texts("stream_id")),
        "start_ns": list(table.times("task_start")),
        "dur_ns": list(table.times("task_time", named=True)),
        "source_row": list(table.rows),
    }
    notes = list(table.notes)
    _check_stops(rows, table.times("task_stop"), notes)
    control = [index for index, kind in enumerate(kinds) if kind == "control"]
    if control:
        notes += noted("info", "not_operators", [types[p] or "" for p in control], chars=80)
        kept = [index for index, kind in enumerate(kinds) if kind != "control"]
        rows = {name: [values[index] for index in kept] for name, values in rows.items()}
    rows["op_class"] = device_classes({"op_type": [None] * len(rows["name"]), **rows})
    meta = source.meta(TASK_TIME.name, "msprof")
    return taken_apart(
        devices_of(rows["device"]),
        lambda at: build_trace(meta, rows_of(rows, at), notes=notes, limits=source.limits),
    )


TASK_TIME = Reader(
    name="msprof_task_time",
    title=mark("msprof, task_time_*.csv"),
    fields={
        **dict.fromkeys(("start", "stream"), ALWAYS),
        "communication": mark("Record with several devices."),
    },
    recording=(
        "`msprof --output=DIR --task-time=l1 --aic-metrics=PipeUtilization ./application`, and "
        "give the whole `mindstudio_profiler_output` folder; its op_summary_*.csv says more."
    ),
    covers=("ascend_op_statistic",),
    sniff=_sniff,
    read=_read,
)


_OFF = Message("{name:name}: task_time is off by {off:duration}")


def _check_stops(
    rows: Mapping[str, Sequence[object]], stops: Sequence[object], notes: list[Diagnostic]
) -> None:
    """A note where begin, end and time of a task disagree."""
    wrong = []
    for name, start, dur, stop in zip(
        rows["name"], rows["start_ns"], rows["dur_ns"], stops, strict=True
    ):
        if isinstance(start, int) and isinstance(dur, int) and isinstance(stop, int):
            off = stop - start - dur
            if abs(off) > _NOISE_NS:
                wrong.append(_OFF.of(name=clean_text(str(name), 80), off=abs(off)))
    notes += noted("warning", "contradiction", wrong)
