"""Tables of nsys stats in the heads and units of its versions."""

from __future__ import annotations

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import find
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.nvidia.nsys_stats import NSYS_STATS
from fusescope.analysis.trace import Trace

TRACE_HEAD = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),"
    "DymSMem (MB),Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"
)
TRACE = TRACE_HEAD + (
    "1000,50240,101,,,,,,,,,,8.389,167.0,Pageable,Device,NVIDIA A100 (0),1,7,"
    "[CUDA memcpy Host-to-Device]\n"
    '60000,44300,102,1,1,1,8,1,1,32,0.0,0.0,,,,,NVIDIA A100 (0),1,7,"burn(float *, int)"\n'
    '110000,45700,103,1,1,1,8,1,1,32,0.0,0.0,,,,,NVIDIA A100 (0),1,7,"burn(float *, int)"\n'
)
SUMS = (
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    '100.0,90000,2,45000.0,45000.0,44300,45700,989.9,"burn(float *, int)"\n'
)
COPIES = (
    "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
    "100.0,50240,1,50240.0,50240.0,50240,50240,0.0,[CUDA memcpy Host-to-Device]\n"
)


def read(text: str, *beside: Source) -> Trace:
    made = Source("report1_x.csv", text.encode(), beside=beside)
    assert NSYS_STATS.sniff(made.head)
    return NSYS_STATS.read(made)


def test_the_trace_gives_each_launch() -> None:
    trace = read(TRACE)
    assert trace.calls["start_ns"].tolist() == [1000, 60000, 110000]
    assert trace.calls["dur_ns"].tolist() == [50240, 44300, 45700]
    assert trace.operators["op_type"].tolist() == ["Memcpy HtoD", "burn"]
    assert trace.calls["Bytes (MB)"].tolist()[0] == 8.389
    assert trace.calls["stream"].tolist() == ["7"] * 3
    assert trace.meta.device == "NVIDIA A100"


def test_sums_give_the_total_of_their_launches() -> None:
    trace = read(SUMS)
    assert trace.calls[["n", "dur_ns"]].to_numpy().tolist() == [[2, 90000]]
    assert trace.calls["start_ns"].isna().all()


@pytest.mark.parametrize(
    ("head", "cell"),
    [
        ("Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,Name", "90000"),
        ("Time(%),Total Time,Instances,Average,Minimum,Maximum,Name", "90000"),
        ("Time (%),Total Time (us),Instances,Avg (us),Min (us),Max (us),Name", "90.000"),
        ("Time (%),Total Time (usec),Instances,Avg (usec),Min,Max,Name", "90.000"),
        ("Time (%),Total Time (nsec),Instances,Avg,Min,Max,Name", '"90,000"'),
        ("Time (%),Total Time (\u00b5s),Instances,Avg,Min,Max,Name", "90"),
        ("Time (%),Total Time (ms),Instances,Avg,Min,Max,Name", "0.09"),
        ("Total Time (s),Instances,A,B,C,D,Name", "0.00009"),
    ],
)
def test_heads_and_units_of_versions(head: str, cell: str) -> None:
    columns = head.split(",")
    row = [cell if "Total" in name else "2" for name in columns]
    row[-1] = "saxpy"
    trace = read(f"{head}\n{','.join(row)}\n")
    assert trace.calls[["n", "dur_ns"]].to_numpy().tolist() == [[2, 90000]]


def test_messages_before_the_head_and_tables_behind_it() -> None:
    text = (
        "Generating '/tmp/report1.sqlite'\r\nProcessing [report1.sqlite] with [x.py]...\r\n\r\n"
        " ** CUDA API Summary (cuda_api_sum):\r\n\r\n"
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\r\n90.0,800,4,200.0,cudaMalloc\r\n\r\n"
        " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\r\n\r\n"
        + SUMS.replace("\n", "\r\n")
        + "\r\n ** CUDA GPU MemOps Summary (by Time) (cuda_gpu_mem_time_sum):\r\n\r\n"
        + COPIES.replace("\n", "\r\n")
        + "\r\nTotal (MB),Count,Avg (MB),Operation\r\n8.389,1,8.389,[CUDA memcpy HtoD]\r\n"
    )
    trace = read(text)
    assert trace.operators["op_type"].tolist() == ["burn", "Memcpy HtoD"]
    assert trace.calls["dur_ns"].tolist() == [90000, 50240]


def test_a_sum_by_range_names_what_launched() -> None:
    trace = read(
        "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Kernel Name\n"
        ":forward,PushPop,1,2,3,6,600,100.0,gemm\n"
    )
    assert trace.operators["launched_by"].tolist() == [":forward"]
    assert trace.calls[["n", "dur_ns"]].to_numpy().tolist() == [[6, 600]]


def test_a_sum_of_everything_leaves_calls_of_the_host_out() -> None:
    trace = read(
        "Time (%),Total Time (ns),Instances,Avg (ns),Category,Operation\n"
        "80.0,800,4,200.0,CUDA_API,cudaMalloc\n15,150,1,150,CUDA_KERNEL,gemm\n"
        "5,50,1,50,MEMORY_OPER,[CUDA memset]\n"
    )
    assert trace.operators["name"].tolist() == ["gemm", "[CUDA memset]"]
    assert next((n.code, n.count) for n in trace.diagnostics) == ("not_operators", 1)


def test_tables_of_one_report_are_one_recording() -> None:
    names = ("r_cuda_gpu_kern_sum.csv", "r_cuda_gpu_mem_time_sum.csv", "r_cuda_gpu_trace.csv")
    texts = (SUMS, COPIES, TRACE)
    found = find([Source(n, t.encode()) for n, t in zip(names, texts, strict=True)])
    (recording,) = found.recordings
    assert isinstance(recording.value, Trace)
    assert sorted(recording.files) == sorted(names)
    assert recording.value.calls["dur_ns"].tolist() == [50240, 44300, 45700]


def test_sums_and_copies_of_one_report_are_added_up() -> None:
    found = find([Source("a_cuda_gpu_kern_sum.csv", SUMS.encode()),
                  Source("a_cuda_gpu_mem_time_sum.csv", COPIES.encode())])  # fmt: skip
    (recording,) = found.recordings
    assert isinstance(recording.value, Trace)
    assert recording.value.calls["dur_ns"].tolist() == [90000, 50240]


def test_tables_of_two_reports_stay_apart() -> None:
    other = SUMS.replace("90000", "80000")
    found = find([Source("a_cuda_gpu_trace.csv", TRACE.encode()),
                  Source("b_cuda_gpu_kern_sum.csv", other.encode())])  # fmt: skip
    assert len(found.recordings) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n90.0,800,4,200.0,cudaMalloc\n",
        "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid\n1,2,cudaMalloc,0,1,1,1\n",
        "Time (%),Total Time (ns),Instances,Avg (ns),Style,Range\n9,8,4,2,PushPop,step\n",
        "Start (ns),End (ns),Duration (ns),DurChild (ns),Name,PID,TID\n1,2,1,0,x,1,1\n",
        "Total (MB),Count,Avg (MB),Operation\n8.3,1,8.3,[CUDA memcpy HtoD]\n",
        '{"Total Time": "Duration", "Instances": 1}',
    ],
)
def test_other_tables_are_left_alone(text: str) -> None:
    assert not NSYS_STATS.sniff(text.encode())


def test_a_table_without_rows_says_why() -> None:
    text = TRACE_HEAD + "\nSKIPPED: /tmp/r.sqlite does not contain CUDA trace data.\n"
    with pytest.raises(FuseScopeError, match="does not contain CUDA trace data"):
        read(text)


def test_a_long_line_of_words_ends() -> None:
    assert not NSYS_STATS.sniff(b"x," + b"duration," * 7000)
    noisy = SUMS + "9,8,7,6,5,4,3,2," + "duration" * 200_000 + "\n"
    assert len(read(noisy).calls) == 2
