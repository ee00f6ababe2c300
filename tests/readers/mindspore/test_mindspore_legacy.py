"""The MindSpore profiler before 2.4: ms, µs and ticks of 10 ns, side by side in one folder."""

from __future__ import annotations

import csv
import json
from bisect import bisect_right
from decimal import Decimal
from pathlib import Path

import pytest

from fusescope.analysis.doctor import examine
from fusescope.analysis.metrics.breakdown import by_type
from fusescope.analysis.metrics.small_ops import small_ops
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.readers import read, read_all, read_path
from fusescope.analysis.readers.formats import READERS
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.mindspore.beside import MindSporeBeside
from fusescope.analysis.report.exports.inspection import inspection
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from tests import miniatures

TIMELINE = (
    b"op_name, stream_id, start_time(ms), duration(ms)\n"
    b"Default/Mul-op1,519,438068.41592,0.00266\n"
    b"Default/Add-op2,520,438068.4187,0.0015\n"
    b"Default/Mul-op1,519,438078.41592,0.00268\n"
)
STEPS = (
    b"step_num,start_point,end_point,total,fp_point,bp_point,"
    b"stream_527_parallel_0_start_point,stream_527_parallel_0_end_point,stream_527_parallel_0\n"
    b"1,43806841592,43807841592,1,1,1,43806900000,43806950000,50000\n"
    b"2,43807841592,43808841592,1,1,1,0,0,0\n"
    b"3,43808841592,43809841592,1,1,1,43808900000,43808950000,50000\n"
    b"-,43807841592,43808841592,1,1,1,1,1,1\n"
)


def trace_of(data: bytes, name: str = "file_1.csv", **beside: bytes) -> Trace:
    others = tuple(Source(other, content) for other, content in beside.items())
    trace = read(Source(name, data, beside=others))
    assert isinstance(trace, Trace)
    return trace


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def test_a_timeline_in_ms() -> None:
    trace = trace_of(TIMELINE)
    assert trace.calls["start_ns"].tolist() == [438068415920, 438068418700, 438078415920]
    assert trace.calls["dur_ns"].tolist() == [2660, 1500, 2680]
    assert trace.operators["op_type"].tolist() == ["Mul", "Add"]
    newer = TIMELINE.replace(b"op_name", b"kernel_name").replace(
        b"start_time(ms)", b"start_time(us)"
    )
    assert trace_of(newer).calls["start_ns"].tolist()[0] == 438068416


def test_steps_come_in_ticks_of_10_ns_with_their_communication() -> None:
    trace = trace_of(TIMELINE, steps=STEPS)
    assert trace.runs[["kind", "start_ns", "dur_ns"]].values.tolist() == [
        ["step", 438068415920, 10_000_000], ["step", 438078415920, 10_000_000],
        ["step", 438088415920, 10_000_000],
    ]  # fmt: skip
    # The third call starts where the first step ends and the second begins.
    assert trace.calls["run"].tolist() == [0, 0, 0, 1, 2]
    is_communication = trace.operators["is_communication"].to_numpy()[trace.calls["operator"]]
    assert trace.calls[is_communication][["start_ns", "dur_ns", "stream"]].values.tolist() == [
        [438069000000, 500_000, "stream 527"], [438089000000, 500_000, "stream 527"],
    ]  # fmt: skip


def test_steps_without_operators_are_runs_that_no_figure_per_step_rests_on() -> None:
    """A profiler may time every step and record the operators of the first few only."""
    trace = trace_of(TIMELINE, steps=STEPS)
    assert trace.told_runs["run"].tolist() == [0, 1] == list(steady_runs(trace).runs)
    shorter = STEPS.replace(b"3,43808841592,43809841592,1,1,1,43808900000,43808950000,50000\n", b"")
    both = trace_of(TIMELINE, steps=shorter)
    assert len(both.runs) == 2
    assert small_ops(trace) == small_ops(both)
    assert by_type(trace)["per_run_ns"].tolist() == by_type(both)["per_run_ns"].tolist()
    facts, others = inspection(trace), inspection(both)
    assert (facts["runs"], facts["operators"]) == (3, others["operators"])
    assert facts["by_type"] == others["by_type"]
    found = examine(trace)
    assert found.runs == 3
    [note] = [note for note in found.noted if note.code == "runs_untold"]
    assert note.count == 1 and note not in found.dropped
    assert "based on the other steps" in diagnostic_sentence(note)


def test_the_step_in_which_the_profiler_stopped_is_no_step_of_operators() -> None:
    """Three operators in the first step, one in the second, of three: what the second lacks is no
    idle time. Where no step follows, or two of three are there, it is whole."""
    more = TIMELINE.replace(
        b"Default/Mul-op1,519,438078",
        b"Default/Sub-op3,519,438068.5,0.002\nDefault/Mul-op1,519,438078",
    )
    cut = trace_of(more, steps=STEPS)
    assert cut.told_runs["run"].tolist() == [0]
    assert codes(cut) == {"runs_untold": 2, "outside_runs": 1}
    last = STEPS[: STEPS.index(b"3,438")]
    assert trace_of(more, steps=last).told_runs["run"].tolist() == [0, 1]
    assert trace_of(TIMELINE, steps=STEPS).told_runs["run"].tolist() == [0, 1]


def test_steps_of_another_recording_are_not_joined() -> None:
    trace = trace_of(TIMELINE, steps=STEPS.replace(b",438", b",938"))
    assert trace.runs["kind"].tolist() == ["file"] and trace.meta.files == ()


def test_operators_on_the_ai_cpu_join_the_timeline() -> None:
    table = (
        b"serial_number,op_type,total_time,dispatch_time,run_start,run_end\n"
        b"1,GetNext,0.888,0.132,438068500,438069018\n2,InitData,7.9,0.1,1,2\n"
    )
    trace = trace_of(TIMELINE, aicpu=table)
    rows = trace.operators.set_index("name")["provider"].to_dict()
    assert rows["GetNext"] == rows["InitData"] == "AI_CPU"
    row = trace.calls[trace.calls["operator"] == trace.operators["name"].tolist().index("GetNext")]
    # total_time is from dispatch to end: it ends where the run ends.
    assert row[["start_ns", "dur_ns"]].values.tolist() == [[438069018000 - 888_000, 888_000]]
    alone = trace_of(table)
    assert alone.calls["dur_ns"].sum() == 8_788_000
    assert alone.calls["dispatch_time"].tolist() == [0.132, 0.1]


def test_means_of_operators_are_one_mean_iteration() -> None:
    trace = trace_of(b"full_op_name,execution_time\nDefault/Mul-op1,0.0012020000000000002\n")
    assert trace.runs["kind"].tolist() == ["iteration"]
    assert trace.calls[["n", "dur_ns"]].values.tolist() == [[1, 1202]]
    assert codes(trace) == {"means_only": 1}


def test_means_with_a_count_are_totals() -> None:
    head = b"full_kernel_name,task_duration,execution_frequency,task_type\n"
    trace = trace_of(head + b"Default/Mul-op1,0.0000015,3,AI_VECTOR_CORE\n")
    assert trace.calls[["n", "dur_ns"]].values.tolist() == [[3, 4]]  # 4.5 ns, to even
    assert trace.operators["provider"].tolist() == ["AI_VECTOR_CORE"]
    assert trace.runs["kind"].tolist() == ["file"]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"op_type,execution_time,execution_frequency,percent", "iteration"),
        (b"op_type,total_time,execution_frequency,percent", "file"),
        (b"kernel_type,task_time,execution_frequency,percent", "file"),
    ],
)
def test_op_types_of_three_generations(head: bytes, kind: str) -> None:
    trace = trace_of(head + b"\nMul,1.9029486666666665347,32,1.51\n")
    assert trace.calls[["n", "dur_ns"]].values.tolist() == [[32, 1_902_949]]
    assert trace.runs["kind"].tolist() == [kind]
    assert trace.operators["op_type"].tolist() == ["Mul"]


def test_gpu_tables_are_in_us() -> None:
    detail = trace_of(
        b"op_side,op_type,op_name,op_full_name,op_occurrences,op_total_time(us),op_avg_time(us),"
        b"total_proportion,cuda_activity_cost_time(us),cuda_activity_call_count\n"
        b"Device,Conv2D,Conv2D-op1,Default/Conv2D-op1,4,1234.5,308.625,0.9,1000.25,8\n"
    )
    assert detail.calls[["n", "dur_ns"]].values.tolist() == [[4, 1_234_500]]
    assert detail.calls["cuda_activity_cost_time(us)"].tolist() == [1000.25]
    types = trace_of(
        b"op_type,type_occurrences,total_time(us),total_proportion,avg_time(us)\nAdd,2,3.5,1,1.75\n"
    )
    assert types.calls[["n", "dur_ns"]].values.tolist() == [[2, 3_500]]
    kernels = trace_of(
        b"name,type,op_full_name,stream_id,block_dim,grid_dim,occurrences,total_duration(us),"
        b"avg_duration(us),max_duration(us),min_duration(us)\n"
        b'"void gemm<float, 4>()",cuLaunchKernel,Default/MatMul-op3,7,"1,1,1","8,1,1",2,9,4.5,5,4\n'
    )
    row = kernels.operators.iloc[0]
    assert (row["name"], row["op_type"], row["launched_by"], row["level"]) == (
        "void gemm<float, 4>()", "MatMul", "Default/MatMul-op3", "device_kernel",
    )  # fmt: skip
    stamps = trace_of(b"Default/Add-op1;GpuOps;1000,2.5 9000,3 \n")
    assert stamps.meta.format == "mindspore_legacy"
    assert stamps.calls[["start_ns", "dur_ns"]].values.tolist() == [[1000, 2500], [9000, 3000]]


def test_tables_of_blanks() -> None:
    text = (
        b"====================op compute time====================\n"
        b"op_name       compute_time(ms) stream_id\n------------  ---------------  ---------\n"
        b"Default/Mul-op1 0.001202  519\ntotal op  0.001202 0\n"
    )
    trace = trace_of(text)
    assert trace.calls[["dur_ns", "stream"]].values.tolist() == [[1202, "stream 519"]]
    detail = trace_of(
        b"====================op compute time====================\n"
        b"optype_name compute_time(ms, per-step) called_times(per-step) percent\nMul 0.1 2 99.0\n\n"
        b"Detail:\nop_name op_type avg_execution_time subgraph full_op_name\n"
        b"Mul-op1 Mul 0.05 Default Default/Mul-op1\nMul-op2 Mul 0.05 Default Default/Mul-op2\n"
    )
    assert detail.calls["dur_ns"].tolist() == [50_000, 50_000]
    assert detail.operators["name"].tolist() == ["Default/Mul-op1", "Default/Mul-op2"]


def test_means_beside_a_timeline_are_checked() -> None:
    good = b"full_op_name,execution_time\nDefault/Mul-op1,0.00267\n"
    assert "contradiction" not in codes(trace_of(TIMELINE, detail=good))
    wrong = good.replace(b"0.00267", b"2.67")
    assert codes(trace_of(TIMELINE, detail=wrong))["contradiction"] == 1


def test_flops_only_where_the_head_names_the_unit() -> None:
    told = b"full_kernel_name,MFLOPs(10^6 cube),GFLOPS(10^9 cube)\nDefault/Mul-op1,0.25,1\n"
    trace = trace_of(TIMELINE, flops=told)
    assert trace.operators["flops"].tolist()[0] == 250_000
    unnamed = b"full_kernel_name, FLOPs, FLOPS, FLOPS utilization\nDefault/Mul-op1, 333, 333, 33\n"
    assert trace_of(TIMELINE, flops=unnamed).operators["flops"].isna().all()


def test_the_display_tells_types_lanes_and_steps() -> None:
    events = [
        {"name": "Add-op2", "ph": "X", "tid": 5, "ts": 2.7700000209733844, "dur": 2.15, "pid": 1,
         "args": {"type": "Add", "fullname": "Default/Add-op2",
                  "input_0": {"format": "FRACTAL_NZ", "data_type": "NUMBER_TYPE_FLOAT16",
                              "shape": "1,8,16,16"},
                  "input_1": {"format": "DefaultFormat", "data_type": "NUMBER_TYPE_INT32",
                              "shape": ""}}},
        {"name": "AllReduce", "ph": "X", "tid": 6, "ts": 9, "dur": 1, "pid": 10000},
        {"name": "Scope", "ph": "X", "tid": "Scope Name", "ts": 0, "dur": 9, "pid": 1},
    ]  # fmt: skip
    trace = trace_of(json.dumps(events).encode())
    assert trace.meta.format == "mindspore_legacy_display"
    assert trace.calls[["start_ns", "dur_ns"]].values.tolist() == [[2770, 2150], [9000, 1000]]
    assert trace.operators["inputs"][0] == "float16[1,8,16,16]:FRACTAL_NZ; int32[]"
    assert trace.operators["is_communication"].tolist() == [False, True]
    assert codes(trace)["other_events"] == 1


def test_devices_of_one_display_are_traces_of_their_own() -> None:
    """2 and 3 µs of the devices 0 and 1, whose steps lie 50 µs apart; 1 µs of communication tells
    no device."""

    def of_device(pid: int, start: float, dur: float) -> list[dict[str, object]]:
        told = {"type": "Add", "fullname": "Default/Add-op2"}
        return [
            {"name": "Step 1", "ph": "X", "tid": "Steps", "ts": start, "dur": 40, "pid": pid},
            {"name": "Add-op2", "ph": "X", "tid": 5, "ts": start + 2, "dur": dur, "pid": pid,
             "args": told},
            {"name": "Scope", "ph": "X", "tid": "Scope Name", "ts": 0, "dur": 9, "pid": pid},
        ]  # fmt: skip

    talk = {"name": "AllReduce", "ph": "X", "tid": 6, "ts": 9, "dur": 1, "pid": 10000}
    trace = trace_of(json.dumps([*of_device(1, 50, 3), *of_device(0, 0, 2), talk]).encode())
    assert list(trace.units) == ["device:0", "device:1"]
    assert [one.calls["dur_ns"].tolist() for one in trace.units.values()] == [[2000, 1000], [3000]]
    assert [one.runs["start_ns"].tolist() for one in trace.units.values()] == [[0], [50_000]]
    assert codes(trace)["units_untold"] == 1 and codes(trace)["other_events"] == 1


def test_ranks_in_one_folder_are_recordings_of_their_own() -> None:
    detail = b"full_op_name,execution_time\nDefault/Mul-op1,%s\n"
    sources = []
    for rank in (0, 1):
        for name, data in (
            (f"aicore_intermediate_{rank}_detail.csv", detail % b"0.00267"),
            (f"output_timeline_data_{rank}.txt", TIMELINE),
            (f"step_trace_raw_{rank}_detail_time.csv", STEPS),
        ):
            sources.append(Source(name, data))
    found = read_all(sources)
    assert [recording.source.name for recording in found.recordings] == [
        "output_timeline_data_0.txt", "output_timeline_data_1.txt",
    ]  # fmt: skip
    for rank, recording in enumerate(found.recordings):
        assert f"step_trace_raw_{rank}_detail_time.csv" in recording.files
        assert all(f"_{1 - rank}" not in file for file in recording.files)


def test_a_real_recording(shared_traces: Path) -> None:
    folder = shared_traces / "third_party" / "mindspore_legacy" / "run_1"
    trace = read_path(folder)
    assert isinstance(trace, Trace) and trace.meta.format == "mindspore_legacy"
    lines = (folder / "output_timeline_data_1.txt").read_text().splitlines()[1:]
    truth = [line.rsplit(",", 3) for line in lines]
    is_communication = trace.operators["is_communication"].to_numpy()[trace.calls["operator"]]
    calls = trace.calls[~is_communication]
    assert len(calls) == len(truth) == 2817
    total = sum((Decimal(dur) * 10**6 for *_, dur in truth), Decimal(0))
    assert calls["dur_ns"].sum() == int(total)
    with (folder / "step_trace_raw_1_detail_time.csv").open() as file:
        steps = [row for row in csv.DictReader(file) if row["step_num"] not in ("-", "0")]
    starts = [int(row["start_point"]) * 10 for row in steps]
    at = [bisect_right(starts, int(Decimal(start) * 10**6)) - 1 for _, _, start, _ in truth]
    used = sorted({place for place in at if place >= 0})
    assert trace.runs["start_ns"].tolist() == starts
    assert trace.runs["dur_ns"].tolist() == [
        (int(step["end_point"]) - int(step["start_point"])) * 10 for step in steps
    ]
    # Of 199 operators the last step with any has 31: there the profiler stopped.
    assert (at.count(used[-1]), at.count(used[-2])) == (31, 199)
    assert trace.told_runs["run"].tolist() == used[:-1]
    assert calls["run"].isna().sum() == sum(place < 0 for place in at) + 31 == 36
    assert codes(trace) == {"runs_untold": len(steps) - len(used) + 1, "outside_runs": 36}
    columns = [key for key in steps[0] if key.startswith("stream_") and key[-1].isdigit()]
    spent = sum(int(step[key]) * 10 for step in steps for key in columns)
    assert trace.calls[is_communication]["dur_ns"].sum() == spent
    with (folder / "framework_raw_1.csv").open() as file:
        raw = {row["full_op_name"]: row for row in csv.DictReader(file)}
    own = trace.operators[~trace.operators["is_communication"]]
    assert own["op_type"].tolist() == [raw[name]["op_type"] for name in own["name"]]
    first = json.loads(raw["Default/TransData-op216"]["op_info"])["output_0"]
    assert first["shape"] == "1,8,16,16"
    row = own.set_index("name").loc["Default/TransData-op216"]
    assert row["outputs"] == "float16[1,8,16,16]:FRACTAL_NZ"


@pytest.mark.parametrize(
    "name",
    ["aicore_intermediate_1_detail.csv", "aicore_intermediate_1_type.csv",
     "output_op_compute_time_1.txt"],
)  # fmt: skip
def test_its_tables_alone_say_the_same_time_of_a_step(shared_traces: Path, name: str) -> None:
    file = shared_traces / "third_party" / "mindspore_legacy" / "run_1" / name
    trace = read(Source(name, file.read_bytes()))
    assert isinstance(trace, Trace) and trace.meta.format == "mindspore_legacy_summary"
    # 126.43631757142849 ms is the last line of output_op_compute_time_1.txt; one ns a row.
    assert abs(int(trace.calls["dur_ns"].sum()) - 126_436_318) <= len(trace.calls)
    assert trace.runs["kind"].tolist() == ["iteration"]


@pytest.mark.parametrize("name", ["mindspore_legacy", "ascend_op_summary", "msprof_op"])
def test_no_other_reader_takes_these_files(name: str) -> None:
    assert_taken_by_its_own(miniatures.FOLDER / name)


def test_no_other_reader_takes_the_real_files(shared_traces: Path) -> None:
    for folder in ("mindspore_legacy/run_1", "ascend_op_summary", "ascend_msprof_op/fp32_cm_gemv"):
        assert_taken_by_its_own(shared_traces / "third_party" / folder)


def assert_taken_by_its_own(folder: Path) -> None:
    """Each file by one reader at most, and by one of MindSpore's only where it is of MindSpore."""
    files = [path for path in folder.rglob("*") if path.suffix in (".csv", ".txt", ".json")]
    assert files
    for file in files:
        head = file.read_bytes()[:65536]
        takers = [reader.name for reader in READERS if reader.sniff(head)]
        mine = [name for name in takers if name.startswith("mindspore")]
        is_own = "mindspore" in folder.parent.name + folder.name
        assert len(takers) <= 1 and bool(mine) == (is_own and takers != []), (file.name, takers)


@pytest.mark.parametrize(
    ("main", "beside", "chosen"),
    [
        ("output_timeline_data_1.txt", ("step_trace_raw_0_detail_time.csv",), ()),
        ("output_timeline_data_1.txt", ("cpu_framework_0.txt", "steps.csv"), ("steps.csv",)),
        ("output_timeline_data_1.txt", ("my_steps_0.csv",), ("my_steps_0.csv",)),
        ("my_run_7.txt", ("my_steps_0.csv", "framework_raw_0.csv"),
         ("my_steps_0.csv", "framework_raw_0.csv")),
        ("timeline_of_1.txt", ("steps_0.csv", "steps_1.csv"), ("steps_1.csv",)),
        ("timeline.txt", ("steps_0.csv", "steps_1.csv"), ("steps_0.csv", "steps_1.csv")),
    ],
)  # fmt: skip
def test_a_number_in_a_name_is_the_device_where_the_profiler_chose_it(
    main: str, beside: tuple[str, ...], chosen: tuple[str, ...]
) -> None:
    others = tuple(Source(name, b"x") for name in beside)
    found = MindSporeBeside(Source(main, b"x", beside=others)).those(lambda head: True)
    assert tuple(source.name for source in found) == chosen
