"""A pair of which one file is the capture of a graph, and the other one replays it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fusescope.analysis.trace import Trace


@dataclass(frozen=True)
class CapturedGraph:
    """What a graph is in both files: `side` is that of the capture, 0 the baseline's. `kernels` are
    those of the graph, copies and fills with them; `host_ns` is how long the host took from the
    first to the last of their launches; `launches` is how often the other file replays it, and
    `replayed_ns` the time of the kernels of one replay."""

    side: int
    kernels: int
    host_ns: int
    launches: int
    replayed_ns: int


def captured_graph(before: Trace, after: Trace) -> CapturedGraph | None:
    """Return the graph that one file captures and the other one replays; None where neither file
    is a capture, which runs fewer kernels than it captures."""
    for side, (trace, other) in enumerate(((before, after), (after, before))):
        if captures_of(trace) is None:
            continue
        graph = _replayed(trace, other)
        if graph is not None:
            return replace(graph, side=side)
    return None


def captures_of(trace: Trace) -> tuple[int, int] | None:
    """Return how many graphs a trace captures and of how many kernels, copies and fills; None where
    it runs as much, so that it is more than a capture."""
    captured = trace.captured
    if captured is None or len(captured.table) <= len(trace.calls):
        return None
    return len(captured.graphs()), len(captured.table)


def _replayed(trace: Trace, other: Trace) -> CapturedGraph | None:
    """Return the first graph that the other file replays and the baseline captures."""
    from fusescope.analysis.compare.graphs.names_by_order import captured_line, replays

    names, operators = other.texts("name"), other.calls["operator"].to_numpy()
    dur_ns = other.calls["dur_ns"].to_numpy()
    by_kernels: dict[bytes, list[np.ndarray]] = {}
    for rows in replays(other):
        by_kernels.setdefault(operators[rows].tobytes(), []).append(rows)
    for same in by_kernels.values():
        kernels = [names[at] for at in operators[same[0]].tolist()]
        line = captured_line(trace, kernels)
        if line is None or line.span_ns is None:
            continue
        total_ns = sum(int(dur_ns[rows].sum()) for rows in same)
        begin, end = line.span_ns
        return CapturedGraph(0, len(kernels), end - begin, len(same), round(total_ns / len(same)))
    return None
