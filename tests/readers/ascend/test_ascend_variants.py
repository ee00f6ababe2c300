"""Variants of Ascend's and MindSpore's tables as they are found in the wild, rebuilt by hand."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

KERNELS = (
    "Device_id,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
    "Wait Time(us),Block Num\n"
    "0,N/A,N/A,hcom_allReduce__312_0_1,hcom_allReduce_,COMMUNICATION,1736408883704643.212\t,100.5,0,0\n"
    "0,12,99,allreduceAicpuKernel,allreduceAicpuKernel,AI_CPU,1736408883704643.100\t,103.25,0,1\n"
    "0,13,3,aclnnAlltoAllvGroupedMatMul_AlltoAllvGroupedMatMul,AlltoAllvGroupedMatMul,MIX_AIC,"
    "1736408883704747.212\t,1003.5,0,24\n"
    "0,14,3,hcom_allGather__312_1_1,hcom_allGather_,AI_VECTOR_CORE,1736408883705747.212\t,7,0,24\n"
)
STATISTIC = (
    "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
    "Ratio(%)\n"
    "0,AlltoAllvGroupedMatMul,MIX_AIC,1,1003.5,1003.5,1003.5,1003.5,90.67\n"
    "0,allreduceAicpuKernel,AI_CPU,1,103.25,103.25,103.25,103.25,9.33\n"
)
US = 1000


def trace_of(text: str, name: str = "table.csv") -> Trace:
    trace = read(Source(name, text.encode()))
    assert isinstance(trace, Trace)
    return trace


def sums_ns(trace: Trace) -> tuple[int, int]:
    """Time of kernels and of communication."""
    is_communication = trace.operators.set_index("operator")["is_communication"]
    of_call = trace.calls["operator"].map(is_communication).to_numpy(bool)
    times = trace.calls["dur_ns"]
    return int(times[~of_call].sum()), int(times[of_call].sum())


def classes(trace: Trace) -> dict[str, str]:
    return dict(zip(trace.operators["name"], trace.operators["op_class"], strict=True))


def types(trace: Trace) -> dict[str, str]:
    return dict(zip(trace.operators["name"], trace.operators["op_type"], strict=True))


def process(pid: int, name: str) -> dict[str, object]:
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def test_kernels_named_like_collectives_are_kernels_where_the_core_says_so() -> None:
    trace = trace_of(KERNELS, "kernel_details.csv")
    # What HCCL itself names is communication on whatever core; the AI CPU only launches it.
    assert sums_ns(trace) == (int((103.25 + 1003.5) * US), int((100.5 + 7) * US))
    assert classes(trace) == {
        "hcom_allReduce__312_0_1": "communication",
        "allreduceAicpuKernel": "unknown",
        "aclnnAlltoAllvGroupedMatMul_AlltoAllvGroupedMatMul": "matrix_product",
        "hcom_allGather__312_1_1": "communication",
    }


def test_a_collective_has_one_type_in_all_files() -> None:
    """The tables write 'hcom_allReduce_', the names of its calls and the pages 'hcom_allReduce'."""
    trace = trace_of(KERNELS, "kernel_details.csv")
    assert types(trace)["hcom_allReduce__312_0_1"] == "hcom_allReduce"
    assert types(trace)["hcom_allGather__312_1_1"] == "hcom_allGather"
    line = "0,hcom_allReduce_,AI_VECTOR_CORE,1,7,7,7,7,90.67\n"
    trace = trace_of(STATISTIC.splitlines(keepends=True)[0] + line, "op_statistic.csv")
    assert types(trace) == {"hcom_allReduce": "hcom_allReduce"}
    summary = (
        "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
        "0,hcom_allReduce__101_0_1,hcom_allReduce_,COMMUNICATION,1760000000000200.000,150\n"
        "0,aten_add_,add_,AI_CORE,1760000000000400.000,50\n"
    )
    trace = trace_of(summary, "op_summary_1.csv")
    assert types(trace) == {"hcom_allReduce__101_0_1": "hcom_allReduce", "aten_add_": "add_"}


def test_the_statistic_of_the_same_kernels_adds_up_to_the_same() -> None:
    trace = trace_of(STATISTIC, "op_statistic.csv")
    assert sums_ns(trace) == (int((103.25 + 1003.5) * US), 0)
    assert classes(trace)["AlltoAllvGroupedMatMul"] == "matrix_product"


def test_without_a_core_a_collective_tells_by_its_name() -> None:
    text = (
        "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
        "1,AllReduce,N/A,N/A,1736408883704643.212,5\n"
        "1,aclnnAlltoAllvGroupedMatMul_AlltoAllvGroupedMatMul,N/A,N/A,1736408883704649.212,2.5\n"
    )
    assert sums_ns(trace_of(text)) == (2500, 5000)


def test_task_time_tells_by_the_kind_of_the_task() -> None:
    text = (
        "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
        "task_stop(us)\n"
        "0,allgatherAicpuKernel,KERNEL_AICPU,99,4,20.5,1000.000\t,1020.500\t\n"
        "0,hcom_allGather__1_0_1,HCCL,N/A,N/A,18,1001.000\t,1019.000\t\n"
    )
    assert sums_ns(trace_of(text)) == (20_500, 18_000)


def test_a_timeline_tells_by_the_lane() -> None:
    def event(name: str, pid: int, ts: str, dur: float, kind: str) -> dict[str, object]:
        args = {"Task Type": kind, "Physic Stream Id": 9, "Task Id": 1} if kind else {}
        return {
            "ph": "X", "name": name, "pid": pid, "tid": 9, "ts": ts, "dur": dur, "args": args,
        }  # fmt: skip

    events = [
        process(1, "Ascend Hardware"),
        process(2, "Communication"),
        event("allreduceAicpuKernel", 1, "1736408883704643.100", 103.25, "AI_CPU"),
        event("AlltoAllvGroupedMatMul", 1, "1736408883704747.212", 1003.5, "MIX_AIC"),
        event("hcom_allReduce__312_0_1", 2, "1736408883704643.212", 100.5, ""),
    ]
    msprof = trace_of(json.dumps(events), "msprof_20250109.json")
    assert msprof.meta.format == "msprof_timeline"
    assert sums_ns(msprof) == (1_106_750, 100_500)
    view = trace_of(json.dumps([process(3, "Python"), *events]), "trace_view.json")
    assert view.meta.format == "ascend_trace_view"
    assert sums_ns(view) == (1_106_750, 100_500)


def test_a_kernel_of_an_unknown_kind_is_no_collective_because_one_launched_it() -> None:
    at = "1736408883704643.100"
    flow = {"name": "torch_to_npu", "cat": "async_npu", "id": "1"}
    told = {"Task Type": "AI_VECTOR_CORE", "Physic Stream Id": 2, "Task Id": 1}
    events = [
        process(7, "Python"),
        process(9, "Ascend Hardware"),
        {"ph": "X", "name": "c10d::allreduce_", "pid": 7, "tid": 7, "ts": at, "dur": 9,
         "cat": "cpu_op", "args": {}},
        {"ph": "X", "name": "zzz", "pid": 9, "tid": 2, "ts": "1736408883704655.100", "dur": 4,
         "args": told},
        {**flow, "ph": "s", "pid": 7, "tid": 7, "ts": at},
        {**flow, "ph": "f", "pid": 9, "tid": 2, "ts": "1736408883704655.100"},
    ]  # fmt: skip
    trace = trace_of(json.dumps(events), "trace_view.json")
    assert trace.operators["launched_by"].tolist() == ["c10d::allreduce_"]
    assert sums_ns(trace) == (4000, 0)


def test_a_database_tells_by_the_core(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE STRING_IDS (id INTEGER, value TEXT);
            INSERT INTO STRING_IDS VALUES (1, 'allreduceAicpuKernel'), (2, 'AI_CPU'),
                (3, 'AlltoAllvGroupedMatMul'), (4, 'MIX_AIC'), (5, 'hcom_allReduce__312_0_1'),
                (6, 'hcom_allReduce_');
            CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER,
                connectionId INTEGER, globalTaskId INTEGER, taskType INTEGER, streamId INTEGER);
            INSERT INTO TASK VALUES (1000, 1103, 0, 7, 1, 2, 99), (2000, 3000, 0, 8, 2, 4, 3);
            CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER,
                opType INTEGER);
            INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 2, 1), (3, 2, 4, 3);
            CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER,
                connectionId INTEGER, opType INTEGER);
            INSERT INTO COMMUNICATION_OP VALUES (5, 1001, 1101, 7, 6);
            """
        )
    database.close()
    trace = read_path(path)
    assert isinstance(trace, Trace)
    assert sums_ns(trace) == (103 + 1000, 100)
    assert types(trace)["hcom_allReduce__312_0_1"] == "hcom_allReduce"


@pytest.mark.parametrize(
    "text",
    [
        "Op Name,Task Duration(us)\nmain,120.5\nmain,110\n",
        "Device_id,Op Name,Task Duration(us)\n0,main,120.5\n0,main,110\n",
    ],
    ids=["names", "devices"],
)
def test_an_op_summary_that_was_cut_down_to_names_and_durations(text: str) -> None:
    trace = trace_of(text, "op_summary_1.csv")
    assert trace.meta.format == "ascend_op_summary"
    assert trace.calls["dur_ns"].tolist() == [120_500, 110_000]


def test_with_the_number_of_blocks_it_is_the_operator_of_msprof_op() -> None:
    trace = trace_of("Op Name,Task Duration(us),Block Dim\nmain,12.5,8\n", "OpBasicInfo.csv")
    assert trace.meta.format == "msprof_op"


@pytest.mark.parametrize("head", ["full_op_time", "full_kernel_time"])
def test_means_of_operators_whose_names_are_headed_as_times(head: str) -> None:
    text = (
        f"{head},execution_time,execution_frequency\n"
        "Default/AtomicAddrClean-op104,0.00133,1\n"
        "Default/conv1-Conv2d/Conv2D-op13,0.05651,2\n"
    )
    trace = trace_of(text, "aicore_intermediate_1_detail.csv")
    assert trace.meta.format == "mindspore_legacy_summary"
    assert trace.operators["op_type"].tolist() == ["AtomicAddrClean", "Conv2D"]
    assert trace.calls["dur_ns"].tolist() == [1330, 2 * 56_510]
    assert trace.calls["n"].tolist() == [1, 2]
