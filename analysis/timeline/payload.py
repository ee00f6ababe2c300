"""What the timeline draws: one run of each side on a common time scale, as plain columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis import units
from analysis.compare.comparison import Comparison, Side
from analysis.compare.latency import typical_ns
from analysis.metrics.breakdown import steady_calls
from analysis.metrics.warmup import steady_runs
from analysis.op_classes import LABELS, OP_CLASSES
from analysis.trace import Trace

MAX_CALLS = 20_000
_OPERATOR_FIELDS = ("name", "op_type", "op_class", "inputs", "outputs", "provider")


def timeline_payload(comparison: Comparison) -> dict[str, Any]:
    """JSON-ready payload of timeline.js: `span_ns`, `classes`, and two `sides`.

    Each side shows its median run; times are ns after the start of that run. `row` of an operator
    is its row in `comparison.operators`. A run of more than MAX_CALLS calls is cut, and the
    caption says so.
    """
    sides = [
        _side("baseline", comparison.baseline, comparison.operators),
        _side("candidate", comparison.candidate, comparison.operators),
    ]
    used = {name for side in sides for name in side["ops"]["op_class"]}
    return {
        "span_ns": max((side["dur_ns"] for side in sides), default=0),
        "classes": [{"id": name, "label": LABELS[name]} for name in OP_CLASSES if name in used],
        "sides": sides,
    }


def median_run(trace: Trace) -> int | None:
    """The run whose duration is the (lower) median of the runs that count; None without runs."""
    runs = trace.profiled_runs
    runs = runs[runs["run"].isin(steady_runs(trace).runs)].sort_values("dur_ns", kind="stable")
    return None if runs.empty else int(runs["run"].iloc[(len(runs) - 1) // 2])


def _side(role: str, side: Side, joined: pd.DataFrame) -> dict[str, Any]:
    trace = side.trace
    run = median_run(trace)
    calls = steady_calls(trace)
    if run is not None:
        calls = calls[calls["run"] == run]
    calls = calls[calls["start_ns"].notna()].sort_values("start_ns", kind="stable")
    total = len(calls)
    calls = calls.head(MAX_CALLS)
    start = calls["start_ns"].to_numpy(dtype="int64")
    row = trace.profiled_runs[trace.profiled_runs["run"] == run]
    zero = start[0] if len(start) else 0
    if len(row) and not pd.isna(row["start_ns"].iloc[0]):
        zero = int(row["start_ns"].iloc[0])
    dur_ns = int(row["dur_ns"].iloc[0]) if len(row) else 0
    shown_ns = calls["span_ns"].fillna(calls["dur_ns"]).to_numpy(dtype="int64")
    ends = start - zero + shown_ns
    operators, position = np.unique(calls["operator"].to_numpy(), return_inverse=True)
    lane = calls["device"].astype(str) + " " + calls["stream"].astype(str)
    lanes = list(dict.fromkeys(lane))
    return {
        "id": role,
        "label": side.label,
        "caption": _caption(side, len(operators), dur_ns, total),
        "dur_ns": max(dur_ns, int(ends.max()) if len(ends) else 0),
        "lanes": lanes,
        "ops": _operators(trace, operators, joined[f"operator_{role}"]),
        "calls": {
            "op": position.tolist(),
            "lane": [lanes.index(name) for name in lane],
            "start_ns": (start - zero).tolist(),
            "dur_ns": shown_ns.tolist(),
        },
    }


def _operators(trace: Trace, operators: np.ndarray, joined: pd.Series) -> dict[str, list[Any]]:
    row_of = {int(op): int(row) for row, op in joined.dropna().items()}  # type: ignore[call-overload]
    table = trace.operators.iloc[operators]
    columns: dict[str, list[Any]] = {
        name: [None if pd.isna(value) else str(value) for value in table[name]]
        for name in _OPERATOR_FIELDS
    }
    columns["row"] = [row_of.get(int(op)) for op in operators]
    return columns


def _caption(side: Side, operators: int, dur_ns: int, total: int) -> str:
    parts = [f"{units.count(operators)} operators", f"{units.duration(dur_ns)} as profiled"]
    if not side.trace.sampled_runs.empty:
        real = typical_ns(side.trace, "unprofiled_wall")
        parts[1] += f" ({units.duration(real)} un-profiled)"
    if total > MAX_CALLS:
        parts.append(f"first {units.count(MAX_CALLS)} of {units.count(total)} executions shown")
    return ", ".join(parts)
