"""Nodes read as columns say what nodes read one by one say."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.onnxruntime.columns import Uneven, node_columns
from fusescope.analysis.readers.onnxruntime.profile import ProfileTables
from fusescope.analysis.trace import Meta, Trace

_META = Meta("onnxruntime", "ONNX Runtime")
_SHAPE = [{"float": [1, 8]}]


def _node(name: str, op_type: str | None, ts: Any, dur: Any, tid: int, size: str) -> dict[str, Any]:
    args = {"op_name": op_type, "provider": "CPUExecutionProvider", "output_size": size}
    args |= {"input_type_shape": _SHAPE, "output_type_shape": _SHAPE}
    return {
        "cat": "Node", "name": f"{name}_kernel_time", "ph": "X", "pid": 1, "tid": tid, "ts": ts,
        "dur": dur, "args": args,
    }  # fmt: skip


_NODES = st.builds(
    _node,
    st.sampled_from(["a", "b", "loop"]),
    st.sampled_from(["Conv", "Loop", "MyOwnOperator", None]),
    st.one_of(st.integers(0, 60), st.sampled_from(["7", 3.5, None, "x"])),
    st.one_of(st.integers(-1, 30), st.sampled_from(["4", None])),
    st.integers(1, 2),
    st.sampled_from(["64", "128"]),
)
_RUNS = st.builds(
    lambda ts, dur: {
        "cat": "Session",
        "name": "model_run",
        "ph": "X",
        "tid": 1,
        "ts": ts,
        "dur": dur,
    },
    st.integers(0, 60),
    st.integers(0, 20),
)
_OTHERS = st.sampled_from([{"cat": "Other", "name": "x"}, {"cat": "Session", "name": "load"}, 7])


def _one_by_one(data: bytes) -> Trace | str:
    tables = ProfileTables()
    try:
        tables.add(data, "p.json")
    except FuseScopeError as error:
        return error.code
    return tables.trace(_META)


def _as_columns(data: bytes) -> Trace | str:
    tables = ProfileTables()
    try:
        tables.add_columns(node_columns(Source("p.json", data)))
    except FuseScopeError as error:
        return error.code
    return tables.trace(_META)


def _assert_same(one: Trace | str, other: Trace | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name in ("runs", "operators", "calls"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    assert one.diagnostics == other.diagnostics


@given(st.lists(st.one_of(_NODES, _NODES, _RUNS, _OTHERS), max_size=14))
def test_columns_say_what_each_node_says(events: list[Any]) -> None:
    data = json.dumps(events).encode()
    try:
        found = _as_columns(data)
    except Uneven:
        return  # runs at the same time, or a file joined with itself
    _assert_same(_one_by_one(data), found)


def test_waits_nesting_and_nodes_outside_of_runs() -> None:
    run = {"cat": "Session", "name": "model_run", "ph": "X", "tid": 1, "ts": 0, "dur": 50}
    events = [
        _node("outer", "MyOwnOperator", 0, 20, 1, "64"),
        _node("inner", "Conv", 5, 6, 1, "64"),
        _node("next", "Conv", 23, 7, 1, "64"),
        run,
        _node("late", "Conv", 90, 1, 1, "64"),
    ]
    found = _as_columns(json.dumps(events).encode())
    assert isinstance(found, Trace)
    assert found.calls["dur_ns"].tolist() == [14_000, 6_000, 7_000, 1_000]
    assert found.calls["span_ns"].tolist()[0] == 20_000
    # The one inside begins before the outer one has ended; the first of a run waits for none.
    assert found.calls["wait_ns"].fillna(-1).tolist() == [-1, 0, 3_000, -1]
    assert found.calls["run"].fillna(-1).tolist() == [0, 0, 0, -1]
    assert {note.code for note in found.diagnostics} == {"nested_operators", "outside_runs"}


@pytest.mark.parametrize(
    "event",
    [
        {"cat": "Kernel", "name": "k", "ts": 1, "dur": 1},
        {"cat": "Node", "name": "_kernel_time", "ts": 1, "dur": 1, "args": {"op_name": "Conv"}},
    ],
)
def test_kernels_and_unnamed_nodes_are_read_one_by_one(event: dict[str, Any]) -> None:
    with pytest.raises(Uneven):
        node_columns(Source("p.json", json.dumps([event]).encode()))


def test_objects_inside_of_events_are_no_ends_of_windows() -> None:
    events = [_node(f"n{at % 50}", "Conv", 10 * at, 7, 1, "64") for at in range(20_000)]
    for event in events:
        event["args"]["input_type_shape"] = [{"float": [1, 8]}, {"float": [8, 8]}] * 8
    data = json.dumps(events, separators=(",", ":")).encode()
    assert len(data) > 3 * 2**20
    found = _as_columns(data)
    assert isinstance(found, Trace)
    assert found.calls["start_ns"].tolist() == [10_000 * at for at in range(20_000)]
    assert len(found.operators) == 50
