"""Collectives of one rank: which group communicated, how much, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis.ranks.kinds import SEND_RECEIVE, hccl_name, kind_of
from fusescope.analysis.trace import Trace

# Of the host's own operators those of a library that communicates; others only ask for it.
_OF_LIBRARY = ("gloo:", "mpi:", "ucc:", "nccl:", "hccl:", "xccl:")
_COLUMNS: Mapping[str, Any] = {
    "group": "str", "members": "str", "size": "Int64", "kind": "str", "bytes": "Int64",
    "index": "int64", "is_pair": "bool", "transfer_ns": "Int64",
}  # fmt: skip


def collectives(trace: Trace) -> pd.DataFrame:
    """Return the collectives of a trace that have a start, by start.

    `call` is the place of each among the calls of the trace; `index` counts those of its group, and
    of its kind where the group is not known, and is the group's own number where `is_numbered`;
    `start_ns` and `dur_ns` are of the rank's own clock; others are as in COLLECTIVE_COLUMNS.
    """
    calls = trace.calls
    chosen = _talking(trace)
    starts = calls["start_ns"].to_numpy("int64", na_value=0)[chosen]
    chosen = chosen[np.argsort(starts, kind="stable")]
    names = trace.texts("name")
    recorded = _recorded(trace)
    seen: Counter[tuple[str, str]] = Counter()
    columns: dict[str, list[object]] = {name: [] for name in _COLUMNS}
    is_numbered: list[bool] = []
    for operator, row in zip(
        calls["operator"].to_numpy()[chosen].tolist(),
        calls["source_row"].to_numpy("int64", na_value=-1)[chosen].tolist(),
        strict=True,
    ):
        one = recorded.get(row) or _by_name(names[operator])
        is_numbered.append(one["index"] is not None)
        if one["index"] is None:
            key = (str(one["group"]), "" if one["group"] else str(one["kind"]))
            one = {**one, "index": seen[key]}
            seen[key] += 1
        for name, value in one.items():
            columns[name].append(value)
    table = {name: pd.Series(columns[name], dtype=kind).array for name, kind in _COLUMNS.items()}
    return pd.DataFrame(
        {
            **table,
            "is_numbered": np.array(is_numbered, dtype=bool),
            "call": chosen,
            "start_ns": calls["start_ns"].to_numpy("int64", na_value=0)[chosen],
            "dur_ns": lasts_of(calls)[chosen],
        }
    )


def lasts_of(calls: pd.DataFrame) -> np.ndarray:
    """Return how long each call takes from its start to its end, in ns."""
    own, span = calls["dur_ns"].to_numpy("int64"), calls["span_ns"]
    return np.where(span.isna().to_numpy(), own, span.to_numpy("int64", na_value=0))


def _talking(trace: Trace) -> np.ndarray:
    """Return the places of calls that communicate: of the device where there are such, else of the
    library's own."""
    operators = trace.operators
    talks = operators["is_communication"].to_numpy(dtype=bool)
    on_device = talks & (operators["level"] == "device_kernel").to_numpy(dtype=bool)
    if on_device.any():
        talks = on_device
    else:
        own = np.array([name.startswith(_OF_LIBRARY) for name in trace.texts("name")], dtype=bool)
        talks = talks & own if (talks & own).any() else talks
    has_start = trace.calls["start_ns"].notna().to_numpy()
    return np.flatnonzero(talks[trace.calls["operator"].to_numpy()] & has_start)


def _recorded(trace: Trace) -> dict[int, dict[str, object]]:
    """Return what the file says of collectives beside their times, by source row."""
    if trace.collectives is None:
        return {}
    table = trace.collectives.table.rename(columns={"number": "index"})
    columns = {name: table[name].astype("object").tolist() for name in _COLUMNS}
    rows = zip(*columns.values(), strict=True)
    known = (
        {name: None if value is pd.NA else value for name, value in zip(columns, row, strict=True)}
        for row in rows
    )
    return dict(zip(table["source_row"].tolist(), known, strict=True))


def _by_name(name: str) -> dict[str, object]:
    """Return what the name alone says."""
    known = hccl_name(name)
    kind = known.kind if known else kind_of(name)
    return {
        "group": known.group if known else "",
        "members": "",
        "size": None,
        "kind": kind,
        "bytes": None,
        "index": known.number if known else None,
        "is_pair": kind == SEND_RECEIVE,
        "transfer_ns": None,
    }
