"""Recordings of torch: calls of a profile joined to the variant's graph by their order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.readers.pytorch.recorded import RecordedCalls
from fusescope.analysis.trace import Meta, Trace

KERNEL = "cpp_fused_gelu_0"


def node(name: str, event: str, inputs: tuple[str, ...], output: str) -> Node:
    return Node(name, event, inputs, (output,), attributes={"event": event})


GRAPH = Graph(
    nodes=(
        node(f"{KERNEL}:1", KERNEL, ("x",), "a"),
        node("addmm:2", "aten::addmm", ("bias", "a", "w"), "b"),
        node(f"{KERNEL}:3", KERNEL, ("b",), "y"),
    ),
    tensors=(
        *(Tensor(name, "float32", (2, 4)) for name in ("x", "a", "b", "y")),
        Tensor("w", "float32", (4, 4), constant=True),
        Tensor("bias", "float32", (4,), constant=True),
    ),
    inputs=("x",),
    outputs=("y",),
)


def event(name: str, start: float, dur: float, cat: str = "cpu_op") -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur}


def run(number: int, start: float) -> list[dict[str, Any]]:
    """Wrappers of the compiler around three calls, one of which dispatches another operator."""
    return [
        event(f"ProfilerStep#{number}", start, 100, "user_annotation"),
        event("TorchDynamo Cache Lookup", start + 1, 5),
        event("Torch-Compiled Region: 0/0", start + 6, 90),
        event(f"graph_0_{KERNEL}", start + 10, 20),
        event("aten::addmm", start + 35, 10),
        event("aten::expand", start + 36, 2),
        event("aten::dropout", start + 46, 1),
        event(f"graph_0_{KERNEL}", start + 50, 30),
    ]


def trace_of(events: list[dict[str, Any]], graph: Graph | None = GRAPH) -> Trace:
    calls = RecordedCalls(graph)
    calls.add(json.dumps({"traceEvents": events}).encode(), "0.json", block=0, warmup_runs=1)
    return calls.trace(Meta("experiment", "torch", None, None, "m.zip", "0" * 64))


def named(trace: Trace) -> list[tuple[str, int]]:
    names = trace.operators["name"].astype(str).tolist()
    return [
        (names[call.operator], int(call.dur_ns)) for call in trace.calls.itertuples(index=False)
    ]


def test_the_nth_call_of_a_run_is_the_nth_node() -> None:
    trace = trace_of([*run(0, 0), *run(1, 1000)])
    expected = [
        (f"{KERNEL}:1", 20_000),
        ("addmm:2", 10_000),
        ("aten::dropout", 1_000),
        (f"{KERNEL}:3", 30_000),
    ]
    assert named(trace) == expected * 2
    assert trace.runs["warmup"].tolist() == [True, False]
    assert trace.runs["dur_ns"].tolist() == [100_000, 100_000]


def test_sizes_are_those_of_the_graph() -> None:
    operators = trace_of(run(0, 0)).operators.set_index("name")
    addmm = operators.loc["addmm:2"]
    assert addmm["inputs"] == "float32[4]; float32[2,4]; float32[4,4]"
    assert (addmm["bytes_in"], addmm["bytes_param"], addmm["bytes_out"]) == (32, 80, 32)
    assert operators.loc[f"{KERNEL}:3", "op_type"] == KERNEL


def test_the_compilers_wrappers_are_no_operators() -> None:
    names = {name for name, _ in named(trace_of(run(0, 0)))}
    assert names == {f"{KERNEL}:1", "addmm:2", "aten::dropout", f"{KERNEL}:3"}


@pytest.mark.parametrize("missing", [3, 4, 7])
def test_calls_that_are_not_those_of_the_graph_are_joined_to_nothing(missing: int) -> None:
    events = run(0, 0)
    gone = events.pop(missing)
    trace = trace_of([*events, *run(1, 1000)])
    assert [note.count for note in trace.diagnostics if note.code == "calls_not_of_graph"] == [1]
    first = named(trace)[: len(named(trace)) - 4]
    assert all(":" not in name.replace("aten::", "") for name, _ in first), gone["name"]


def test_a_reshape_is_another_operator_to_its_gradient_where_it_is_watched() -> None:
    before = "autograd::engine::evaluate_function: "
    graph = Graph(
        (node("view", f"{before}ViewBackward0", ("x",), "y"),),
        (Tensor("x", "float32", (2,)), Tensor("y", "float32", (2,))),
        ("x",),
        ("y",),
    )
    step = event("ProfilerStep#0", 0, 100, "user_annotation")
    for name, joined in (("ReshapeAliasBackward0", 1), ("ViewBackward0", 1), ("AddBackward0", 0)):
        trace = trace_of([step, event(f"{before}{name}", 5, 10)], graph)
        lacks = any(note.code == "calls_not_of_graph" for note in trace.diagnostics)
        assert lacks == (not joined), name


def test_without_a_graph_calls_keep_their_names() -> None:
    trace = trace_of(run(0, 0), None)
    assert [name for name, _ in named(trace)] == [KERNEL, "aten::addmm", "aten::dropout", KERNEL]
    assert not [note for note in trace.diagnostics if note.code == "calls_not_of_graph"]


def launch(number: int, start: float) -> dict[str, Any]:
    made = event("cudaLaunchKernel", start, 1, "cuda_runtime")
    return {**made, "args": {"correlation": number}}


def kernel(name: str, number: int, start: float, dur: float) -> dict[str, Any]:
    made = event(name, start, dur, "kernel")
    return {**made, "pid": 0, "tid": 7, "args": {"correlation": number, "stream": 7, "device": 0}}


def on_device(start: float, first: int = 100) -> list[dict[str, Any]]:
    """A run whose calls launch one kernel, two, none and one, behind the host, and a kernel that
    no call launched: at 90, for 6."""
    places = ((12, "k1"), (36.5, "gemm"), (38, "reduce"), (52, "k3"), (85, "of_nobody"))
    spans = ((40, 10), (52, 20), (72, 5), (78, 9), (90, 6))
    launches = [launch(first + at, start + place) for at, (place, _) in enumerate(places)]
    kernels = [
        kernel(name, first + at, start + begin, dur)
        for at, ((_, name), (begin, dur)) in enumerate(zip(places, spans, strict=True))
    ]
    return [*run(first, start), *launches, *kernels]


def device_trace(events: list[dict[str, Any]], graph: Graph | None = GRAPH) -> Trace:
    calls = RecordedCalls(graph, provider="CUDA", device="H100")
    calls.add(json.dumps({"traceEvents": events}).encode(), "0.json", block=0, warmup_runs=0)
    return calls.trace(Meta("experiment", "torch", None, "H100", "m.zip", "0" * 64))


def test_on_a_device_a_call_has_the_time_of_the_kernels_that_it_launched() -> None:
    """Two of a product together; none for what launched nothing."""
    trace = device_trace([*on_device(0), *on_device(1000, 200)])
    once = [
        (f"{KERNEL}:1", 10_000), ("addmm:2", 25_000), ("aten::dropout", 0), (f"{KERNEL}:3", 9_000),
        ("of_nobody", 6_000),
    ]  # fmt: skip
    assert sorted(named(trace)) == sorted(once * 2)
    starts = {named(trace)[at][0]: int(start) for at, start in enumerate(trace.calls["start_ns"])}
    assert starts["addmm:2"] == 1_052_000  # of its first kernel, in the last run
    assert set(trace.operators["provider"].astype(str)) == {"CUDA"}
    notes = {note.code: note.count for note in trace.diagnostics}
    assert notes["nodes_by_kernels"] == 6 and notes["nodes_without_kernels"] == 2
    assert "calls_not_of_graph" not in notes and "launch_times" not in notes


def test_kernels_of_a_graph_of_the_device_are_operators_of_their_own() -> None:
    """A replay: one launch for all, and no call of the host around it."""
    events = [
        event("ProfilerStep#0", 0, 100, "user_annotation"),
        {**event("cudaGraphLaunch", 10, 5, "cuda_runtime"), "args": {"correlation": 5}},
        kernel("triton_poi_fused_0", 5, 20, 10),
        kernel("gemm", 5, 31, 20),
    ]
    assert named(device_trace(events, None)) == [("triton_poi_fused_0", 10_000), ("gemm", 20_000)]


def test_without_kernels_times_are_those_of_launches_and_said_to_be() -> None:
    trace = device_trace(run(0, 0))
    assert named(trace)[0] == (f"{KERNEL}:1", 20_000)
    assert [note.code for note in trace.diagnostics if note.code == "launch_times"]
