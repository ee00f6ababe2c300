"""Ingest: a rank's trace to the tables that are kept of it. Reads one file, writes nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.fleet.communication import computing, talk_of
from fusescope.analysis.fleet.identity import compiled, job_of
from fusescope.analysis.fleet.sweep import union_between
from fusescope.analysis.fleet.tables import (
    COLLECTIVES,
    KERNELS,
    OPERATORS,
    ROWS,
    STEPS,
    RankFacts,
    RankTables,
)
from fusescope.analysis.job import Job
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.readers import find, read
from fusescope.analysis.readers.input.folder import folder_sources
from fusescope.analysis.readers.input.source import Source, load_file
from fusescope.analysis.text import clean_text, display_name
from fusescope.analysis.trace import OPERATOR_COLUMNS, Trace

_COPIES = ("Memcpy", "Memset")
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d{1,18})")
_GENERATED = re.compile(r"^triton_|_fused|^graph_\d")


def ingest_rank(
    path: Path, pattern: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> RankTables:
    """The tables of the rank whose trace is at `path`, a file or the folder of a profiler. A file
    is read by itself: what lies beside it is of other ranks.

    Raises FuseScopeError where it is not a trace, or nothing tells the rank.
    """
    if path.is_dir():
        return ingest_sources(folder_sources(path, limits), path, pattern)
    name = display_name(str(path))
    source = Source(name, load_file(path, name, limits), limits, path=path.name, on_disk=path)
    return ingest_source(source, pattern)


def ingest_sources(sources: Sequence[Source], path: Path, pattern: str | None = None) -> RankTables:
    """Likewise, of the files of one folder. Raises FuseScopeError."""
    name = display_name(str(path.resolve()))
    found = find(sources)
    if len(found.recordings) != 1:
        if found.failed and not found.recordings:
            raise found.failed[0][1].at(name)
        if not found.recordings:
            raise FuseScopeError("no_trace_among", where=name)
        names = ", ".join(one.source.path for one in found.recordings[:5])
        raise FuseScopeError("several_recordings", where=name, n=len(found.recordings), names=names)
    main = found.recordings[0]
    beside = tuple(source for source in sources if source is not main.source)
    return _tables(main.value, main.source.among(beside), pattern)


def ingest_source(source: Source, pattern: str | None = None) -> RankTables:
    """Likewise, of a source whose bytes are at hand."""
    return _tables(read(source), source, pattern)


def _tables(value: Trace | Experiment, source: Source, pattern: str | None) -> RankTables:
    if isinstance(value, Experiment):
        raise FuseScopeError("experiment_in_fleet", where=source.name)
    if value.others:
        known = ", ".join(value.units)
        raise FuseScopeError("fleet_file_of_several", where=source.name, known=known)
    return tables_of(value, source.path, job_of(value, source, compiled(pattern)))


def tables_of(trace: Trace, path: str, job: Job) -> RankTables:
    """The tables of a trace that was read from the file at `path`."""
    talk = talk_of(trace)
    rank = job.rank
    facts = RankFacts(
        rank=0 if rank is None else rank,
        file=clean_text(path, 200),
        sha256=trace.meta.sha256,
        format=trace.meta.format,
        tool=trace.meta.tool,
        world=job.world,
        is_truncated=trace.ends_early,
        device=trace.meta.device or "",
    )
    steps = _steps(trace, talk, _numbers(trace))
    numbers = dict(zip(steps["run"], steps["number"], strict=True))
    talk["step"] = [numbers.get(run, -1) for run in talk["step"]]
    return RankTables(
        facts,
        {
            ROWS: _rows(trace, talk),
            OPERATORS: _operators(trace),
            STEPS: steps,
            COLLECTIVES: talk,
            KERNELS: _kernels(trace),
        },
    )


def _numbers(trace: Trace) -> tuple[int, ...]:
    """Return the numbers of the profiler's steps, as the host marked them."""
    names = trace.host.names if trace.host is not None else ()
    return tuple(sorted({int(match[1]) for name in names if (match := _STEP.match(name))}))


def _rows(trace: Trace, talk: pd.DataFrame) -> pd.DataFrame:
    """Calls with the columns of their operators, and the collective that came after each."""
    calls, operators = trace.calls, trace.operators
    at = calls["operator"].to_numpy()
    rows = {name: calls[name].array for name in calls.columns}
    for name in OPERATOR_COLUMNS:
        if name != "operator":
            rows[name] = operators[name].array.take(at)
    known = calls["start_ns"].notna().to_numpy()
    middle = calls["start_ns"].to_numpy("int64", na_value=0) + calls["dur_ns"].to_numpy() // 2
    segment = np.searchsorted(talk["start_ns"].to_numpy("int64"), middle, side="left")
    is_known = known & (segment < len(talk)) & ~operators["is_communication"].to_numpy()[at]
    rows["segment"] = pd.arrays.IntegerArray(segment.astype("int64"), ~is_known)
    return pd.DataFrame(rows)


def _operators(trace: Trace) -> pd.DataFrame:
    """By name and shapes; without communication, which waits for others."""
    told = trace.operators[~trace.operators["is_communication"]]
    calls = trace.calls[trace.calls["operator"].isin(told["operator"])]
    keys = pd.MultiIndex.from_arrays(
        [told[name].astype("str").fillna("") for name in ("name", "inputs")]
    )
    codes, unique = keys.factorize()
    of = pd.Series(codes, index=told["operator"])
    place = of.reindex(calls["operator"]).to_numpy("int64")
    each = calls["dur_ns"].to_numpy() / np.maximum(calls["n"].to_numpy(), 1)
    frame = pd.DataFrame({"at": place, "n": calls["n"].to_numpy(), "ns": calls["dur_ns"].to_numpy(),
                          "each": each}).groupby("at").agg(
        calls=("n", "sum"), total_ns=("ns", "sum"), median_ns=("each", "median"))  # fmt: skip
    firsts = told.iloc[np.unique(codes, return_index=True)[1]] if len(codes) else told
    table = pd.DataFrame(
        {
            "name": pd.array([key[0] for key in unique], dtype="str"),
            "inputs": pd.array([key[1] for key in unique], dtype="str"),
            "op_type": firsts["op_type"].astype("str").fillna("").array,
            "op_class": firsts["op_class"].astype("str").array,
        }
    )
    table = table.join(frame, how="left")
    return table.fillna({"calls": 0, "total_ns": 0, "median_ns": 0.0}).astype(
        {"calls": "int64", "total_ns": "int64", "median_ns": "float64"}
    )


def _steps(trace: Trace, talk: pd.DataFrame, numbers: tuple[int, ...]) -> pd.DataFrame:
    """The runs, with the split of each profiled one."""
    steps = trace.runs.reset_index(drop=True).copy()
    is_profiled = steps["profiled"].to_numpy()
    starts, ends = computing(trace)
    talk_starts = talk["start_ns"].to_numpy("int64")
    talk_ends = talk_starts + talk["dur_ns"].to_numpy("int64")
    begins = steps["start_ns"].to_numpy("int64", na_value=0)
    lasts = steps["dur_ns"].to_numpy("int64").copy()
    missing = steps["start_ns"].isna().to_numpy()
    all_starts, all_ends = np.r_[starts, talk_starts], np.r_[ends, talk_ends]
    if missing.sum() == 1 and len(all_starts) and is_profiled[missing].all():
        begins = np.where(missing, all_starts.min(), begins)
        lasts = np.where(missing, all_ends.max() - all_starts.min(), lasts)
        missing = np.zeros(len(steps), dtype=bool)
    stops = begins + lasts
    computes = union_between(starts, ends, begins, stops)
    talks = union_between(talk_starts, talk_ends, begins, stops)
    busy = union_between(all_starts, all_ends, begins, stops)
    unknown = missing | ~is_profiled | (len(all_starts) == 0)
    for name, values in (
        ("computing_ns", computes),
        ("communication_ns", talks),
        ("uncovered_ns", busy - computes),
        ("free_ns", lasts - busy),
    ):
        steps[name] = pd.arrays.IntegerArray(values.astype("int64"), unknown)
    steps["split_ns"] = pd.arrays.IntegerArray(lasts.astype("int64"), unknown)
    place = np.cumsum(is_profiled) - 1
    if len(numbers) == is_profiled.sum():
        place = np.array(numbers, dtype="int64")[np.maximum(place, 0)] if len(numbers) else place
    steps["number"] = np.where(is_profiled, place, -1).astype("int64")
    return steps


def _kernels(trace: Trace) -> pd.DataFrame:
    """What a step runs: kernels that were generated by type, since their numbers are chance."""
    names, types = trace.texts("name"), trace.texts("op_type")
    keys = [
        kind if kind and _GENERATED.search(kind) else name
        for name, kind in zip(names, types, strict=True)
    ]
    talks = trace.operators["is_communication"].to_numpy()
    left_out = talks | np.array([kind.startswith(_COPIES) for kind in types], dtype=bool)
    codes, unique = pd.factorize(pd.Index(keys, dtype="str"))
    calls = trace.calls
    at = calls["operator"].to_numpy()
    counted = ~left_out[at]
    profiled = trace.profiled_runs["run"].to_numpy()
    run = calls["run"].to_numpy("int64", na_value=-1)
    inside = counted & np.isin(run, profiled)
    runs = max(1, len(np.unique(run[inside])))
    _, run_at = np.unique(run[inside], return_inverse=True)
    counts = np.zeros((len(unique), runs), dtype="int64")
    np.add.at(counts, (codes[at[inside]], run_at), calls["n"].to_numpy()[inside])
    total = np.bincount(codes[at[counted]], calls["dur_ns"].to_numpy()[counted], len(unique))
    kept = np.flatnonzero(counts.any(axis=1))
    first = np.unique(codes, return_index=True)[1][kept]
    operators = trace.operators.iloc[first]
    counts = counts[kept]
    return pd.DataFrame(
        {
            "kernel": unique[kept].array,
            "op_class": operators["op_class"].astype("str").array,
            "members": operators["members"].astype("str").fillna("").array,
            "least": counts.min(axis=1) if len(kept) else [],
            "median": np.median(counts, axis=1) if len(kept) else [],
            "most": counts.max(axis=1) if len(kept) else [],
            "total_ns": total[kept].astype("int64"),
        }
    ).astype({"least": "int64", "median": "float64", "most": "int64"})
