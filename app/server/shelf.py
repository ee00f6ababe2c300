"""Shelf: what was opened or computed, by key, bounded in number and in bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from itertools import count
from typing import Generic, TypeVar

from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import MIB
from fusescope.analysis.trace import Trace

Value = TypeVar("Value")

# The pair on screen has to stay, however large it is.
MIN = 2
# A node or a tensor of a graph with its attributes, roughly.
_NODE_BYTES = 1_000
_BASE_BYTES = 64 * 1024


class Shelf(Generic[Value]):
    """Values by key, oldest first. Beyond `most` of them, or `most_bytes` by `weigh`, those that
    were used longest ago go; the two used last stay, whatever they weigh.

    Threads may share one.
    """

    def __init__(self, maximum: int, max_bytes: int, weigh: Callable[[Value], int]) -> None:
        self.maximum = maximum
        self.max_bytes = max_bytes
        self._weigh = weigh
        self._kept: dict[str, tuple[Value, int]] = {}
        self._used: dict[str, int] = {}
        self._clock = count()
        self._lock = threading.Lock()

    def get(self, key: str) -> Value | None:
        """What stands here under `key`, which counts as a use of it."""
        with self._lock:
            if key not in self._kept:
                return None
            self._used[key] = next(self._clock)
            return self._kept[key][0]

    def put(self, values: Mapping[str, Value]) -> list[Value]:
        """Keep these, in place of those with their keys; what went to make room is returned."""
        weights = {key: self._weigh(value) for key, value in values.items()}
        with self._lock:
            for key, value in values.items():
                self._kept.pop(key, None)
                self._kept[key] = (value, weights[key])
                self._used[key] = next(self._clock)
            gone = []
            while self._is_full():
                last = min(self._kept, key=self._used.__getitem__)
                gone.append(self._kept.pop(last)[0])
                del self._used[last]
            return gone

    def drop(self, key: str) -> None:
        """Let go of what stands here under `key`."""
        with self._lock:
            self._kept.pop(key, None)
            self._used.pop(key, None)

    def values(self) -> dict[str, Value]:
        """All that stands here, in the order in which it came."""
        with self._lock:
            return {key: value for key, (value, _) in self._kept.items()}

    @property
    def bytes(self) -> int:
        """What all of it weighs."""
        with self._lock:
            return self._total()

    def _total(self) -> int:
        return sum(weight for _, weight in self._kept.values())

    def _is_full(self) -> bool:
        if len(self._kept) <= MIN:
            return False
        return len(self._kept) > self.maximum or self._total() > self.max_bytes


def weight(value: Trace | Experiment) -> int:
    """Bytes that a file takes in memory: those of its tables, counted, and of graphs, estimated."""
    if isinstance(value, Experiment):
        graphs = [*value.graphs.values(), *filter(None, [value.model_graph])]
        nodes = sum(len(graph.nodes) + len(graph.tensors) for graph in graphs)
        return nodes * _NODE_BYTES + sum(map(weight, value.traces.values()))
    tables = (value.runs, value.operators, value.calls)
    own = sum(int(table.memory_usage(deep=True).sum()) for table in tables)
    return _BASE_BYTES + own + sum(map(weight, value.others))


def megabytes(size: int) -> str:
    """A bound in words."""
    return f"{size // MIB} MB"
