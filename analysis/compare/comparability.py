"""Comparability: what two files say that speaks against comparing them.

Only what fusion does not explain: other tools, devices, steps, counters, or another model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.counters import (
    HEAD_UNIT,
    hardware_counters,
    measures_of,
    total_counters,
)
from fusescope.analysis.operators.classes import is_heavy
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import UNIT_RUNS, Diagnostic, DiagnosticCode, Severity, Trace, Value

if TYPE_CHECKING:
    from fusescope.analysis.ranks.pair import RankPair

# Fusion leaves convolutions and matrix products in place, up to heads and projections that merge;
# all operators together become fewer by far more.
_HEAVY_FACTOR = 3.0
_ALL_FACTOR = 20.0
_MAX_NAMED = 3


def comparability(
    baseline: Side, candidate: Side, ranks: RankPair | None = None
) -> Iterator[Diagnostic]:
    """Doubts about comparing two files; none for recordings of a model. Ranks of one job may
    communicate and run unlike one another."""
    if baseline.has_model and candidate.has_model:
        return  # recorded by us, with all of this written down
    traces = (baseline.trace, candidate.trace)
    yield from _tools(*traces)
    yield from _runs(*traces)
    is_one_job = ranks is not None and ranks.is_one_job
    if not is_one_job:
        yield from _communication(*traces)
    yield from _cut(*traces)
    yield from _counters(*traces)
    yield from _columns(*traces)
    if not is_one_job:
        yield from _operators(*traces)


def _note(
    severity: Severity, code: DiagnosticCode, before: Value, after: Value, **more: Value
) -> Diagnostic:
    return Diagnostic(severity, code, values={"before": before, "after": after, **more})


def _tools(first: Trace, second: Trace) -> Iterator[Diagnostic]:
    """Other tool, format, version or device, and kernels against framework operators."""
    one, two = first.meta, second.meta
    if one.tool.casefold().replace(" ", "") != two.tool.casefold().replace(" ", ""):
        yield _note("warning", "tools_differ", one.tool, two.tool)
    else:
        if one.format != two.format and "experiment" not in (one.format, two.format):
            yield _note("warning", "formats_differ", one.format, two.format)
        if one.version and two.version and one.version != two.version:
            yield _note("warning", "versions_differ", one.version, two.version)
    if one.device and two.device and one.device != two.device:
        yield _note("warning", "devices_differ", one.device, two.device)
    levels = (_level(first), _level(second))
    if None not in levels and levels[0] != levels[1]:
        yield _note("warning", "levels_differ", *levels)


def _level(trace: Trace) -> str | None:
    """What most of the time is told of: kernels, framework operators or layers of a graph."""
    levels = trace.operators["level"].astype("object").to_numpy()[trace.calls["operator"]]
    time = trace.calls["dur_ns"].groupby(levels).sum()
    return str(time.idxmax()) if len(time) else None


def _runs(first: Trace, second: Trace) -> Iterator[Diagnostic]:
    told = (first.has_runs, second.has_runs)
    if not all(told):
        return  # runs_unknown says so where one side tells its runs apart
    # More files on one side are not a difference between the recordings.
    counts = tuple(
        round(len(trace.profiled_runs) / max(1, len(trace.meta.parts))) for trace in (first, second)
    )
    kinds = set(first.profiled_runs["kind"]) | set(second.profiled_runs["kind"])
    are_units = not kinds.isdisjoint(UNIT_RUNS)  # as many as the file happens to hold
    if counts[0] != counts[1] and not are_units:
        yield _note("warning", "runs_differ", *counts, kind=_kind(first, second))


def _kind(*traces: Trace) -> str:
    kinds = {str(kind) for trace in traces for kind in trace.profiled_runs["kind"].unique()}
    return kinds.pop() if len(kinds) == 1 and kinds != {"model_run"} else "run"


def _communication(first: Trace, second: Trace) -> Iterator[Diagnostic]:
    times = [_communication_ns(trace) for trace in (first, second)]
    if (times[0] > 0) != (times[1] > 0):
        side, trace = ("baseline", first) if times[0] else ("candidate", second)
        per = "per_run_ns" if trace.has_runs else "per_file_ns"
        yield Diagnostic("warning", "communication_differs", values={"on": side, per: max(times)})


def _communication_ns(trace: Trace) -> float:
    """Communication of a run in ns, of a file that marks none of the file."""
    table = by_operator(trace)
    return float(table["per_run_ns"][table["is_communication"]].sum())


def _cut(first: Trace, second: Trace) -> Iterator[Diagnostic]:
    """A file that was left with its complete runs, may have been cut off in its last line, or of
    which much could not be read."""
    for trace, name in zip((first, second), ("baseline", "candidate"), strict=True):
        codes = {note.code: note for note in trace.diagnostics}
        if "whole_runs_kept" in codes:
            runs = codes["whole_runs_kept"].count
            yield Diagnostic("warning", "compared_cut_short", runs, values={"on": name})
        elif "open_last_line" in codes:
            yield Diagnostic("warning", "compared_open_end", values={"on": name})
        if (lost := codes.get("rows_lost")) is not None:
            values: dict[str, Value] = {**lost.values, "on": name}
            yield Diagnostic("warning", "compared_rows_lost", lost.count, values=values)


def _counters(first: Trace, second: Trace) -> Iterator[Diagnostic]:
    """Counters of other names, unless the other side has their figure too, or of one name in other
    units; not what kernels launch with."""
    names = [list(hardware_counters(trace)) for trace in (first, second)]
    if not names[0] or not names[1]:
        if names[0] or names[1]:
            side = "baseline" if names[0] else "candidate"
            found = names[0] or names[1]
            values: dict[str, Value] = {"on": side, "names": _listed(found), "count": len(found)}
            yield Diagnostic("info", "counters_on_one_side", values=values)
        return
    units = [{HEAD_UNIT.sub("", name): name for name in of} for of in names]
    other = [
        (units[0][base], units[1][base])
        for base in units[0]
        if base in units[1] and units[0][base] != units[1][base]
    ]
    if other:
        yield _note("warning", "counter_units_differ", *other[0], count=len(other))
    figures = [total_counters(trace).keys() for trace in (first, second)]
    missing = [
        [
            name
            for base, name in units[own].items()
            if base not in units[1 - own] and not measures_of(name) & figures[1 - own]
        ]
        for own in (0, 1)
    ]
    if any(missing):
        yield _note("warning", "counters_differ", *(_listed(of) for of in missing))


def _listed(names: list[str]) -> str | Said:
    shown = ", ".join(clean_text(name, 60) for name in names[:_MAX_NAMED])
    more = len(names) - _MAX_NAMED
    return _MORE.of(names=shown, n=more) if more > 0 else shown


_MORE = Message("{names:name} and {n:count} more")


def _columns(first: Trace, second: Trace) -> Iterator[Diagnostic]:
    """Types or shapes on one side alone: recorded at another profiler level."""
    has = [
        {
            "op types": bool(trace.operators["op_type"].notna().any()),
            "shapes": bool(trace.operators["inputs"].notna().any()),
        }
        for trace in (first, second)
    ]
    only = [name for name in has[0] if has[0][name] != has[1][name]]
    if only:
        side = "baseline" if has[0][only[0]] else "candidate"
        yield Diagnostic(
            "warning", "detail_differs", values={"on": side, "what": " and ".join(only)}
        )


def _operators(first: Trace, second: Trace) -> Iterator[Diagnostic]:
    """Executions per run that are too far apart for one model: heavy ones, else all."""
    if first.has_runs != second.has_runs:
        return
    tables = [by_operator(trace) for trace in (first, second)]
    heavy = [
        _executions(table.loc[_is_heavy(table, trace)])
        for table, trace in zip(tables, (first, second), strict=True)
    ]
    total = [_executions(table) for table in tables]
    where = "run" if first.has_runs else "file"
    if min(heavy) > 0 and max(heavy) > _HEAVY_FACTOR * min(heavy):
        yield _note("warning", "heavy_counts_differ", round(heavy[0]), round(heavy[1]), per=where)
    elif min(total) > 0 and max(total) > _ALL_FACTOR * min(total):
        yield _note(
            "warning", "operator_counts_differ", round(total[0]), round(total[1]), per=where
        )


def _is_heavy(table: pd.DataFrame, trace: Trace) -> np.ndarray:
    """Which rows are heavy work of their own: `aten::conv2d` only calls the convolution inside it,
    so most of its span is not its own time, and both are one convolution."""
    calls = trace.calls
    told = table["op_class"].array
    heavy: np.ndarray = np.array([*map(is_heavy, told.categories), False], dtype=bool)[told.codes]
    if calls["span_ns"].notna().any():
        spans = calls["span_ns"].fillna(calls["dur_ns"]).groupby(calls["operator"]).sum()
        own = calls["dur_ns"].groupby(calls["operator"]).sum()
        heavy &= ~table["operator"].isin(own.index[own < spans / 2]).to_numpy()
    return heavy


def _executions(table: pd.DataFrame) -> float:
    return float(table["count"][~table["is_communication"].astype(bool)].sum())
