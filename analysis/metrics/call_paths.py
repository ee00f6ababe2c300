"""Call paths: the frames of the host under which operators were started, with their time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Trace

MAX_FRAMES = 16  # of one path; operators below stand in the last one
_MODULE = "nn.Module: "
_PASSED_ON = 0.999  # of a frame's time in one of those that it calls, from which it only calls


@once
def call_paths(trace: Trace) -> list[tuple[tuple[str, ...], float]]:
    """Each operator under each path that started it: the names of the frames, outermost first, then
    that of the operator, and its time per run in ns. Empty where no stack is known.

    A frame that does nothing but call another one is left out, unless it is a module of the model:
    of a chain of such frames the last one says most.
    """
    stacks = trace.stacks
    if stacks is None:
        return []
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    nodes = stacks.of(calls["source_row"].to_numpy("int64", na_value=-1))
    if not len(calls) or (nodes < 0).all():
        return []
    count = len(trace.operators)
    pairs, place = np.unique(
        (nodes + 1) * count + calls["operator"].to_numpy(), return_inverse=True
    )
    times = np.bincount(place, weights=calls["dur_ns"].to_numpy("float64"))
    per_run = times / max(1, len(steady.runs))
    own = np.zeros(len(stacks.names))
    np.add.at(own, pairs[pairs >= count] // count - 1, per_run[pairs >= count])
    shown = _shown(stacks.names, stacks.parents, own)
    paths: dict[int, tuple[str, ...]] = {-1: ()}
    for node, (name, parent) in enumerate(zip(stacks.names, stacks.parents.tolist(), strict=True)):
        above = paths[parent]
        keeps = shown[node] and len(above) < MAX_FRAMES
        paths[node] = (*above, name) if keeps else above
    names = trace.texts("name")
    return [
        ((*paths[pair // count - 1], names[pair % count]), float(ns))
        for pair, ns in zip(pairs.tolist(), per_run.tolist(), strict=True)
    ]


def _shown(names: Sequence[str], parents: np.ndarray, own: np.ndarray) -> list[bool]:
    """Which frames are told: those of modules, and those that do more than call one other."""
    whole = own.copy()
    largest = np.zeros(len(names))
    for node in range(len(names) - 1, -1, -1):  # children before their parents
        parent = int(parents[node])
        if parent >= 0:
            whole[parent] += whole[node]
            largest[parent] = max(largest[parent], whole[node])
    return [
        name.startswith(_MODULE) or bool(largest[node] < _PASSED_ON * whole[node])
        for node, name in enumerate(names)
    ]
