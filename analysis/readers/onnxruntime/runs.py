"""Where nodes of an ONNX Runtime profile lie: in which run, and inside which other node."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from fusescope.analysis.operators.classes import op_class
from fusescope.analysis.readers.onnxruntime.events import Kernel, Node, Run


class _Span(msgspec.Struct):
    start_ns: int
    end_ns: int
    run: int


def follow_each_other(runs: Sequence[Run]) -> bool:
    """Return whether each of these runs, sorted by start, ends before the next one begins."""
    return all(start + dur <= after[0] for (start, dur, _), after in pairwise(runs))


class RunLocator:
    """Which run a node belongs to: by time, and by thread where runs overlap.

    `runs` are sorted by start and numbered from `first` on.
    """

    def __init__(self, runs: list[Run], first: int) -> None:
        ends = [start + dur for start, dur, _ in runs]
        self._overlap = not follow_each_other(runs)
        self._spans: dict[object, list[_Span]] = {}
        for position, (start, _, tid) in enumerate(runs):
            key = tid if self._overlap else None
            self._spans.setdefault(key, []).append(_Span(start, ends[position], first + position))
        self._starts = {key: [s.start_ns for s in spans] for key, spans in self._spans.items()}

    def __call__(self, start_ns: int, tid: object) -> int | None:
        """The number of the run; None outside of all."""
        key = tid if self._overlap and tid in self._spans else None
        candidates = [key] if key in self._spans else list(self._spans)
        for name in candidates:
            position = bisect_right(self._starts[name], start_ns) - 1
            if position >= 0 and start_ns <= self._spans[name][position].end_ns:
                return self._spans[name][position].run
        return None


def time_of(kernels: Sequence[Kernel]) -> tuple[int, int, int]:
    """Of the kernels of one node: start of the first, and twice the time in which one of them ran,
    in ns. Between two of them the device stands still, which is not the node's."""
    spans = sorted((one.start_ns, one.start_ns + one.dur_ns) for one in kernels)
    busy_ns, reached = 0, spans[0][0]
    for start, end in spans:
        busy_ns += max(0, end - max(start, reached))
        reached = max(reached, end)
    return spans[0][0], busy_ns, busy_ns


class SelfTimes(msgspec.Struct):
    """Self time of each node in ns, and how many lie inside another."""

    dur_ns: list[int]
    nested: int


def self_times(nodes: list[Node]) -> SelfTimes:
    """Durations without the time of nodes inside (Loop, If, Scan), on the same thread.

    `nodes` are sorted by start, longer first. Files truncate start and duration to whole µs, so
    neighbours never overlap by rounding.
    """
    dur_ns = [dur for _, dur, _, _ in nodes]
    kinds = {event.args.op_name if event.args else None for _, _, _, event in nodes}
    if "unknown" not in map(op_class, kinds):
        return SelfTimes(dur_ns, 0)
    open_nodes: dict[object, list[tuple[int, int]]] = {}
    nested = 0
    for position, (start, dur, _, event) in enumerate(nodes):
        stack = open_nodes.setdefault(event.tid, [])
        while stack and stack[-1][0] <= start:
            stack.pop()
        if stack and start + dur <= stack[-1][0]:
            dur_ns[stack[-1][1]] -= dur
            nested += 1
        # Types of a known class have no body: what starts inside one only overlaps it.
        if op_class(event.args.op_name if event.args else None) == "unknown":
            stack.append((start + dur, position))
    return SelfTimes([max(0, dur) for dur in dur_ns], nested)
