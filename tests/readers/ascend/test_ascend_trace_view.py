"""trace_view.json: kernels, who launched them, and in which step."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.ascend.launches import HostCalls, input_text, launchers
from fusescope.analysis.readers.ascend.trace_view import TRACE_VIEW
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.conftest import SHARED_TRACES

REAL = SHARED_TRACES / "third_party/ascend_torch_npu/2025-01-level1-rank0"
CPU = SHARED_TRACES / "captured/mindspore_cpu"
needs_real = pytest.mark.usefixtures("shared_traces")
READER = TRACE_VIEW
T0 = 1736408883000000  # µs

Event = dict[str, Any]


def ts(us: float) -> str:
    return f"{T0 + int(us)}.{round(us % 1 * 1000):03d}"


def process(pid: object, name: str) -> Event:
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def host(name: str, start: float, dur: float, cat: str = "cpu_op", **args: Any) -> Event:
    return {
        "ph": "X", "name": name, "pid": 7, "tid": 7, "ts": ts(start), "dur": dur, "cat": cat,
        "args": args,
    }  # fmt: skip


def kernel(name: str, start: float, dur: object, kind: str = "AI_CORE", **args: Any) -> Event:
    told = {"Task Type": kind, "Physic Stream Id": 2, "Task Id": 1, **args}
    return {"ph": "X", "name": name, "pid": 99, "tid": 2, "ts": ts(start), "dur": dur, "args": told}


def flow(begin: float, end: float) -> list[Event]:
    both = {"name": "torch_to_npu", "cat": "async_npu", "id": str(end)}
    return [
        {**both, "ph": "s", "pid": 7, "tid": 7, "ts": ts(begin)},
        {**both, "ph": "f", "pid": 99, "tid": 2, "ts": ts(end)},
    ]


def trace_of(*events: Event | list[Event]) -> Trace:
    flat: list[Event] = [process(7, "Python"), process(99, "Ascend Hardware")]
    for event in events:
        flat += event if isinstance(event, list) else [event]
    source = Source("trace_view.json", json.dumps(flat).encode())
    assert READER.sniff(source.head)
    return READER.read(source)


def labels(trace: Trace) -> list[int | None]:
    runs = trace.calls["run"]
    return [int(run) if known else None for run, known in zip(runs, runs.notna(), strict=True)]


def test_times_are_exact_to_the_ns_as_text_and_as_numbers() -> None:
    events: list[Mapping[str, Any]] = [
        kernel("a", 1.643, 53.7410625),
        {**kernel("b", 0, "6.5"), "ts": 1736408883704643},
    ]
    data = json.dumps([process(99, "Ascend Hardware"), *events]).encode()
    data = data.replace(b"1736408883704643", b"1736408883704643.212")
    trace = READER.read(Source("trace_view.json", data))
    assert trace.calls["start_ns"].tolist() == [1736408883000001643, 1736408883704643212]
    assert trace.calls["dur_ns"].tolist() == [53741, 6500]


def test_a_kernel_belongs_to_the_step_that_launched_it() -> None:
    trace = trace_of(
        host("ProfilerStep#1", 0, 100),
        host("ProfilerStep#2", 100, 100),
        host("ProfilerStep#2", 105, 90),  # a copy of another lane
        [kernel("late", 150, 5), *flow(50, 150)],
        [kernel("next", 160, 5), *flow(120, 160)],
        kernel("unlinked", 155, 2),
        kernel("unlinked too", 170, 2),
        [kernel("between", 300, 5), *flow(250, 300)],
    )
    assert trace.runs["kind"].tolist() == ["step", "step"]
    # late, unlinked (while step 1 ran on the device), next, unlinked too; between: after all steps
    assert labels(trace) == [0, 0, 1, 1, None]
    assert trace.runs["start_ns"].tolist() == [(T0 + 150) * 1000, (T0 + 160) * 1000]
    assert trace.runs["dur_ns"].tolist() == [7000, 12000]
    assert [n.count for n in trace.diagnostics if n.code == "outside_runs"] == [1]


def test_the_launching_operator_is_the_frameworks() -> None:
    trace = trace_of(
        host("autograd::engine::evaluate_function: AddmmBackward0", 0, 100),
        host(
            "aten::addmm", 10, 50,
            **{"Input Dims": "5;\r\n2,3;\r\n3,5;\r\n;\r\n",
               "Input type": "float;\r\nc10::Half;\r\nc10::Half;\r\nScalar;\r\nNone"},
        ),
        host("aclnnAddmm", 20, 10),
        host("some/module.py(3): f", 20, 5, cat="python_function"),
        [kernel("aclnnAddmm_MatMul_MatMulV3", 200, 8), *flow(20, 200)],
        host("aten::mul", 70, 20, **{"Input Dims": "4;\r\n", "Input type": "float;\r\nScalar"}),
        host("aclnnMuls", 75, 2),
        [kernel("first", 210, 1), *flow(75, 210)],
        host("aclnnCast", 80, 2),
        [kernel("second", 212, 1), *flow(80, 212)],
        kernel("aclnnOnes_Fill_Fill", 220, 1),
    )  # fmt: skip
    by_name = trace.operators.set_index("name")
    assert by_name["launched_by"].astype("object").to_dict() == {
        "aclnnAddmm_MatMul_MatMulV3": "aten::addmm",
        "first": "aten::mul",
        "second": "aten::mul",
        "aclnnOnes_Fill_Fill": "aclnnOnes",
    }
    assert by_name["inputs"]["aclnnAddmm_MatMul_MatMulV3"] == (
        "float32[5]; float16[2,3]; float16[3,5]"
    )
    # two kernels of one operator: whose inputs they are is not known
    assert by_name["inputs"].isna()[["first", "second"]].all()


def test_only_kernels_and_collectives_are_operators() -> None:
    planes = [
        {"ph": "M", "name": "thread_name", "pid": 5, "tid": tid, "args": {"name": name}}
        for tid, name in ((0, "Group 0 Communication"), (1, "Plane 0"))
    ]
    at_10 = {"ts": ts(10), "dur": 9}
    trace = trace_of(
        process(5, "Communication"),
        process(6, "Overlap Analysis"),
        planes,
        kernel("k", 10, 5, "MIX_AIV"),
        kernel("EVENT_WAIT", 20, 5, "EVENT_WAIT_SQE"),
        kernel("MEMCPY_ASYNC", 30, 5, "PCIE_DMA_SQE"),
        kernel("SDMA", 31, 5, "SDMA"),
        kernel("DSA", 35, 5, "DSA_SQE"),
        {"ph": "X", "name": "hcom_allReduce_", "pid": 5, "tid": 0, **at_10, "args": {}},
        {"ph": "X", "name": "Memcpy", "pid": 5, "tid": 1, **at_10, "args": {"task type": "Memcpy"}},
        {"ph": "X", "name": "Computing", "pid": 6, "tid": 0, **at_10},
        {"ph": "C", "name": "AI Core Freq", "pid": 8, "tid": 0, "ts": ts(10), "args": {"MHz": 9}},
    )  # fmt: skip
    assert trace.operators["name"].tolist() == ["k", "DSA", "hcom_allReduce_"]
    assert trace.operators["is_communication"].tolist() == [False, False, True]
    counts = {note.code: note.count for note in trace.diagnostics}
    assert counts["not_operators"] == 3
    assert counts["other_events"] == 3  # the part of a collective, the analysis, the counter


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Wait", "EventWait"),
        ("NotifyWait", "NotifyWait"),
        ("wait", "WAIT_VALUE"),
        ("wait", "Mem Wait Value"),
        ("x", "remote event wait task"),
        ("x", "fusion issue task"),
        ("x", "memory copy task"),
        ("x", "14"),
        ("EVENT_WAIT", "N/A"),
        ("Notify Wait", "OTHER"),
    ],
)
def test_waits_of_older_toolkits_are_no_operators(name: str, kind: str) -> None:
    trace = trace_of(kernel("k", 10, 5, "MIX_AIV"), kernel(name, 20, 5000, kind))
    assert trace.operators["name"].tolist() == ["k"]
    [left_out] = [note for note in trace.diagnostics if note.code == "not_operators"]
    assert left_out.count == 1


@pytest.mark.parametrize(
    "kind", ["kernel AI core task", "AI vector task", "ffts plus task", "66", "KERNEL_AICORE"]
)
def test_kernels_of_older_toolkits_are_operators(kind: str) -> None:
    assert trace_of(kernel("k", 10, 5, kind)).operators["name"].tolist() == ["k"]


def test_waits_inside_a_collective_are_no_collectives() -> None:
    """Older files name neither the plane nor the task type of what a collective consists of."""
    lane = {"ph": "X", "pid": 5, "tid": 3, "args": {}}
    trace = trace_of(
        process(5, "HCCL"),
        kernel("k", 10, 5, "MIX_AIV"),
        {**lane, "name": "hcom_allReduce_", "ts": ts(20), "dur": 10},
        {**lane, "name": "Notify_Wait", "ts": ts(20), "dur": 8},
        {**lane, "name": "Memcpy", "ts": ts(28), "dur": 1},
        {**lane, "name": "Reduce_Inline", "ts": ts(29), "dur": 1},
    )
    assert trace.operators["name"].tolist() == ["k", "hcom_allReduce_"]
    assert trace.calls["dur_ns"].sum() == 15_000


def test_a_kernel_without_time_is_counted_and_others_stay() -> None:
    trace = trace_of(kernel("a", 1, None), kernel("b", 2, -1), kernel("c", 3, 4))
    assert trace.operators["name"].tolist() == ["c"]
    assert [n.count for n in trace.diagnostics if n.code == "bad_time"] == [2]


def test_a_timeline_of_the_host_alone_says_what_to_record() -> None:
    with pytest.raises(FuseScopeError, match="any operators of a device") as caught:
        trace_of(host("aten::add", 1, 2))
    assert "ProfilerActivity.NPU" in caught.value.hint


def test_mindspore_names_tell_the_type() -> None:
    trace = trace_of(
        process(1, "MindSpore"),
        kernel("Default/net/conv-Conv2d/Conv2D-op8", 1, 2),
        kernel("Default/FusionOp_BiasAdd_ReluV2-op9", 4, 2, mindspore_op="relu"),
    )
    assert trace.meta.tool == "MindSpore Profiler"
    assert trace.operators["op_type"].tolist() == ["Conv2D", "FusionOp_BiasAdd_ReluV2"]
    assert trace.operators["members"].astype("object").tolist()[1] == "BiasAdd + ReluV2"
    assert trace.operators["members_source"].astype("object").tolist()[1] == "op_types"
    assert trace.operators["launched_by"].astype("object").tolist()[1] == "relu"


def test_inputs_in_other_spellings() -> None:
    assert input_text(b'[[1,2],[],"x"]', b'["float","int","Scalar"]') == "float32[1,2]; int32[]"
    assert input_text(b'"1,2"', b"") == ""
    assert input_text(b"{}", b'"float"') == ""
    assert input_text(b'"1,\\ud8002"', b'"float"') == ""


def test_a_launcher_is_found_among_ten_thousand_nested_calls() -> None:
    n = np.arange(10_000)
    calls = HostCalls(
        lanes=np.zeros(10_001, dtype="int64"),
        starts=np.append(n, 5_000),
        lengths=np.append(100_000 - 2 * n, 10),
        is_framework=np.append(np.zeros(10_000, dtype=bool), True),
    )
    found = launchers(calls, np.zeros(10_000, dtype="int64"), n)
    assert found[5_005] == 10_000, "the operator of the framework, from 5,000 to 5,010"
    assert found[6_000] == 6_000, "the call that begins there"
    assert launchers(calls, np.array([1]), np.array([7])).tolist() == [-1], "another thread"


def test_timelines_of_mindspore_on_a_cpu_are_left_alone() -> None:
    cpu = (
        b'[{"ph":"X","name":"Default/Mul-op0","pid":2,"tid":0,"ts":"1795165519457049.261",'
        b'"dur":"3.2","cat":"","args":{"type":"HostCpuOps"}}]'
    )
    assert not READER.sniff(cpu)


@needs_real
def test_real_timelines_of_mindspore_on_a_cpu_are_left_alone() -> None:
    paths = list(CPU.rglob("trace_view.json"))
    assert paths
    for path in paths:
        assert not READER.sniff(path.read_bytes())


@needs_real
def test_kernels_equal_those_of_kernel_details() -> None:
    with (REAL / "kernel_details.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    path = REAL / "trace_view.json"
    trace = read(Source(path.name, path.read_bytes()))
    assert isinstance(trace, Trace) and trace.meta.format == "ascend_trace_view"
    operators = trace.operators.iloc[trace.calls["operator"]].reset_index(drop=True)
    is_communication = operators["is_communication"].to_numpy()

    def ns(cell: str) -> int:
        return int(Decimal(cell.strip()) * 1000)

    events = {
        (e["args"]["Physic Stream Id"], e["args"]["Task Id"], e["ts"]): e
        for e in json.loads(path.read_bytes())
        if e["ph"] == "X" and "Physic Stream Id" in e.get("args", {})
    }
    kernels = [row for row in rows if row["Accelerator Core"] != "HCCL"]
    own = trace.calls[~is_communication]
    assert len(own) == len(kernels) == 187
    listed = {}
    for row in kernels:
        key = (int(row["Stream ID"]), int(row["Task ID"]), row["Start Time(us)"].strip())
        assert events[key]["name"] == row["Name"]
        listed[row["Stream ID"], ns(row["Start Time(us)"])] = row
    for (_, call), name in zip(own.iterrows(), operators["name"][~is_communication], strict=True):
        row = listed.pop((call["stream"], int(call["start_ns"])))
        assert name == row["Name"]
        assert abs(int(call["dur_ns"]) - ns(row["Duration(us)"])) <= 1  # the table is cut to ns
    assert not listed
    collectives = [row for row in rows if row["Accelerator Core"] == "HCCL"]
    assert collectives
    assert operators["name"][is_communication].tolist() == [row["Name"] for row in collectives]
    for dur, row in zip(trace.calls["dur_ns"][is_communication], collectives, strict=True):
        assert abs(int(dur) - ns(row["Duration(us)"])) <= 1
    # Step 50 in both, and as long as Stage of step_trace_time.csv
    assert {row["Step Id"] for row in rows} == {"50"} and not trace.calls["run"].isna().any()
    with (REAL / "step_trace_time.csv").open(newline="") as file:
        [step] = csv.DictReader(file)
    assert abs(int(trace.runs["dur_ns"][0]) - ns(step["Stage"])) < 1000
    assert abs(int(own["dur_ns"].sum()) - ns(step["Computing"])) < 187


def test_tasks_before_their_launch_are_moved_up_to_it() -> None:
    trace = trace_of(
        host("aten::mm", 100, 30), kernel("MatMul", 60, 20), flow(110, 60),
        host("aten::relu", 200, 30), kernel("Relu", 170, 20), flow(210, 170),
    )  # fmt: skip
    [note] = [one for one in trace.diagnostics if one.code == "kernels_before_launch"]
    assert (note.count, note.values["by_ns"]) == (2, 50_000)
    assert (trace.calls["start_ns"] - T0 * 1000).tolist() == [110_000, 220_000]
    assert trace.operators["launched_by"].tolist() == ["aten::mm", "aten::relu"]


def of_rank(pid: int, device: int, events: list[Event]) -> list[Event]:
    """The same events of another host and device."""
    pids = {7: pid, 99: 100 + device}
    label = {"ph": "M", "name": "process_labels", "pid": 100 + device, "tid": 0,
             "args": {"labels": f"NPU {device}"}}  # fmt: skip
    named = [process(pid, "Python"), process(100 + device, "Ascend Hardware"), label]
    return [*named, *({**one, "pid": pids[one["pid"]]} for one in events)]


def test_devices_of_one_file_are_traces_of_their_own() -> None:
    """Both launched in steps of the same number, the second 1000 µs later than the first."""

    def steps(shift: float, dur: float) -> list[Event]:
        return [
            host("ProfilerStep#1", shift, 100), host("ProfilerStep#2", shift + 100, 100),
            host("aten::mm", shift + 10, 20),
            kernel("a", shift + 50, dur), *flow(shift + 20, shift + 50),
            kernel("a", shift + 150, dur), *flow(shift + 120, shift + 150),
        ]  # fmt: skip

    trace = trace_of(of_rank(7, 0, steps(0, 5)), of_rank(8, 1, steps(1000, 7)))
    assert list(trace.units) == ["device:0", "device:1"]
    for one, dur in zip(trace.units.values(), (5000, 7000), strict=True):
        assert one.calls["dur_ns"].tolist() == [dur, dur]
        assert labels(one) == [0, 1]
        assert one.runs["dur_ns"].tolist() == [dur, dur]  # from its first kernel to its last
        assert "outside_runs" not in {note.code for note in one.diagnostics}


def test_one_host_that_runs_two_devices() -> None:
    on_other = {**kernel("a", 60, 7), "pid": 101}
    trace = trace_of(
        of_rank(7, 0, [host("ProfilerStep#1", 0, 100), kernel("a", 50, 5), *flow(20, 50)]),
        of_rank(7, 1, [])[1:],
        [on_other, *({**one, "pid": 101 if one["pid"] == 99 else 7} for one in flow(30, 60))],
    )
    assert [one.calls["dur_ns"].tolist() for one in trace.units.values()] == [[5000], [7000]]
    assert [labels(one) for one in trace.units.values()] == [[0], [0]]
