"""A forward pass that runs again for the backward pass, as activation checkpointing has it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.advice.explanation.explanation import Saving
from fusescope.analysis.advice.explanation.spans import holder_of, spans_of
from fusescope.analysis.advice.explanation.traced import Traced
from fusescope.analysis.host_activity import HostActivity

_CHECKPOINT = re.compile(
    r"CheckpointFunctionBackward\Z|(?:.{0,200}/)?torch/utils/checkpoint\.py.{0,20}: recompute_fn\Z"
)
# What only a forward pass runs: inside the backward pass it runs again.
_FORWARD = re.compile(
    r"nn\.Module: |aten::(?:conv[123]d|linear|batch_norm|layer_norm|scaled_dot_product_attention)\Z"
)
_BACKWARD = re.compile(r"autograd::engine::evaluate_function: ")


def recomputed(traced: Traced, least_ns: float) -> list[Saving]:
    """Return the kernels that run again because their results were not kept, if they take at least
    `least_ns` a unit. They cost time to save memory."""
    host = traced.trace.host
    if host is None:
        return []
    again = _again(host)
    if not len(again.spans):
        return []
    side, calls = traced.side, traced.trace.calls
    lanes, times = traced.launched
    is_again = again.holds(lanes, times)
    mine = np.flatnonzero(is_again & (side.units.unit_of >= 0))
    ns = calls["dur_ns"].to_numpy()[mine]
    count = side.units.count
    total = round(float(ns.sum()) / count)
    if not len(mine) or total < least_ns:
        return []
    operators = calls["operator"].to_numpy()
    of_again = _times(operators[mine], ns, count)
    values: dict[str, str | int | float] = {}
    operator = _operator(traced, operators[mine], ns)
    if operator:
        runs, repeated = _executions(host, again, operator)
        values = {"operator": operator, "executions": runs, "repeated": repeated}
    return [
        Saving(
            "recomputed",
            total,
            round(len(mine) / count),
            (operator,) if operator else (),
            side.named_times(of_again),
            values=values,
            calls=mine,
        )
    ]


@dataclass(frozen=True, eq=False)
class _Again:
    """Spans of the host in which a forward pass runs again, but not those of the backward pass
    inside them."""

    host: HostActivity
    spans: np.ndarray
    backward: np.ndarray

    def holds(self, lanes: np.ndarray, times_ns: np.ndarray) -> np.ndarray:
        """Return which times on a thread lie in one of them."""
        inside = holder_of(self.host, self.spans, lanes, times_ns) >= 0
        nested = holder_of(self.host, self.backward, lanes, times_ns) >= 0
        found: np.ndarray = inside & ~nested
        return found


def _again(host: HostActivity) -> _Again:
    marked = spans_of(host, _CHECKPOINT.match)
    forward = spans_of(host, _FORWARD.match)
    backward = spans_of(host, _BACKWARD.match)
    in_backward = holder_of(host, backward, host.lanes[forward], host.starts_ns[forward]) >= 0
    spans = np.union1d(marked, forward[in_backward])
    nested = holder_of(host, spans, host.lanes[backward], host.starts_ns[backward]) >= 0
    return _Again(host, spans, backward[nested])


def _times(operators: np.ndarray, ns: np.ndarray, count: int) -> dict[int, list[float]]:
    totals: dict[int, list[float]] = {}
    for operator, each in zip(operators.tolist(), ns.tolist(), strict=True):
        entry = totals.setdefault(operator, [0.0, 0.0])
        entry[0] += 1 / count
        entry[1] += each / count
    return totals


def _operator(traced: Traced, operators: np.ndarray, ns: np.ndarray) -> str:
    """Return the operator of the framework that launches most of what runs again; '' for none."""
    totals: dict[str, int] = {}
    for operator, each in zip(operators.tolist(), ns.tolist(), strict=True):
        name = traced.side.launchers[operator]
        if name:
            totals[name] = totals.get(name, 0) + each
    return max(totals, key=lambda name: totals[name], default="")


def _executions(host: HostActivity, again: _Again, operator: str) -> tuple[int, int]:
    """Return how often an operator runs in the file, and how many of those repeat another."""
    spans = spans_of(host, lambda name: name == operator)
    return len(spans), int(again.holds(host.lanes[spans], host.starts_ns[spans]).sum())
