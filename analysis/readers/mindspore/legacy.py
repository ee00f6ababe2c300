"""The MindSpore profiler before 2.4: tables in the folder `profiler/`, on Ascend and on GPU.

Units change from file to file: timelines in ms, means and totals in ms on Ascend and in µs on GPU,
step traces in ticks of 10 ns. Shares are 0..1 in some and 0..100 in others, and are not read: they
follow from the times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.readers.building.numbering import plain_id
from fusescope.analysis.readers.building.processes import devices_of, taken_apart
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.json_events import decode_events
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.readers.mindspore.beside import MindSporeBeside, contradiction
from fusescope.analysis.readers.mindspore.executions import (
    Executions,
    is_timeline,
    read_timeline,
    read_timestamps,
)
from fusescope.analysis.readers.mindspore.framework import (
    is_framework,
    operator_of,
    read_framework,
    text_of,
)
from fusescope.analysis.readers.mindspore.legacy_rows import Rows
from fusescope.analysis.readers.mindspore.steps import Step, is_step_trace, read_steps
from fusescope.analysis.readers.mindspore.tables import (
    KINDS,
    Kind,
    Table,
    is_ai_cpu,
    is_detail,
    read_ai_cpu,
    read_detail,
)
from fusescope.analysis.readers.reader import ALWAYS, Reader, anything
from fusescope.analysis.trace import Diagnostic, Trace, noted

_COMMUNICATION_PID = 10000
_PROVIDERS = {9000: "AI_CPU", _COMMUNICATION_PID: "HCCL", 11000: "CPU"}
_ROUNDING = 1e-4  # relative: means in these files are rounded
_GPU_STAMPS = re.compile(rb"(?m)^[^;\r\n]*;GpuOps;[ \t]*\d+,[-+.\deE]")
_MAX_ARGUMENTS_BYTES = 1024 * 1024
_DISPLAY = re.compile(rb'"args"\s*:\s*\{[^{}]{0,400}"fullname"\s*:\s*"')

_ASCEND: Mapping[str, str] = {
    **dict.fromkeys(("types", "shapes", "dtypes", "sizes"), ALWAYS),
    "flops": mark("Record with the aicore_metrics of ArithmeticUtilization."),
    "members": mark("Record with graph-kernel fusion on, and keep kernel_meta in the same folder."),
}
_RECORDING = (
    "`profiler = mindspore.Profiler(output_path=folder)`, train a few steps, "
    "`profiler.analyse()`, then give the folder `profiler/`. Better: MindSpore 2.4 or newer, whose "
    "`mindspore.profiler.profile` writes kernel_details.csv."
)


def _sniff(head: bytes) -> bool:
    """The head of the timeline, or lines of `name;GpuOps;start,duration …`."""
    return is_timeline(head) or _GPU_STAMPS.search(utf8(head)) is not None


def _read(source: Source) -> Trace:
    """Every execution; steps, AI CPU operators and communication from the files beside it."""
    beside = MindSporeBeside(source)
    if is_timeline(source.head):
        ran, notes = read_timeline(source)
        provider = "AI_CORE"
    else:
        ran, notes = read_timestamps(source, "GpuOps", "us")
        provider = "GPU"
    names = set(ran.name)
    framework = beside.first(is_framework, read_framework, lambda f: not names.isdisjoint(f))
    _check_means(beside, ran)
    rows = Rows(beside, framework or {})
    for index in range(len(ran.name)):
        rows.add(ran, index, provider)
    _add_ai_cpu(rows, beside, ran)
    steps = beside.first(is_step_trace, read_steps, lambda found: _fit(found, ran))
    runs = None
    if steps is not None:
        runs = rows.put_into(steps)
    return rows.trace(MINDSPORE_LEGACY.name, source, notes, runs=runs)


# `output_timeline_data_*.txt`, or `gpu_op_execute_timestamp_*.txt`: every execution.
MINDSPORE_LEGACY = Reader(
    name="mindspore_legacy",
    title=mark("MindSpore profiler before 2.4, output_timeline_data"),
    fields={
        **_ASCEND,
        **dict.fromkeys(("start", "stream", "runs"), ALWAYS),
        "communication": mark("Train on several devices."),
    },
    recording=_RECORDING,
    covers=("mindspore_legacy_display", "mindspore_legacy_summary"),
    sniff=_sniff,
    read=_read,
    takes=anything,
)


def _sniff_display(head: bytes) -> bool:
    """A JSON array whose events carry the operator's full name."""
    text = utf8(head).lstrip()
    return text.startswith(b"[") and _DISPLAY.search(text) is not None


def _read_display(source: Source) -> Trace:
    """Every execution; starts are relative to the first, in µs. Each device is a trace of its
    own."""
    events, notes = decode_events(source.content, _Event, source.name, source.limits)
    placed = [at for at, event in enumerate(events) if event.ph == "X"]
    devices = _devices([events[at] for at in placed])
    if len(set(devices) - {None}) < 2:
        return _display(source, list(enumerate(events)), notes)
    return taken_apart(
        devices_of(devices),
        lambda rows: _display(source, [(placed[at], events[placed[at]]) for at in rows], notes),
    )


def _devices(events: Sequence[_Event]) -> list[int | None]:
    """The device of each event, which the process of its operators is; None for what a core of the
    host or communication ran. What is no execution stands with the first."""
    pids = [_whole(plain_id(event.pid)) for event in events]
    known = {
        pid
        for pid, event in zip(pids, events, strict=True)
        if pid not in _PROVIDERS and isinstance(_arguments(event.args).get("fullname"), str)
    } - {None}
    first = min((pid for pid in known if pid is not None), default=None)
    return [pid if pid in known else None if pid in _PROVIDERS else first for pid in pids]


def _display(
    source: Source, events: Sequence[tuple[int, _Event]], told: Sequence[Diagnostic]
) -> Trace:
    """The trace of these events, each with its place in the file."""
    notes = list(told)
    rows = Rows(MindSporeBeside(source), {})
    ran = Executions()
    steps: list[Step] = []
    other = 0
    for row, event in events:
        if event.ph != "X":
            other += event.ph != "M"
            continue
        start, dur = exact_ns(event.ts, "us"), exact_ns(event.dur, "us")
        args = _arguments(event.args)
        name, lane = args.get("fullname"), text_of(event.tid)
        known = isinstance(name, str)
        if lane == "Steps" and start is not None and dur is not None and dur >= 0:
            steps.append(Step(start, start + dur, ()))
            continue
        pid = _whole(plain_id(event.pid))
        if not known and (pid not in _PROVIDERS or not lane.isdigit()):
            other += 1
            continue
        text = name if isinstance(name, str) else text_of(event.name)
        ran.add(text, start, dur, f"stream {lane}"[:40], row)
        if known:
            rows.framework.setdefault(text, operator_of(text_of(args.get("type")), args))
        rows.add(
            ran,
            len(ran.name) - 1,
            _PROVIDERS.get(pid or 0, "AI_CORE"),
            communication=pid == _COMMUNICATION_PID,
        )
    notes += noted("info", "other_events", other)
    runs = rows.put_into(sorted(set(steps), key=lambda s: s.start_ns)) if _fit(steps, ran) else None
    return rows.trace(MINDSPORE_LEGACY_DISPLAY.name, source, notes, runs=runs)


# `ascend_timeline_display_*.json` and `timeline_display_*.json`.
MINDSPORE_LEGACY_DISPLAY = Reader(
    name="mindspore_legacy_display",
    title=mark("MindSpore profiler before 2.4, timeline_display"),
    fields={
        **_ASCEND,
        **dict.fromkeys(("start", "stream", "runs"), ALWAYS),
        "communication": mark("Train on several devices."),
    },
    recording=_RECORDING,
    covers=("mindspore_legacy_summary",),
    sniff=_sniff_display,
    read=_read_display,
    takes=anything,
)


def _sniff_summary(head: bytes) -> bool:
    """The head of one of the tables."""
    return any(kind.known(head) for kind in KINDS)


def _read_summary(source: Source) -> Trace:
    """One call an operator, for all its executions or the mean one."""
    kind = next((kind for kind in KINDS if kind.known(source.head)), None)
    if kind is None:
        raise FuseScopeError("operator_times_missing", where=source.name)
    table = kind.read(source)
    beside = MindSporeBeside(source)
    names = set(table.name)
    framework = beside.first(is_framework, read_framework, lambda f: not names.isdisjoint(f))
    rows = Rows(beside, framework or {})
    for index in range(len(table.name)):
        rows.add_total(table, index)
    for other in KINDS:
        _take(other, source, beside, rows)
    notes = list(table.notes)
    if table.averaged:
        rows.columns["run"] = [0] * len(table.name)
        notes.append(Diagnostic("info", "means_only"))
    return rows.trace(MINDSPORE_LEGACY_SUMMARY.name, source, notes)


def _take(kind: Kind, source: Source, beside: MindSporeBeside, rows: Rows) -> None:
    """Other tables of the recording say the same, or rest on another clock: only noted."""
    for other in beside.those(kind.known):
        if other is source or other.path in beside.files:
            continue
        table = beside.load(other, kind.read)
        if table is None:
            continue
        own = {*rows.columns["name"], *rows.columns["op_type"]}
        told = {*table.name, *(t for t in table.op_type if t)}
        if own.isdisjoint(told) and kind.known is is_ai_cpu:
            beside.notes.append(
                Diagnostic("info", "companion_unmatched", len(table.name), other.name)
            )
        beside.files.append(other.path)


# Means and totals: `aicore_intermediate_*`, `output_op_compute_time_*`, `gpu_*_info`, …
MINDSPORE_LEGACY_SUMMARY = Reader(
    name="mindspore_legacy_summary",
    title=mark("MindSpore profiler before 2.4, aicore_intermediate and other totals"),
    fields=_ASCEND,
    recording=_RECORDING,
    sniff=_sniff_summary,
    read=_read_summary,
    takes=anything,
)


_Cell = str | int | float | bool | None


class _Event(msgspec.Struct, gc=False):
    ph: _Cell = ""
    name: _Cell = ""
    pid: _Cell = None
    tid: _Cell = None
    ts: msgspec.Raw = msgspec.Raw(b"null")
    dur: msgspec.Raw = msgspec.Raw(b"null")
    args: msgspec.Raw = msgspec.Raw(b"null")


def _arguments(raw: msgspec.Raw) -> dict[str, object]:
    """Name -> value, of one event; none where they are not arguments or longer than any are."""
    if len(memoryview(raw)) > _MAX_ARGUMENTS_BYTES:
        return {}
    return decode(raw, dict[str, object], {})


def _check_means(beside: MindSporeBeside, ran: Executions) -> None:
    """Reads the means of operators beside a timeline, only to see whether they agree."""
    sums: dict[str, tuple[int, int]] = {}
    for name, dur in zip(ran.name, ran.dur_ns, strict=True):
        if dur is not None and dur >= 0:
            count, total = sums.get(name, (0, 0))
            sums[name] = (count + 1, total + dur)
    table = beside.first(is_detail, read_detail, lambda t: not sums.keys().isdisjoint(t.name))
    if table is None:
        return
    told: dict[str, tuple[int | None, int | None]] = {}
    for name, time, n in zip(table.name, table.dur_ns, table.n, strict=True):
        if time is not None and name in sums:
            told[name] = (None, time * sums[name][0] // (n or 1))
    where = beside.files[-1].rsplit("/", 1)[-1]
    beside.notes += contradiction(told, sums, where, _ROUNDING)


def _add_ai_cpu(rows: Rows, beside: MindSporeBeside, ran: Executions) -> None:
    """AI CPU operators have no row in the timeline; their clock is the same."""
    known = [start for start in ran.start_ns if start is not None]
    first, last = (min(known), max(known)) if known else (1, 0)

    def fits(table: Table) -> bool:
        return any(
            start is not None and dur is not None and first <= start + dur <= last
            for start, dur in zip(table.start_ns, table.dur_ns, strict=True)
        )

    table = beside.first(is_ai_cpu, read_ai_cpu, fits)
    if table is not None:
        for index in range(len(table.name)):
            rows.add_total(table, index)


def _fit(steps: Sequence[Step], ran: Executions) -> bool:
    """True when most executions start within the time of the steps."""
    starts = [s for s, dur in zip(ran.start_ns, ran.dur_ns, strict=True) if dur is not None]
    if not steps or not starts:
        return False
    first, last = steps[0].start_ns, max(step.end_ns for step in steps)
    return 2 * sum(s is not None and first <= s <= last for s in starts) >= len(starts)


def _whole(value: object) -> int | None:
    return value if type(value) is int else None
