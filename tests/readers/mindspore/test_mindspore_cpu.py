"""MindSpore on CPU: units that change within a line, files that join, kernels that fuse."""

from __future__ import annotations

import csv
import json
import re
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import Side
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.mindspore.akg import read_kernels
from fusescope.analysis.readers.mindspore.cpu import MINDSPORE_CPU, MINDSPORE_CPU_TIMELINE
from fusescope.analysis.trace import Trace
from tests import miniatures

STAMPS = (
    b"Default/a/Mul-op0;HostCpuOps;1795165322644123449,9.06643,0 1795165322664032227,1.35813,3 \n"
    b"Default/b/Mul-op0;HostCpuOps;1795165322653277460,1.0598,0 \n"
)
DETAIL = (
    b"op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),op_avg_time(ms),"
    b"total_proportion,subgraph,pid\n"
)


def trace_of(data: bytes, **beside: bytes) -> Trace:
    others = tuple(Source(name, content) for name, content in beside.items())
    trace = read(Source("cpu_op_execute_timestamp_0.txt", data, beside=others))
    assert isinstance(trace, Trace)
    return trace


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def test_starts_are_ns_and_durations_ms() -> None:
    trace = trace_of(STAMPS)
    assert trace.calls["start_ns"].tolist() == [
        1795165322644123449, 1795165322653277460, 1795165322664032227,
    ]  # fmt: skip
    assert trace.calls["dur_ns"].tolist() == [9_066_430, 1_059_800, 1_358_130]
    assert trace.calls["stream"].tolist() == ["thread 0", "thread 0", "thread 3"]
    assert trace.operators["op_type"].tolist() == ["Mul", "Mul"]
    assert trace.runs["kind"].tolist() == ["file"]


def test_damaged_executions_are_dropped_and_counted() -> None:
    data = STAMPS + b"x;HostCpuOps;1,-2,0 3,nan,0 4 5,6,0,0 \nno such line\nlast;HostCpuOps;7,8"
    trace = trace_of(data)
    assert len(trace.calls) == 3
    assert codes(trace)["bad_time"] == 5 and codes(trace)["bad_event"] == 1


def test_the_nth_line_of_shapes_is_the_nth_execution() -> None:
    """Two operators of different scopes share a short name; lines come in the order they ran."""
    lines = b"".join(b"Mul;Mul-op0;7;input_1:[%d, 4];input_2:NoShape;\n" % n for n in (1, 2, 3))
    trace = trace_of(STAMPS, framework=lines)
    texts = trace.operators["inputs"].astype("object")[trace.calls["operator"]]
    assert texts.tolist() == ["?[1,4]", "?[2,4]", "?[3,4]"]
    fewer = trace_of(STAMPS, framework=lines[: lines.index(b"\n") + 1])
    assert fewer.operators["inputs"].tolist() == ["?[1,4]", "?[1,4]"]  # they all say the same
    unclear = trace_of(STAMPS, framework=b"".join(lines.splitlines(keepends=True)[:2]))
    assert unclear.operators["inputs"].isna().all()
    assert codes(unclear)["companion_unmatched"] == 1


def test_totals_that_contradict_the_executions_are_named() -> None:
    good = DETAIL + b"Host,Mul,Mul-op0,Default/a/Mul-op0,2,10.4246,5.2,0.9,Default,1\n"
    assert "contradiction" not in codes(trace_of(STAMPS, detail=good))
    for row in (
        b"Host,Mul,Mul-op0,Default/a/Mul-op0,2,10.4256,5.2,0.9,Default,1\n",
        b"Host,Mul,Mul-op0,Default/a/Mul-op0,3,10.4246,5.2,0.9,Default,1\n",
        b"Host,Mul,Mul-op0,Default/a/Mul-op0,2,10424.6,5.2,0.9,Default,1\n",
    ):
        trace = trace_of(STAMPS, detail=DETAIL + row)
        assert codes(trace)["contradiction"] == 1
        note = next(note for note in trace.diagnostics if note.code == "contradiction")
        assert "Default/a/Mul-op0" in str(note.example) and "detail" in str(note.example)
        assert trace.calls["dur_ns"].sum() == 11_484_360  # what ran counts


def test_a_table_of_another_recording_is_not_joined() -> None:
    other = DETAIL + b"Host,Add,Add-op0,Default/Add-op0,2,1,5.2,0.9,Default,1\n"
    trace = trace_of(STAMPS, detail=other, framework=b"Add;Add-op0;1;input_1:[2];\n")
    assert trace.meta.files == () and codes(trace) == {"no_runs": 1}


def test_files_of_another_device_are_not_joined() -> None:
    good = DETAIL + b"Host,Mul,Mul-op0,Default/a/Mul-op0,9,1,1,0.9,Default,1\n"
    trace = trace_of(STAMPS, **{"cpu_op_detail_info_1.csv": good})
    assert trace.meta.files == ()
    assert trace_of(STAMPS, **{"cpu_op_detail_info_0.csv": good}).meta.files != ()


def test_memory_at_the_start_of_each_execution() -> None:
    record = (
        b"Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte)\n"
        b"1795165322644123449,100,900\n1795165322650000000,200,900\n"
    )
    trace = trace_of(STAMPS, memory=record)
    assert trace.calls["Total Allocated(Byte)"].tolist() == [100, 200, 200]
    [use] = trace.memory
    assert (use.device, use.allocated.tolist(), use.peak) == ("CPU", [100, 200], 200)
    assert use.reserved is not None
    assert use.reserved.tolist() == [900, 900]
    late = record.replace(b"17951653", b"18951653")
    assert "Total Allocated(Byte)" not in trace_of(STAMPS, memory=late).calls
    assert trace_of(STAMPS, memory=late).memory == ()


KERNEL = b"Default/GraphKernel_Mul_Add_fusion-op0;HostCpuOps;1000,1,0 \n"
SHAPES = b"GraphKernel_Mul_Add_fusion;GraphKernel_Mul_Add_fusion-op0;1;input_1:[4];input_2:[1];\n"


def info(*members: str, op: str = "Mul_Add_fusion", sizes: tuple[int, ...] = (4, 1)) -> bytes:
    tensors = [[{"data_type": "float16", "shape": [size]}] for size in sizes]
    described = [{"name": "x", "ptr_address": f"{name}_12"} for name in members]
    written = {
        "composite": True, "op": f"Fused_{op}_1234567", "op_desc": described,
        "input_desc": tensors, "output_desc": [{"data_type": "float16", "shape": [4]}],
    }  # fmt: skip
    return json.dumps(written).encode()


def members(trace: Trace) -> tuple[object, object]:
    row = trace.operators.iloc[0]
    return row["members"], row["members_source"]


def test_members_of_a_fused_kernel() -> None:
    assert members(trace_of(KERNEL)) == ("Mul + Add", "op_types")
    told = trace_of(KERNEL, framework=SHAPES, a=info("Default/Mul-op3", "Default/Add-op4"))
    assert members(told) == ("Default/Mul-op3 + Default/Add-op4", "names")
    assert told.operators["inputs"][0] == "float16[4]; float16[1]"
    assert told.operators["bytes_out"][0] == 8


def test_a_cache_folder_holds_kernels_of_other_shapes_and_models() -> None:
    mine, other = info("Default/Mul-op3", "Default/Add-op4"), info("x", "y", sizes=(9, 9))
    told = trace_of(KERNEL, framework=SHAPES, a=other, b=mine)
    assert members(told) == ("Default/Mul-op3 + Default/Add-op4", "names")
    assert told.meta.files == ("framework", "b")
    unclear = trace_of(KERNEL, a=other, b=mine)  # no shapes tell which
    assert members(unclear) == ("Mul + Add", "op_types")
    foreign = trace_of(KERNEL, framework=SHAPES, a=other)
    assert members(foreign) == ("Mul + Add", "op_types")


def test_a_kernel_of_one_operator_is_no_fusion() -> None:
    """AKG expands ReLU to Maximum before it compiles it."""
    lone = KERNEL.replace(b"Mul_Add_fusion", b"ReLU")
    assert members(trace_of(lone, a=info("Default/Maximum-op1", op="ReLU"))) == ("ReLU", "op_types")


def test_a_damaged_kernel_file_is_noted() -> None:
    damaged = b'{"composite": true, "op_desc": [}'
    assert codes(trace_of(KERNEL, a=damaged))["companion_unreadable"] == 1
    assert "companion_unreadable" not in codes(trace_of(STAMPS, a=damaged))  # nobody asked


def test_totals_alone_stand_for_all_executions() -> None:
    table = (
        b"op_type,type_occurrences,execution_frequency(per-step),total_compute_time,avg_time(ms),"
        b"percent\nMul,20,2,10.5,0.525,0.75\nAdd,20,2,3.5,0.175,0.25\n"
    )
    trace = trace_of(table)
    assert trace.meta.format == "mindspore_cpu_summary"
    assert trace.calls[["n", "dur_ns"]].values.tolist() == [[20, 10_500_000], [20, 3_500_000]]


def test_a_file_without_operators_says_so() -> None:
    with pytest.raises(FuseScopeError, match="does not contain any operators"):
        trace_of(DETAIL)


FOLDERS = (
    "ms_graph_tiny", "ms_graph_tiny_gk", "ms_graph_cbr", "ms_graph_cbr_gk", "ms_pynative_cbr",
    "ms_graph_tiny_memstack",
)  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_real_recordings(shared_traces: Path, name: str) -> None:
    folder = shared_traces / "captured" / "mindspore_cpu" / name
    trace = read_path(folder)
    assert isinstance(trace, Trace) and trace.meta.format == "mindspore_cpu"
    text = (folder / "FRAMEWORK" / "cpu_op_execute_timestamp_0.txt").read_text()
    truth = [
        (int(start), int(Decimal(dur) * 10**6))
        for start, dur in re.findall(r"(\d{19}),([\d.]+),\d+", text)
    ]
    assert sorted(zip(trace.calls["start_ns"], trace.calls["dur_ns"], strict=True)) == sorted(truth)
    with (folder / "FRAMEWORK" / "cpu_op_type_info_0.csv").open() as file:
        types = {row["op_type"]: Decimal(row["total_compute_time"]) for row in csv.DictReader(file)}
    kinds = trace.operators["op_type"].astype("object")[trace.calls["operator"]].to_numpy()
    sums = trace.calls.groupby(kinds)["dur_ns"].sum().to_dict()
    assert truth and types
    assert sums.keys() == types.keys()
    for kind, total in types.items():  # six significant digits
        assert abs(Decimal(sums[kind]) / 10**6 - total) <= total / 10**5
    assert codes(trace) == {"no_runs": 1}
    alone = read(Source("t", (folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").read_bytes()))
    assert isinstance(alone, Trace) and alone.meta.format == "mindspore_cpu_timeline"
    assert sorted(alone.calls["dur_ns"]) == sorted(dur for _, dur in truth)
    assert abs(alone.calls["start_ns"].min() - trace.calls["start_ns"].min()) < 1000


def test_graph_kernel_fusion_becomes_a_group(shared_traces: Path, tmp_path: Path) -> None:
    folder = shared_traces / "captured" / "mindspore_cpu"
    for name, parts in (
        ("unfused", ["ms_graph_tiny/FRAMEWORK"]),
        ("fused", ["ms_graph_tiny_gk/FRAMEWORK", "akg_kernel_meta"]),
    ):
        (tmp_path / name).mkdir()
        for part in parts:
            for file in (folder / part).iterdir():
                shutil.copy(file, tmp_path / name)
    unfused, fused = read_path(tmp_path / "unfused"), read_path(tmp_path / "fused")
    assert isinstance(unfused, Trace) and isinstance(fused, Trace)
    assert members(fused) == ("Default/Mul-op0 + Default/Add-op0", "names")
    assert fused.operators["inputs"][0] == ("float32[1024,1024]; float32[1,1024]; float32[1,1024]")
    compared = compare(Side("unfused", unfused), Side("fused", fused))
    (group,) = compared.fusion.groups
    assert [op.op_type for op in group.original] == ["Mul", "Add"]
    assert [op.op_type for op in group.candidate] == ["GraphKernel_Mul_Add_fusion"]


def test_the_timelines_of_cpu_and_npu_are_told_apart() -> None:
    head = (miniatures.FOLDER / "ascend_trace_view" / "trace_view.json").read_bytes()
    assert b"Ascend Hardware" in head
    assert not MINDSPORE_CPU_TIMELINE.sniff(head)
    assert not MINDSPORE_CPU.sniff(head)
    mixed = b'[{"args": {"name": "Ascend Hardware"}}, {"args": {"type": "HostCpuOps"}}]'
    assert not MINDSPORE_CPU_TIMELINE.sniff(mixed)


def test_kernels_that_cannot_be_unpacked_are_noted() -> None:
    def load(count: int | None) -> bytes:
        if count is None:
            raise FuseScopeError("zip_damaged", reason="bad magic")
        return b'{"composite": true, "op_desc": []}'[:count]

    kernels, notes = read_kernels([Source("Fused_Mul.info", load)])
    assert kernels == []
    assert [(note.code, str(note.example)) for note in notes] == [
        ("companion_unreadable", "Fused_Mul.info")
    ]
