"""One side of a timeline: its operators, lanes and calls, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.side import Side
from fusescope.analysis.ranks.waits import Waits
from fusescope.analysis.timeline.caption import caption, folded
from fusescope.analysis.timeline.depth import rows_of
from fusescope.analysis.timeline.host_lane import (
    HostLane,
    host_lane,
    idle_drawn,
    unrecorded_stretches,
)
from fusescope.analysis.timeline.lane import Lane, lanes
from fusescope.analysis.timeline.run import DrawnRun, drawn_run
from fusescope.analysis.timeline.waiting import waiting_ns
from fusescope.analysis.trace import Trace

# Characters of the names, or shapes, of all operators: beyond it each is cut in the middle.
MAX_CHARS = 2_000_000
_MIN_CHARS = 24
_OPERATOR_FIELDS = ("name", "op_type", "op_class", "inputs", "outputs", "provider")


def drawn_side(
    role: str,
    side: Side,
    row_of: Mapping[int, int],
    group_of: list[int | None],
    unprofiled_ns: float | None,
    max_calls: int | None,
    waits: Waits | None,
) -> dict[str, Any]:
    trace = side.trace
    run = drawn_run(trace, max_calls)
    operators, position = np.unique(run.calls["operator"].to_numpy(), return_inverse=True)
    found, lane = _lanes(trace, run)
    dur_ns = run.end_ns if run.in_order else max(run.run_ns, run.end_ns)
    rows, row = rows_of(lane, run.start_ns, run.dur_ns, len(found))
    placed = row >= 0
    shown_ns = dur_ns if run.shown_ns is None else run.shown_ns
    host, unrecorded = _host(trace, run, shown_ns, placed)
    waiting = waiting_ns(waits, run, placed)
    return {
        "id": role,
        "label": side.name,
        "caption": caption(trace, unprofiled_ns, run, found, int((~placed).sum())),
        "folded": folded(found),
        "dur_ns": dur_ns,
        "shown_ns": shown_ns,
        "not_drawn": run.total - len(run.calls),
        "in_order": run.in_order,
        "origin_ns": run.origin_ns,
        "lanes": [
            {"label": found[of].label, "small": found[of].is_small, "of": of, "depth": depth}
            for of, depth in rows
        ],
        "ops": _operators(trace, operators, row_of, group_of),
        "calls": {
            "op": position[placed],
            "lane": row[placed],
            "start_ns": run.start_ns[placed],
            "dur_ns": run.dur_ns[placed],
            **({} if waiting is None else {"waiting_ns": waiting}),
        },
        **({} if waiting is None else {"waits": True}),
        **({} if host is None else {"host": host}),
        **({"unrecorded": unrecorded} if unrecorded else {}),
    }


def _host(
    trace: Trace, run: DrawnRun, shown_ns: int, placed: np.ndarray
) -> tuple[HostLane | None, list[list[int]]]:
    """Return the lane of the host below what is drawn, None where nothing is known of the host; and
    where the device may run what is not in the file, as starts and ends."""
    if run.origin_ns is None or shown_ns <= 0:
        return None, []
    idle = idle_drawn(trace, run.origin_ns, shown_ns)
    if idle is None:
        return None, []
    # How long before its start a call was launched does not follow from where it is cut.
    rows = np.where(run.cut, -1, run.calls["source_row"].to_numpy("int64", na_value=-1))[placed]
    lane = host_lane(trace, idle, run.origin_ns, rows, run.start_ns[placed])
    return lane, unrecorded_stretches(trace, idle, run.origin_ns)


def _lanes(trace: Trace, run: DrawnRun) -> tuple[tuple[Lane, ...], np.ndarray]:
    """Lanes and the lane of each call; one lane where nobody knows what ran beside what."""
    if run.in_order:
        busy = int(run.dur_ns.sum())
        return (Lane("", len(run.calls), busy),), np.zeros(len(run.calls), dtype="int64")
    is_communication = trace.operators["is_communication"].to_numpy()[
        run.calls["operator"].to_numpy()
    ]
    return lanes(run.calls, is_communication, trace.meta.format)


def _operators(
    trace: Trace,
    operators: np.ndarray,
    row_of: Mapping[int, int],
    group_of: list[int | None],
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name: fitting(trace.operators[name].array, operators, MAX_CHARS)
        for name in _OPERATOR_FIELDS
    }
    numbers = operators.tolist()
    columns["row"] = [row_of.get(op) for op in numbers]
    columns["group"] = [group_of[op] for op in numbers]
    return columns


def fitting(column: pd.Categorical, rows: np.ndarray, max_chars: int) -> list[str | None]:
    """The texts in these rows, None for null; cut in the middle where together they have more than
    `max_chars` characters."""
    codes = column.codes[rows]
    used = np.unique(codes[codes >= 0])
    texts = np.full(len(column.categories) + 1, None, dtype=object)  # the last is null's
    texts[used] = column.categories.to_numpy(dtype=object)[used]
    chars = np.array([len(text or "") for text in texts], dtype="int64")
    if chars[codes].sum() > max_chars:
        each = max(_MIN_CHARS, max_chars // len(rows))
        texts[used] = [units.middle_cut(text, each) for text in texts[used]]
    told: list[str | None] = texts[codes].tolist()
    return told
