"""rocprofv3, rocprofv2 and rocprof: JSON and tables, alone and side by side."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import find
from fusescope.analysis.readers.amd.rocprof import ROCPROF
from fusescope.analysis.readers.amd.stats import ROCPROF_STATS
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests import miniatures
from tests.conftest import SHARED_TRACES
from tests.neighbours import damaged_neighbours

REAL = SHARED_TRACES / "third_party/rocprof/kernel_trace.csv"

V3 = (
    '"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp",'
    '"End_Timestamp","VGPR_Count","Workgroup_Size_X","Grid_Size_X"\n'
    '"KERNEL_DISPATCH",1,1,"void add<float>(float*)",1,8819330200067564,8819330200116308,8,64,9\n'
    '"KERNEL_DISPATCH",1,2,"sub(float*)",2,8819330200118678,8819330200219573,12,64,9\n'
)
COPIES = (
    '"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp"\n'
    '"MEMORY_COPY","HOST_TO_DEVICE",0,1,0,8819330200000000,8819330200000400\n'
)


def read(text: str, *beside: Source) -> Trace:
    made = Source("1_kernel_trace.csv", text.encode(), beside=beside)
    assert ROCPROF.sniff(made.head)
    return ROCPROF.read(made)


def notes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def dispatch(kernel: Any, start: Any, end: Any, number: int = 1, **more: Any) -> dict[str, Any]:
    info = {"kernel_id": kernel, "agent_id": {"handle": 44}, "queue_id": {"handle": 2},
            "dispatch_id": number}  # fmt: skip
    return {"start_timestamp": start, "end_timestamp": end, "dispatch_info": info, **more}


def tool(*dispatches: Any, **more: Any) -> dict[str, Any]:
    symbols = [
        {"kernel_id": 0},
        {"kernel_id": 7, "kernel_name": "_Z3addv.kd", "demangled_kernel_name": "add() [clone .kd]"},
    ]
    records = {"kernel_dispatch": list(dispatches), "memory_copy": [], "hip_api": [{"x": [1]}]}
    return {"kernel_symbols": symbols, "buffer_records": records, **more}


def read_json(*tools: dict[str, Any]) -> Trace:
    made = Source("results.json", json.dumps({"rocprofiler-sdk-tool": list(tools)}).encode())
    assert ROCPROF.sniff(made.head)
    return ROCPROF.read(made)


def test_table_of_dispatches() -> None:
    trace = read(V3)
    assert trace.operators["op_type"].tolist() == ["add", "sub"]
    assert trace.calls["start_ns"].tolist() == [8819330200067564, 8819330200118678]
    assert trace.calls["dur_ns"].tolist() == [48744, 100895]
    assert trace.calls["stream"].tolist() == ["1", "2"]
    assert trace.calls["device"].tolist() == ["Agent 1", "Agent 1"]
    assert trace.calls["VGPR_Count"].tolist() == [8, 12]
    assert not {"Workgroup_Size_X", "Grid_Size_X", "Correlation_Id"} & set(trace.calls)
    assert trace.meta.tool == "rocprofv3"


def test_version_1_with_counters_in_columns() -> None:
    trace = read(
        '"Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr","lds",'
        '"scr","arch_vgpr","sgpr","wave_size","sig","obj","SQ_WAVES","DispatchNs","BeginNs",'
        '"EndNs","CompleteNs","DurationNs"\n'
        '0,"copy_kernel(float*, int) [clone .kd]",2,1,0,9,9,1024,64,0,0,20,16,64,"0x0","0x7f",'
        "256,100,1591373051782878,1591373077878145,1591373077902255,26095267\n"
    )
    assert trace.operators["name"].tolist() == ["copy_kernel(float*, int)"]
    assert trace.calls["dur_ns"].tolist() == [26095267]
    assert trace.calls["SQ_WAVES"].tolist() == [256]
    assert trace.calls["device"].tolist() == ["2"]
    assert "DurationNs" not in trace.calls and trace.meta.tool == "rocprof"


def test_version_2() -> None:
    trace = read(
        "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,SGPR,"
        "Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,GRBM_COUNT\n"
        '1,4,1,9,9,1024,64,0,16,"add(int) (.kd)",10,25,1,77.5\n'
    )
    assert trace.operators["name"].tolist() == ["add(int)"]
    assert trace.calls[["dur_ns", "GRBM_COUNT"]].to_numpy().tolist() == [[15, 77.5]]


def test_counters_one_a_row_become_columns() -> None:
    head = (
        '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Kernel_Name","Counter_Name",'
        '"Counter_Value","Start_Timestamp","End_Timestamp"\n'
    )
    rows = [(1, "SQ_WAVES", 16.0), (1, "FETCH_SIZE", 2.5), (2, "SQ_WAVES", 32.0), (2, "name", 1)]
    lines = [f'{n},{n},1,1,"add()","{c}",{v},{n}00,{n}50' for n, c, v in rows]
    trace = read(head + "\n".join(lines) + "\n")
    assert trace.calls["dur_ns"].tolist() == [50, 50]
    assert trace.calls["SQ_WAVES"].tolist() == [16, 32]
    assert trace.calls["FETCH_SIZE"].tolist()[0] == 2.5 and trace.calls["FETCH_SIZE"].isna()[1]
    many = [f'1,1,1,1,"add()","C{n}",1,100,150' for n in range(400)]
    trace = read(head + "\n".join(many) + "\n")
    assert sum(name.startswith("C") for name in trace.calls) == 300
    assert notes(trace)["counters_beyond"] == 100
    assert [n.example for n in trace.diagnostics if n.code == "counters_beyond"] == ["C300"]


def test_counters_beyond_what_is_kept_are_counted_in_every_form() -> None:
    many = [f"C{n}" for n in range(303)]
    wide = read(
        f"Index,KernelName,gpu-id,DispatchNs,BeginNs,EndNs,CompleteNs,empty,{','.join(many)}\n"
        f'0,"add()",0,1,100,150,160,,{",".join("1" for _ in many)}\n'
        f'1,"add()",0,1,200,250,260,,{",".join("1" for _ in many[:302])},\n'
    )
    # The last three heads, of two rows with one cell empty: 5 values.
    found = [n for n in wide.diagnostics if n.code == "counters_beyond"]
    assert [(n.count, n.example) for n in found] == [(5, "C300")]
    assert "C299" in wide.calls and "C300" not in wide.calls
    records = [{"counter_id": {"handle": n}, "value": 1} for n in range(303)]
    document = {
        **tool(dispatch(7, 8819330200067564, 8819330200116308, 5),
               dispatch(7, 8819330200118678, 8819330200219573, 6)),
        "counters": [{"id": {"handle": n}, "name": name} for n, name in enumerate(many)],
        "callback_records": {"counter_collection": [
            {"dispatch_data": {"dispatch_info": {"dispatch_id": 5}}, "records": records},
            {"dispatch_data": {"dispatch_info": {"dispatch_id": 6}}, "records": records[:301]}]},
    }  # fmt: skip
    trace = read_json(document)
    found = [n for n in trace.diagnostics if n.code == "counters_beyond"]
    assert [(n.count, n.example) for n in found] == [(4, "C300")]
    beside = json.dumps({"rocprofiler-sdk-tool": [document]}).encode()
    assert notes(read(V3, Source("r.json", beside)))["counters_beyond"] == 4


def test_json_names_kernels_by_number() -> None:
    trace = read_json(
        tool(
            dispatch(7, 100, 150, 1),
            dispatch(99, "200", "230", 2),
            dispatch(7, 300, None, 3),
            "no record",
            metadata={"node": {"hostname": "node1"}},
            agents=[{"id": {"handle": 44}, "type": 2, "node_id": 3, "product_name": "MI300X"}],
        )
    )
    assert trace.operators["name"].tolist() == ["add()", "kernel 99"]
    assert trace.calls[["start_ns", "dur_ns"]].to_numpy().tolist() == [[100, 50], [200, 30]]
    assert trace.calls["device"].tolist() == ["Agent 3"] * 2
    assert trace.calls["stream"].tolist() == ["2"] * 2
    assert trace.meta.device == "MI300X" and dict(trace.meta.redactable) == {"host": "node1"}
    assert notes(trace) == {"bad_event": 1, "bad_time": 1, "no_runs": 1}


def test_processes_of_one_json_are_traces_of_their_own() -> None:
    other = tool(
        dispatch(7, 400, 440),
        kernel_symbols=[{"kernel_id": 7, "kernel_name": "mul"}],
        metadata={"pid": 31},
    )
    trace = read_json(tool(dispatch(7, 100, 150), metadata={"pid": 30}), other)
    assert list(trace.units) == ["process:30", "process:31"]
    (second,) = trace.others
    assert [one.operators["name"].tolist() for one in (trace, second)] == [["add()"], ["mul"]]
    assert [one.calls["dur_ns"].tolist() for one in (trace, second)] == [[50], [40]]
    assert notes(trace)["one_of_processes"] == notes(second)["one_of_processes"] == 2


def test_devices_of_one_process_are_traces_of_their_own() -> None:
    """Kernels on two devices, and a copy to a third: it stays with the first."""
    agents = [{"id": n, "type": 2, "node_id": n, "product_name": "MI300X"} for n in (1, 2, 3)]
    trace = read_json(
        {
            **tool(agents=agents),
            "buffer_records": {
                "kernel_dispatch": [
                    {
                        **dispatch(7, start, end),
                        "dispatch_info": {"kernel_id": 7, "agent_id": agent},
                    }
                    for start, end, agent in ((100, 150, 2), (160, 260, 1), (200, 280, 2))
                ],
                "memory_copy": [{"start_timestamp": 10, "end_timestamp": 20, "dst_agent_id": 3}],
            },
        }
    )
    assert list(trace.units) == ["device:Agent 1", "device:Agent 2"]
    assert [one.calls["dur_ns"].tolist() for one in trace.units.values()] == [[10, 100], [50, 80]]


def test_a_process_without_valid_times_is_counted() -> None:
    trace = read_json(tool(dispatch(7, 100, 150)), tool(dispatch(7, 300, None)))
    assert trace.units == {} and trace.calls["dur_ns"].tolist() == [50]
    assert notes(trace)["bad_time"] == 1


def test_json_copies_and_counters() -> None:
    trace = read_json(
        {
            **tool(dispatch(7, 100, 150, 5)),
            "counters": [{"id": {"handle": 1}, "name": "SQ_WAVES"}, {"id": 2, "name": "run"}],
            "strings": {"buffer_records": [{"kind": "MEMORY_COPY", "operations": [
                "MEMORY_COPY_NONE", "MEMORY_COPY_DEVICE_TO_HOST"]}]},
            "callback_records": {"counter_collection": [
                {"dispatch_data": {"dispatch_info": {"dispatch_id": 5}}, "records": [
                    {"counter_id": {"handle": 1}, "value": 3.0},
                    {"counter_id": {"handle": 1}, "value": 4},
                    {"counter_id": {"handle": 2}, "value": 9}]},
                {"dispatch_data": None, "records": 7}, []]},
            "buffer_records": {
                "kernel_dispatch": [dispatch(7, 100, 150, 5)],
                "memory_copy": [{"operation": 1, "start_timestamp": 10, "end_timestamp": 40,
                                 "bytes": 64, "dst_agent_id": {"handle": 44}}]},
        }
    )  # fmt: skip
    assert trace.operators["op_type"].tolist() == ["add", "Memcpy DtoH"]
    assert trace.calls["dur_ns"].tolist() == [30, 50]
    assert trace.calls["bytes"].tolist()[0] == 64
    assert trace.calls["SQ_WAVES"].tolist()[1] == 7.0  # all units of the device together


def test_both_forms_of_one_run_are_one_recording() -> None:
    document = json.dumps(
        {"rocprofiler-sdk-tool": [tool(
            dispatch(7, 8819330200067564, 8819330200116308),
            dispatch(7, 8819330200118678, 8819330200219573))]}
    )  # fmt: skip
    agents = '"Node_Id","Agent_Type","Name","Product_Name"\n1,"GPU","gfx942","MI300X"\n'
    found = find(
        [Source("1_agent_info.csv", agents.encode()), Source("1_kernel_trace.csv", V3.encode()),
         Source("1_memory_copy_trace.csv", COPIES.encode()),
         Source("1_results.json", document.encode())]
    )  # fmt: skip
    (recording,) = found.recordings
    assert len(recording.files) == 4 and not found.unknown
    assert isinstance(recording.value, Trace)
    assert recording.value.calls["dur_ns"].tolist() == [400, 48744, 100895]
    assert recording.value.meta.device == "MI300X"


def test_files_of_other_runs_are_left_alone() -> None:
    late = COPIES.replace("88193302", "99993302")
    document = json.dumps({"rocprofiler-sdk-tool": [tool(dispatch(7, 1, 2))]})
    trace = read(V3, Source("c.csv", late.encode()), Source("r.json", document.encode()))
    assert trace.meta.files == () and len(trace.calls) == 2


def test_a_damaged_file_beside_is_noted() -> None:
    trace = read(V3, Source("r.json", b'{"rocprofiler-sdk-tool": [{'))
    assert notes(trace)["companion_unreadable"] == 1


@pytest.mark.parametrize(
    "text",
    ['{"rocprofiler-sdk-tool": []}', '{"rocprofiler-sdk-tool": [{"buffer_records": 3}]}',
     '{"rocprofiler-sdk-tool": {"kernel_symbols": "x"}}', '{"rocprofiler-sdk-tool": [{}',
     '{"rocprofiler-sdk-tool": ' + "[" * 100_000, '{"rocprofiler-sdk-tool": 7}'],
)  # fmt: skip
def test_json_without_kernels_is_one_sentence(text: str) -> None:
    with pytest.raises(FuseScopeError) as raised:
        ROCPROF.read(Source("results.json", text.encode()))
    assert raised.value.hint


def test_broken_text_in_a_kernels_name_is_replaced() -> None:
    text = json.dumps({"rocprofiler-sdk-tool": [tool(dispatch(7, 1, 2))]}).encode()
    trace = ROCPROF.read(Source("r.json", text.replace(b"add()", b"a\xffd()")))
    assert trace.operators["name"].tolist() == ["a\ufffdd()"]
    assert notes(trace)["bad_unicode"] == 1


STATS = (
    '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n'
    '"bodyForce(Body*, float) [clone .kd]",10,261124944,26112494,100.0\n'
)


def test_sums_by_kernel() -> None:
    made = Source("results.stats.csv", STATS.encode())
    assert ROCPROF_STATS.sniff(made.head)
    trace = ROCPROF_STATS.read(made)
    assert trace.operators["name"].tolist() == ["bodyForce(Body*, float)"]
    assert trace.calls[["n", "dur_ns"]].to_numpy().tolist() == [[10, 261124944]]


def test_sums_of_copies_beside_are_added() -> None:
    copies = STATS.splitlines()[0] + '\n"MEMORY_COPY_HOST_TO_DEVICE",2,700,350,100\n'
    found = find([Source("1_kernel_stats.csv", STATS.encode()),
                  Source("1_memory_copy_stats.csv", copies.encode())])  # fmt: skip
    (recording,) = found.recordings
    assert isinstance(recording.value, Trace)
    assert recording.value.calls["dur_ns"].tolist() == [261124944, 700]


def test_a_damaged_file_beside_sums_costs_nothing() -> None:
    damaged = Source("x.gz", b"\x1f\x8b" + b"damaged" * 9)
    trace = ROCPROF_STATS.read(Source("s.csv", STATS.encode(), beside=(damaged,)))
    assert len(trace.calls) == 1


@pytest.mark.parametrize("name", ["HIP_API", "hipMemcpy", "hsa_queue_create", "KERNEL_DISPATCH"])
def test_sums_of_the_host_are_no_recording(name: str) -> None:
    text = f'{STATS.splitlines()[0]}\n"{name}",13,458514859,35270373.7,100.00\n'
    assert not ROCPROF_STATS.sniff(text.encode())
    mixed = STATS + f'"{name}",1,5,5,0.1\n'
    trace = ROCPROF_STATS.read(Source("s.csv", mixed.encode()))
    assert len(trace.calls) == 1 and notes(trace)["not_operators"] == 1


@pytest.mark.usefixtures("shared_traces")
def test_the_real_table_against_the_csv_module() -> None:
    with REAL.open(newline="") as file:
        rows = list(csv.DictReader(file))
    total = sum(int(row["End_Timestamp"]) - int(row["Start_Timestamp"]) for row in rows)
    trace = ROCPROF.read(Source(REAL.name, REAL.read_bytes()))
    assert len(trace.calls) == len(rows)
    assert trace.calls["dur_ns"].sum() == total
    assert sorted(trace.calls["start_ns"]) == sorted(int(row["Start_Timestamp"]) for row in rows)
    assert set(trace.operators["name"]) == {row["Kernel_Name"] for row in rows}
    assert set(trace.operators["op_type"]) <= {
        "addition_kernel", "subtract_kernel", "multiply_kernel", "divide_kernel",
    }  # fmt: skip


def test_a_counter_beyond_every_double_is_none() -> None:
    data = (miniatures.FOLDER / "rocprof" / "4711_results.json").read_bytes()
    assert b'"value": 64.0' in data
    huge = data.replace(b'"value": 64.0', b'"value": 1' + b"0" * 400, 1)
    rows = [len(ROCPROF.read(Source("a.json", text)).calls) for text in (data, huge)]
    assert rows[0] == rows[1] > 0


def test_ids_of_the_old_timeline_may_be_text_in_one_place_and_numbers_in_another() -> None:
    label = {"args": {"name": "GPU0"}, "ph": "M", "pid": 6, "name": "process_name"}
    ran = {"ph": "X", "name": "toy_gemm", "pid": "6", "tid": "1", "ts": "100", "dur": "20",
           "args": {"BeginNs": "100000", "EndNs": "120000", "stream-id": "1"}}  # fmt: skip
    for pid in ("6", 6):
        events = [{}, label, {**ran, "pid": pid}]
        trace = ROCPROF.read(Source("results.json", json.dumps({"traceEvents": events}).encode()))
        assert trace.calls["dur_ns"].tolist() == [20_000]
        assert trace.calls["device"].tolist() == ["GPU0"]


def test_a_table_of_thousands_of_counters_is_read_and_those_beyond_are_counted() -> None:
    counters = [f"TCC_HIT[{n}]" for n in range(2700)]
    head = ["Dispatch_ID", "GPU_ID", "Kernel_Name", *counters, "Start_Timestamp", "End_Timestamp"]
    row = ["0", "4", "toy_gemm", *["5"] * 2700, "1000", "21000"]
    trace = read(",".join(head) + "\n" + ",".join(row) + "\n")
    assert trace.calls["dur_ns"].tolist() == [20_000]
    assert notes(trace)["counters_beyond"] == 2400
    assert trace.calls["TCC_HIT[0]"].tolist() == [5]


def test_no_number_as_python_spells_it_is_mended() -> None:
    document = {"rocprofiler-sdk-tool": [tool(dispatch(7, 1, 2, x=float("nan")))]}
    trace = ROCPROF.read(Source("results.json", json.dumps(document).encode()))
    assert len(trace.calls) == 1 and notes(trace)["json_mended"] == 1


def test_files_of_other_tools_beside_bring_no_warning() -> None:
    trace = read(V3, *damaged_neighbours())
    assert not notes(trace).keys() & {"companion_unreadable", "neighbours_left"}
    stats = "Name,Calls,TotalDurationNs,AverageNs,Percentage\nadd(),1,5,5,100\n"
    alone = ROCPROF_STATS.read(Source("stats.csv", stats.encode(), beside=damaged_neighbours()))
    assert "companion_unreadable" not in notes(alone)


def test_names_of_sums_may_hold_commas_without_quotes() -> None:
    text = (
        '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n'
        "void toy_gemm<float, 4>(int, float*),3,600,200,60.0\ntoy_relu,4,400,100,40.0\n"
    )
    trace = ROCPROF_STATS.read(Source("results.stats.csv", text.encode()))
    assert trace.operators["name"].tolist() == ["void toy_gemm<float, 4>(int, float*)", "toy_relu"]
    assert trace.calls["dur_ns"].sum() == 1000 and notes(trace)["names_with_commas"] == 1


@pytest.mark.parametrize(("behind", "moved"), [(0, 0), (60, 53), (2, 0)])
def test_kernels_cannot_begin_before_as_many_were_launched(behind: int, moved: int) -> None:
    """Launched at 100 and 300, each kernel begins 7 ns later by the host's clock."""
    calls = "".join(
        f'"HIP_RUNTIME_API","hipLaunchKernel",9,9,{n},{at},{at + 5}\n'
        for n, at in enumerate((100, 300))
    )
    head = (
        '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp",'
        '"End_Timestamp"\n'
    )
    ran = "".join(
        f'"KERNEL_DISPATCH",1,1,"k{n}",{n},{at + 7 - behind},{at + 27 - behind},8,64,9\n'
        for n, at in enumerate((100, 300))
    )
    table = V3.splitlines(keepends=True)[0] + ran
    trace = read(table, Source("1_hip_api_trace.csv", (head + calls).encode()))
    assert trace.runs["launches"].tolist() == [2]
    starts = trace.calls["start_ns"].tolist()
    assert starts == [107 - behind + moved, 307 - behind + moved]
    assert ("kernels_before_launch" in notes(trace)) == bool(moved)
    assert trace.host is not None and trace.host.starts_ns.tolist() == [100, 300]


HIP_CALLS = [
    {"kind": "NONE", "operations": []},
    {"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel", "hipDeviceSynchronize"]},
]


def hip_call(operation: int, start: int, end: int, number: int) -> dict[str, Any]:
    times = {"start_timestamp": start, "end_timestamp": end}
    numbers = {"internal": number, "external": 0}
    return {"kind": 1, "operation": operation, "thread_id": 5, "correlation_id": numbers, **times}


def launched(kernel: dict[str, Any], number: int, agent: int = 44) -> dict[str, Any]:
    info = {**kernel["dispatch_info"], "agent_id": {"handle": agent}}
    return {**kernel, "dispatch_info": info, "correlation_id": {"internal": number}}


def launches_of(trace: Trace) -> dict[int, int]:
    """The time of the call that launched each execution, by its start; -1 for none."""
    assert trace.host is not None
    lanes, times = trace.host.launches_of(trace.calls["source_row"].to_numpy("int64"))
    starts = trace.calls["start_ns"].tolist()
    return {
        start: int(at) if lane >= 0 else -1
        for start, lane, at in zip(starts, lanes, times, strict=True)
    }


def test_json_joins_what_ran_with_the_call_of_its_number() -> None:
    """The third kernel has a number of no call, the copy that of a call which begins later."""
    calls = [hip_call(0, 80, 85, 3), hip_call(1, 86, 170, 4), hip_call(0, 171, 175, 5),
             hip_call(0, 400, 401, 6)]  # fmt: skip
    trace = read_json(
        {
            **tool(),
            "strings": {"buffer_records": HIP_CALLS},
            "buffer_records": {
                "kernel_dispatch": [
                    launched(dispatch(7, 100, 150), 3), launched(dispatch(7, 200, 250, 2), 5),
                    launched(dispatch(7, 300, 310, 3), 9),
                ],
                "memory_copy": [{"start_timestamp": 350, "end_timestamp": 360, "dst_agent_id": 44,
                                 "correlation_id": {"internal": 6}}],
                "hip_api": calls,
            },
        }
    )  # fmt: skip
    assert launches_of(trace) == {100: 80, 200: 171, 300: -1, 350: -1}
    assert notes(trace)["launches_unknown"] == 2
    assert len(set(trace.calls["source_row"])) == 4


def test_launches_of_one_process_go_to_the_device_that_they_reached() -> None:
    trace = read_json(
        {
            **tool(),
            "strings": {"buffer_records": HIP_CALLS},
            "buffer_records": {
                "kernel_dispatch": [
                    launched(dispatch(7, 100, 150), 3, 44), launched(dispatch(7, 200, 250), 4, 45),
                    launched(dispatch(7, 300, 350), 5, 45),
                ],
                "hip_api": [hip_call(0, 80 + n, 81 + n, 3 + n) for n in range(3)],
            },
        }
    )  # fmt: skip
    one, two = trace.units.values()
    assert [unit.runs["launches"].tolist() for unit in (one, two)] == [[1], [2]]
    assert launches_of(one) == {100: 80} and launches_of(two) == {200: 81, 300: 82}


def test_tables_join_by_correlation_and_two_processes_with_one_number_are_not_told_apart() -> None:
    head = (
        '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp",'
        '"End_Timestamp"\n'
    )
    calls = "".join(
        f'"HIP_RUNTIME_API","hipLaunchKernel",{process},9,{number},{at},{at + 5}\n'
        for process, number, at in ((9, 1, 100), (9, 2, 300), (8, 2, 310))
    )
    ran = "".join(
        f'"KERNEL_DISPATCH",1,1,"k{n}",{n},{at},{at + 20},8,64,9\n'
        for n, at in ((1, 110), (2, 330))
    )
    table = V3.splitlines(keepends=True)[0] + ran
    trace = read(table, Source("1_hip_api_trace.csv", (head + calls).encode()))
    assert launches_of(trace) == {110: 100, 330: -1}
    assert notes(trace)["launches_unknown"] == 1
