"""All sides for Perfetto or any viewer of Chrome's trace format: processes on one clock."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.messages import language
from fusescope.analysis.text import clean_text
from fusescope.analysis.timeline.payload import several_payload, timeline_payload

# Executions of a side that are written; each takes some 200 bytes.
_MAX_CALLS = 250_000
_CHARS = 300
_DETAILS = ("op_type", "op_class", "provider", "inputs", "outputs")


def perfetto_json(comparison: Comparison) -> bytes:
    """The run of each side that the timelines show, as profiled, from 0: a process for each
    side, a thread for each lane, an event for each execution, with its fusion group.

    Times are µs with three decimals, so no ns is lost. `otherData` has the captions of the
    timelines: what is left out, and where order stands in for start times.
    """
    with language.speaking(language.ENGLISH):
        return _written(timeline_payload(comparison, _MAX_CALLS))


def several_perfetto_json(multiple: MultipleComparison) -> bytes:
    """As `perfetto_json` for several sides, in the order of their table, without fusion groups."""
    with language.speaking(language.ENGLISH):
        return _written(several_payload(multiple, _MAX_CALLS))


def _written(payload: dict[str, Any]) -> bytes:
    patterns = {group["id"]: group["pattern"] for group in payload["groups"]}
    events: list[dict[str, Any]] = []
    for pid, side in enumerate(payload["sides"], 1):
        name = clean_text(side["label"], _CHARS)
        events.append(_label("process_name", pid, 0, name))
        events.append(
            {
                "ph": "M",
                "pid": pid,
                "tid": 0,
                "name": "process_sort_index",
                "args": {"sort_index": pid},
            }
        )
        for lane in side["lanes"]:
            if lane["depth"] == 0:  # what runs inside a call is on its thread
                label = clean_text(lane["label"], _CHARS) or name
                events.append(_label("thread_name", pid, lane["of"] + 1, label))
        events += _calls(pid, side, patterns)
    told = {f"side {pid}": str(side["caption"]) for pid, side in enumerate(payload["sides"], 1)}
    about = {"source": "FuseScope", **told}
    return msgspec.json.encode({"displayTimeUnit": "ns", "otherData": about, "traceEvents": events})


def _label(kind: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": pid, "tid": tid, "name": kind, "args": {"name": name}}


def _calls(pid: int, side: dict[str, Any], patterns: dict[int, str]) -> list[dict[str, Any]]:
    ops, calls = side["ops"], side["calls"]
    shared = [_details(ops, at, patterns) for at in range(len(ops["name"]))]
    names = [clean_text(name or "unknown", _CHARS) for name in ops["name"]]
    columns = (np.asarray(calls[key]).tolist() for key in ("op", "lane", "start_ns", "dur_ns"))
    return [
        {
            "ph": "X",
            "pid": pid,
            "tid": side["lanes"][lane]["of"] + 1,
            "name": names[op],
            "cat": ops["op_class"][op] or "unknown",
            "ts": start / 1e3,
            "dur": dur / 1e3,
            "args": shared[op],
        }
        for op, lane, start, dur in zip(*columns, strict=True)
    ]


def _details(ops: dict[str, Any], at: int, patterns: dict[int, str]) -> dict[str, str]:
    found = {key: clean_text(ops[key][at], _CHARS) for key in _DETAILS if ops[key][at]}
    group = ops["group"][at]
    if group is not None and group in patterns:
        found["fusion group"] = f"{group}: {clean_text(patterns[group], _CHARS)}"
    return found
