"""ONNX Runtime before 2023, and kernels that execution providers record on their devices."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace


def event(name: str, ts: object, dur: object, cat: str = "Node", **args: object) -> dict[str, Any]:
    return {
        "cat": cat, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "ph": "X", "name": name, "args": args,
    }  # fmt: skip


def run(ts: int, dur: int) -> dict[str, Any]:
    return event("model_run", ts, dur, "Session")


def trace_of(events: list[dict[str, Any]]) -> Trace:
    trace = read(Source("profile.json", json.dumps(events).encode()))
    assert isinstance(trace, Trace)
    return trace


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def test_fences_are_no_operators() -> None:
    trace = trace_of([
        event("a_fence_before", 9, 1, op_name="Add"), event("a_kernel_time", 10, 5, op_name="Add"),
        event("a_fence_after", 15, 1, op_name="Add"), run(5, 20),
    ])  # fmt: skip
    assert trace.calls["dur_ns"].tolist() == [5_000] and codes(trace) == {"other_events": 2}
    assert trace.operators["provider"].isna().all()


def test_numbers_as_text_and_events_without_args() -> None:
    bare = event("b_kernel_time", "20", "7")
    del bare["args"]
    trace = trace_of([
        event("a_kernel_time", "10", "5.25", op_name="Add", output_size="64", graph_index="4",
              activation_size="n/a", parameter_size=""), bare, run(5, 30),
    ])  # fmt: skip
    assert trace.calls["dur_ns"].tolist() == [5_250, 7_000]
    assert trace.operators["bytes_out"].tolist()[0] == 64
    assert trace.operators["bytes_in"].isna().all() and trace.operators["op_type"].isna()[1]


def test_nodes_without_a_name_are_told_apart_by_their_place_in_the_run() -> None:
    nodes = [("Add", 10), ("Relu", 20), ("Add", 30)]
    events = []
    for start in (0, 100):
        events += [event("_kernel_time", start + ts, 5, op_name=kind) for kind, ts in nodes]
        events.append(run(start + 5, 60))
    trace = trace_of(events)
    assert trace.operators["name"].tolist() == ["Add#1", "Relu#1", "Add#2"]
    assert trace.calls["operator"].tolist() == [0, 1, 2, 0, 1, 2]


def test_an_index_wins_over_the_place() -> None:
    events = [
        event("_kernel_time", 10, 5, op_name="Add", graph_index="7"),
        event("_kernel_time", 20, 5, op_name="Add", node_index="9"), run(5, 60),
    ]  # fmt: skip
    assert trace_of(events).operators["name"].tolist() == ["Add#7", "Add#9"]


CUDA = "CUDAExecutionProvider"
SHAPES = {
    "input_type_shape": [{"float": [4, 8]}, {"float": [8, 2]}],
    "output_type_shape": [{"float": [4, 2]}],
}


def test_kernels_stand_in_the_place_of_the_node_that_launched_them() -> None:
    parent = {"op_name": "MatMul", "parent_name": "m_kernel_time"}
    events = [
        event("m_kernel_time", 10, 40, op_name="MatMul", provider=CUDA, **SHAPES),
        event("sgemm", 60, 90, "Kernel", stream="7", **parent),
        event("s_kernel_time", 52, 3, op_name="Shape", provider="CPUExecutionProvider"),
        event("c_kernel_time", 56, 30, op_name="Conv", provider=CUDA, **SHAPES),
        event("im2col", 151, 20, "Kernel", stream="7", op_name="Conv", parent_name="c_kernel_time"),
        event("gemm", 172, 50, "Kernel", stream="7", op_name="Conv", parent_name="c_kernel_time"),
        run(5, 240),
    ]
    trace = trace_of(events)
    rows = trace.operators.set_index("name")
    # 90 + 20 + 50 on the device and 3 on the host; the launches of 40 and 30 are in nothing.
    assert trace.calls["dur_ns"].sum() == 163_000
    assert rows["level"].to_dict() == {
        "sgemm": "device_kernel", "s": "graph_layer", "im2col": "device_kernel",
        "gemm": "device_kernel",
    }  # fmt: skip
    assert rows["launched_by"].dropna().to_dict() == {"sgemm": "m", "im2col": "c", "gemm": "c"}
    assert rows["op_type"].to_dict() == {
        "sgemm": "MatMul", "s": "Shape", "im2col": "Conv", "gemm": "Conv",
    }  # fmt: skip
    assert rows["inputs"]["sgemm"] == "float32[4,8]; float32[8,2]"
    # The node's FLOPs are those of its kernel only where there is one: 2 · 4 · 2 · 8.
    assert rows["flops"]["sgemm"] == 128 and rows["flops"].isna()[["im2col", "gemm"]].all()
    device = trace.calls[trace.calls["device"] == "CUDA"]
    assert device["stream"].unique().tolist() == ["stream 7"]
    assert device["wait_ns"].tolist()[1:] == [1_000, 1_000]
    assert codes(trace) == {"kernels_of_nodes": 2}


def test_without_kernels_a_device_has_launches() -> None:
    events = [event("m_kernel_time", 10, 40, op_name="MatMul", provider=CUDA), run(5, 60)]
    assert codes(trace_of(events)) == {"launch_times": 1}


def test_kernels_of_nobody_keep_their_time() -> None:
    events = [
        event("memcpy", 1, 2, "Kernel"),
        event("m_kernel_time", 10, 40, op_name="MatMul", provider=CUDA),
        event("other", 30, 5, "Kernel", parent_name="gone_kernel_time", op_name="Add"),
        event("broken", None, 5, "Kernel", parent_name="m_kernel_time"),
        run(0, 60),
    ]
    trace = trace_of(events)
    assert trace.calls["dur_ns"].sum() == 47_000
    assert trace.operators["launched_by"].isna().all()
    assert codes(trace)["bad_time"] == 1 and "kernels_of_nodes" not in codes(trace)


def test_a_profile_of_kernels_alone_is_one_file_run() -> None:
    trace = trace_of([
        event("session_initialization", 0, 1, "Session"), event("k", 5, 2, "Kernel", op_name="Add")
    ])  # fmt: skip
    assert trace.runs[["kind", "dur_ns"]].values.tolist() == [["file", 2_000]]
    with pytest.raises(FuseScopeError, match="does not contain any operators"):
        trace_of([event("session_initialization", 0, 1, "Session")])


def test_a_real_profile_of_2020(shared_traces: Path) -> None:
    path = shared_traces / "third_party" / "onnxruntime" / "profile_mkldnn_1_threads.json"
    data = path.read_bytes()
    trace = read(Source(path.name, data))
    assert isinstance(trace, Trace)
    events = json.loads(data)
    nodes = [e for e in events if e["cat"] == "Node" and e["name"].endswith("_kernel_time")]
    runs = [e for e in events if e["name"] == "model_run"]
    assert len(trace.calls) == len(nodes) == 672 and len(trace.runs) == len(runs) == 21
    assert trace.calls["dur_ns"].sum() == sum(e["dur"] for e in nodes) * 1000
    assert codes(trace) == {"other_events": sum(e["cat"] == "Node" for e in events) - 672}
    unnamed = Counter(e["args"]["op_name"] for e in nodes if e["name"] == "_kernel_time")
    names = trace.operators["name"].astype("object")
    calls = names[trace.calls["operator"]].value_counts()
    for kind, count in unnamed.items():
        mine = calls[calls.index.str.startswith(f"{kind}#")]
        assert mine.tolist() == [21] * (count // 21)  # each once in every run
    assert sum(unnamed.values()) == 231


TABLE = """cat,pid,tid,dur,ts,ph,name,args_op_name,op_name,args_input_type_shape,args_node_index,args_provider
Session,7,7,315,3,X,model_loading_array,,,,,
Node,7,7,0,4247,X,Slice_10_fence_before,Slice,Slice_10,,,
Node,7,7,81,4251,X,Slice_10_kernel_time,Slice,Slice_10,"[{'float': [2, 3]}, {'int64': [1]}]",10,CPUExecutionProvider
Node,7,7,41.0,4501,X,_kernel_time,Neg,,not a list,14.0,CPUExecutionProvider
Node,7,7,x,4600,X,Bad_kernel_time,Neg,,,,
Session,7,7,600,4200,X,model_run,,,,,
"""  # noqa: E501


def test_a_table_of_the_events_reads_like_the_profile() -> None:
    trace = read(Source("prof.csv", TABLE.encode()))
    assert isinstance(trace, Trace) and trace.meta.format == "onnxruntime"
    assert trace.operators["name"].tolist() == ["Slice_10", "Neg#14"]
    assert trace.operators["inputs"].tolist() == ["float32[2,3]; int64[1]", ""]
    assert trace.calls["start_ns"].tolist() == [4251_000, 4501_000]
    assert trace.calls["dur_ns"].tolist() == [81_000, 41_000]
    assert trace.calls["source_row"].tolist() == [2, 3]
    assert trace.runs["dur_ns"].tolist() == [600_000]
    assert codes(trace) == {"bad_time": 1, "other_events": 1}


@pytest.mark.parametrize("cut", [150, 260, 400])
def test_a_table_cut_short_is_read_or_refused_in_one_sentence(cut: int) -> None:
    try:
        trace = read(Source("prof.csv", TABLE.encode()[:cut]))
    except FuseScopeError as error:
        assert "\n" not in error.text
    else:
        assert isinstance(trace, Trace) and len(trace.calls) <= 2
