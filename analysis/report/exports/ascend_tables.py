"""Any Trace in the tables of the Ascend profilers: kernel_details, op_statistic, step_trace_time.

`analysis.readers.ascend.kernel_details` reads them back as they were: times to the ns, steps,
names, types, core types, shapes, dtypes, counters, communication. What the columns have no place
for (FLOPs that were not counted, members, runs without a profile) is said in the diagnostics.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.compare.side import check_whole
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.metrics.spans import union_ns
from fusescope.analysis.operators import flops
from fusescope.analysis.readers.ascend.columns import (
    BLOCKS,
    COUNTED,
    guarded,
    may_be_counter,
    task_kind,
)
from fusescope.analysis.trace import CALL_COLUMNS, Diagnostic, DiagnosticCode, Trace

FILES = ("kernel_details.csv", "op_statistic.csv", "step_trace_time.csv")
MISSING = "N/A"
COMMUNICATION = "COMMUNICATION"
_SOME_CORE = "OTHER"
_DTYPES = {
    "float32": "FLOAT", "bfloat16": "DT_BF16", "float64": "DOUBLE", "?": "UNDEFINED",
}  # fmt: skip
_PERCENT = ("cube_utilization",)
_OF_NO_KERNEL = (3, 5, 6)  # of a step's times: Communication, Stage, Bubble
_TENSOR = re.compile(r"(.*?)\[(.*?)\](?::(.*))?", re.DOTALL)


@dataclass(frozen=True)
class AscendTables:
    """The bytes of each of FILES, and what of the trace is not in them."""

    files: dict[str, bytes]
    diagnostics: tuple[Diagnostic, ...]


def ascend_tables(trace: Trace) -> AscendTables:
    """The three tables of `trace`, UTF-8 without a mark at the start, one line a row.

    An entry that stands for k calls becomes k kernels of its mean time. Text that a spreadsheet
    would take for a formula gets a leading ', which our reader takes off. Raises FuseScopeError
    when there are no rows, more than we read, or the file ends early.
    """
    check_whole(trace, trace.meta.file_name)
    if trace.calls.empty:
        raise FuseScopeError("no_operators_to_write", where=trace.meta.file_name)
    notes: list[Diagnostic] = []
    calls = _single_calls(trace, notes)
    _note_left_out(trace, notes)
    return AscendTables(
        {
            FILES[0]: _csv(*_kernel_details(trace, calls, notes)),
            FILES[1]: _csv(*_op_statistic(trace)),
            FILES[2]: _csv(*_step_trace_time(trace, calls, notes)),
        },
        tuple(notes),
    )


def _csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return out.getvalue().encode("utf-8", errors="replace")


def _single_calls(trace: Trace, notes: list[Diagnostic]) -> pd.DataFrame:
    """Calls with n = 1: an entry of k calls k times, its time shared out to the ns."""
    calls = trace.calls
    counts = calls["n"].clip(lower=1).to_numpy("int64")
    if (counts == 1).all():
        return calls
    total = sum(map(int, counts))
    if total > DEFAULT_LIMITS.events:
        raise FuseScopeError(
            "too_many_calls", where=trace.meta.file_name, n=total, limit=DEFAULT_LIMITS.events
        )
    merged = int((counts > 1).sum())
    notes.append(Diagnostic("warning", "ascend_means", merged, values={"calls": total}))
    rows = np.repeat(np.arange(len(calls)), counts)
    index = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    single = calls.iloc[rows].reset_index(drop=True)
    share, rest = np.divmod(calls["dur_ns"].to_numpy("int64"), counts)
    single["dur_ns"] = share[rows] + (index < rest[rows])
    is_first = pd.Series(index == 0)
    for column in ("start_ns", "wait_ns", "span_ns"):
        single[column] = single[column].where(is_first | (counts[rows] == 1), pd.NA)
    return single.assign(n=1)


def _note_left_out(trace: Trace, notes: list[Diagnostic]) -> None:
    """What a reader of the tables will miss."""
    operators = trace.operators
    sources = operators["flops_source"][operators["flops"].notna()]
    marked = int(trace.profiled_runs["warmup"].sum())
    silent = len(trace.profiled_runs) - len(trace.told_runs)
    found: dict[DiagnosticCode, int] = {
        "ascend_no_members": int(operators["members"].notna().any()),
        "ascend_no_flops": int(not sources.isin((flops.FROM_SHAPES, COUNTED)).all()),
        "ascend_warmup": marked,
        "ascend_silent_runs": silent,
        "ascend_no_samples": len(trace.sampled_runs),
        "ascend_no_spans": int(trace.calls["span_ns"].notna().any()),
    }
    notes += [Diagnostic("info", code, count) for code, count in found.items() if count]


def _kernel_details(
    trace: Trace, calls: pd.DataFrame, notes: list[Diagnostic]
) -> tuple[list[str], Iterable[Sequence[object]]]:
    operators = trace.operators
    codes = calls["operator"].to_numpy()
    columns: list[tuple[str, Sequence[object]]] = []

    def per_call(head: str, of_operators: Sequence[object]) -> None:
        columns.append((head, [of_operators[code] for code in codes]))

    if _has_steps(trace):
        columns.append(("Step Id", ["" if pd.isna(run) else int(run) for run in calls["run"]]))
    for head, name in (("Device_id", "device"), ("Stream ID", "stream")):
        if calls[name].notna().any():
            columns.append((head, _texts(calls[name])))
    per_call("Name", _texts(operators["name"]))
    per_call("Type", _texts(operators["op_type"]))
    per_call("Accelerator Core", _cores(operators))
    columns.append(("Start Time(us)", [f"{us}\t" for us in _times(calls["start_ns"])]))
    columns.append(("Duration(us)", _times(calls["dur_ns"])))
    columns.append(("Wait Time(us)", _times(calls["wait_ns"])))
    for name, (head, *_) in BLOCKS.items():
        if name in calls:
            columns.append((head, _numbers(calls[name])))
        elif name == "block_dim":
            columns.append((head, [MISSING] * len(calls)))
    if any(operators[side].notna().any() for side in ("inputs", "outputs")):
        for side in ("Input", "Output"):
            cells = [_tensor_cells(text) for text in _plain(operators[f"{side.lower()}s"])]
            for index, what in enumerate(("Shapes", "Data Types", "Formats")):
                per_call(f"{side} {what}", [cell[index] for cell in cells])
    dropped: list[str] = []
    for name in calls.columns:
        if name in CALL_COLUMNS or name in BLOCKS:
            continue
        head = f"{name}(%)" if name in _PERCENT else guarded(name)
        if not may_be_counter(name) or name.endswith("(%)") or name != name.strip():
            dropped.append(name)
            continue
        columns.append((head, _numbers(calls[name], _percent if name in _PERCENT else _number)))
    if dropped:
        notes.append(Diagnostic("warning", "ascend_counters", len(dropped), dropped[0]))
    return [head for head, _ in columns], zip(*(cells for _, cells in columns), strict=True)


def _has_steps(trace: Trace) -> bool:
    return bool((trace.profiled_runs["kind"] != "file").any())


def _cores(operators: pd.DataFrame) -> list[str]:
    """Core types, by which a reader tells operators, communication and what is neither.

    Where that of the trace says another thing than the trace, one is named that does not.
    """
    return [
        _core(is_communication, *cells)
        for is_communication, *cells in zip(
            operators["is_communication"],
            _texts(operators["provider"]),
            *(_plain(operators[name]) for name in ("provider", "op_type", "name")),
            strict=True,
        )
    ]


def _core(
    is_communication: bool, shown: str, core: str | None, op_type: str | None, name: str | None
) -> str:
    wanted = "communication" if is_communication else "operator"
    if task_kind(core, op_type, name) == wanted:
        return shown
    if is_communication:
        return COMMUNICATION
    return MISSING if task_kind(None, op_type, name) == wanted else _SOME_CORE


def _op_statistic(trace: Trace) -> tuple[list[str], Iterable[Sequence[object]]]:
    """Compute only, the longest type first; extremes only where every call has its own time."""
    operators, calls = trace.operators, trace.calls
    codes = calls["operator"].to_numpy()
    frame = pd.DataFrame(
        {
            "type": np.array(_texts(operators["op_type"]), dtype="object")[codes],
            "core": np.array(_cores(operators), dtype="object")[codes],
            "n": calls["n"].clip(lower=1).to_numpy("int64"),
            "dur": calls["dur_ns"].to_numpy("int64"),
        }
    )[~operators["is_communication"].to_numpy()[codes]]
    groups = [
        (key, sum(map(int, group["n"])), int(group["dur"].sum()), group)
        for key, group in frame.groupby(["type", "core"], sort=False)
    ]
    groups.sort(key=lambda item: -item[2])
    whole = sum(total for _, _, total, _ in groups)
    rows = []
    for (op_type, core), count, total, group in groups:
        has_singles = bool((group["n"] == 1).all())
        shortest, longest = (
            (_us(int(group["dur"].min())), _us(int(group["dur"].max())))
            if has_singles
            else (MISSING, MISSING)
        )
        share = f"{100 * total / whole:.3f}" if whole else MISSING
        rows.append(
            (op_type, core, count, _us(total), shortest, _us(round(total / count)), longest, share)
        )
    heads = [
        "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)",
        "Max Time(us)", "Ratio(%)",
    ]  # fmt: skip
    return heads, rows


def _step_trace_time(
    trace: Trace, calls: pd.DataFrame, notes: list[Diagnostic]
) -> tuple[list[str], Iterable[Sequence[object]]]:
    """A line a run, by torch_npu's definitions, of which the first three add up to the run.

    Computing: union of the kernels that compute. Communication(Not Overlapped): union of all
    kernels - Computing. Free: run - union of all. Communication: its union; Overlapped: the part
    of it during computing. Bubble: sum of hcom_receive; Stage: run - Bubble. Preparing: from the
    start of the run to its first kernel, 0 where that is not known. Without start times, sums
    stand for unions. What rests on kernels is N/A in a run whose kernels the file does not have.
    """
    operators, codes = trace.operators, calls["operator"].to_numpy()
    is_communication = operators["is_communication"].to_numpy()[codes]
    names = operators["name"].astype("object").fillna("").astype(str)
    receives = is_communication & names.str.startswith("hcom_receive").to_numpy()[codes]
    is_timed = calls["start_ns"].notna().to_numpy()
    starts = calls["start_ns"].fillna(0).to_numpy("int64")
    durations = calls["dur_ns"].to_numpy("int64")
    spans = calls["span_ns"].fillna(calls["dur_ns"]).to_numpy("int64")

    def busy_ns(rows: np.ndarray) -> int:
        if not is_timed[rows].all():
            return int(durations[rows].sum())
        return union_ns(starts[rows], spans[rows])

    numbers = calls["run"].fillna(-1).to_numpy("int64")
    order = np.argsort(numbers, kind="stable")
    found, firsts = np.unique(numbers[order], return_index=True)
    by_run = dict(zip(found.tolist(), np.split(order, firsts[1:]), strict=False))
    is_numbered = _has_steps(trace)
    lines, untimed = [], 0
    runs, told = trace.profiled_runs, set(trace.told_runs["run"])
    for run, start, dur in zip(
        map(int, runs["run"]), runs["start_ns"], map(int, runs["dur_ns"]), strict=True
    ):
        rows = by_run.get(run, order[:0])
        untimed += not is_timed[rows].all()
        computing = busy_ns(rows[~is_communication[rows]])
        communication = busy_ns(rows[is_communication[rows]])
        busy = busy_ns(rows)
        exposed = busy - computing
        bubble = int(durations[rows[receives[rows]]].sum())
        is_placed = len(rows) and is_timed[rows].all() and not pd.isna(start)
        times = (
            computing, exposed, communication - exposed, communication, max(0, dur - busy),
            dur - bubble, bubble, exposed - bubble,
            max(0, int(starts[rows].min()) - int(start)) if is_placed else 0,
        )  # fmt: skip
        cells = [_us(time) for time in times]
        if run not in told:
            cells = [
                cell if index in _OF_NO_KERNEL else MISSING for index, cell in enumerate(cells)
            ]
        lines.append((run if is_numbered else "", *cells))
    if untimed:
        notes.append(Diagnostic("warning", "ascend_sums", untimed))
    heads = [
        "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication",
        "Free", "Stage", "Bubble", "Communication(Not Overlapped and Exclude Receive)",
        "Preparing",
    ]  # fmt: skip
    return heads, lines


def _tensor_cells(text: str | None) -> tuple[str, str, str]:
    """Shapes, types and layouts as Ascend writes them: '"1,3;"', 'FLOAT;INT64', 'ND;ND'."""
    if not text:
        return MISSING, MISSING, MISSING
    shapes, dtypes, layouts = [], [], []
    for tensor in text.split("; "):
        match = _TENSOR.fullmatch(tensor)
        dtype, _, shape = tensor.partition("[")  # a text that was cut lacks its end
        if match is not None:
            dtype, shape = match[1], match[2]
        shapes.append(shape)
        dtypes.append(_DTYPES.get(dtype, dtype.upper()))
        layouts.append((match[3] if match is not None else None) or "ND")
    if shapes[-1] == "" and dtypes[-1] == "UNDEFINED":
        dtypes[-1] = "?"  # an input that is there, of unknown type
    return f'"{";".join(shapes)}"', guarded(";".join(dtypes)), guarded(";".join(layouts))


def _plain(column: pd.Series) -> list[str | None]:
    categories = [str(text) for text in column.cat.categories]
    return [None if code < 0 else categories[code] for code in column.cat.codes.tolist()]


def _texts(column: pd.Series) -> list[str]:
    return [MISSING if text is None else guarded(text) for text in _plain(column)]


def _times(column: pd.Series) -> list[str]:
    missing = column.isna().to_numpy()
    times = column.fillna(0).to_numpy("int64").tolist()
    return [MISSING if gone else _us(ns) for ns, gone in zip(times, missing, strict=True)]


def _us(ns: int) -> str:
    """ns as µs with three decimals, without passing through a double."""
    whole, rest = divmod(abs(ns), 1000)
    return f"{'-' if ns < 0 else ''}{whole}.{rest:03d}"


def _number(number: float) -> str:
    if not math.isfinite(number):
        return MISSING
    return str(int(number)) if number == int(number) and abs(number) < 2**53 else repr(number)


def _numbers(column: pd.Series, shown: Callable[[float], str] = _number) -> list[str]:
    return [shown(number) for number in column.to_numpy("float64", na_value=math.nan).tolist()]


def _percent(fraction: float) -> str:
    """A fraction as percent, such that a hundredth of it is the fraction again."""
    percent = fraction * 100
    near = (float(f"{percent:.12g}"), percent)
    steps = (math.nextafter(percent, -math.inf), math.nextafter(percent, math.inf))
    return _number(next((p for p in (*near, *steps) if p * 0.01 == fraction), percent))
