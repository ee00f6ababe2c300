"""PyTorch's traces: what ran where, who launched it, in which step, and what a kernel is."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.host_activity import KINDS
from fusescope.analysis.memory import MAX_POINTS
from fusescope.analysis.metrics.spans import run_spans
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.pytorch.kineto import KINETO
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence

OWN = ("Torch", "Pregraph", "AOTDispatcher", "## Call")
MM = {"Input Dims": [[8, 16], [16, 4]], "Input type": ["float", "float"]}
GEMM = "ampere_sgemm_32x32_nn"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)


def event(
    cat: str, name: str, ts: float, dur: float, tid: object = 1, **args: Any
) -> dict[str, Any]:
    pid = 0 if cat in ("kernel", "gpu_memcpy", "gpu_user_annotation") else 100
    return {
        "ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
        "args": args,
    }  # fmt: skip


def op(name: str, ts: float, dur: float, ext: int, tid: object = 1, **args: Any) -> dict[str, Any]:
    return event("cpu_op", name, ts, dur, tid, **{"External id": ext, **args})


def launch(ts: float, correlation: int, tid: object = 1) -> dict[str, Any]:
    return event("cuda_runtime", "cudaLaunchKernel", ts, 1, tid, correlation=correlation)


def kernel(name: str, ts: float, dur: float, correlation: int, **args: Any) -> dict[str, Any]:
    beside = {"device": 0, "stream": 7, "correlation": correlation, **args}
    return event("kernel", name, ts, dur, 7, **beside)


def step(number: int, ts: float, dur: float, *, device: bool = False) -> dict[str, Any]:
    cat = "gpu_user_annotation" if device else "user_annotation"
    return event(cat, f"ProfilerStep#{number}", ts, dur, **{"External id": 9000 + number})


def trace_of(events: list[dict[str, Any]], **header: Any) -> Trace:
    file = {"schemaVersion": 1, "deviceProperties": [], **header, "traceEvents": events}
    return read_bytes(json.dumps(file).encode())


def read_bytes(data: bytes) -> Trace:
    trace = read(Source("unknown", data))
    assert isinstance(trace, Trace)
    return trace


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def joined(trace: Trace) -> pd.DataFrame:
    return trace.calls.merge(trace.operators, on="operator", validate="many_to_one")


def test_a_kernel_carries_the_operator_that_launched_it_and_its_inputs() -> None:
    trace = trace_of([op("aten::mm", 10, 20, 5, **MM), launch(15, 1), kernel(GEMM, 50, 2.125, 1)])
    (row,) = joined(trace).to_dict("records")
    assert (row["name"], row["op_type"], row["launched_by"]) == (GEMM, GEMM, "aten::mm")
    assert row["inputs"] == "float32[8,16]; float32[16,4]"
    assert (row["start_ns"], row["dur_ns"]) == (50_000, 2_125)
    assert (row["device"], row["stream"], row["level"]) == ("0", "7", "device_kernel")
    assert (row["op_class"], row["flops"]) == ("matrix_product", 2 * 8 * 16 * 4)
    assert trace.runs["kind"].tolist() == ["file"]


def test_times_near_2_to_the_60_keep_their_ns() -> None:
    data = json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [
        {**kernel(GEMM, 0, 1, 1), "ts": "@"}]})  # fmt: skip
    trace = read_bytes(data.replace('"@"', "1736408883704643.212").encode())
    assert trace.calls["start_ns"].tolist() == [1736408883704643212]


@pytest.mark.parametrize("external", [77, 1, None])
def test_an_external_id_of_no_running_operator_is_not_believed(
    external: int | None,
) -> None:
    """In 2022 kernels carried their correlation as external id; ids of others may equal it."""
    events = [
        op("aten::add", 0, 5, 77), op("aten::mm", 10, 20, 5, tid=24922), launch(15, 77, 24922),
        kernel(GEMM, 50, 2, 77, **({"External id": external} if external else {})),
    ]  # fmt: skip
    assert trace_of(events).operators["launched_by"].tolist() == ["aten::mm"]
    events = [op("aten::add", 0, 5, 77), kernel(GEMM, 50, 2, 77, **{"External id": 77})]
    assert trace_of(events).operators["launched_by"].isna().all()


def test_regions_that_a_user_names_are_no_operators_but_what_the_host_did() -> None:
    """Those of the device, and events of other kinds, are counted."""
    events = [
        event("user_annotation", "my region", 0, 90),
        event("gpu_user_annotation", "my region", 50, 2),
        event("overhead", "Lazy Function Loading", 3, 2),
        op("aten::mm", 10, 20, 5),
        launch(15, 8),
        kernel(GEMM, 50, 2, 8),
    ]
    trace = trace_of(events)
    assert trace.operators["launched_by"].tolist() == ["aten::mm"]
    [other] = [note for note in trace.diagnostics if note.code == "other_events"]
    assert (other.count, other.example) == (2, "gpu_user_annotation")
    [region] = [span for span in spans_of(trace) if span[0] == "my region"]
    assert region == ("my region", "annotation", 0, 90_000)


def spans_of(trace: Trace) -> list[tuple[str, str, int, int]]:
    """Name, kind, start and end of what the host did."""
    host = trace.host
    assert host is not None
    return [
        (host.names[name], KINDS[kind], int(start), int(end))
        for name, kind, start, end in zip(
            host.name_of, host.kind_of, host.starts_ns, host.ends_ns, strict=True
        )
    ]


def test_what_the_host_did_and_when_it_launched() -> None:
    """Each thread by itself, steps as annotations; a wait and an annotation without a valid time is
    counted; kernels whose call is not in the file have no launch."""
    events = [
        event("user_annotation", "ProfilerStep#3", 0, 100),
        {**event("user_annotation", "lost", 0, 1), "dur": -4},
        event("python_function", "train.py(3): main", 0, 90, **{"Python id": 1}),
        op("aten::mm", 10, 20, 5),
        launch(15, 8),
        {**event("cuda_runtime", "cudaStreamSynchronize", 40, 30), "tid": 77},
        kernel(GEMM, 50, 2, 8),
        kernel(GEMM, 60, 2, 9),
    ]
    trace = trace_of(events)
    assert spans_of(trace) == [
        ("ProfilerStep#3", "annotation", 0, 100_000),
        ("train.py(3): main", "frame", 0, 90_000),
        ("aten::mm", "operator", 10_000, 30_000),
        ("cudaLaunchKernel", "runtime", 15_000, 16_000),
        ("cudaStreamSynchronize", "runtime", 40_000, 70_000),
    ]
    host = trace.host
    assert host is not None and len(host.lane_names) == 2
    lanes, times = host.launches_of(trace.calls["source_row"].to_numpy("int64"))
    assert (lanes.tolist(), times.tolist()) == ([0, -1], [15_000, 0])
    assert codes(trace)["bad_time"] == 1 and "other_events" not in codes(trace)


def test_without_a_device_operators_launch_themselves() -> None:
    frame = event("python_function", "train.py(3): main", 0, 90, **{"Python id": 1})
    trace = trace_of([frame, op("aten::mm", 10, 20, 5)])
    assert [span[1] for span in spans_of(trace)] == ["frame", "operator"]
    assert trace.host is not None and trace.host.launch_ns.tolist() == [10_000]


def test_a_kernel_knows_the_code_that_launched_it() -> None:
    """Python calls and operators of the thread; of the host alone each operator that of around."""
    calls = [
        event("python_function", "train.py(3): main", 0, 90, **{"Python id": 1}),
        event("python_function", "nn.Module: Linear_0", 5, 50, **{"Python id": 2}),
        op("aten::mm", 10, 20, 5),
    ]
    trace = trace_of([*calls, launch(15, 8), kernel(GEMM, 50, 2, 8)])
    assert trace.stacks is not None
    frames = ("train.py(3): main", "nn.Module: Linear_0", "aten::mm")
    assert trace.stacks.names == frames
    rows = trace.calls["source_row"].to_numpy("int64")
    assert trace.stacks.of(rows).tolist() == [2]
    alone = trace_of([*calls, op("aten::add", 40, 5, 6)])
    assert alone.stacks is not None
    assert (alone.stacks.names, alone.stacks.nodes.tolist()) == (frames[:2], [1, 1])
    assert "other_events" not in codes(trace)
    assert trace_of([launch(15, 8), kernel(GEMM, 50, 2, 8)]).stacks is None


def allocation(ts: float, total: object, device: int = 0, of_type: int = 1) -> dict[str, Any]:
    args = {"Total Allocated": total, "Total Reserved": 5_000_000, "Device Id": device,
            "Device Type": of_type, "Bytes": 512}  # fmt: skip
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 100, "tid": 1,
            "ts": ts, "args": args}  # fmt: skip


def test_memory_over_time_of_each_device() -> None:
    """In order of time, with the module that ran at the peak; odd records cost themselves."""
    trace = trace_of([
        event("python_function", "nn.Module: Linear_0", 5, 50, **{"Python id": 2}),
        op("aten::mm", 10, 20, 5), launch(15, 8), kernel(GEMM, 50, 2, 8),
        allocation(30, 2_000_000), allocation(12, 4_000_000), allocation(40, "many"),
        allocation(41, -1), allocation(20, 9_000_000, device=1), allocation(20, 8, 0, 0),
    ])  # fmt: skip
    one, zero = trace.memory
    assert (one.device, one.peak, zero.device) == ("GPU 1", 9_000_000, "GPU 0")
    assert zero.times_ns.tolist() == [12_000, 30_000]
    assert zero.allocated.tolist() == [4_000_000, 2_000_000]
    assert zero.reserved is not None
    assert (zero.peak_in, zero.usual) == ("Linear_0", 4_000_000)
    devices = [allocation(20, 2_000_000 + n, device=n) for n in range(18)]
    small = [allocation(20, 8, device=n) for n in range(18, 30)]  # below what is drawn
    beyond = trace_of([op("aten::mm", 10, 20, 5), *devices, *small])
    assert [use.device for use in beyond.memory] == [f"GPU {n}" for n in range(17, 1, -1)]
    assert codes(beyond)["memory_beyond"] == 2
    many = [allocation(at, 2_000_000 + (at == 777) * 10**9) for at in range(20_000)]
    [use] = trace_of([op("aten::mm", 10, 20, 5), *many]).memory
    assert len(use.times_ns) <= MAX_POINTS
    assert use.peak == 1_002_000_000


def test_without_the_runtime_call_the_arrow_or_the_external_id_links() -> None:
    arrow = {"ph": "s", "cat": "ac2g", "id": 3, "pid": 100, "tid": "1", "ts": 12, "name": "ac2g"}
    events = [op("aten::mm", 10, 20, 5), arrow, kernel(GEMM, 50, 2, 3)]
    assert trace_of(events).operators["launched_by"].tolist() == ["aten::mm"]
    events = [op("aten::mm", 10, 20, 5), kernel(GEMM, 50, 2, 3, **{"External id": 5})]
    assert trace_of(events).operators["launched_by"].tolist() == ["aten::mm"]


def test_the_innermost_operator_launched() -> None:
    events = [op("aten::linear", 0, 50, 1), op("aten::addmm", 10, 20, 2), launch(15, 8),
              launch(40, 9), kernel(GEMM, 60, 2, 8), kernel(ADD, 70, 2, 9)]  # fmt: skip
    assert trace_of(events).operators["launched_by"].tolist() == ["aten::addmm", "aten::linear"]


def test_a_kernel_belongs_to_the_step_that_launched_it() -> None:
    events = [
        step(3, 0, 100), step(4, 100.5, 100), step(3, 20, 100, device=True),
        op("aten::mm", 10, 5, 1), launch(12, 1), kernel(GEMM, 110, 5, 1),
        op("aten::mm", 120, 5, 2), launch(122, 2), kernel(GEMM, 250, 5, 2),
        op("aten::mm", 300, 5, 3), launch(302, 3), kernel(GEMM, 310, 5, 3),
        kernel(ADD, 119, 1, 4),
    ]  # fmt: skip
    trace = trace_of(events)
    assert trace.runs["kind"].tolist() == ["step", "step"]
    assert trace.runs["start_ns"].tolist() == [0, 100_500]
    assert trace.runs["dur_ns"].tolist() == [100_000, 100_000]
    rows = joined(trace).sort_values("start_ns")
    # The last of the file's ran outside; the one without launch in the device's copy of step 3.
    runs = {start // 1000: run for start, run in zip(rows["start_ns"], rows["run"], strict=True)}
    assert runs[110] == 0 and runs[119] == 0 and runs[250] == 1 and pd.isna(runs[310])
    assert codes(trace)["outside_runs"] == 1


def test_a_step_of_two_processes_is_one_run_and_a_repeated_number_is_two() -> None:
    second = {**step(3, 5, 100), "pid": 200}
    again = step(3, 500, 10)
    events = [step(3, 0, 100), second, again, kernel(GEMM, 50, 2, 1), kernel(GEMM, 505, 2, 1)]
    trace = trace_of(events)
    assert trace.runs["dur_ns"].tolist() == [105_000, 10_000]
    assert trace.calls["run"].tolist() == [0, 1]


def test_operators_of_a_process_that_launched_nothing_are_told() -> None:
    other = {**op("aten::mm", 90, 5, 2), "pid": 12}
    trace = trace_of([op("aten::mm", 10, 20, 1), launch(15, 1), kernel(GEMM, 50, 5, 1), other])
    (note,) = [note for note in trace.diagnostics if note.code == "several_processes"]
    assert (note.severity, note.count, note.example) == ("warning", 2, "100: 1, 12: 1")
    assert "operators of 2 processes" in diagnostic_sentence(note)


def test_only_steps_of_the_device_are_runs_too() -> None:
    trace = trace_of([step(7, 10, 20, device=True), launch(1, 4), kernel(GEMM, 15, 2, 4)])
    assert (trace.runs["dur_ns"].tolist(), trace.calls["run"].tolist()) == ([20_000], [0])


def test_generation_of_2021() -> None:
    events = [
        {"ph": "X", "cat": "Operator", "name": "ProfilerStep#5", "pid": 9, "tid": "18", "ts": 0,
         "dur": 90, "args": {"External id": 1}},
        {"ph": "X", "cat": "Operator", "name": "aten::addmm", "pid": 9, "tid": "18", "ts": 5,
         "dur": 10, "args": {"External id": 2, "Input dims": [[4], [8, 2], [2, 4], [], []],
                             "Input type": ["float", "float", "float", "Int", "Int"]}},
        {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": "18", "ts": 6,
         "dur": 1, "args": {"correlation": 31, "external id": 2}},
        {"ph": "X", "cat": "Kernel", "name": "volta_sgemm_64x32_sliced1x4_tn", "pid": 0,
         "tid": "stream 7", "ts": 30, "dur": 4,
         "args": {"device": 0, "stream": 7, "correlation": 31, "external id": 2}},
        {"ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": "stream 7",
         "ts": 40, "dur": 1, "args": {"device": 0, "stream": 7, "external id": 0, "bytes": 64}},
    ]  # fmt: skip
    data = json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()
    rows = joined(read_bytes(data)).to_dict("records")
    assert rows[0]["launched_by"] == "aten::addmm"
    assert rows[0]["inputs"] == "float32[4]; float32[8,2]; float32[2,4]"
    assert rows[0]["flops"] == 2 * 8 * 2 * 4
    assert (rows[1]["op_type"], rows[1]["op_class"]) == ("Memset", "copy")
    assert pd.isna(rows[1]["launched_by"]) and rows[1]["bytes"] == 64
    assert [row["run"] for row in rows] == [0, 0]


def test_flops_only_where_one_heavy_kernel_did_the_work() -> None:
    def flops(*names: str) -> list[object]:
        events = [op("aten::mm", 0, 50, 1, **MM)]
        for place, name in enumerate(names):
            events += [launch(5 + place, place), kernel(name, 60 + 5 * place, 2, place)]
        found = trace_of(events).operators["flops"]
        return [None if pd.isna(value) else int(value) for value in found]

    assert flops(GEMM, ADD) == [1024, None]
    assert flops(GEMM, "volta_sgemm_64x64_nn") == [None, None]
    assert flops("my_kernel_a") == [1024]
    assert flops("my_kernel_a", "my_kernel_b") == [None, None]


CONV = {
    "Input Dims": [[2, 6, 10, 10], [8, 3, 3, 3], [8], [], [], [], []],
    "Input type": ["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar"],
    "Concrete Inputs": ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "2"],
}


def test_flops_of_a_convolution_follow_from_stride_padding_and_groups() -> None:
    kernels = [launch(5, 1), kernel("implicit_convolve_sgemm", 60, 2, 1)]
    trace = trace_of([op("aten::conv2d", 0, 50, 1, **CONV), *kernels])
    assert trace.operators["flops"].tolist() == [2 * 2 * 8 * 5 * 5 * 3 * 3 * 3]
    counted = trace_of([op("aten::conv2d", 0, 50, 1, **CONV, flops=12345), *kernels])
    assert counted.operators["flops"].tolist() == [12345]
    assert counted.operators["flops_source"].tolist() != trace.operators["flops_source"].tolist()
    transposed = dict(CONV, **{"Concrete Inputs": ["", "", "", "[2]", "[1]", "[1]", "True"]})
    assert trace_of([op("aten::convolution", 0, 50, 1, **transposed), *kernels]).operators[
        "flops"
    ].isna().all()  # fmt: skip


def test_the_host_alone_gives_self_times_and_counts_flops_once() -> None:
    trace = trace_of([
        step(1, 0, 200),
        op("aten::conv2d", 10, 100, 1, **CONV), op("aten::_convolution", 20, 80, 2),
        op("aten::mkldnn_convolution", 30, 50, 3, **{
            **CONV, "Concrete Inputs": ["", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "2"]}),
        op("aten::relu_", 120, 7.5, 4, tid=2),
        event("python_function", "model.py(3): forward", 0, 200),
    ])  # fmt: skip
    rows = joined(trace).set_index("name")
    assert rows["dur_ns"].to_dict() == {
        "aten::conv2d": 20_000, "aten::_convolution": 30_000, "aten::mkldnn_convolution": 50_000,
        "aten::relu_": 7_500,
    }  # fmt: skip
    assert rows["span_ns"].dropna().to_dict() == {
        "aten::conv2d": 100_000, "aten::_convolution": 80_000,
    }  # fmt: skip
    assert rows["flops"].dropna().to_dict() == {"aten::mkldnn_convolution": 2 * 2 * 8 * 25 * 27}
    assert set(rows["level"]) == {"framework_op"} and set(rows["device"]) == {"CPU"}
    assert set(rows["stream"]) == {"thread 1", "thread 2"}
    assert trace.calls["run"].tolist() == [0] * 4 and trace.runs["kind"].tolist() == ["step"]
    assert codes(trace) == {}


def test_collectives_are_kept_apart() -> None:
    nccl = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    events = [op("aten::mm", 0, 9, 1), launch(1, 1), kernel(GEMM, 20, 2, 1),
              op("c10d::allreduce_", 10, 9, 2), launch(11, 2), kernel(nccl, 30, 9, 2)]  # fmt: skip
    assert trace_of(events).operators["is_communication"].tolist() == [False, True]
    events = [
        op("aten::mm", 0, 9, 1),
        op("c10d::allreduce_", 10, 9, 2),
        op("gloo:all_reduce", 30, 9, 2),
    ]
    assert trace_of(events).operators["is_communication"].tolist() == [False, True, True]


def test_fused_kernels_list_their_operators() -> None:
    trace = trace_of([kernel("triton_poi_fused_add_relu_3", 1, 2, 1)])
    operator = trace.operators.iloc[0]
    assert operator["op_type"] == "triton_poi_fused_add_relu"
    assert (operator["members"], operator["members_source"]) == ("add + relu", "op_types")
    trace = trace_of([op("graph_0_cpp_fused_add_mul_0", 1, 2, 1)])
    assert trace.operators["members"].tolist() == ["add + mul"]


def test_counters_keep_their_names_and_percent_is_a_fraction() -> None:
    args = {
        "registers per thread": 32, "shared memory": 0, "blocks per SM": 4.27, "warps per SM": 17,
        "grid": [564, 2, 1], "block": [128, 1, 1], "est. achieved occupancy %": 27,
    }  # fmt: skip
    copy = event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 9, 1, 7, stream=7, bytes=4096,
                 **{"memory bandwidth (GB/s)": 4.096})  # fmt: skip
    rows = joined(trace_of([kernel(GEMM, 1, 2, 1, **args), copy]))
    first = rows.iloc[0]
    assert first["est. achieved occupancy"] == 0.27
    assert (first["grid size"], first["block size"]) == (1128, 128)
    assert (first["registers per thread"], first["blocks per SM"]) == (32, 4.27)
    assert rows["memory bandwidth (GB/s)"].tolist()[1] == 4.096
    assert (rows["op_type"].tolist()[1], rows["bytes"].tolist()[1]) == ("Memcpy HtoD", 4096)


@pytest.mark.parametrize("cat", ["mtia_ccp_events", "Kernel", "KERNEL", "kernel"])
def test_devices_of_every_make_have_kernels(cat: str) -> None:
    trace = trace_of([{**kernel(GEMM, 1, 2, 1), "cat": cat}])
    assert trace.operators["level"].tolist() == ["device_kernel"]


def test_device_names_come_from_the_header() -> None:
    listed = [{"id": 0, "name": "Example GPU A"}, {"id": 1, "name": "Example GPU B"}]
    events = [kernel(GEMM, 1, 2, 1, device=1)]
    assert trace_of(events, deviceProperties=listed).meta.device == "Example GPU B"
    assert trace_of(events, deviceProperties=listed[:1]).meta.device == "Example GPU A"
    assert trace_of(events).meta.device is None


def test_names_of_machines_and_files_are_marked_as_private() -> None:
    meta = trace_of([kernel(GEMM, 1, 2, 1)], host_name="box", traceName="/home/ann/t.json").meta
    assert dict(meta.redactable) == {"host_name": "box", "trace_name": "/home/ann/t.json"}


def test_what_host_times_do_not_tell_is_said() -> None:
    region = op("Torch-Compiled Region: 0/0", 1, 9, 1)
    assert codes(trace_of([region]))["kernels_hidden"] == 1
    inside = op("graph_0_cpp_fused_1", 2, 3, 2)
    assert "kernels_hidden" not in codes(trace_of([region, inside]))
    assert codes(trace_of([op("aten::mm", 1, 9, 1), launch(2, 1)]))["no_device_rows"] == 1


def call_of_graph(ts: float, dur: float) -> dict[str, Any]:
    return event("user_annotation", "## Call CompiledFxGraph fabc ##", ts, dur)


def test_code_of_torch_compile_is_dispatch_and_no_operator() -> None:
    around = [
        op("TorchDynamo Cache Lookup", 0, 3, 1), op("Torch-Compiled Region: 0/0", 4, 40, 2),
        op("Pregraph bytecode", 5, 2, 3), op("AOTDispatcher Runtime Wrapper Prologue", 8, 1, 4),
        call_of_graph(10, 30),
    ]  # fmt: skip
    inside = [op("graph_0_cpp_fused_add_0", 12, 5, 5), op("aten::mm", 20, 10, 6)]
    shown = trace_of([*around, *inside])
    assert joined(shown)[["name", "dur_ns"]].to_numpy().tolist() == [
        ["graph_0_cpp_fused_add_0", 5_000], ["aten::mm", 10_000]
    ]  # fmt: skip
    [note] = [note for note in shown.diagnostics if note.code == "compiled_dispatch"]
    # 3 + 2 + 1 + 40 without all inside it, and the call without its kernels: 28 of 43 us.
    assert (note.count, note.values["own_ns"]) == (5, 28_000)
    assert "28.0 µs" in diagnostic_sentence(note)


def test_dispatch_inside_an_operator_is_its_own_time_and_that_of_a_gradient_is_dispatch() -> None:
    inner = [call_of_graph(10, 30), op("graph_0_cpp_fused_add_0", 12, 5, 5)]
    custom = trace_of([op("my::step", 0, 50, 1), op("CompiledFunction", 5, 40, 2), *inner])
    assert joined(custom)[["name", "dur_ns"]].to_numpy().tolist() == [
        ["my::step", 45_000], ["graph_0_cpp_fused_add_0", 5_000]
    ]  # fmt: skip
    engine = "autograd::engine::evaluate_function: CompiledFunctionBackward"
    gradient = trace_of([op(engine, 0, 50, 1), op("CompiledFunctionBackward", 5, 40, 2), *inner])
    assert joined(gradient)["name"].tolist() == ["graph_0_cpp_fused_add_0"]
    [note] = [note for note in gradient.diagnostics if note.code == "compiled_dispatch"]
    assert (note.count, note.values["own_ns"]) == (3, 45_000)


def test_a_graph_that_hides_its_kernels_stands_for_them_under_the_name_of_its_region() -> None:
    around = [op("CompiledFunction", 4, 40, 2), call_of_graph(10, 30)]
    hidden = trace_of(
        [op("Torch-Compiled Region: 0/0", 1, 50, 1), *around, op("aten::mm", 20, 10, 6)]
    )
    assert joined(hidden)[["name", "dur_ns"]].to_numpy().tolist() == [
        ["Torch-Compiled Region: 0/0", 20_000], ["aten::mm", 10_000]
    ]  # fmt: skip
    assert (codes(hidden)["kernels_hidden"], codes(hidden)["compiled_dispatch"]) == (1, 2)
    with pytest.raises(FuseScopeError) as caught:
        trace_of([op("TorchDynamo Cache Lookup", 0, 3, 1)])
    assert caught.value.code == "pytorch_trace_empty"


def test_a_profiler_that_stopped_early_is_told() -> None:
    said = "INFO:2024-10-28 16:06:30 CuptiActivityProfiler.cpp] Exceeded max GPU buffer count (9)"
    assert codes(trace_of([kernel(GEMM, 1, 2, 1)], INFO=[said]))["event_cap"] == 1
    quiet = trace_of([kernel(GEMM, 1, 2, 1)], INFO=["Enabling GPU tracing"], WARNING={"a": 1})
    assert "event_cap" not in codes(quiet)


def test_a_round_number_of_events_is_no_cap() -> None:
    """PyTorch's profiler counts no events; a file of as many as another one stops at is whole."""
    filler = b',{"ph":"M"}' * 999_999
    head = b'{"schemaVersion":1,"deviceProperties":[],"traceEvents":['
    one = json.dumps(kernel(GEMM, 1, 2, 1)).encode()
    trace = read_bytes(head + one + filler + b"]}")
    assert "event_cap" not in codes(trace) and not trace.ends_early


@pytest.mark.parametrize(
    "bad",
    [
        {"dur": -1}, {"dur": None}, {"dur": "soon"}, {"dur": True}, {"ts": None}, {"ts": [1]},
        {"dur": 1e300}, {"ts": 10**40},
    ],
)  # fmt: skip
def test_events_without_a_valid_time_are_dropped_and_counted(bad: dict[str, Any]) -> None:
    trace = trace_of([kernel(GEMM, 1, 2, 1), {**kernel(ADD, 1, 2, 1), **bad}])
    assert trace.operators["name"].tolist() == [GEMM]
    assert codes(trace)["bad_time"] == 1


@pytest.mark.parametrize(
    "odd",
    [
        {"args": None}, {"args": []}, {"args": {"correlation": {}}}, {"args": {"grid": "x"}},
        {"args": {"External id": [1], "stream": None, "bytes": "N/A"}}, {"pid": None, "tid": {}},
        {"cat": "KERNEL"}, {"args": {"Input Dims": {}, "grid": [2**62, 2**62]}},
    ],
)  # fmt: skip
def test_odd_arguments_cost_nothing_but_themselves(odd: dict[str, Any]) -> None:
    trace = trace_of([op("aten::mm", 0, 1, 1, **MM), {**kernel(GEMM, 1, 2, 1), **odd}])
    assert trace.calls["dur_ns"].tolist() == [2000]


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([event("python_function", "f", 1, 2)], "any operators or kernels"),
        ([{**kernel(GEMM, 1, 2, 1), "ts": None}], "valid time"),
        ([], "any operators or kernels"),
    ],
)
def test_nothing_to_see_is_one_sentence(events: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(FuseScopeError, match=says):
        trace_of(events)


def test_the_header_of_2021_names_the_devices() -> None:
    head = {"schemaVersion": 1, "computeProperties": [{"id": 0, "name": "Tesla V100"}]}
    launched = {**op("aten::mm", 0, 1, 1), "args": {"Fwd thread id": 0, "Input dims": [[2, 2]]}}
    text = json.dumps({**head, "traceEvents": [launched, kernel(GEMM, 1, 2, 1)]})
    trace = read(Source("worker0.pt.trace.json", text.encode()))
    assert isinstance(trace, Trace) and trace.meta.format == "kineto"
    assert trace.meta.device == "Tesla V100"


def test_sniff_takes_kineto_in_every_form_and_nothing_like_it() -> None:
    sniff = KINETO.sniff
    events = [op("aten::mm", 0, 1, 1), kernel(GEMM, 1, 2, 1)]
    assert sniff(json.dumps(events).encode())
    assert sniff(json.dumps({"traceEvents": events, "distributedInfo": {"rank": 0}}).encode())
    assert sniff(json.dumps({"traceEvents": events}, indent=4).encode())
    assert sniff(b'\n  {\n  "schemaVersion": 1,\n "deviceProperties": [')
    bare = [{"cat": "kernel", "name": GEMM, "ts": 1, "dur": 2}]
    assert sniff(json.dumps({"baseTimeNanoseconds": 1, "traceEvents": bare}).encode())
    bare.append({"cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 1})
    assert sniff(json.dumps({"traceEvents": bare}).encode())
    npu = {**op("aten::mm", 0, 1, 1), "args": {"Sequence number": -1, "Fwd thread id": 0}}
    for other in (
        [npu],
        [{"cat": "Node", "name": "a_kernel_time", "ph": "X", "ts": 1, "dur": 2}],
        {"traceEvents": [{"ph": "X", "name": "fusion.1", "ts": 1, "dur": 2, "pid": 1}]},
        {"schemaVersion": 1, "layers": []},
    ):
        assert not sniff(json.dumps(other).encode())


# --- real files: what they say, worked out here without FuseScope ---

KERNELS = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}


@lru_cache(maxsize=1)  # tests on one file stand side by side
def load(path: Path) -> tuple[dict[str, Any], Trace]:
    data = path.read_bytes()
    plain = gzip.decompress(data) if path.suffix == ".gz" else data
    return json.loads(plain, parse_float=Decimal), read_bytes(data)


def ns(value: Any) -> int:
    return int(Decimal(value) * 1000)


@pytest.mark.parametrize(
    ("name", "kernel_rows", "kernel_ms", "rows", "steps"),
    [
        pytest.param(
            "flux1-base-fmha", 5549, Decimal("684.5"), 5585, 1, marks=pytest.mark.exhaustive
        ),
        pytest.param(
            "flux1-opt-sage", 8589, Decimal("720.4"), 8625, 1, marks=pytest.mark.exhaustive
        ),
        ("h100-bert-small", 60, None, 61, 1),
        ("mi300-bert-small", 60, None, 61, 1),
        ("mi300-train_resnet18", 2360, None, 2375, 0),
        ("triton_example", 1, None, 1, 1),
        pytest.param("resnet50-2021-worker0", 9564, None, 10015, 6, marks=pytest.mark.exhaustive),
    ],
)
def test_real_files_of_devices(
    shared_traces: Path,
    name: str,
    kernel_rows: int,
    kernel_ms: Decimal | None,
    rows: int,
    steps: int,
) -> None:
    file, trace = load(shared_traces / f"third_party/kineto/{name}.json.gz")
    ran = [e for e in file["traceEvents"] if str(e.get("cat")).lower() in KERNELS]
    only = [e for e in ran if e["cat"].lower() == "kernel"]
    assert len(only) == kernel_rows
    if kernel_ms is not None:
        assert round(Decimal(sum(ns(e["dur"]) for e in only)) / 10**6, 1) == kernel_ms
    assert len(trace.calls) == len(ran) == rows
    assert trace.calls["dur_ns"].sum() == sum(ns(e["dur"]) for e in ran)
    assert Counter(trace.calls["start_ns"]) == Counter(ns(e["ts"]) for e in ran)
    table = joined(trace)
    assert Counter(zip(table["stream"], table["device"], strict=True)) == Counter(
        (str(e["args"]["stream"]), str(e["args"]["device"])) for e in ran
    )
    hosts = [
        e for e in file["traceEvents"]
        if str(e.get("name")).startswith("ProfilerStep#")
        and e["cat"] in ("user_annotation", "Operator")
    ]  # fmt: skip
    assert len(hosts) == steps
    if steps:
        assert trace.runs["dur_ns"].tolist() == [ns(e["dur"]) for e in hosts]
    else:
        assert trace.runs["kind"].tolist() == ["file"]
    # Here every external id is one operator's, so it alone tells who launched.
    ops = {
        e["args"]["External id"]: e["name"]
        for e in file["traceEvents"]
        if e.get("cat") in ("cpu_op", "Operator") and not e["name"].startswith("ProfilerStep")
    }
    for row, launched_by in zip(table["source_row"], table["launched_by"], strict=True):
        args = file["traceEvents"][row]["args"]
        want = ops.get(args.get("External id", args.get("external id")))
        assert (None if pd.isna(launched_by) else launched_by) == want


def test_kernels_launched_before_the_file_are_of_no_step() -> None:
    """The device is a step behind: of each step one kernel of 10 us is its own. What lies behind
    the last launch may be of any call that is missing, so it stays with the step it starts in."""
    trace = trace_of(
        [
            step(3, 100, 100), step(4, 200, 100),
            kernel(GEMM, 110, 10, 90),  # of the step before, in the time of the first one
            launch(150, 1), kernel(GEMM, 205, 10, 1),
            launch(250, 2), kernel(GEMM, 270, 10, 2),
            kernel(GEMM, 290, 10, 91),
        ]
    )  # fmt: skip
    runs = trace.calls.sort_values("start_ns")["run"].fillna(-1).tolist()
    assert runs == [-1, 0, 1, 1]
    (note,) = [note for note in trace.diagnostics if note.code == "launched_before"]
    assert (note.count, note.values["ns"]) == (1, 10_000)
    assert "outside_runs" not in codes(trace) and codes(trace)["kernels_without_call"] == 1
    # The device is busy with it in the first step all the same: 10 of 100 us.
    assert run_spans(trace)["busy_ns"].tolist() == [10_000, 30_000]


def test_2021_steps_hold_the_kernels_that_they_launched(shared_traces: Path) -> None:
    file, trace = load(shared_traces / "third_party/kineto/resnet50-2021-worker0.json.gz")
    events = file["traceEvents"]
    steps = sorted(
        (e["ts"], e["ts"] + e["dur"]) for e in events if str(e["name"]).startswith("ProfilerStep#")
    )
    called = {e["args"]["correlation"]: e["ts"] for e in events if e.get("cat") == "Runtime"}
    want: Counter[int] = Counter()
    for e in events:
        if str(e.get("cat")).lower() in KERNELS:
            at = called.get(e["args"]["correlation"], -1)  # else before the file
            want[next((n for n, (low, high) in enumerate(steps) if low <= at <= high), -1)] += 1
    assert set(want.values()) == {1547, 733}  # every step has as many
    assert Counter(int(run) for run in trace.calls["run"].fillna(-1)) == want


def test_bert_small_counts_the_flops_of_its_products_and_attention(shared_traces: Path) -> None:
    for name in ("h100-bert-small", "mi300-bert-small"):
        file, trace = load(shared_traces / f"third_party/kineto/{name}.json.gz")
        heavy = [e for e in file["traceEvents"] if e.get("name") in ("aten::addmm", "aten::mm")]
        want = 0
        for e in heavy:
            left, right = (
                e["args"]["Input Dims"][:3][-2:]
                if e["name"] == "aten::addmm"
                else (e["args"]["Input Dims"][:2])
            )
            want += 2 * math.prod(left) * right[-1]
        attention = 4 * 2 * 2 * 141 * 141 * 512  # layers, products, FLOPs a multiply-add
        assert int(joined(trace)["flops"].sum()) == want + attention > attention


def test_triton_example_lists_what_it_fused(shared_traces: Path) -> None:
    _, trace = load(shared_traces / "third_party/kineto/triton_example.json.gz")
    assert trace.operators["members"].tolist() == ["add + cos + sin"]
    assert trace.meta.device == "NVIDIA A100-PG509-200"


@pytest.mark.parametrize(
    "name",
    ["cbr_compiled_freezing", "cbr_compiled_kernelprofile", "cbr_eager", "tiny_compiled",
     "tiny_compiled_kernelprofile", "tiny_eager"],
)  # fmt: skip
def test_captured_files_of_the_host_give_self_times(shared_traces: Path, name: str) -> None:
    file, trace = load(shared_traces / f"captured/torch/{name}.json")
    ops = [
        e
        for e in file["traceEvents"]
        if e.get("cat") == "cpu_op" or str(e.get("name")).startswith("## Call")
    ]
    spans = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"]) for e in ops]
    want: Counter[str] = Counter()
    for start, end, op_name in spans:
        inside = [s for s in spans if start <= s[0] and s[1] <= end and s != (start, end, op_name)]
        children = [
            s for s in inside if not any(o[0] <= s[0] and s[1] <= o[1] and o != s for o in inside)
        ]
        want[op_name] += end - start - sum(s[1] - s[0] for s in children)
    found = joined(trace).groupby("op_type", observed=True)["dur_ns"].sum().to_dict()
    hidden = name in ("cbr_compiled_freezing", "tiny_compiled")
    assert ("kernels_hidden" in codes(trace)) == hidden
    own = {op_name for op_name in want if op_name.startswith(OWN)}
    if hidden:
        [region] = [op_name for op_name in want if op_name.startswith("Torch-Compiled")]
        [call] = [op_name for op_name in want if op_name.startswith("## Call")]
        left_out = sum(want[op_name] for op_name in own - {call})
        assert found.pop(region) == want[call]
    else:
        left_out = sum(want[op_name] for op_name in own)
    assert found == {op_name: time for op_name, time in want.items() if op_name not in own}
    told = [note.values["own_ns"] for note in trace.diagnostics if note.code == "compiled_dispatch"]
    assert told == ([left_out] if own else [])
