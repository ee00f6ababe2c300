"""Kernels whose launch a file lacks, known by their place: in the other runs the same kernel stands
there with its launch.

A file that begins or ends inside a run has kernels without the call of the host that launched them.
Counted apart from those of their operator they look like work that only one side does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fusescope.analysis.trace import Trace, noted

_KERNEL = "device_kernel"


def with_launchers(trace: Trace) -> Trace:
    """Return a trace whose executions without a launch in the file count as the operator that
    stands at their place in another run of the same kernels, with a note of how many; times
    stay."""
    like = same_place(trace, _without_launch(trace), runs_of(trace))
    moved = like >= 0
    if not moved.any():
        return trace
    operators = trace.calls["operator"].to_numpy().copy()
    operators[moved] = operators[like[moved]]
    notes = noted("info", "launchers_by_place", int(moved.sum()))
    calls = trace.calls.assign(operator=operators)
    return replace(trace, calls=calls, diagnostics=(*trace.diagnostics, *notes))


def same_place(trace: Trace, unknown: np.ndarray, run_of: np.ndarray) -> np.ndarray:
    """Return for each of these calls a call at the same place of another run that is none of them:
    on a stream on which both runs have kernels of the same names in the same order. -1 for other
    calls, and where no run is like it.

    `unknown` has an entry a call, as the result, and `run_of`, the run or unit of work of each, -1
    for none.
    """
    alike_calls = np.full(len(trace.calls), -1, dtype="int64")
    if not unknown.any() or run_of.max(initial=-1) < 1:
        return alike_calls
    names = np.unique(np.array(trace.texts("name"), dtype=object), return_inverse=True)[1]
    of = names[trace.calls["operator"].to_numpy()]
    alike: dict[tuple[int, bytes], list[np.ndarray]] = {}
    for stream, calls in _sequences(trace, run_of):
        alike.setdefault((stream, of[calls].tobytes()), []).append(calls)
    for runs in alike.values():
        lacking = np.array([unknown[calls] for calls in runs])
        if len(runs) < 2 or not lacking.any():
            continue
        whole = np.array(runs)
        known = np.argmin(lacking, axis=0)  # the first run that knows it
        first = whole[known, np.arange(whole.shape[1])]
        has_one = ~lacking.all(axis=0)
        wanted = lacking & has_one
        alike_calls[whole[wanted]] = np.broadcast_to(first, whole.shape)[wanted]
    return alike_calls


def runs_of(trace: Trace) -> np.ndarray:
    """Return the run of each call, -1 for none."""
    runs: np.ndarray = trace.calls["run"].to_numpy("int64", na_value=-1)
    return runs


def _without_launch(trace: Trace) -> np.ndarray:
    """Return which calls are kernels without a launch, where the file has that of others."""
    operators = trace.operators
    unknown = (operators["launched_by"].isna() & (operators["level"] == _KERNEL)).to_numpy()
    if unknown.all() or not unknown.any():
        return np.zeros(len(trace.calls), dtype=bool)
    calls: np.ndarray = unknown[trace.calls["operator"].to_numpy()]
    return calls


def _sequences(trace: Trace, run: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the stream and the calls, in order of start, of each run on each stream."""
    calls = trace.calls
    stream = calls["stream"].cat.codes.to_numpy("int64")
    starts = calls["start_ns"].to_numpy("int64", na_value=-1)
    order = np.lexsort((starts, stream, run))
    order = order[(run[order] >= 0) & (starts[order] >= 0)]
    if not len(order):
        return
    edges = np.flatnonzero((np.diff(run[order]) != 0) | (np.diff(stream[order]) != 0)) + 1
    for part in np.split(order, edges):
        yield int(stream[part[0]]), part
