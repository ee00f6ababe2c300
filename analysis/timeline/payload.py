"""What the timeline draws: one run of each side on a common time scale, as plain columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis import units
from analysis.compare.comparison import Comparison, Side
from analysis.compare.fusion import Operator, group_places
from analysis.compare.latency import typical_ns
from analysis.metrics.breakdown import steady_calls
from analysis.metrics.warmup import steady_runs
from analysis.op_classes import LABELS, OP_CLASSES
from analysis.trace import Trace

MAX_CALLS = 20_000
_OPERATOR_FIELDS = ("name", "op_type", "op_class", "inputs", "outputs", "provider")


def timeline_payload(comparison: Comparison) -> dict[str, Any]:
    """JSON-ready payload of timeline.js: `span_ns`, `classes`, `groups`, and two `sides`.

    Each side shows its median run; times are ns after the start of that run. `row` of an operator
    is its row in `comparison.operators`, `group` the id of its fusion group, null for an operator
    in none. `groups` are those that either side shows, largest gain first; their times are the
    ledger's, means over all runs. A run of more than MAX_CALLS calls is cut, and the caption says
    so.
    """
    groups = comparison.fusion.groups
    claims = ([group.baseline for group in groups], [group.candidate for group in groups])
    of_baseline, of_candidate = (
        _group_ids(side.trace, of_side, [group.id for group in groups])
        for side, of_side in zip((comparison.baseline, comparison.candidate), claims, strict=True)
    )
    operators = comparison.operators
    sides = [
        _side("baseline", comparison.baseline, operators, of_baseline),
        _side("candidate", comparison.candidate, operators, of_candidate),
    ]
    used = {name for side in sides for name in side["ops"]["op_class"]}
    return {
        "span_ns": max((side["dur_ns"] for side in sides), default=0),
        "classes": [{"id": name, "label": LABELS[name]} for name in OP_CLASSES if name in used],
        "groups": _groups(
            comparison.ledger.rows, {id_ for s in sides for id_ in s["ops"]["group"]}
        ),
        "sides": sides,
    }


def median_run(trace: Trace) -> int | None:
    """The run whose duration is the (lower) median of the runs that count; None without runs."""
    runs = trace.profiled_runs
    runs = runs[runs["run"].isin(steady_runs(trace).runs)].sort_values("dur_ns", kind="stable")
    return None if runs.empty else int(runs["run"].iloc[(len(runs) - 1) // 2])


def _groups(rows: pd.DataFrame, shown: set[int | None]) -> list[dict[str, Any]]:
    return [
        {
            "id": int(row["group"]),
            "pattern": str(row["pattern"]),
            "becomes": str(row["becomes"]),
            "kind": str(row["kind"]),
            "before_ns": _whole(row["before_ns"]),
            "after_ns": _whole(row["after_ns"]),
            "gain_ns": _whole(row["gain_ns"]),
            "hurts": bool(row["hurts"]),
        }
        for row in rows[rows["group"].isin(shown)].to_dict("records")
    ]


def _whole(ns: float) -> int | None:
    return None if pd.isna(ns) else round(ns)


def _group_ids(
    trace: Trace, claims: Sequence[Sequence[Operator]], ids: Sequence[int]
) -> list[int | None]:
    """The id of each operator's group; None for an operator in none."""
    names = list(trace.operators["name"].astype("object").fillna(""))
    return [ids[place] if place >= 0 else None for place in group_places(names, claims)]


def _side(
    role: str, side: Side, joined: pd.DataFrame, group_of: list[int | None]
) -> dict[str, Any]:
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
    places = [
        calls[name].astype("object").where(calls[name].notna(), "") for name in ("device", "stream")
    ]
    lane = [" ".join(filter(None, map(str, place))) for place in zip(*places, strict=True)]
    lanes = list(dict.fromkeys(lane))
    number = {name: place for place, name in enumerate(lanes)}
    return {
        "id": role,
        "label": side.label,
        "caption": _caption(side, len(operators), dur_ns, total),
        "dur_ns": max(dur_ns, int(ends.max()) if len(ends) else 0),
        "lanes": lanes,
        "ops": _operators(trace, operators, joined[f"operator_{role}"], group_of),
        "calls": {
            "op": position.tolist(),
            "lane": [number[name] for name in lane],
            "start_ns": (start - zero).tolist(),
            "dur_ns": shown_ns.tolist(),
        },
    }


def _operators(
    trace: Trace, operators: np.ndarray, joined: pd.Series, group_of: list[int | None]
) -> dict[str, list[Any]]:
    row_of = {int(op): int(row) for row, op in joined.dropna().items()}  # type: ignore[call-overload]
    table = trace.operators.iloc[operators]
    columns: dict[str, list[Any]] = {
        name: [None if pd.isna(value) else str(value) for value in table[name]]
        for name in _OPERATOR_FIELDS
    }
    columns["row"] = [row_of.get(int(op)) for op in operators]
    columns["group"] = [group_of[int(op)] for op in operators]
    return columns


def _caption(side: Side, operators: int, dur_ns: int, total: int) -> str:
    parts = [f"{units.count(operators)} operators", f"{units.duration(dur_ns)} as profiled"]
    if not side.trace.sampled_runs.empty:
        real = typical_ns(side.trace, "unprofiled_wall")
        parts[1] += f" ({units.duration(real)} un-profiled)"
    if total > MAX_CALLS:
        parts.append(f"first {units.count(MAX_CALLS)} of {units.count(total)} executions shown")
    return ", ".join(parts)
