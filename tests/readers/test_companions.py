"""Tables that lie beside a recording, given alone: one sentence each."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.companions import companion
from fusescope.analysis.readers.formats import READERS
from fusescope.analysis.readers.input.source import Source
from tests import miniatures
from tests.conftest import SHARED_TRACES

REAL = SHARED_TRACES / "third_party"

HEADS = {
    "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name": "cache hits",
    "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name": "cache hits",
    "Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB)": "fused operators",
    "Device_id,Level,API Name,Time(us),Count,Avg(us)": "calls on the host",
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free": "whole steps",
    "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us)": "iterations",
    "Name,Size(KB),Allocation Time(us),Release Time(us)": "memory of operators",
    "Component,Timestamp(us),Total Reserved(KB),Device": "memory over time",
    "Name,Input Shapes,Call Stack,Host Self Duration(us)": "operators of the host",
    "instr,addr,pipe,call_count,cycles,running_time(us),detail": "simulator",
    "code,call_count,cycles,running_time(us)": "lines of code",
    "Process ID,Thread ID,Name,Time(%),Time(us),Count": "calls on the host",
    "Name,Stream ID,Time(%),Time(ns),Calls,Avg(ns),Process ID,Thread ID": "calls on the host",
    "pid,tid,category,event_type,payload_type,payload_value,message_type,message": "marks",
    "Time(%),Time(us),Count,Waiting(us),Running(us),Pending(us),Type,Task ID": "older msprof",
    "OP Type,Count,Total Time(us),Min Time(us)\nhcom_allReduce_,1,2": "totals of collectives",
    "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Size(KB)": "memory of operators",
    "event,ddr(KB),hbm(KB),memory(KB),timestamp(us)": "memory over time",
    "Metric,Read(MB/s),Write(MB/s)": "traffic of the memory",
    "Mode,Task,Hit Rate(%),Throughput(MB/s)": "traffic of the cache",
    "Core ID,vec_ratio,mac_ratio,scalar_ratio": "load of each core",
    "Core ID,l0a_read_bw(GB/s),l0a_write_bw(GB/s)": "load of each core",
    "Mode,Max,Min,Average": "traffic between devices",
    "Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s": "the network",
    "Dvpp Id,Engine Type,Engine ID,All Time(us)": "load",
    "PID,Name,CPU(%)": "load",
    "PID,Name,Size(pages),Resident(pages),Shared(pages)": "load",
    "Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Dispatch_time(us)": "AI CPU",
    "op_id,op_type,num_workers,output_queue_size,parent_id,children_id": "data pipeline",
    "op_ids,0,1\nop_names,Batch,Map": "data pipeline",
    "step_num,start_point,end_point,total,fp_point,bp_point": "whole steps",
    "iteration_interval, fp_and_bp, tail": "whole steps",
    "step_num,communication_cost,wait_cost,link_info": "collectives",
    "task_id,stream_id,block_dim,full_kernel_name,op_name,op_info": "types and shapes",
    "full_kernel_name, FLOPs, FLOPS, FLOPS utilization": "FLOPs of operators",
    "M,N,K,time_us,Tflops,utilization_ratio": "benchmark",
    "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)": "memory over",
    "Mul;Default/Mul-op0;0;input_1:[1024,1024];input_2:[1024];": "shapes of operators",
    "Name,Input Shapes": "shapes of calls",
    "Name,Input Shapes,Host Self Duration(us)": "operators of the host",
    "====================45 HWTS data====================": "task scheduler",
    "serial_number node_type_name total_time(ms)": "AI CPU",
    "GetNext_dequeue_wait 154907895305 154907895306 3": "data pipeline",
}
DOCUMENTS = {
    '{"step1": {"collective": {"op@1": {"Communication Time Info": {}}}}}': "collectives",
    '{"config": {"experimental_config": {"_profiler_level": "Level1"}}}': "settings",
    '{"distributed_args": {"rank": 0}, "parallel_group_info": {}}': "settings",
    '{"collective": [[0, 1], [0, 8]], "p2p": [[0, 1]]}': "groups of devices",
    '{"status": 0, "info": "", "data": {"summary": []}}': "older MindStudio",
    '{"maps": {"device0": {"Conv2D-op1": {"st": 1, "ed": 2, "dur": 1}}}}': "a chart",
    '{"operator_detail": [{"op_name": "a", "dur": 1, "shape_info": {}}]}': "means by shape",
    '{"fp_start": "Default/Cast-op1", "bp_end": "Default/Mul-op2"}': "whole recording",
    '{"composite": true, "op_desc": [{"name": "Mul"}]}': "fused kernel",
    '{"sampling_interval": 10, "op_info": []}': "data pipeline",
}


@pytest.mark.parametrize(("text", "holds"), [*HEADS.items(), *DOCUMENTS.items()])
def test_it_says_what_the_file_is_and_what_to_give(text: str, holds: str) -> None:
    data = (text + "\n1,2,3\n").encode()
    if not any(reader.sniff(data) for reader in READERS):
        with pytest.raises(FuseScopeError, match=holds) as caught:
            read(Source("x", data))
        assert caught.value.hint.startswith("Give ")
    known = companion(data)
    assert known is not None and holds in str(known.content)


def test_a_database_of_several_ranks_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "cluster_analysis.db"
    database = sqlite3.connect(path)
    database.execute("create table ClusterStepTraceTime(step text, computing real)")
    database.commit()
    database.close()
    with pytest.raises(FuseScopeError, match="several ranks") as caught:
        read(Source(path.name, path.read_bytes()))
    assert "of one rank" in caught.value.hint


def test_a_folder_without_a_trace_says_what_lies_in_it(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("the rank that went wrong\n")
    (tmp_path / "step_trace_time.csv").write_text("Step,Computing,Overlapped,Free\n1,2,3,4\n")
    with pytest.raises(
        FuseScopeError, match="step_trace_time.csv contains the times of whole"
    ) as caught:
        read_path(tmp_path)
    assert caught.value.hint.startswith("Give kernel_details.csv")


def test_no_main_file_is_taken_for_a_companion() -> None:
    for reader in miniatures.FORMATS:
        assert companion(miniatures.main_file(reader).head) is None, reader.name
    for data in (b"", b"{}", b"[]", b"\x00\x01", b"a,b\n1,2\n"):
        assert companion(data) is None


@pytest.mark.parametrize(
    "path",
    [
        "ascend_kernel_details/ASCEND_PROFILER_OUTPUT/l2_cache.csv",
        "ascend_kernel_details/ASCEND_PROFILER_OUTPUT/operator_memory.csv",
        "ascend_kernel_details/ASCEND_PROFILER_OUTPUT/step_trace_time.csv",
        "ascend_op_summary/fusion_op_20251009081500.csv",
        "ascend_op_summary/l2_cache_20251009081500.csv",
        "ascend_op_summary/step_trace_20251009081500.csv",
    ],
)
def test_tables_of_the_miniatures_given_alone(path: str) -> None:
    file = miniatures.FOLDER / path
    with pytest.raises(FuseScopeError, match="This file contains") as caught:
        read(Source(file.name, file.read_bytes()))
    assert caught.value.hint


@pytest.mark.usefixtures("shared_traces")
@pytest.mark.parametrize("name", ["api_statistic.csv", "l2_cache.csv", "step_trace_time.csv"])
def test_real_tables_given_alone(name: str) -> None:
    path = REAL / "ascend_torch_npu" / "2025-01-level1-rank0" / name
    with pytest.raises(FuseScopeError, match="This file contains"):
        read(Source(name, path.read_bytes()))
