"""What ran in a stretch of time on one side of a payload, from all of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

MOST = 10  # operators with a line of their own


def sums(side: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    """Sums of what lies between two times, as sums.js makes them of calls in the browser.

    `from` and `to` of the stretch within the run; `busy`, the time in which anything ran;
    `executions` that reach into it; `classes` as {key, time, count} and `operators` as {op, time,
    count, longest}, most time first, of which `longest` is the number of the side's call that has
    most of it; what more than MOST of them are, together, is `rest`.
    """
    calls = side["calls"]
    last = min(end, side["dur_ns"])
    begins = np.asarray(calls["start_ns"], dtype="int64")
    ends = begins + np.asarray(calls["dur_ns"], dtype="int64")
    at = np.flatnonzero((begins < last) & ((ends > start) | (begins >= start)))
    first, stop = np.maximum(begins[at], start), np.minimum(ends[at], last)
    time = stop - first
    op = np.asarray(calls["op"])[at].astype("int64")
    reached = np.maximum.accumulate(np.r_[start, stop])[:-1] if len(at) else stop
    busy = int(np.maximum(0, stop - np.maximum(first, reached)).sum())
    names, of = np.unique(np.array(side["ops"]["op_class"], dtype=object)[op], return_inverse=True)
    classes = zip(names.tolist(), *_added(of, time, len(names)), strict=True)
    ids, of_op = np.unique(op, return_inverse=True)
    op_time, op_count = _added(of_op, time, len(ids))
    order = np.lexsort((np.arange(len(at)), -time, of_op))
    longest = at[order][np.r_[True, np.diff(of_op[order]) > 0]] if len(at) else at
    by_time = np.argsort(-op_time, kind="stable")
    shown, others = by_time[:MOST], by_time[MOST:]
    return {
        "from": start,
        "to": max(start, last),
        "busy": busy,
        "executions": len(at),
        "classes": sorted(
            ({"key": key, "time": int(ns), "count": int(n)} for key, ns, n in classes),
            key=lambda each: -each["time"],
        ),
        "operators": [
            {
                "op": int(ids[each]),
                "time": int(op_time[each]),
                "count": int(op_count[each]),
                "longest": int(longest[each]),
            }
            for each in shown
        ],
        "rest": {
            "operators": len(others),
            "time": int(op_time[others].sum()),
            "count": int(op_count[others].sum()),
        },
    }


def _added(of: np.ndarray, time: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    total = np.bincount(of, weights=time, minlength=groups).astype("int64")
    return total, np.bincount(of, minlength=groups)
