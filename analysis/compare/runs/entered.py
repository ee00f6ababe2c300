"""Entered runs: a file that does not mark its runs, cut into as many as its user says it holds.

Without runs a file has no time of one run, so beside a file that marks them nothing can be said.
How many there are is an assumption: figures that rest on it say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.compare.side import Role, Side
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Trace, runs_frame

MAX_RUNS = 100_000
# The part of the time whose operators must agree on a number of runs before it is offered.
_AGREE = 0.6
_PER_RUN = (
    "latency", "throughput", "light_time", "light_count", "compute_utilisation", "bytes_moved",
    "dispatch_gap", "launches", "launch_time",
)  # fmt: skip


def with_entered_runs(side: Side, runs: int | None) -> Side:
    """`side` with its calls in `runs` runs, and a diagnostic; unchanged where it marks its own, and
    of several files.

    An operator that ran k x `runs` times ran k times in each run, in order: those operators, as far
    as most of their time agrees, say where each run begins, and it ends where the next one begins.
    Where they do not agree, rows are totals of several calls or have no start times, there is one
    average run: its noise is unknown.
    """
    trace = side.trace
    if runs is None or side.files or not 1 <= runs <= MAX_RUNS or not lacks_runs(trace):
        return side
    begins = _begins(trace, runs)
    made = _average(trace, runs) if begins is None else _cut(trace, begins)
    made = _with_launches(made, trace, runs)
    others = [note for note in trace.diagnostics if note.code != "no_runs"]
    code: DiagnosticCode = "runs_averaged" if begins is None else "runs_entered"
    notes = (*others, Diagnostic("warning", code, runs))
    return replace(side, trace=replace(made, diagnostics=notes))


def offered_runs(comparison: Comparison) -> dict[Role, int | None]:
    """The sides whose runs are asked for, with what their calls suggest.

    Those of two files of which one marks its runs: else their times are of the same kind. Of two
    models runs would tell nothing either.
    """
    baseline, candidate = comparison.baseline, comparison.candidate
    if comparison.is_of_other_work or baseline.files or candidate.files:
        return {}
    traces: dict[Role, Trace] = {"baseline": baseline.trace, "candidate": candidate.trace}
    lacking = [side for side, trace in traces.items() if lacks_runs(trace)]
    if len(lacking) != 1:
        return {}
    others: dict[Role, Trace] = {"baseline": candidate.trace, "candidate": baseline.trace}
    return {side: suggested_runs(traces[side], others[side]) for side in lacking}


def lacks_runs(trace: Trace) -> bool:
    """True for a file that may hold any number of runs."""
    return not trace.has_runs and trace.sampled_runs.empty and len(trace.calls) > 0


def assumed_per_run(figures: Iterable[Figure], entered: tuple[bool, bool]) -> tuple[Figure, ...]:
    """`figures`, of which those per run are assumed on the sides whose runs were entered."""
    return tuple(
        replace(
            figure,
            baseline=_assumed(figure.baseline) if entered[0] else figure.baseline,
            candidate=_assumed(figure.candidate) if entered[1] else figure.candidate,
        )
        if figure.code in _PER_RUN
        else figure
        for figure in figures
    )


def _assumed(quantity: Quantity) -> Quantity:
    return replace(quantity, basis="assumed")


def suggested_runs(trace: Trace, other: Trace) -> int | None:
    """How many runs the calls of `trace` suggest, None where they say nothing.

    Where `other` marks its runs: how many times as often the operators of both ran here as there
    in one run. Else the largest number that divides the executions of most of the time.
    """
    table = by_operator(trace)
    table = table[~table["is_communication"].to_numpy(dtype=bool)]
    counts = table["count"].to_numpy()
    time = table["total_ns"].to_numpy(dtype=float)
    if other.has_runs:
        there = _executions(by_operator(other))
        votes: dict[float, float] = defaultdict(float)
        for key, (count, total_ns) in _executions(table, total=True).items():
            if key in there and there[key][0] > 0:
                votes[count / there[key][0]] += total_ns
        if votes:
            ratio = max(votes, key=votes.__getitem__)
            if ratio == int(ratio) and votes[ratio] >= _AGREE * sum(votes.values()):
                return int(ratio) if 1 <= ratio <= MAX_RUNS else None
    divisors = {d for count in set(counts.astype("int64")) for d in _divisors(int(count))}
    fitting = [d for d in divisors if time[counts % d == 0].sum() >= _AGREE * time.sum() > 0]
    maximum = max(fitting, default=1)
    return maximum if maximum > 1 else None


def _executions(table: pd.DataFrame, *, total: bool = False) -> dict[Hashable, tuple[float, float]]:
    """Executions and time by what both sides call an operator: name, type or launcher."""
    keys = (
        table["launched_by"]
        .astype("object")
        .where(table["launched_by"].notna(), table["op_type"].astype("object"))
    )
    keys = keys.where(keys.notna(), table["name"].astype("object"))
    sums = table.groupby(keys.to_numpy(), sort=False)[["count", "total_ns"]].sum()
    return {
        key: (float(count), float(ns) if total else 0.0)
        for key, count, ns in zip(sums.index, sums["count"], sums["total_ns"], strict=True)
    }


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, int(min(number, MAX_RUNS) ** 0.5) + 1) if number % d == 0]
    return [d for d in {*small, *(number // d for d in small)} if d <= MAX_RUNS]


def _begins(trace: Trace, runs: int) -> np.ndarray | None:
    """When each run begins, in ns; None where the calls do not tell."""
    calls = trace.calls
    if calls["start_ns"].isna().any() or (runs > 1 and (calls["n"] != 1).any()):
        return None
    if runs == 1:
        return calls["start_ns"].to_numpy("int64")[:1]
    operator = calls["operator"].to_numpy()
    count = np.bincount(operator, minlength=len(trace.operators))[operator]
    starts = calls["start_ns"].to_numpy("int64")
    order = np.lexsort((starts, operator))
    rank = np.empty(len(calls), "int64")
    first = np.concatenate(([0], np.cumsum(np.bincount(operator))))[operator[order]]
    rank[order] = np.arange(len(calls)) - first
    regular = np.flatnonzero(count % runs == 0)
    if not len(regular):
        return None
    names, row = np.unique(operator[regular], return_inverse=True)
    of_run, index = np.divmod(rank[regular], count[regular] // runs)
    first, last = (np.empty((len(names), runs), "int64") for _ in range(2))
    for times, is_there in ((first, index == 0), (last, index == count[regular] // runs - 1)):
        times[row[is_there], of_run[is_there]] = starts[regular][is_there]
    took = np.bincount(row, weights=calls["dur_ns"].to_numpy(dtype=float)[regular] + 1.0)
    agree = np.ones(len(names), dtype=bool)
    for run in 1 + np.flatnonzero(last[:, :-1].max(axis=0) >= first[:, 1:].min(axis=0)):
        begin = _between(last[:, run - 1], first[:, run], took)
        agree &= (last[:, run - 1] < begin) & (begin <= first[:, run])
    if took[agree].sum() < _AGREE * took.sum():
        return None
    begins: np.ndarray = first[agree].min(axis=0)
    return begins if bool((np.diff(begins) > 0).all()) else None


def _between(last: np.ndarray, first: np.ndarray, took: np.ndarray) -> int:
    """The time that lies, for operators of most time, behind their `last` call of one run and not
    behind their `first` of the next. An operator that ran all its calls in one run, as a search
    for the fastest kernel does, is outvoted."""
    at = np.sort(first)
    votes = np.zeros(len(at))
    for times, sign in ((last, 1.0), (first, -1.0)):
        order = np.argsort(times, kind="stable")
        sums = np.concatenate(([0.0], np.cumsum(took[order])))
        votes += sign * sums[np.searchsorted(times[order], at, side="left")]
    return int(at[votes.argmax()])


def _cut(trace: Trace, begins: np.ndarray) -> Trace:
    """One run from each begin to the next; what ran before the first one belongs to it. Behind the
    last call of the last run, of which the file does not show the end, it is as idle as the median
    of the others: else the mean run would be shorter for a file of few runs."""
    calls = trace.calls
    starts = calls["start_ns"].to_numpy("int64")
    lasts = calls["span_ns"].fillna(calls["dur_ns"]).to_numpy("int64")
    begins = begins.copy()
    begins[0] = min(begins[0], starts.min())
    of = np.searchsorted(begins, starts, side="right") - 1
    last_ends = np.zeros(len(begins), dtype="int64")
    np.maximum.at(last_ends, of, starts + lasts)
    pauses = np.maximum(0, begins[1:] - last_ends[:-1])
    pause_ns = int(np.median(pauses)) if len(pauses) else 0
    ends = np.append(begins[1:], (starts + lasts).max() + pause_ns)
    return _with_runs(trace, begins, ends - begins, calls.assign(run=pd.array(of, "Int64")))


def _average(trace: Trace, runs: int) -> Trace:
    """One run that stands for all: durations and executions are those of the file / `runs`.

    Without start times: those of the file are not those of one run.
    """
    calls = trace.calls
    whole = calls.groupby("operator", sort=False).agg(dur_ns=("dur_ns", "sum"), n=("n", "sum"))
    firsts = calls.drop_duplicates("operator").set_index("operator", drop=False)
    made = firsts.loc[whole.index].reset_index(drop=True)
    dur_ns = (whole["dur_ns"].to_numpy() + runs // 2) // runs
    made = made.assign(
        run=pd.array([0] * len(made), "Int64"),
        start_ns=pd.array([None] * len(made), "Int64"),
        span_ns=pd.array([None] * len(made), "Int64"),
        wait_ns=pd.array([None] * len(made), "Int64"),
        dur_ns=dur_ns,
        n=np.maximum(1, (whole["n"].to_numpy() + runs // 2) // runs),
    )
    return _with_runs(trace, np.array([-1]), np.array([int(dur_ns.sum())]), made)


def _with_runs(trace: Trace, begins: np.ndarray, dur_ns: np.ndarray, calls: pd.DataFrame) -> Trace:
    runs = runs_frame(
        run=range(len(begins)),
        kind=["iteration"] * len(begins),
        start_ns=pd.array([None if begin < 0 else int(begin) for begin in begins], "Int64"),
        dur_ns=dur_ns,
        profiled=[True] * len(begins),
    )
    return replace(trace, runs=runs, calls=calls)


def _with_launches(made: Trace, trace: Trace, runs: int) -> Trace:
    """`made` with the launches of the file shared out evenly: only their mean per run is known."""
    shares = {}
    for name in ("launches", "launch_ns"):
        if not trace.runs[name].isna().any():
            minimum, more = divmod(int(trace.runs[name].sum()), runs)
            whole = [minimum + (run < more) for run in range(len(made.runs))]
            shares[name] = pd.array(whole, dtype="Int64")
    return replace(made, runs=made.runs.assign(**shares))
