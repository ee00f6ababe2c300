"""What is left of a trace whose file ends early: whole runs where they can be told, else no run.

Whole runs can be told where the format writes one after the other: what stands in the file before
something of a later run is complete. Elsewhere kernels may follow the operators of all runs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from fusescope.analysis.readers.input.csv_end import ends_in_part_of_a_cell
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import (
    Diagnostic,
    DiagnosticCode,
    Trace,
    calls_frame,
    operators_frame,
    runs_frame,
)

# Formats that may leave out the bracket at their end, one whose entries are whole runs, those that
# write runs one after the other, and tables, whose writers end every line.
_OPEN_ARRAYS = ("chrome_trace", "onnxruntime")
_RUNS_ALONE = ("tensorrt_times",)
_RUN_BY_RUN = ("onnxruntime",)
_NO_LINES = (b"{", b"[", b"<", b"SQLite format 3\0")
_LINES = frozenset(
    (
        "ascend_kernel_details", "ascend_op_summary", "ascend_op_statistic", "msprof_task_time",
        "msprof_op", "mindspore_cpu", "mindspore_cpu_summary", "mindspore_legacy",
        "mindspore_legacy_summary", "nsys_stats", "openvino_counters", "rocprof", "rocprof_stats",
    )
)  # fmt: skip
_OF_LAST_LINE: frozenset[DiagnosticCode] = frozenset(
    ("bad_event", "bad_time", "short_rows", "unclosed_quotes")
)


def as_far_as_whole(trace: Trace, source: Source) -> Trace:
    """The trace with no run of which the file may lack a part, and what is noted of its end."""
    trace = replace(trace, diagnostics=_noted(trace, source))
    if not trace.ends_early:
        return trace
    if trace.meta.format in _RUNS_ALONE and not trace.sampled_runs.empty:
        return _with_note(trace, len(trace.sampled_runs))
    if trace.meta.format in _RUN_BY_RUN:
        whole = _whole_runs(trace)
        if whole:
            return _with_note(_only_runs(trace, whole), len(whole))
    return _without_runs(trace)


def _noted(trace: Trace, source: Source) -> tuple[Diagnostic, ...]:
    """The diagnostics, with what the end of the file shows that its reader could not tell."""
    notes = list(trace.diagnostics)
    if trace.meta.format not in _OPEN_ARRAYS:
        notes = [
            replace(note, code="cut_short", values={"bytes_lost": 0})
            if note.code == "missing_bracket"
            else note
            for note in notes
        ]
    if trace.ends_early or trace.meta.format not in _LINES or source.ends_line:
        return tuple(notes)
    if source.head.lstrip().startswith(_NO_LINES):
        return tuple(notes)
    if any(note.code in _OF_LAST_LINE for note in notes) or ends_in_part_of_a_cell(source.content):
        return (*notes, Diagnostic("warning", "cut_short", 1, "", {"bytes_lost": 0}))
    return (*notes, Diagnostic("warning", "open_last_line"))


def _with_note(trace: Trace, count: int) -> Trace:
    note = Diagnostic("warning", "whole_runs_kept", count)
    kept = (one for one in trace.diagnostics if one.code != "outside_runs")
    return replace(trace, diagnostics=(*kept, note))


def _whole_runs(trace: Trace) -> list[int]:
    """Runs behind which something of a later time stands in the file; none where its rows are not
    in the order of the runs."""
    runs = trace.profiled_runs
    if (runs["kind"] == "file").any() or runs["start_ns"].isna().any():
        return []
    calls = trace.calls
    number = calls["run"].to_numpy("int64", na_value=-1)
    row = calls["source_row"].to_numpy("int64", na_value=-1)
    if (row < 0).any():
        return []
    rows = pd.Series(row).groupby(number).agg(["min", "max"])
    ordered = [run for run in runs.sort_values("start_ns")["run"].tolist() if run in rows.index]
    first = rows["min"].reindex(ordered).to_numpy()
    last = rows["max"].reindex(ordered).to_numpy()
    if not ordered or (first[1:] <= last[:-1]).any():
        return []
    follows = bool((row > last[-1]).any())  # of a run that has not ended in the file
    outside = row[number < 0]
    if len(outside) and (outside < last[-1]).any():
        return []
    return ordered if follows else ordered[:-1]


def _only_runs(trace: Trace, kept: list[int]) -> Trace:
    """The trace with these runs, their calls, and the operators that those are of."""
    calls = trace.calls[trace.calls["run"].isin(kept)].reset_index(drop=True)
    runs = trace.runs[trace.runs["run"].isin(kept)].reset_index(drop=True)
    used = np.unique(calls["operator"].to_numpy())
    operators = trace.operators.iloc[used].reset_index(drop=True)
    operators["operator"] = np.arange(len(used))
    calls["operator"] = np.searchsorted(used, calls["operator"].to_numpy())
    return replace(trace, runs=runs, calls=_calls(calls), operators=_operators(operators))


def _without_runs(trace: Trace) -> Trace:
    """The trace with its calls as one file, of which no run is known; no device is named where
    operators of the host are all that came before the end."""
    calls = trace.calls.copy()
    calls["run"] = pd.array(np.zeros(len(calls), "int64"), dtype="Int64")
    starts = calls["start_ns"]
    spans = calls["span_ns"].fillna(calls["dur_ns"])
    is_timed = len(calls) > 0 and not starts.isna().any()
    begin = int(starts.min()) if is_timed else None
    length = int((starts + spans).max()) - int(starts.min()) if is_timed else calls["dur_ns"].sum()
    runs = runs_frame(
        run=[0], kind=["file"], start_ns=[begin], dur_ns=[int(length)], profiled=[True]
    )
    on_device = bool((trace.operators["level"] == "device_kernel").any())
    meta = trace.meta if on_device else replace(trace.meta, device=None)
    return replace(trace, meta=meta, runs=runs, calls=_calls(calls))


def _calls(frame: pd.DataFrame) -> pd.DataFrame:
    return calls_frame(**{str(name): frame[name].array for name in frame.columns})


def _operators(frame: pd.DataFrame) -> pd.DataFrame:
    return operators_frame(**{str(name): frame[name].array for name in frame.columns})
