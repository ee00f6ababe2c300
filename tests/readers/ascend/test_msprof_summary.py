"""msprof op_summary: column sets, slices, and the tables beside it."""

from __future__ import annotations

import csv
from decimal import Decimal

import pytest

from fusescope.analysis.readers import find
from fusescope.analysis.readers.ascend.op_summary import OP_SUMMARY
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.conftest import SHARED_TRACES

REAL = SHARED_TRACES / "third_party"
needs_real = pytest.mark.usefixtures("shared_traces")
READER = OP_SUMMARY

HEAD = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us)"


def source(text: str, name: str = "op_summary_1.csv", *beside: tuple[str, str]) -> Source:
    others = tuple(Source(n, t.encode(), path=n) for n, t in beside)
    return Source(name, text.encode(), path=name, beside=others)


def codes(trace: Trace) -> list[str]:
    return [note.code for note in trace.diagnostics]


@pytest.mark.parametrize(
    "head",
    [
        HEAD,
        "Device_id," + HEAD,
        "Model Name,Task ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us)",
        "Step Id,Task ID,Op Name,OP Type,Task Type,Start Time(us),Task Duration(us)",
        "Device_id,Op Name,OP Type,Task Duration(us),Task Wait Time(us),aiv_time(us)",
    ],
)
def test_it_knows_every_column_set(head: str) -> None:
    assert READER.sniff(head.encode())


@pytest.mark.parametrize(
    "head",
    [
        "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,",
        "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)",
        "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name",
        "Model Name,Model ID,Fusion Op,Original Ops",
        "OP Type,Core Type,Count,Total Time(us)",
        "op_name, stream_id, start_time(ms), duration(ms)",
    ],
)
def test_it_leaves_other_tables_alone(head: str) -> None:
    assert not READER.sniff(head.encode())


def test_starts_without_unit_are_microseconds() -> None:
    head = "Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Task Wait Time(us)"
    trace = READER.read(source(f'{head}\na,Add,AI_CORE,"1736413971558972.912\t",2.5,0\n'))
    assert trace.calls["start_ns"].tolist() == [1736413971558972912]
    assert trace.calls["dur_ns"].tolist() == [2500]
    assert trace.calls["wait_ns"].tolist() == [0]


def test_a_table_without_starts_is_a_trace() -> None:
    head = "Device_id,Op Name,OP Type,Task Duration(us),Task Wait Time(us)"
    trace = READER.read(source(f"{head}\n0,a,Add,2.5,0\n0,b,Mul,1.5,0\n"))
    assert trace.calls["dur_ns"].tolist() == [2500, 1500]
    assert trace.calls["start_ns"].isna().all()


def test_inference_ids_and_step_ids_are_runs() -> None:
    starts = ((1, 100), (1, 103), (2, 200))
    lines = "".join(f"{n},k,Add,AI_CORE,{start}.0,2,0\n" for n, start in starts)
    trace = READER.read(source(f"Infer ID,{HEAD}\n{lines}N/A,k,Add,AI_CORE,900.0,2,0\n"))
    assert trace.runs["kind"].tolist() == ["iteration", "iteration"]
    assert trace.calls["run"].tolist()[:3] == [0, 0, 1]
    assert "outside_runs" in codes(trace)
    trace = READER.read(source(f"Step Id,{HEAD}\n{lines}"))
    assert trace.runs["kind"].tolist() == ["step", "step"]


def test_devices_of_one_table_are_traces_of_their_own() -> None:
    rows = ["0,a,Add,AI_CORE,10,2,0", "1,a,Add,AI_CORE,5010,3,0", "0,b,Mul,AI_CORE,20,4,0"]
    trace = OP_SUMMARY.read(source("\n".join([f"Device_id,{HEAD}", *rows]) + "\n"))
    assert isinstance(trace, Trace) and list(trace.units) == ["device:0", "device:1"]
    found = [one.calls["dur_ns"].tolist() for one in trace.units.values()]
    assert found == [[2000, 4000], [3000]]


def test_slices_of_one_table_are_one_recording() -> None:
    first = f"{HEAD}\na,Add,AI_CORE,10.0,2,0\nx,EVENT_WAIT,EVENT_WAIT,11.0,1,0\n"
    second = f"{HEAD}\nb,Mul,AI_CORE,20.0,3,0\ny,EVENT_WAIT,EVENT_WAIT,21.0,1,0\n"
    other = f"{HEAD}\nc,Sub,AI_CORE,30.0,4,0\n"
    found = find(
        [
            Source(name, text.encode(), path=f"out/{name}")
            for name, text in (
                ("op_summary_slice_0_20250101.csv", first),
                ("op_summary_slice_1_20250101.csv", second),
                ("op_summary_slice_0_20250202.csv", other),
            )
        ]
    )
    traces = [recording.value for recording in found.recordings]
    assert [len(trace.calls) for trace in traces if isinstance(trace, Trace)] == [2, 1]
    assert isinstance(traces[0], Trace)
    assert traces[0].meta.files == ("out/op_summary_slice_1_20250101.csv",)
    [note] = [note for note in traces[0].diagnostics if note.code == "not_operators"]
    assert note.count == 2


def test_a_file_an_iteration_is_one_recording() -> None:
    found = find(
        [
            Source(name, f"{HEAD}\na,Add,AI_CORE,{start},2,0\n".encode(), path=name)
            for name, start in (("op_summary_0_2_1.csv", 10.0), ("op_summary_0_2_10.csv", 99.0))
        ]
    )
    [recording] = found.recordings
    assert isinstance(recording.value, Trace)
    assert recording.value.runs["kind"].tolist() == ["iteration", "iteration"]
    assert recording.value.calls["run"].tolist() == [0, 1]


def test_fused_operators_get_their_members() -> None:
    fusion = (
        "Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB)\n"
        'm,1,convbn,"conv;bn,relu",1\nm,1,plain,plain,1\nm,1,elsewhere,a;b,1\n'
    )
    stranger = "Model Name,Model ID,Fusion Op,Original Ops\nn,2,foreign,p;q\n"
    text = f"{HEAD}\nconvbn,Conv2D,AI_CORE,1.0,2,0\nplain,Add,AI_CORE,4.0,2,0\n"
    trace = READER.read(
        source(text, "op_summary_1.csv", ("f.csv", fusion), ("stranger.csv", stranger))
    )
    assert trace.operators["members"].tolist()[0] == "conv + bn + relu"
    assert trace.operators["members_source"].tolist()[0] == "names"
    assert trace.operators["members"].isna().tolist() == [False, True]
    assert trace.meta.files == ("f.csv",)
    [note] = [note for note in trace.diagnostics if note.code == "companion_unmatched"]
    assert (note.count, note.example) == (1, "elsewhere")


def test_iterations_of_step_trace_are_runs() -> None:
    steps = (
        "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),Model ID\n"
        "1,10.0,15.0,30.000,20.5,1\n2,50.0,60.0,70.000,20.000,1\n"
    )
    text = f"{HEAD}\na,Add,AI_CORE,10.0,2,0\na,Add,AI_CORE,50.0,2,0\na,Add,AI_CORE,45.0,2,0\n"
    trace = READER.read(source(text, "op_summary_1.csv", ("s.csv", steps)))
    assert trace.runs["start_ns"].tolist() == [9500, 50000]
    assert trace.runs["dur_ns"].tolist() == [20500, 20000]
    assert trace.calls["run"].astype("object").where(trace.calls["run"].notna(), None).tolist() == [
        0, None, 1,
    ]  # fmt: skip
    assert trace.meta.files == ("s.csv",)
    far = READER.read(source(text.replace("45.0", "1.0").replace("50.0", "2.0").replace(
        "10.0", "3.0"), "op_summary_1.csv", ("s.csv", steps)))  # fmt: skip
    assert far.runs["kind"].tolist() == ["file"] and far.meta.files == ()


@needs_real
def test_a_real_table_of_every_combination_of_heads() -> None:
    path = REAL / "ascend_op_summary" / "op_summary_1.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    trace = READER.read(Source(path.name, path.read_bytes()))
    kernels = [row for row in rows if row["Task Type"] != "HCCL"]
    talking = trace.operators["is_communication"].to_numpy()[trace.calls["operator"]]
    assert len(trace.calls) == len(rows)
    assert int((~talking).sum()) == len(kernels)
    expected = sum(
        int((Decimal(row["Task Duration(us)"]) * 1000).to_integral_value()) for row in kernels
    )
    assert int(trace.calls["dur_ns"][~talking].sum()) == expected
    starts = sorted(int(Decimal(row["Start Time(us)"].strip()) * 1000) for row in rows)
    assert trace.calls["start_ns"].tolist() == starts
    assert trace.runs["kind"].unique().tolist() == ["step"]
    wrong = [
        head
        for row in kernels
        for head in ("aicore_time(us)", "aiv_time(us)")
        if row[head] not in ("N/A", "", None)
        and Decimal(row[head]) > Decimal(row["Task Duration(us)"]) * Decimal("1.05")
    ]
    [note] = [note for note in trace.diagnostics if note.code == "contradiction"]
    assert note.count == len(wrong) > 0
    assert "982.72" in str(note.example) and "496.851" in str(note.example)
