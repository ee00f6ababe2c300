"""kernel_details.csv and what lies beside it: every column set, joined, checked, never by place."""

from __future__ import annotations

import csv
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.doctor import fields
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.metrics.counters import hardware_counters
from fusescope.analysis.operators.flops import FROM_SHAPES
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.ascend.columns import (
    guarded,
    launched_by,
    task_kind,
    tensor_text,
    unguarded,
)
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic, Trace
from tests import miniatures
from tests.conftest import SHARED_TRACES

REAL = SHARED_TRACES / "third_party" / "ascend_torch_npu"
NAMES = (
    "2023-11-arithmetic",
    "2024-10-level1-rank0",
    "2025-01-level0-rank0",
    "2025-01-level1-rank0",
)
needs_traces = pytest.mark.usefixtures("shared_traces")
HEAD = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim"


def trace_of(text: str, *beside: Source) -> Trace:
    trace = read(Source("kernel_details.csv", text.encode(), beside=beside))
    assert isinstance(trace, Trace)
    return trace


def real_trace(path: Path) -> Trace:
    trace = read_path(path)
    assert isinstance(trace, Trace)
    return trace


def real_rows(name: str, file: str = "kernel_details.csv") -> list[dict[str, str]]:
    with (REAL / name / file).open(newline="", encoding="utf-8") as lines:
        return [{key: value.strip() for key, value in row.items()} for row in csv.DictReader(lines)]


def ns(us: str) -> int:
    value = Decimal(us) * 1000
    assert value == int(value)
    return int(value)


def note(trace: Trace, code: str) -> Diagnostic:
    [found] = [note for note in trace.diagnostics if note.code == code]
    return found


def is_communication(trace: Trace) -> list[bool]:
    return list(trace.operators["is_communication"].to_numpy()[trace.calls["operator"]])


def plain(values: pd.Series) -> list[object]:
    return [None if pd.isna(value) else value for value in values.astype("object")]


def column(trace: Trace, name: str) -> list[object]:
    """A column of the calls' operators, in the order of the calls."""
    values = plain(trace.operators[name])
    return [values[operator] for operator in trace.calls["operator"]]


# --- the miniature, by hand -----------------------------------------------------------------


@pytest.fixture(scope="module")
def miniature() -> Trace:
    return real_trace(miniatures.FOLDER / "ascend_kernel_details")


def test_steps_keep_their_numbers_and_last_until_the_next_one(miniature: Trace) -> None:
    runs = miniature.runs
    assert list(runs["run"]) == [11, 12] and set(runs["kind"]) == {"step"}
    assert list(runs["start_ns"]) == [1751000000000100250, 1751000000000500250]
    # Stage of step 11 reaches to the first kernel of step 12; step 12 ends with its last kernel.
    assert list(runs["dur_ns"]) == [400_000, 199_750]
    assert list(miniature.calls["run"].isna()) == [False] * 10 + [True]
    assert note(miniature, "outside_runs").count == 1


def test_rows_that_are_no_operators_or_have_no_time_are_counted(miniature: Trace) -> None:
    assert note(miniature, "not_operators").count == 1
    assert note(miniature, "not_operators").example == "EVENT_WAIT"
    assert note(miniature, "bad_time").count == 1
    assert note(miniature, "short_rows").count == 1
    assert len(miniature.calls) == 11
    dur = miniature.calls["dur_ns"]
    communication = dur[is_communication(miniature)].sum()
    assert communication == 350_000
    assert dur.sum() - communication == 365_000


def test_hits_of_the_cache_go_to_the_right_one_of_equal_task_numbers(miniature: Trace) -> None:
    calls = miniature.calls
    names = column(miniature, "name")
    hits = dict(
        zip(zip(names, calls["run"], strict=True), plain(calls["l2_hit_rate"]), strict=True)
    )
    hits = {key: hit for key, hit in hits.items() if hit is not None}
    matmul, add = "aclnnMatmul_MatMulV3Common_MatMulV3", "aclnnAdd_AddAiCore_Add"
    assert hits == {
        (matmul, 12): 0.5,
        (add, 11): 0.75,
        (add, 12): 0.8,
        ("RmsNorm", 11): 0.9,
    }
    victims = calls["l2_victim_rate"].dropna()
    assert sorted(victims) == [0.01, 0.04, 0.05, 0.2, 0.21]
    assert note(miniature, "companion_unmatched").count == 1  # a task that is not there


def test_shapes_types_and_layouts_are_canonical(miniature: Trace) -> None:
    operators = miniature.operators.set_index("name")
    matmul = operators.loc["aclnnMatmul_MatMulV3Common_MatMulV3"]
    assert matmul["inputs"] == "bfloat16[64,128]; bfloat16[128,256]"
    assert matmul["outputs"] == "bfloat16[64,256]"
    assert matmul["launched_by"] == "aclnnMatmul"
    assert (matmul["op_type"], matmul["provider"]) == ("MatMulV3", "AI_CORE")
    add = operators.loc["aclnnAdd_AddAiCore_Add"]
    assert add["inputs"] == "bfloat16[64,256]; float32[]"
    assert operators.loc["trans_Cast_3"]["inputs"] == "int32[]:NCHW"
    assert operators.loc["hcom_allReduce__312_0_1"]["is_communication"]
    assert matmul["bytes_in"] == 2 * (64 * 128 + 128 * 256)


def test_counters_keep_their_heads_and_percent_becomes_a_fraction(miniature: Trace) -> None:
    calls = miniature.calls
    assert calls["cube_utilization"].max() == pytest.approx(0.9125)
    assert calls["aicore_time(us)"].max() == 110.5
    assert "Block Num" not in calls and "Task ID" not in calls
    cast = [name == "trans_Cast_3" for name in column(miniature, "name")]
    assert calls["aic_mac_ratio"][cast].isna().all()  # N/A is not 0


def test_settings_and_versions_are_told(miniature: Trace) -> None:
    assert (miniature.meta.tool, miniature.meta.version) == ("Ascend PyTorch Profiler", "2.7.1")
    assert dict(note(miniature, "recorded_with").values) == {
        "level": "Level1",
        "aic_metrics": "PipeUtilization",
        "l2_cache": "true",
        "torch_npu": "2.7.1",
        "cann": "8.3.RC1",
    }
    assert dict(note(miniature, "device_memory").values) == {
        "allocated_mb": 844.75,
        "reserved_mb": 1024.0,
    }
    [use] = miniature.memory
    assert (use.device, use.peak, use.peak_in) == ("NPU:0", 844_750_000, "aten::add")
    assert [size / 1e6 for size in use.allocated.tolist()] == [812.5, 844.75, 780.25]


ONE_KERNEL = f"{HEAD}\n5,Mul,Mul,AI_VECTOR_CORE,1736405443881410.320\t,2.5,0,1\n"
RECORD = "Component,Timestamp(us),Total Allocated({unit}),Total Reserved({unit}),Device Type\n"


def recorded(rows: str, *beside: Source, unit: str = "MB") -> Trace:
    data = (RECORD.format(unit=unit) + rows).encode()
    return trace_of(ONE_KERNEL, Source("memory_record.csv", data), *beside)


def test_memory_over_time_of_the_record() -> None:
    """PTA+GE holds PTA; APP says only what is reserved; what is not a size is left out."""
    at = "17364054438814"
    rows = (
        f"PTA,{at}00.5\t,10,64,NPU:0\nPTA+GE,{at}00.6\t,12.5,64,NPU:0\n"
        f"PTA+GE,{at}09.25\t,20.25,128,NPU:0\nAPP,{at}10,,9999,NPU:0\n"
        f"PTA+GE,{at}12,-1,64,NPU:0\nPTA+GE,{at}13,nan,64,NPU:0\nPTA+GE,{at}14,1e300,64,NPU:0\n"
        f"PTA+GE,later,5,64,NPU:0\nPTA,{at}15,3,,<img src=x>\n"
    )
    trace = recorded(rows)
    first, second = trace.memory
    assert (first.device, first.peak, first.peak_in) == ("NPU:0", 20_250_000, "")
    assert first.allocated.tolist() == [12_500_000, 20_250_000]
    assert first.reserved is not None
    assert first.reserved.tolist() == [64_000_000, 128_000_000]
    assert first.times_ns.tolist() == [1736405443881400600, 1736405443881409250]
    assert (second.device, second.peak, second.reserved) == ("<img src=x>", 3_000_000, None)
    assert "memory_record.csv" in trace.meta.files
    [in_kb] = recorded(f"PTA,{at}00.5,10,64,NPU:0\n", unit="KB").memory
    assert in_kb.peak == 10_000


def test_a_record_that_does_not_fit_or_is_not_needed_is_left_out() -> None:
    assert recorded("PTA,1,10,64,NPU:0\n").memory == (), "decades before the kernels"
    assert recorded("PTA,1736405443881400,10,64,NPU:0\n", unit="pages").memory == ()
    head = "Name,Size(KB),Allocation Time(us),Allocation Total Allocated(MB)"
    named = Source("operator_memory.csv", f"{head}\nadd,1,1736405443881400,7\n".encode())
    [use] = recorded("PTA,1736405443881400,10,64,NPU:0\n", named).memory
    assert (use.peak, use.peak_in) == (7_000_000, "add")


def test_devices_beyond_those_that_are_kept_are_counted() -> None:
    """Of 20 the 16 with most; NPU:3 has the least of all."""
    at = "17364054438814"
    rows = "".join(f"PTA,{at}00,{100 + n},,NPU:{n}\n" for n in range(20) if n != 3)
    trace = recorded(f"{rows}PTA,{at}00,1,,NPU:3\n")
    assert [use.device for use in trace.memory] == [f"NPU:{n}" for n in range(19, 3, -1)]
    assert (note(trace, "memory_beyond").count, note(trace, "memory_beyond").example) == (
        4, "NPU:2"
    )  # fmt: skip
    head = "Name,Size(KB),Allocation Time(us),Allocation Total Allocated(MB),Device Type"
    rows = "".join(f"add,1,{at}00,{100 + n},NPU:{n}\n" for n in range(18))
    named = trace_of(ONE_KERNEL, Source("operator_memory.csv", f"{head}\n{rows}".encode()))
    assert len(named.memory) == 16 and note(named, "memory_beyond").count == 2


def test_memory_of_operators_in_the_unit_of_its_head() -> None:
    """torch_npu writes totals in MB, msprof in KB; 1e300 KB are not a size."""
    head = (
        "Device_id,Name,Size(KB),Allocation Time(us),Allocation Total Allocated(KB),"
        "Allocation Total Reserved(KB),Device"
    )
    at = "17364054438814"
    rows = f"0,Add,1,{at}00,2500,4096,NPU:0\n0,Mul,1,{at}05,2750,4096,NPU:0\n"
    data = f"{head}\n{rows}0,Odd,1,{at}07,1e300,4096,NPU:0\n".encode()
    trace = trace_of(ONE_KERNEL, Source("operator_memory_1.csv", data))
    [use] = trace.memory
    assert (use.device, use.peak, use.peak_in) == ("NPU:0", 2_750_000, "Mul")
    assert use.reserved is not None and use.reserved.tolist() == [4_096_000, 4_096_000]
    told = dict(note(trace, "device_memory").values)
    assert told == {"allocated_mb": 2.75, "reserved_mb": 4.096}


def test_a_core_that_worked_longer_than_its_task_is_told(miniature: Trace) -> None:
    found = note(miniature, "contradiction")
    assert (found.count, str(found.example)) == (
        1, "RmsNorm: aiv_time(us) is 45, the duration is 20 us",
    )  # fmt: skip


# --- variants of the table ------------------------------------------------------------------


def test_level0_has_no_types_and_nothing_is_invented() -> None:
    trace = trace_of(
        f"{HEAD}\n5,aclnnMul_MulAiCore_Mul,N/A,N/A,1736405443881410.320\t,2.5,0,0\n"
        "5,hcom_allReduce__1_0_1,hcom_allReduce_,HCCL,1736405443881411.320\t,9,0,0\n"
    )
    assert column(trace, "op_type") == [None, "hcom_allReduce"]
    assert is_communication(trace) == [False, True]
    assert trace.calls["start_ns"][0] == 1736405443881410320
    assert not [name for name in trace.calls if "Block" in name]


def test_columns_are_found_in_any_order_and_spelling() -> None:
    trace = trace_of(
        "duration(us), NAME ,Accelerator_Core,Start Time,Type,wait time(ms),Step ID,Block Num,\n"
        "1.5,a/b-op0,MIX_AIC,3.0000004,MatMulV2,0.002,0,8,\n"
    )
    assert trace.calls["dur_ns"].to_list() == [1500]
    assert trace.calls["start_ns"].to_list() == [3000]
    assert trace.calls["wait_ns"].to_list() == [2000]
    assert trace.meta.tool == "MindSpore Profiler"  # which writes Step ID
    assert trace.runs["run"].to_list() == [0]


def test_devices_of_one_table_are_traces_of_their_own() -> None:
    rows = [f"{device},1,a,Add,AI_CORE,{start},2,0,1" for device, start in ((0, 10), (1, 5010))]
    both = trace_of("\n".join([f"Device_id,{HEAD}", *rows]) + "\n")
    assert list(both.units) == ["device:0", "device:1"]
    assert [len(one.calls) for one in both.units.values()] == [1, 1]
    alone = trace_of("\n".join([f"Device_id,{HEAD}", rows[0]]) + "\n")
    assert alone.others == ()


def test_steps_without_numbers_are_numbered() -> None:
    rows = "x,k,T,AI_CORE,1,1,0,1\ny,k,T,AI_CORE,3,1,0,1\n01,k,T,AI_CORE,5,1,0,1\n"
    trace = trace_of(f"{HEAD}\n{rows}")
    assert trace.runs["run"].to_list() == [0, 1, 2]
    same = trace_of(f"{HEAD}\n1,k,T,AI_CORE,1,1,0,1\n01,k,T,AI_CORE,5,1,0,1\n")
    assert same.runs["run"].to_list() == [0, 1]


def test_without_steps_the_file_is_one_run_as_long_as_its_step_time() -> None:
    steps = Source(
        "s.csv", b"Step,Computing,Overlapped,Free,Stage,Bubble\n,3,0,7,9.5,0.5\n", path="s.csv"
    )
    head = "Name,Type,Accelerator Core,Start Time(us),Duration(us)"
    text = f"{head}\na,A,AI_CORE,10,1\nb,B,AI_CORE,14,2\n"
    assert trace_of(text).runs["dur_ns"].to_list() == [6000]
    trace = trace_of(text, steps)
    assert trace.runs["dur_ns"].to_list() == [10_000]
    assert trace.runs["kind"].to_list() == ["file"] and trace.meta.files == ("s.csv",)


def test_starts_that_a_spreadsheet_rounded_are_none() -> None:
    trace = trace_of(f"{HEAD}\n2,a,A,AI_CORE,1.69512E+15,5,0,1\n2,b,B,AI_CORE,1.69512E+15,4,1,1\n")
    assert trace.calls["start_ns"].isna().all()
    assert note(trace, "rounded_starts").count == 2
    assert trace.runs["dur_ns"].to_list() == [9000]
    exact = trace_of(f"{HEAD}\n2,a,A,AI_CORE,1.695115378713661E+15,5,0,1\n")
    assert exact.calls["start_ns"].to_list() == [1695115378713661000]


@pytest.mark.parametrize(
    "starts",
    [
        ["-1e999", "1e30", "nan", "soon"],
        ["-4611686018427387.9", "4611686018427387.9", "1e16", "9" * 400],
    ],
)
def test_rows_with_impossible_starts_are_dropped_and_counted(starts: list[str]) -> None:
    """A row without any start stays: it has a duration, and nothing in it is wrong."""
    rows = ["2,first,A,AI_CORE,1.0,5,0,1", "2,unknown,A,AI_CORE,N/A,3,0,1"]
    rows += [f"2,bad{n},A,AI_CORE,{start},5,0,1" for n, start in enumerate(starts)]
    trace = trace_of("\n".join([HEAD, *rows, ""]))
    assert trace.operators["name"].to_list() == ["first", "unknown"]
    assert trace.runs["dur_ns"].to_list() == [8000]
    assert [d for d in trace.diagnostics if d.code == "rounded_starts"] == []
    bad = note(trace, "bad_time")
    assert (bad.count, str(bad.example)) == (4, "row 3: bad0")


def test_counted_flops_stand_only_where_all_calls_agree() -> None:
    tensors = "Input Shapes,Input Data Types,Output Shapes,Output Data Types"
    head = f"{HEAD},{tensors},aic_cube_fops,aiv_vector_fops"
    shapes = '"""2,3;3,4""",FLOAT;FLOAT,"""2,4""",FLOAT'
    trace = trace_of(
        f"{head}\n1,a,MatMul,AI_CORE,1,1,0,1,{shapes},40,10\n1,a,MatMul,AI_CORE,3,1,0,1,{shapes},40,10\n"
        f"1,b,MatMul,AI_CORE,5,1,0,1,{shapes},40,0\n1,b,MatMul,AI_CORE,7,1,0,1,{shapes},41,0\n"
        "1,c,Cast,AI_CPU,9,1,0,1,N/A,N/A,N/A,N/A,N/A,N/A\n"
    )
    operators = trace.operators.set_index("name")
    assert operators["flops"].to_dict() | {"c": None} == {"a": 50, "b": 2 * 2 * 3 * 4, "c": None}
    assert operators["flops_source"].to_dict()["a"] == "counter"
    assert operators["flops_source"].to_dict()["b"] == FROM_SHAPES
    assert operators["flops"].isna().to_list() == [False, False, True]


@pytest.mark.parametrize(
    ("core", "op_type", "name", "kind"),
    [
        ("AI_CORE", "MatMul", "a", "operator"),
        ("KERNEL_AIVEC", None, "a", "operator"),
        ("DSA_SQE", None, "a", "operator"),
        ("CPUExecutionProvider", None, "a", "operator"),
        ("MEMCPY_ASYNC", None, "a", "operator"),
        ("HCCL", None, "a", "communication"),
        ("COMMUNICATION", None, "a", "communication"),
        (None, "hcom_broadcast_", "a", "communication"),
        (None, None, "x/hcom_send_1", "communication"),
        (None, None, "Mul", "operator"),
        ("EVENT_WAIT", None, "a", "control"),
        ("EVENT_WAIT_SQE", None, "a", "control"),
        ("Notify Wait", None, "a", "control"),
        ("PROFILING_ENABLE", None, "a", "control"),
        ("TASK_TIMEOUT_SET", None, "a", "control"),
        ("DAVID_EVENT_RESET", None, "a", "control"),
        ("INVALID", None, "a", "control"),
        ("Data Context", None, "a", "control"),
        ("Invalidate Data Context", None, "a", "control"),
        ("FLIP_TASK", None, "a", "control"),
        ("ROCCE_SQE", None, "a", "control"),
        ("CCU_LAUNCH", None, "a", "communication"),
        ("KERNEL_MIX_AIC", None, "a", "operator"),
        ("FFTS_PLUS", None, "a", "operator"),
        ("AI_CPU", "GetNext", "a", "operator"),
    ],
)
def test_kinds_of_tasks(core: str | None, op_type: str | None, name: str, kind: str) -> None:
    assert task_kind(core, op_type, name) == kind


def test_a_type_of_0_is_none() -> None:
    """As the profiler writes it for the memset of another kernel."""
    trace = trace_of(
        "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
        "2,NonZero_MemSet,0,AI_VECTOR_CORE,100.0,1.1997\n"
        "2,NonZero,NonZero,MIX_AIV,102.0,6.6983\n"
    )
    assert trace.operators["op_type"].isna().to_list() == [True, False]


@pytest.mark.parametrize(
    ("shapes", "dtypes", "formats", "text"),
    [
        (None, "FLOAT", "ND", ""),
        ('""', "UNDEFINED", "NULL", ""),
        ('"4096;"', "FLOAT;FLOAT", "ND;ND", "float32[4096]; float32[]"),
        ('"1,2;;3"', "DT_BF16;INT64;BOOL", "NCL;ND;ND", "bfloat16[1,2]:NCL; int64[]; bool[3]"),
        ('"[2,4096]"', "FP16", "ND", "float16[2,4096]"),
        ('"8;8"', "FLOAT", "FRACTAL_NZ", "float32[8]:FRACTAL_NZ; ?[8]"),
        ('"1-2,3"', "FLOAT", "ND", "float32[?]"),
        (f'"{"9" * 5000}"', "FLOAT", "ND", "float32[?]"),
    ],
)  # fmt: skip
def test_tensors(shapes: str | None, dtypes: str, formats: str, text: str) -> None:
    assert tensor_text(shapes, dtypes, formats) == text


def test_who_launched_a_kernel_is_in_its_name() -> None:
    assert launched_by("aclnnMul_MulAiCore_Mul") == "aclnnMul"
    assert launched_by("Default/Mul-op0/aclnnMul_MulAiCore_Mul") == "Default/Mul-op0"
    assert launched_by("Default/c-Conv2d/Conv2D-op0") is None


@given(st.text(max_size=20))
def test_a_guard_comes_off_again(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert guarded(text)[:1] not in ("=", "+", "-", "@")


# --- what lies beside it --------------------------------------------------------------------

KERNELS = HEAD.replace("Name", "Task ID,Stream ID,Name") + "\n"
ONE = (
    KERNELS + "1,7,2,a,A,AI_CORE,1751000000000000,4,0,1\n1,8,2,b,A,AI_CORE,1751000000000010,6,0,1\n"
)


def beside(name: str, text: str) -> Source:
    return Source(name, text.encode(), path=name)


def test_the_cache_table_of_another_recording_is_left_alone() -> None:
    other = beside(
        "l2.csv", "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n9,1,1,1,x\n9,2,1,1,y\n"
    )
    trace = trace_of(ONE, other)
    assert trace.meta.files == () and "l2_hit_rate" not in trace.calls
    own = beside("any.txt", "Op Name,Victim Rate,Hit Rate(%),Task Id,Stream Id\nother,0,25,7,2\n")
    trace = trace_of(ONE, other, own)
    assert trace.meta.files == ("any.txt",)
    assert trace.calls["l2_hit_rate"].to_list()[0] == 0.25  # the task is the only one of its number


def test_of_several_step_times_the_one_that_fits_is_taken() -> None:
    head = "Step,Computing,Overlapped,Free,Stage,Bubble\n"
    far, near = (
        beside("a.csv", f"{head}1,500,0,0,600,0\n"),
        beside("b.csv", f"{head}1,10,0,0,20,0\n"),
    )
    assert trace_of(ONE, far, near).meta.files == ("b.csv",)
    second = Source("kernel_details.csv", ONE.encode(), path="kernel_details(1).csv")
    assert trace_of(ONE, far, second).meta.files == ()  # it may belong to the other one


def test_step_times_that_do_not_fit_are_told() -> None:
    head = "Step,Computing,Overlapped,Free,Stage,Bubble\n"
    trace = trace_of(ONE, beside("s.csv", f"{head}1,15,0,0,20,0\n"))
    found = note(trace, "step_time_differs")
    assert (found.severity, dict(found.values)) == (
        "warning",
        {"step": "1", "computing_ns": 15_000, "union_ns": 10_000, "sum_ns": 10_000},
    )


def test_statistics_are_checked_against_the_kernels() -> None:
    head = "OP Type,Core Type,Count,Total Time(us)\n"
    agrees = trace_of(ONE, beside("o.csv", f"{head}A,AI_CORE,2,10.001\n"))
    assert agrees.meta.files == ("o.csv",)
    assert "statistic_differs" not in {note.code for note in agrees.diagnostics}
    differs = trace_of(ONE, beside("o.csv", f"{head}A,AI_CORE,3,10\n"))
    assert note(differs, "statistic_differs").example == "A"
    foreign = trace_of(ONE, beside("o.csv", f"{head}B,AI_CORE,2,10\n"))
    assert foreign.meta.files == ()


def test_settings_of_mindspore_and_of_another_hour() -> None:
    text = '{"profiler_parameters": {"profiler_level": "Level2", "aic_metrics": "MemoryUB"},'
    info = beside("profiler_info_0.json", text + '"ms_version": "2.7.0", "ms_profiler_info": {}}')
    trace = trace_of(ONE, info)
    assert (trace.meta.tool, trace.meta.version) == ("MindSpore Profiler", "2.7.0")
    assert note(trace, "recorded_with").values["aic_metrics"] == "MemoryUB"
    other = Source("kernel_details.csv", ONE.encode(), path="2.csv")
    late = '{"start_info": {}, "end_info": {"collectionTimeEnd": 1799000000000000000}}'
    assert trace_of(ONE, other, beside("profiler_info_1.json", late)).meta.files == ()


@pytest.mark.parametrize(
    "text", ['{"_profiler_level": ', '{"_profiler_level": [[', "{" + '"_profiler_level":{' * 2000]
)
def test_damaged_settings_are_told_and_cost_nothing_else(text: str) -> None:
    trace = trace_of(ONE, beside("profiler_info_0.json", text))
    assert note(trace, "companion_unreadable").example == "profiler_info_0.json"
    assert len(trace.calls) == 2


def test_a_table_without_rows_is_one_sentence() -> None:
    with pytest.raises(FuseScopeError, match="does not contain any operators"):
        trace_of(HEAD + "\n")


# --- real files, with truths computed here from their text ------------------------------------


@needs_traces
@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_real_files_is_there_to_the_ns(name: str) -> None:
    rows = sorted(real_rows(name), key=lambda row: Decimal(row["Start Time(us)"]))
    trace = real_trace(REAL / name / "kernel_details.csv")
    calls = trace.calls
    assert calls["start_ns"].to_list() == [ns(row["Start Time(us)"]) for row in rows]
    assert calls["dur_ns"].to_list() == [ns(row["Duration(us)"]) for row in rows]
    assert calls["wait_ns"].to_list() == [ns(row["Wait Time(us)"]) for row in rows]
    assert column(trace, "name") == [row["Name"] for row in rows]
    types = [None if row["Type"] == "N/A" else row["Type"] for row in rows]
    # Only here do the types of collectives end in '_'.
    known = [kind.rstrip("_") if kind and kind.startswith("hcom_") else kind for kind in types]
    assert column(trace, "op_type") == known
    assert is_communication(trace) == [row["Accelerator Core"] == "HCCL" for row in rows]
    assert set(calls["run"]) == {int(row["Step Id"]) for row in rows}
    heads = [key for key in rows[0] if key.endswith(("_ratio", "(GB/s)", "_rate", "_fops"))]
    assert bool(heads) == ("level0" not in name)
    for head in heads:
        given = [None if row[head] == "N/A" else float(row[head]) for row in rows]
        assert plain(calls[head]) == given


@needs_traces
def test_compute_of_2025_01_is_step_trace_time_computing() -> None:
    rows = real_rows("2025-01-level1-rank0")
    compute = sum(ns(row["Duration(us)"]) for row in rows if row["Accelerator Core"] != "HCCL")
    [step] = real_rows("2025-01-level1-rank0", "step_trace_time.csv")
    assert compute == 8_873_737
    assert abs(compute - float(step["Computing"]) * 1000) < 250  # which went through a double
    trace = real_trace(REAL / "2025-01-level1-rank0")
    own = trace.calls["dur_ns"][[not talk for talk in is_communication(trace)]].sum()
    assert own == compute
    assert not {"step_time_differs", "step_time_overlaps"} & {n.code for n in trace.diagnostics}
    # Stage went through a double, the kernels' own span did not: they differ by 9 ns here
    assert abs(trace.runs["dur_ns"][0] - float(step["Stage"]) * 1000) < 250
    assert set(trace.meta.files) == {
        "l2_cache.csv", "op_statistic.csv", "profiler_info_0.json", "step_trace_time.csv",
        "trace_view.json",
    }  # fmt: skip


@needs_traces
def test_compute_of_2024_10_overlaps_and_the_note_says_so() -> None:
    trace = real_trace(REAL / "2024-10-level1-rank0")
    found = note(trace, "step_time_overlaps")
    assert found.values["sum_ns"] == 9_962_055 and found.values["union_ns"] == 9_847_645
    assert found.values["computing_ns"] == 9_847_664
    assert trace.runs["dur_ns"].to_list() == [83_643_000]  # Stage


@needs_traces
def test_types_of_2025_01_sum_to_op_statistic() -> None:
    trace = real_trace(REAL / "2025-01-level1-rank0")
    own: dict[tuple[object, object], list[int]] = defaultdict(lambda: [0, 0])
    columns = (column(trace, "op_type"), column(trace, "provider"), trace.calls["dur_ns"])
    for op_type, core, dur in zip(*columns, strict=True):
        if core != "HCCL":
            own[op_type, core][0] += 1
            own[op_type, core][1] += dur
    for row in real_rows("2025-01-level1-rank0", "op_statistic.csv"):
        count, total = own.pop((row["OP Type"], row["Core Type"]))
        assert count == int(row["Count"])
        assert abs(total - ns(row["Total Time(us)"])) <= count  # both are rounded to the ns
    assert own == {}


@needs_traces
def test_cache_rates_of_2025_01_go_to_their_tasks() -> None:
    rates = {
        (row["Stream Id"], row["Task Id"], row["Op Name"]): float(row["Victim Rate"])
        for row in real_rows("2025-01-level1-rank0", "l2_cache.csv")
    }
    rows = sorted(real_rows("2025-01-level1-rank0"), key=lambda row: Decimal(row["Start Time(us)"]))
    expected = [rates.get((row["Stream ID"], row["Task ID"], row["Name"])) for row in rows]
    calls = real_trace(REAL / "2025-01-level1-rank0").calls
    found = plain(calls["l2_victim_rate"])
    assert found == expected and sum(rate is not None for rate in found) == 179
    assert "l2_hit_rate" not in calls  # N/A in every row


@pytest.mark.parametrize("word", ["Dim", "Num"])
def test_how_a_task_is_split_is_kept_and_is_no_counter(word: str) -> None:
    head = HEAD.replace("Block Dim", f"Block {word},Mix Block {word}")
    trace = trace_of(f"{head}\n1,a,Add,AI_VECTOR_CORE,1,2,0,20,40\n1,b,Add,AI_CPU,5,2,0,N/A,0\n")
    assert plain(trace.calls["block_dim"]) == [20, None]
    assert plain(trace.calls["mix_block_dim"]) == [40, 0]
    assert hardware_counters(trace) == () and not fields(trace)["counters"]
