"""Rarer shapes of files of GPU and CPU profilers, as other versions and other tools leave them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.operators.kernel_names import kernel_type
from fusescope.analysis.readers import find, read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.xla.xplane import XPLANE
from fusescope.analysis.trace import Trace
from tests import miniatures


def opened(content: str | dict[str, Any] | list[Any]) -> Trace:
    text = content if isinstance(content, str) else json.dumps(content)
    value = read(Source("given", text.encode()))
    assert isinstance(value, Trace)
    return value


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def refusal(text: str) -> str:
    with pytest.raises(FuseScopeError) as caught:
        opened(text)
    return caught.value.what


def event(cat: str, name: str, ts: float, dur: float, pid: int = 1, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 1, "ts": ts, "dur": dur,
        "args": args,
    }  # fmt: skip


# PyTorch


def test_a_trace_cut_down_to_schema_and_kernels_is_pytorchs() -> None:
    trace = opened({"schemaVersion": 1, "traceEvents": [event("kernel", "gemm", 1, 3)]})
    assert (trace.meta.format, trace.calls["dur_ns"].tolist()) == ("kineto", [3000])


def test_two_traces_in_one_file_are_the_first_with_a_note() -> None:
    text = json.dumps({"schemaVersion": 1, "traceEvents": [event("kernel", "gemm", 1, 3)]})
    trace = opened(text + text)
    assert (trace.meta.format, len(trace.calls)) == ("kineto", 1)
    assert codes(trace)["trailing_bytes"] == len(text)


def by_external_id(*launches: dict[str, Any], op_dur: float = 20) -> Trace:
    shapes = {"Input Dims": [[8, 16], [16, 4]], "Input type": ["float", "float"]}
    return opened(
        {
            "traceEvents": [
                event("cpu_op", "aten::mm", 10, op_dur, **shapes),
                *launches,
                event("kernel", "gemm", 50, 5, pid=0, stream=7, **{"External id": 100}),
            ]
        }
    )


def test_a_launch_without_correlation_is_found_by_its_external_id() -> None:
    trace = by_external_id(event("cuda_runtime", "cudaLaunchKernel", 12, 2, **{"External id": 100}))
    gemm = trace.operators.iloc[0]
    assert (gemm["launched_by"], gemm["inputs"]) == ("aten::mm", "float32[8,16]; float32[16,4]")


@pytest.mark.parametrize(
    "starts", [(12, 14), (60,)], ids=["one of two calls", "after the kernel began"]
)
def test_an_external_id_that_does_not_tell_the_launch_is_not_used(starts: tuple[int, ...]) -> None:
    calls = [
        event("cuda_runtime", "cudaLaunchKernel", ts, 1, **{"External id": 100}) for ts in starts
    ]
    assert by_external_id(*calls, op_dur=80).operators["launched_by"].isna().all()


def test_copies_that_amd_lists_among_kernels_move_data() -> None:
    kernels = [event("kernel", "CopyDeviceToDevice", 1, 2, correlation=1)]
    trace = opened({"schemaVersion": 1, "roctracer_version": 4.1, "traceEvents": kernels})
    copy = trace.operators.iloc[0]
    assert (copy["op_type"], copy["op_class"]) == ("Memcpy DtoD", "copy")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Memcpy M2D(Memory -> Device)", "Memcpy MtoD"),
        ("Memcpy D2S (Device -> Shared)", "Memcpy DtoS"),
        ("[CUDA Unified Memory memcpy HtoD]", "Memcpy HtoD"),
        ("copy(memory)", "copy"),
    ],
)
def test_copies_of_intel_gpus_and_of_unified_memory_have_a_type(name: str, kind: str) -> None:
    assert kernel_type(name) == kind


# ONNX Runtime


@pytest.mark.parametrize("provider", ["WebGpuExecutionProvider", "JsExecutionProvider"])
def test_browsers_gpus_are_timed_at_their_launch(provider: str) -> None:
    node = event("Node", "conv_kernel_time", 5, 20, op_name="Conv", provider=provider)
    trace = opened([node, event("Session", "model_run", 1, 40)])
    assert codes(trace)["launch_times"] == 1


CUDA = "CUDAExecutionProvider"


def cuda_node(name: str, ts: int, dur: int) -> dict[str, Any]:
    return event("Node", f"{name}_kernel_time", ts, dur, op_name=name, provider=CUDA)


def test_kernels_at_the_end_of_a_profile_belong_to_the_nodes_that_they_name() -> None:
    runs = [(cuda_node("Conv", ts, 9), cuda_node("Relu", ts + 10, 5)) for ts in (10, 110)]
    kernels = [
        event("Kernel", f"{name}_kernel", ts + 2, 7, parent_name=f"{name}_kernel_time")
        for ts, name in ((10, "Conv"), (20, "Relu"), (110, "Conv"), (120, "Relu"))
    ]
    strays = [event("Kernel", "memcpy", 50, 1)]
    marks = [event("Session", "model_run", ts - 5, 60) for ts in (10, 110)]
    trace = opened([*marks, *[node for run in runs for node in run], *kernels, *strays])
    launched = trace.operators.set_index("name")["launched_by"]
    assert launched.dropna().to_dict() == {"Conv_kernel": "Conv", "Relu_kernel": "Relu"}
    assert trace.calls.groupby("run")["dur_ns"].sum().tolist() == [15_000, 14_000]
    assert codes(trace)["kernels_of_nodes"] == 4


def test_a_kernel_that_ran_before_a_node_was_not_launched_by_it() -> None:
    nodes = [cuda_node("Conv", 10, 9), cuda_node("Relu", 30, 5)]
    trace = opened([event("Session", "model_run", 5, 60), *nodes, event("Kernel", "conv", 20, 4)])
    assert trace.operators["launched_by"].isna().all()
    assert trace.calls["dur_ns"].sum() == 18_000


# TensorRT

PROFILE = (
    '[\n  { "count" : 2 }\n, { "name" : "conv", "timeMs" : 3, "averageMs" : 1.5, "percentage" : '
    "100 }\n]\n"
)


def test_what_follows_a_profile_of_tensorrt_is_counted() -> None:
    trace = opened(PROFILE + PROFILE)
    assert trace.calls["dur_ns"].tolist() == [1_500_000]
    assert codes(trace)["trailing_bytes"] == len(PROFILE.strip())
    assert "trailing_bytes" not in codes(opened(PROFILE.replace("100 }", "-nan }")))


@pytest.mark.parametrize(
    "begin",
    ["[07/18/2023-10:11:12] [I] === Profile (10 iterations) ===\n", "&&&& RUNNING TensorRT"],
)
def test_the_log_of_trtexec_is_told_apart_from_its_files(begin: str) -> None:
    assert refusal(f"{begin}\n[07/18/2023-10:11:12] [I] conv 1 2 3\n") == (
        "This file contains the printed output of TensorRT's trtexec"
    )


# OpenVINO


def test_a_graph_cut_before_its_first_time_is_cut() -> None:
    layer = (
        '<layer id="{0}" name="{1}" type="Input"><data execOrder="{0}" execTimeMcs="{2}" '
        'originalLayersNames="{1}" /></layer>'
    )
    head = '<?xml version="1.0"?>\n<net name="a"><layers>' + layer.format(0, "x", "not_executed")
    whole = head + layer.format(1, "conv", 500) + "</layers></net>"
    assert opened(whole).calls["dur_ns"].tolist() == [500_000]
    assert refusal(whole[: len(head) + 30]) == ("This file is cut short before its first time")
    assert refusal(head + "</layers></net>") == (
        "This OpenVINO execution graph does not contain any times"
    )


# Nsight Systems

GPU_TRACE = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n"
    "1000,50,1,1,1,1,32,1,1,NVIDIA A10G (0),1,7,gemm\n"
)


def test_a_second_head_in_a_table_names_no_device() -> None:
    trace = opened(GPU_TRACE + GPU_TRACE)
    assert trace.meta.device == "NVIDIA A10G"
    assert (len(trace.calls), codes(trace)["heads_again"], codes(trace)["rows_twice"]) == (1, 1, 1)


def test_means_of_launches_are_told_apart() -> None:
    heads = "Count,QCount,TAvg (ns),AAvg (ns),QAvg (ns),KAvg (ns),API Name,Kernel Name\n"
    assert refusal(heads + "1,1,9,2,3,4,cudaLaunchKernel,gemm\n") == (
        "This file contains the mean times from launch to end, but no totals of kernels"
    )


# rocprof before rocprofv3


def test_counters_of_rocprof_without_times_are_told_apart() -> None:
    heads = "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,SQ_WAVES\n"
    assert refusal(heads + '0,"copy(float*) [clone .kd]",0,0,0,1,1,64,64,16\n') == (
        "This file contains counters of kernels, but no times"
    )


def rocprof_json(*events: dict[str, Any], numbered: bool = False) -> str:
    labels = [(2, "CPU HIP API"), (1, "COPY"), (6, "GPU0"), (7, "GPU1")]
    lines = [
        {"args": {"name": f"{place} {label}" if numbered else label}, "ph": "M", "pid": pid,
         "name": "process_name"}
        for place, (pid, label) in enumerate(labels)
    ]  # fmt: skip
    written = "".join(f",{json.dumps(line)}\n" for line in [*lines, *events])
    return f'{{ "traceEvents":[{{}}\n{written}], "otherData": {{}}}}\n'


def timed(pid: int, name: str, begin: int, end: int, **args: str) -> dict[str, Any]:
    told = {"BeginNs": str(begin), "EndNs": str(end), **args}
    return {"ph": "X", "name": name, "pid": pid, "tid": 0, "ts": begin // 1000,
            "dur": (end - begin) // 1000, "args": told}  # fmt: skip


BEGIN = 5_323_868_593_552_306
HIP = (
    timed(2, "hipLaunchKernel", BEGIN - 9000, BEGIN - 8000),
    timed(1, "CopyHostToDevice", BEGIN - 5000, BEGIN - 1991, **{"queue-id": "0"}),
    timed(6, "add(float*) [clone .kd]", BEGIN, BEGIN + 1921, **{"queue-id": "0", "stream-id": "3"}),
    timed(6, "<barrier packet>", BEGIN + 2000, BEGIN + 2100),
    timed(7, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", BEGIN + 3000, BEGIN + 3500),
)


@pytest.mark.parametrize("numbered", [False, True])
def test_the_timeline_of_rocprof_is_what_ran_on_devices_in_exact_ns(numbered: bool) -> None:
    trace = opened(rocprof_json(*HIP, numbered=numbered))
    assert (trace.meta.format, trace.meta.tool) == ("rocprof", "rocprof")
    assert list(trace.units) == ["device:GPU0", "device:GPU1"]
    assert trace.operators["name"].tolist() == ["CopyHostToDevice", "add(float*)"]
    assert trace.operators["op_type"].tolist() == ["Memcpy HtoD", "add"]
    assert trace.calls["start_ns"].tolist() == [BEGIN - 5000, BEGIN]
    assert trace.calls["dur_ns"].tolist() == [3009, 1921]
    assert trace.calls["device"].tolist() == ["COPY", "GPU0"]
    assert trace.calls["stream"].tolist() == ["0", "3"]
    assert codes(trace)["not_operators"] == 1 and "other_events" not in codes(trace)
    for one in (trace, *trace.others):  # what the host did belongs to both devices
        host = one.host
        assert host is not None and host.names == ("hipLaunchKernel",)
        assert host.starts_ns.tolist() == [BEGIN - 9000] and not len(host.launch_rows)
    (other,) = trace.others
    assert other.operators["name"].tolist() == ["ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"]
    assert other.operators["is_communication"].tolist() == [True]
    assert other.calls["dur_ns"].tolist() == [500]


def test_a_timeline_of_rocprof_without_exact_times_takes_those_of_the_events() -> None:
    bare = [{**each, "args": {}} for each in HIP]
    trace = opened(rocprof_json(*bare))
    found = [one.calls["dur_ns"].tolist() for one in trace.units.values()]
    assert found == [[3000, 1000], [0]]


def test_a_timeline_of_rocprof_has_the_waits_of_the_host() -> None:
    calls = (
        timed(2, "hipMemcpyAsync", BEGIN + 100, BEGIN + 300),
        timed(2, "hipDeviceSynchronize", BEGIN + 400, BEGIN + 3600),
    )
    found = []
    for events in ((*HIP, *calls), [{**each, "args": {}} for each in (*HIP, *calls)]):
        waits = opened(rocprof_json(*events)).host_waits
        assert waits is not None and waits.names == ("hipDeviceSynchronize",)
        found.append((waits.starts_ns.tolist(), waits.ends_ns.tolist()))
    whole = (BEGIN + 400) // 1000 * 1000  # cut to µs
    assert found == [([BEGIN + 400], [BEGIN + 3600]), ([whole], [whole + 3000])]
    assert opened(rocprof_json(*HIP[1:])).host_waits is None


def test_a_timeline_of_rocprof_with_calls_alone_says_so() -> None:
    assert refusal(rocprof_json(HIP[0])) == "This rocprof recording does not contain any kernels"


def test_a_timeline_of_rocprof_cut_short_keeps_what_is_whole() -> None:
    text = rocprof_json(*HIP)
    trace = opened(text[: text.index('"<barrier') + 5])
    assert (len(trace.calls), codes(trace)["cut_short"]) == (2, 1)


@pytest.mark.parametrize("pid", [[6], {"a": 6}, True])
def test_a_process_of_rocprof_that_is_no_number_is_dropped(pid: object) -> None:
    trace = opened(rocprof_json(*HIP, {**HIP[2], "pid": pid}))
    assert (len(trace.calls), codes(trace)["bad_event"]) == (2, 1)


# XLA


@pytest.mark.parametrize(("shift", "recordings"), [(0, 1), (1, 2)], ids=["same run", "another run"])
def test_the_timeline_beside_an_xla_profile_is_its_own_where_it_says_the_same(
    shift: int, recordings: int
) -> None:
    profile = miniatures.main_file(XPLANE)
    trace = XPLANE.read(profile)
    calls = trace.calls.join(trace.operators.set_index("operator")["name"], on="operator")
    begin = int(calls["start_ns"].min())
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "name": row.name, "dur": row.dur_ns / 1000,
         "ts": (row.start_ns - begin) / 1000 + 7 + shift * place**2}
        for place, row in enumerate(calls[["name", "start_ns", "dur_ns"]].itertuples(index=False))
    ]  # fmt: skip
    host = [{**each, "pid": 701, "name": f"host {each['ts']}"} for each in events]
    text = json.dumps({"displayTimeUnit": "ns", "traceEvents": [*events, *host, {}]})
    timeline = Source("host.trace.json", text.encode(), path="run/host.trace.json")
    found = find((Source("host.xplane.pb", profile.data, path="run/host.xplane.pb"), timeline))
    assert len(found.recordings) == recordings
    assert found.recordings[0].value.meta.format == "xplane"  # type: ignore[union-attr]
    assert found.covered == (("run/host.trace.json",) if recordings == 1 else ())
