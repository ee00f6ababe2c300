"""What a trace has beside its tables, as tables: call stacks, memory over time, host waits, the
activity of the host, the originals that members name, the program of the host, what is known of
collectives, and captured kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis.host_activity import KINDS, MAX_SPANS, HostActivity
from fusescope.analysis.host_waits import MAX_WAITS, HostWaits
from fusescope.analysis.job import COLLECTIVE_COLUMNS, MAX_COLLECTIVES, Collectives
from fusescope.analysis.memory import MAX_DEVICES, MAX_POINTS, MemoryUse
from fusescope.analysis.originals import MAX_ORIGINALS, Original
from fusescope.analysis.program import (
    CAPTURED_COLUMNS,
    MAX_CAPTURED,
    MAX_PROGRAM,
    Captured,
    Program,
)
from fusescope.analysis.stacks import MAX_NODES, Stacks
from fusescope.analysis.trace import Trace

# Table -> column -> dtype. Places in another table count from 1; 0 is none.
SCHEMAS: Mapping[str, Mapping[str, str]] = {
    "nodes": {"name": "category", "parent": "int64"},
    "placed": {"source_row": "int64", "node": "int64"},
    "backward": {"source_row": "int64", "forward": "int64"},
    "waits": {"name": "category", "start_ns": "int64", "dur_ns": "int64"},
    "memory": {
        "device": "category",
        "peak_in": "category",
        "start_ns": "int64",
        "allocated": "int64",
        "reserved": "Int64",
    },
    "originals": {
        "name": "category",
        "op_type": "category",
        "place": "category",
        "computes": "int64",
        "recomputed": "int64",
        "traced": "int64",
    },
    "program": {"name": "category", "run": "int64"},
    "launched": {"source_row": "int64", "operator": "int64"},
    "host": {
        "thread": "category",
        "span_kind": "category",
        "name": "category",
        "start_ns": "int64",
        "dur_ns": "int64",
    },
    "launches": {"source_row": "int64", "thread": "category", "start_ns": "int64"},
    "submissions": {"thread": "category", "start_ns": "int64"},
    "collectives": COLLECTIVE_COLUMNS,
    "captured": CAPTURED_COLUMNS,
}
# Columns in which a cell may have no value.
_MAY_LACK = ["reserved", *(name for name, dtype in COLLECTIVE_COLUMNS.items() if dtype == "Int64")]
_MAX_ROWS = {
    "nodes": MAX_NODES,
    "waits": MAX_WAITS,
    "memory": MAX_POINTS * MAX_DEVICES,
    "originals": MAX_ORIGINALS,
    "program": MAX_PROGRAM,
    "host": MAX_SPANS,
    "collectives": MAX_COLLECTIVES,
    "captured": MAX_CAPTURED,
}


def frames_of(trace: Trace) -> dict[str, pd.DataFrame]:
    """The tables of what the trace has, by name."""
    found: dict[str, pd.DataFrame] = {}
    stacks, waits = trace.stacks, trace.host_waits
    if stacks is not None:
        found["nodes"] = pd.DataFrame(
            {"name": pd.Categorical(stacks.names), "parent": _from_one(stacks.parents)}
        )
        found["placed"] = pd.DataFrame(
            {"source_row": stacks.rows.astype("int64"), "node": _from_one(stacks.nodes)}
        )
        if stacks.forward is not None:
            linked = stacks.forward >= 0
            found["backward"] = pd.DataFrame(
                {
                    "source_row": stacks.rows[linked].astype("int64"),
                    "forward": _from_one(stacks.forward[linked]),
                }
            )
    if waits is not None:
        found["waits"] = pd.DataFrame(
            {
                "name": pd.Categorical([waits.names[place] for place in waits.name_of]),
                "start_ns": waits.starts_ns,
                "dur_ns": waits.ends_ns - waits.starts_ns,
            }
        )
    if trace.memory:
        found["memory"] = pd.concat([_memory_frame(use) for use in trace.memory]).astype(
            {"device": "category", "peak_in": "category"}
        )
    if trace.originals:
        columns = {
            column: [getattr(one, column) for one in trace.originals]
            for column in SCHEMAS["originals"]
        }
        found["originals"] = pd.DataFrame(columns).astype(dict(SCHEMAS["originals"]))
    if trace.program is not None:
        program = trace.program
        names = np.array(program.names, dtype=object)[program.name_of]
        found["program"] = pd.DataFrame(
            {"name": pd.Categorical(names), "run": _from_one(program.runs)}
        )
        found["launched"] = pd.DataFrame(
            {"source_row": program.rows, "operator": _from_one(program.launched_by)}
        )
    if trace.host is not None:
        found |= _host_frames(trace.host)
    if trace.collectives is not None:
        found["collectives"] = trace.collectives.table
    if trace.captured is not None:
        found["captured"] = trace.captured.table
    return found


def context_of(frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """What `frames_of` made tables of, by the names that a Trace has for it. Raises ValueError for
    tables that no trace gives."""
    for name, frame in frames.items():
        if {column: str(frame[column].dtype) for column in frame} != dict(SCHEMAS[name]):
            raise ValueError(f"{name}: other columns than it must have")
        if len(frame) > _MAX_ROWS.get(name, len(frame)) or frame.drop(
            columns=_MAY_LACK, errors="ignore"
        ).isna().any(axis=None):
            raise ValueError(f"{name}: too many rows, or cells without a value")
    if ("nodes" in frames) != ("placed" in frames):
        raise ValueError("nodes without the calls in them, or these without nodes")
    if "backward" in frames and "placed" not in frames:
        raise ValueError("calls of a backward pass without the calls in nodes")
    found: dict[str, Any] = {}
    if "nodes" in frames:
        nodes, placed = frames["nodes"], frames["placed"]
        rows = placed["source_row"].to_numpy("int64")
        if (np.diff(rows) <= 0).any():
            raise ValueError("placed: rows go back")
        found["stacks"] = Stacks(
            tuple(map(str, nodes["name"])),
            nodes["parent"].to_numpy("int64") - 1,
            rows,
            placed["node"].to_numpy("int64") - 1,
            _forward(rows, frames["backward"]) if "backward" in frames else None,
        )
    if "waits" in frames:
        waits = frames["waits"]
        starts = waits["start_ns"].to_numpy("int64")
        found["host_waits"] = HostWaits(
            tuple(map(str, waits["name"].cat.categories)),
            waits["name"].cat.codes.to_numpy("int64"),
            starts,
            starts + waits["dur_ns"].to_numpy("int64"),
        )
    if "memory" in frames:
        memory = frames["memory"]
        by_device = memory.groupby(memory["device"].astype("object"), sort=False)
        if by_device.ngroups > MAX_DEVICES:
            raise ValueError("memory: too many devices")
        found["memory"] = tuple(_use(str(device), rows) for device, rows in by_device)
    if ("program" in frames) != ("launched" in frames):
        raise ValueError("a program without what it launched, or that without a program")
    if "program" in frames:
        program, launched = frames["program"], frames["launched"]
        found["program"] = Program(
            tuple(map(str, program["name"].cat.categories)),
            program["name"].cat.codes.to_numpy("int64"),
            program["run"].to_numpy("int64") - 1,
            launched["source_row"].to_numpy("int64"),
            launched["operator"].to_numpy("int64") - 1,
        )
    if ("host" in frames) != ("launches" in frames):
        raise ValueError("what the host did without its launches, or these without that")
    if "host" in frames:
        found["host"] = _host(frames["host"], frames["launches"], frames.get("submissions"))
    elif "submissions" in frames:
        raise ValueError("submissions without launches")
    if "collectives" in frames:
        found["collectives"] = Collectives(frames["collectives"])
    if "captured" in frames:
        found["captured"] = Captured(frames["captured"])
    if "originals" in frames:
        told = frames["originals"].astype("object")
        found["originals"] = tuple(
            Original(str(name), str(op_type), str(place), *(bool(flag) for flag in flags))
            for name, op_type, place, *flags in told.itertuples(index=False)
        )
    return found


def _forward(rows: np.ndarray, backward: pd.DataFrame) -> np.ndarray:
    """Return the forward node of each of these rows. Raises ValueError for a row that is none of
    these."""
    of = backward["source_row"].to_numpy("int64")
    if not np.isin(of, rows).all():
        raise ValueError("backward: a call that is in no node")
    found = np.full(len(rows), -1, dtype="int64")
    found[np.searchsorted(rows, of)] = backward["forward"].to_numpy("int64") - 1
    return found


def _from_one(places: np.ndarray) -> np.ndarray:
    return np.asarray(places, dtype="int64") + 1


def _host_frames(host: HostActivity) -> dict[str, pd.DataFrame]:
    threads, kinds, names = map(_texts, (host.lane_names, KINDS, host.names))
    spans = {
        "thread": pd.Categorical.from_codes(host.lanes, dtype=threads),
        "span_kind": pd.Categorical.from_codes(host.kind_of, dtype=kinds),
        "name": pd.Categorical.from_codes(host.name_of, dtype=names),
        "start_ns": host.starts_ns,
        "dur_ns": host.ends_ns - host.starts_ns,
    }
    launches = {
        "source_row": host.launch_rows,
        "thread": pd.Categorical.from_codes(host.launch_lanes, dtype=threads),
        "start_ns": host.launch_ns,
    }
    found = {"host": pd.DataFrame(spans), "launches": pd.DataFrame(launches)}
    if host.submit_lanes is not None:
        submissions = {
            "thread": pd.Categorical.from_codes(host.submit_lanes, dtype=threads),
            "start_ns": host.submit_ns,
        }
        found["submissions"] = pd.DataFrame(submissions)
    return found


def _texts(texts: Sequence[str]) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(list(texts), dtype="str"))


def _host(
    spans: pd.DataFrame, launches: pd.DataFrame, submissions: pd.DataFrame | None
) -> HostActivity:
    """Raises ValueError where these have other threads, and for other kinds than there are."""
    threads = tuple(map(str, spans["thread"].cat.categories))
    for frame in (launches, submissions):
        if frame is not None and threads != tuple(map(str, frame["thread"].cat.categories)):
            raise ValueError("launches: other threads than those of the host")
    if tuple(map(str, spans["span_kind"].cat.categories)) != KINDS:
        raise ValueError("host: other kinds than there are")
    starts = spans["start_ns"].to_numpy("int64")
    return HostActivity(
        names=tuple(map(str, spans["name"].cat.categories)),
        lane_names=threads,
        lanes=spans["thread"].cat.codes.to_numpy("int32"),
        starts_ns=starts,
        ends_ns=starts + spans["dur_ns"].to_numpy("int64"),
        name_of=spans["name"].cat.codes.to_numpy("int32"),
        kind_of=spans["span_kind"].cat.codes.to_numpy("int8"),
        launch_rows=launches["source_row"].to_numpy("int64"),
        launch_lanes=launches["thread"].cat.codes.to_numpy("int32"),
        launch_ns=launches["start_ns"].to_numpy("int64"),
        submit_lanes=None
        if submissions is None
        else submissions["thread"].cat.codes.to_numpy("int32"),
        submit_ns=None if submissions is None else submissions["start_ns"].to_numpy("int64"),
    )


def _memory_frame(use: MemoryUse) -> pd.DataFrame:
    reserved = [None] * len(use.times_ns) if use.reserved is None else use.reserved
    return pd.DataFrame(
        {
            "device": use.device,
            "peak_in": use.peak_in,
            "start_ns": use.times_ns.astype("int64"),
            "allocated": use.allocated.astype("int64"),
            "reserved": pd.array(reserved, dtype="Int64"),
        }
    )


def _use(device: str, rows: pd.DataFrame) -> MemoryUse:
    known = bool(rows["reserved"].notna().all())
    return MemoryUse(
        device,
        rows["start_ns"].to_numpy("int64"),
        rows["allocated"].to_numpy("int64"),
        rows["reserved"].to_numpy("int64") if known else None,
        str(rows["peak_in"].iloc[0]),
    )
