"""Launch calls: their names, calls inside calls, and what readers make of them."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.host.launch_calls import (
    LaunchCall,
    is_launch,
    launch_calls,
    with_launches,
)
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame


@pytest.mark.parametrize(
    "name",
    ["cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernel_ptsz", "cuLaunchKernelEx",
     "cudaLaunchCooperativeKernel", "cudaGraphLaunch_v10000", "cuGraphLaunch", "hipLaunchKernel",
     "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipExtLaunchKernel", "hipGraphLaunch",
     "hipLaunchByPtr", "cudaLaunch"],
)  # fmt: skip
def test_names_of_launches(name: str) -> None:
    assert is_launch(name)


@pytest.mark.parametrize(
    "name",
    [None, "", "cudaLaunchHostFunc", "hipLaunchHostFunc", "cuLaunchHostFunc_ptsz",
     "cudaMemcpyAsync", "hipGetDevicePropertiesR0600", "cudaGraphInstantiate", "LaunchKernel",
     "cudaFuncSetAttribute"],
)  # fmt: skip
def test_names_of_other_calls(name: str | None) -> None:
    assert not is_launch(name)


def made() -> Trace:
    return Trace(
        Meta("kineto", "PyTorch profiler"),
        runs_frame(run=[0, 1], kind=["step"] * 2, dur_ns=[9, 9], profiled=[True, True]),
        operators_frame(operator=[0], name=["a"]),
        calls_frame(operator=[0], run=[0], dur_ns=[1]),
    )


def test_calls_inside_calls_are_part_of_them() -> None:
    calls = [
        LaunchCall("a", 0, 10),
        LaunchCall("a", 2, 8),  # the driver's call inside the runtime's
        LaunchCall("b", 2, 8),  # another thread
        LaunchCall("a", 10, 5),
        LaunchCall("a", 20, 5, None),
    ]
    runs = with_launches(made(), launch_calls(calls)).runs
    assert runs["launches"].tolist() == [3, 0]
    assert runs["launch_ns"].tolist() == [10 + 8 + 5, 0]


def test_unknown_is_not_zero() -> None:
    assert with_launches(made(), launch_calls([])).runs["launches"].isna().all()
    runs = with_launches(
        made(), launch_calls([LaunchCall("a", 0, None), LaunchCall("a", 0, None, 1)])
    ).runs
    assert runs["launches"].tolist() == [1, 1] and runs["launch_ns"].isna().all()


def kineto(*launches: tuple[str, float]) -> Trace:
    def event(cat: str, name: str, ts: float, dur: float, **args: object) -> dict[str, object]:
        return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur,
                "args": args}  # fmt: skip

    events = [
        event("user_annotation", "ProfilerStep#1", 100, 50),
        event("user_annotation", "ProfilerStep#2", 150, 50),
        event("kernel", "add", 110, 5, correlation=1),
        event("kernel", "add", 160, 5, correlation=2),
        *(event("cuda_runtime", name, ts, 2.5, correlation=n) for n, (name, ts) in
          enumerate(launches, start=1)),
    ]  # fmt: skip
    head = {"schemaVersion": 1, "deviceProperties": []}
    trace = read(Source("t.json", json.dumps({**head, "traceEvents": events}).encode()))
    assert isinstance(trace, Trace)
    return trace


def test_kineto_counts_launches_by_step() -> None:
    trace = kineto(
        ("cudaLaunchKernel", 105), ("cudaLaunchKernel", 155), ("cudaGraphLaunch", 165),
        ("cudaMemcpyAsync", 170), ("cudaLaunchKernel", 50),
    )  # fmt: skip
    assert trace.runs["launches"].tolist() == [1, 2]
    assert trace.runs["launch_ns"].tolist() == [2500, 5000]
    assert kineto(("cudaMemcpyAsync", 105)).runs["launches"].isna().all()


V3 = (
    '"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp",'
    '"End_Timestamp"\n"KERNEL_DISPATCH",1,1,"add",1,8819330200067564,8819330200116308\n'
)
HIP = (
    '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp",'
    '"End_Timestamp"\n'
    '"HIP_RUNTIME_API","hipLaunchKernel",7,7,1,8819330200060000,8819330200060400\n'
    '"HIP_RUNTIME_API","hipMalloc",7,7,2,8819330200061000,8819330200061400\n'
    '"HIP_RUNTIME_API","hipModuleLaunchKernel",7,7,3,8819330200062000,8819330200062100\n'
    '"HIP_RUNTIME_API","hipStreamSynchronize",7,7,4,8819330200063000,8819330200120000\n'
)


def test_rocprof_takes_them_from_the_table_beside_it() -> None:
    trace = read(
        Source("kernel_trace.csv", V3.encode(), beside=(Source("hip_api_trace.csv", HIP.encode()),))
    )
    assert isinstance(trace, Trace) and trace.meta.files == ("hip_api_trace.csv",)
    assert trace.runs["launches"].tolist() == [2] and trace.runs["launch_ns"].tolist() == [500]
    late = HIP.replace("88193302", "99993302")
    alone = read(Source("kernel_trace.csv", V3.encode(), beside=(Source("h.csv", late.encode()),)))
    assert isinstance(alone, Trace) and alone.runs["launches"].isna().all()
    assert waits_of(trace) == [("hipStreamSynchronize", 8819330200063000, 8819330200120000)]
    assert alone.host_waits is None


def waits_of(trace: Trace) -> list[tuple[str, int, int]]:
    waits = trace.host_waits
    assert waits is not None
    names = [waits.names[place] for place in waits.name_of]
    return list(zip(names, waits.starts_ns.tolist(), waits.ends_ns.tolist(), strict=True))


def test_rocprof_json_names_calls_by_number() -> None:
    dispatch = {"start_timestamp": 100, "end_timestamp": 150, "dispatch_info": {"kernel_id": 7}}
    calls = [
        {"kind": 1, "operation": 1, "thread_id": 3, "start_timestamp": 10, "end_timestamp": 30},
        {"kind": 1, "operation": 0, "thread_id": 3, "start_timestamp": 40, "end_timestamp": 90},
        {"kind": 0, "operation": 1, "thread_id": 3, "start_timestamp": 95, "end_timestamp": 96},
        {"kind": 1, "operation": 2, "thread_id": 3, "start_timestamp": 60, "end_timestamp": 155},
        {"kind": 1, "operation": 2, "thread_id": 3, "start_timestamp": 160},
        {"kind": 9, "operation": 1, "start_timestamp": "x"},
        {"kind": True, "operation": None},
    ]
    names = [
        {"kind": "HSA_CORE_API", "operations": ["hsa_init", "hipLaunchKernel"]},
        {"kind": "HIP_RUNTIME_API", "operations": ["hipMalloc", "hipLaunchKernel", "hipMemcpy"]},
    ]
    tool = {
        "kernel_symbols": [{"kernel_id": 7, "kernel_name": "add"}],
        "strings": {"buffer_records": names},
        "buffer_records": {"kernel_dispatch": [dispatch], "hip_api": calls},
    }
    trace = read(Source("r.json", json.dumps({"rocprofiler-sdk-tool": [tool]}).encode()))
    assert isinstance(trace, Trace)
    assert trace.runs[["launches", "launch_ns"]].to_numpy().tolist() == [[1, 20]]
    assert not pd.isna(trace.runs["launches"][0])
    assert waits_of(trace) == [("hipMemcpy", 60, 155)]
    host = trace.host  # one call has no end; one of HSA is none of HIP
    assert host is not None and host.lane_names == ("thread 3",)
    told = zip(host.name_of, host.starts_ns, host.ends_ns, strict=True)
    assert [(host.names[name], int(start), int(end)) for name, start, end in told] == [
        ("hipLaunchKernel", 10, 30), ("hipMalloc", 40, 90), ("hipMemcpy", 60, 155),
        ("hipMemcpy", 160, 160),
    ]  # fmt: skip
