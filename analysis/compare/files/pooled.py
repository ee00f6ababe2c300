"""One trace out of several recordings of one graph: every file is a block with its own clock."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from fusescope.analysis.compare.side import Side
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import (
    CALL_COLUMNS,
    OPERATOR_COLUMNS,
    RUN_COLUMNS,
    Meta,
    Part,
    Trace,
    calls_frame,
    merged,
    operators_frame,
    runs_frame,
)

OTHER = 0.05
_APART_NS = 10**9
_LATEST_NS = 2**62
_IDENTITY = [name for name in OPERATOR_COLUMNS if name != "operator"]


def pooled(traces: Sequence[Trace], name: str, parts: tuple[Part, ...], limits: Limits) -> Trace:
    """The runs and calls of all `traces`, each one of `parts`, over their distinct operators. Where
    their clocks overlap, later files are put behind the ones before them.

    Leading slow runs of each file are marked as warm-up, since they are slow only beside the rest
    of their own file. Raises FuseScopeError for more calls than the limit.
    """
    rows = sum(len(trace.calls) for trace in traces)
    if rows > limits.events:
        raise FuseScopeError(
            "too_many_events",
            where=name,
            n=rows,
            limit=limits.events,
            raised=limits.raised("events", rows),
        )
    operators, codes = _operators(traces)
    firsts = np.cumsum([0, *(len(trace.runs) for trace in traces)])
    shifts = _shifts(traces)
    runs = [
        _runs(trace, block, int(firsts[block]), shifts[block]) for block, trace in enumerate(traces)
    ]
    calls = [
        _calls(trace, code, int(firsts[block]), shifts[block])
        for block, (trace, code) in enumerate(zip(traces, codes, strict=True))
    ]
    counters = dict.fromkeys(
        str(column) for part in calls for column in part.columns if column not in CALL_COLUMNS
    )
    joined = _joined(calls, [*CALL_COLUMNS, *counters])
    for column in counters:
        joined[column] = joined[column].astype("Float64")
    return Trace(
        _meta(traces, name, parts),
        runs_frame(**_columns(_joined(runs, list(RUN_COLUMNS)))),
        operators,
        calls_frame(**_columns(joined)),
        tuple(merged(note for trace in traces for note in trace.diagnostics)),
    )


def unlike_files(side: Side) -> list[Part]:
    """Files whose operators ran another number of times per run than those of the first file, in
    more than OTHER of all executions. None of a side of one file."""
    if not side.files:
        return []
    runs, calls = side.trace.runs, side.trace.calls
    block = runs.set_index("run")["block"].reindex(calls["run"]).to_numpy("int64", na_value=-1)
    operator, n = calls["operator"].to_numpy(), calls["n"].to_numpy()
    counted = np.isin(calls["run"].to_numpy("int64", na_value=-1), steady_runs(side.trace).runs)
    files, operators = len(side.files), len(side.trace.operators)
    cell = block[counted] * operators + operator[counted]
    table = np.bincount(cell, weights=n[counted], minlength=files * operators)
    kept = runs[runs["run"].isin(steady_runs(side.trace).runs)]
    per_file = np.bincount(kept["block"].to_numpy("int64"), minlength=files)
    executions = table.reshape(files, operators) / np.maximum(1, per_file)[:, np.newaxis]
    first = executions[0]
    apart = np.abs(executions - first).sum(axis=1)
    whole = np.maximum(executions.sum(axis=1), first.sum())
    return [side.files[at] for at in np.flatnonzero(apart > OTHER * whole)]


def _meta(traces: Sequence[Trace], name: str, parts: tuple[Part, ...]) -> Meta:
    hashes = "".join(sorted(trace.meta.sha256 for trace in traces))
    private: dict[str, str] = {}
    for trace in traces:
        private |= trace.meta.redactable
    return replace(
        traces[0].meta,
        file_name=name,
        sha256=hashlib.sha256(hashes.encode()).hexdigest(),
        files=(),
        redactable=private,
        started_ns=parts[0].started_ns,
        parts=parts,
    )


def _operators(traces: Sequence[Trace]) -> tuple[pd.DataFrame, list[np.ndarray]]:
    """The distinct operators in order of appearance, and the number of each operator by trace."""
    number: dict[tuple[object, ...], int] = {}
    codes = []
    for trace in traces:
        known = trace.operators[_IDENTITY].astype("object")
        known = known.where(known.notna(), None)
        rows = known.itertuples(index=False, name=None)
        codes.append(np.array([number.setdefault(row, len(number)) for row in rows], dtype="int64"))
    columns = dict(zip(_IDENTITY, map(list, zip(*number, strict=True)), strict=False))
    return operators_frame(operator=list(range(len(number))), **columns), codes


def _shifts(traces: Sequence[Trace]) -> list[int]:
    """What each file's times are put off by, in ns, so that no two files run at once: many clocks
    start with their recording."""
    shifts, reached = [], None
    for trace in traces:
        spans = [
            (int(starts.min()), int((starts + lasts.reindex(starts.index)).max()))
            for starts, lasts in (
                (trace.runs["start_ns"].dropna(), trace.runs["dur_ns"]),
                (
                    trace.calls["start_ns"].dropna(),
                    trace.calls["span_ns"].fillna(trace.calls["dur_ns"]),
                ),
            )
            if len(starts)
        ]
        if not spans:
            shifts.append(0)
            continue
        begin, end = min(first for first, _ in spans), max(last for _, last in spans)
        shift = 0 if reached is None else max(0, reached + _APART_NS - begin)
        shift = shift if end + shift < _LATEST_NS else 0  # what nobody recorded must not overflow
        shifts.append(shift)
        reached = end + shift
    return shifts


def _runs(trace: Trace, block: int, first: int, shift: int) -> pd.DataFrame:
    runs = trace.runs
    counted = {*steady_runs(trace).runs}
    told = set(trace.told_runs["run"]) if not trace.profiled_runs.empty else set()
    slow = runs["run"].isin(told - counted) & runs["profiled"]
    return runs.assign(
        run=np.arange(first, first + len(runs)),
        start_ns=runs["start_ns"] + shift,
        block=block,
        warmup=runs["warmup"] | slow,
        round=np.arange(len(runs)),
    )


def _calls(trace: Trace, codes: np.ndarray, first: int, shift: int) -> pd.DataFrame:
    calls = trace.calls
    place = pd.Index(trace.runs["run"])
    run = calls["run"].to_numpy("int64", na_value=-1)
    at = place.get_indexer(pd.Index(run))
    known = calls["run"].notna().to_numpy() & (at >= 0)
    numbers = pd.array(np.where(known, at + first, 0), dtype="Int64")
    numbers[~known] = pd.NA
    return calls.assign(
        operator=codes[calls["operator"].to_numpy()],
        run=numbers,
        start_ns=calls["start_ns"] + shift,
    )


def _joined(parts: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """All parts below each other; texts as objects, since categories of files differ."""
    made = {}
    for name in columns:
        pieces = []
        for part in parts:
            if name not in part:
                pieces.append(pd.Series([None] * len(part), dtype="Float64"))
            elif str(part[name].dtype) == "category":
                pieces.append(part[name].astype("object"))
            else:
                pieces.append(part[name])
        made[name] = pd.concat(pieces, ignore_index=True)
    return pd.DataFrame(made)


def _columns(frame: pd.DataFrame) -> dict[str, pd.Series]:
    return {str(name): frame[name] for name in frame.columns}
