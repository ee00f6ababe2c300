"""Any trace as Ascend tables, and back: nothing that they can hold gets lost."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.ascend.columns import task_kind
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.report.exports.ascend_tables import FILES, ascend_tables
from fusescope.analysis.report.exports.inspection import inspection
from fusescope.analysis.trace import CALL_COLUMNS, Meta, Trace, runs_frame
from fusescope.app.cli.main import main
from tests import miniatures

ROOT = Path(__file__).resolve().parents[2]
META = Meta(format="test", tool="test")


def made(columns: dict[str, list[object]], runs: pd.DataFrame | None = None) -> Trace:
    return build_trace(META, columns, runs=runs)


def table(trace: Trace, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(ascend_tables(trace).files[name].decode())))


def back(trace: Trace) -> Trace:
    """The trace that our own reader makes of the tables, all three of them."""
    main_file, *others = (
        Source(name, data, path=name) for name, data in ascend_tables(trace).files.items()
    )
    again = read(main_file.among(tuple(others)))
    assert isinstance(again, Trace) and again.meta.format == "ascend_kernel_details"
    assert set(again.meta.files) <= set(FILES[1:])
    codes = {note.code for note in again.diagnostics}
    assert not codes & {"step_time_differs", "statistic_differs", "not_operators", "bad_time"}
    return again


def plain(values: pd.Series) -> list[object]:
    return [None if pd.isna(value) else value for value in values.astype("object")]


def rows(trace: Trace) -> list[dict[str, object]]:
    """What the columns can hold of each call."""
    calls = trace.calls
    counters = [name for name in calls if name not in CALL_COLUMNS]
    columns: dict[str, list[object]] = {
        name: plain(calls[name])
        for name in ("start_ns", "dur_ns", "wait_ns", "device", "stream", *counters)
    }
    numbered = (trace.profiled_runs["kind"] != "file").any()
    columns["run"] = plain(calls["run"]) if numbered else [None] * len(calls)
    for name in ("name", "op_type", "provider", "inputs", "outputs", "is_communication"):
        values = plain(trace.operators[name])
        columns[name] = [values[operator] for operator in calls["operator"]]
    columns["provider"] = [
        "COMMUNICATION" if is_communication and task_kind(str(core)) != "communication" else core
        for core, is_communication in zip(
            columns["provider"], columns["is_communication"], strict=True
        )
    ]
    names = list(columns)
    return [
        {
            key: value
            for key, value in sorted(zip(names, values, strict=True))
            if value not in (None, "")
        }
        for values in zip(*columns.values(), strict=True)
    ]


def assert_returns(trace: Trace) -> None:
    again = back(trace)
    # Devices of a table are read apart: a copy may stand on another one than the kernels.
    devices = (again, *again.others)
    if (trace.calls["n"] == 1).all():
        returned = [row for device in devices for row in rows(device)]
        assert sorted(returned, key=repr) == sorted(rows(trace), key=repr)
    assert sum(one.calls["dur_ns"].sum() for one in devices) == trace.calls["dur_ns"].sum()
    assert sum(one.calls["n"].sum() for one in devices) == trace.calls["n"].sum()
    if (trace.profiled_runs["kind"] != "file").any() and trace.calls["start_ns"].notna().all():
        lengths = dict(zip(again.runs["run"], again.runs["dur_ns"], strict=True))
        for run, dur in zip(trace.profiled_runs["run"], trace.profiled_runs["dur_ns"], strict=True):
            calls = trace.calls[trace.calls["run"] == run]
            if len(calls):
                span = (calls["start_ns"] + calls["dur_ns"]).max() - calls["start_ns"].min()
                assert lengths[run] == max(dur, span)


@pytest.mark.parametrize("reader", miniatures.FORMATS, ids=lambda reader: str(reader.name))
def test_a_recording_of_any_format_comes_back(reader: Reader) -> None:
    trace = miniatures.only_trace(miniatures.files(reader))
    if len(trace.calls):
        assert_returns(trace)
        return
    with pytest.raises(FuseScopeError, match="any operators"):
        ascend_tables(trace)


@pytest.mark.parametrize(
    "path",
    [
        "ascend_torch_npu/2023-11-arithmetic",
        "ascend_torch_npu/2024-10-level1-rank0",
        "ascend_torch_npu/2025-01-level0-rank0",
        "ascend_torch_npu/2025-01-level1-rank0",
        "onnxruntime/profile_mkldnn_1_threads.json",
    ],
)
def test_real_recordings_come_back(shared_traces: Path, path: str) -> None:
    trace = read_path(shared_traces / "third_party" / path)
    assert isinstance(trace, Trace)
    assert_returns(trace)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=path.stem,
            marks=() if path.stem in ("resnet50", "add_relu") else pytest.mark.exhaustive,
        )
        for path in sorted((ROOT / "sample_traces").rglob("*.zip"))
        if path.parent.name != "releases"  # which hold no recording
    ],
)
def test_totals_and_counts_of_every_recording_come_back(path: Path) -> None:
    experiment = read_path(path)
    assert isinstance(experiment, Experiment)
    trace = list(experiment.traces.values())[-1]
    returned = back(trace)
    # Devices of a table are read apart: copies may stand on another one than the kernels.
    devices = [inspection(one) for one in (returned, *returned.others)]
    before = inspection(trace)
    assert devices[0]["profiled_runs"] == before["profiled_runs"]
    if len(devices) == 1:  # a median over runs, which does not add up
        assert devices[0]["operators"] == before["operators"]
    for name in ("rows", "total_kernel_ns", "communication_ns"):
        assert sum(device[name] for device in devices) == before[name], name
    totals: dict[str, tuple[int, int]] = {}
    for row in (row for device in devices for row in device["by_type"]):
        count, total_ns = totals.get(row["op_type"], (0, 0))
        totals[row["op_type"]] = (count + row["count"], total_ns + row["total_ns"])
    assert totals == {row["op_type"]: (row["count"], row["total_ns"]) for row in before["by_type"]}
    lacking = {note.code: note.count for note in ascend_tables(trace).diagnostics}
    marked = int(trace.profiled_runs["warmup"].sum())
    assert lacking.get("ascend_warmup", 0) == marked
    assert lacking["ascend_no_samples"] == len(trace.sampled_runs) > 0


CORES = ["EVENT_WAIT", "notify", "3", "x task", "Barrier", "HCCL", "AI_CORE", "wait", "GPU", None]


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(CORES),
            st.sampled_from(["hcom_allReduce", "Add", "Total", None]),
            st.sampled_from(["hcom_send_1", "total", "EVENT_WAIT", "k"]),
            st.booleans(),
            st.integers(0, 3000),
            st.integers(1, 4),
        ),
        min_size=1,
        max_size=8,
    )
)
@example(  # a last row that is called a total, and is as long as all others
    rows=[
        ("EVENT_WAIT", "hcom_allReduce", "hcom_send_1", False, 1, 2),
        ("EVENT_WAIT", "hcom_allReduce", "total", False, 1, 1),
    ]
)
@example(  # one whose start is the sum of those above
    rows=[
        ("EVENT_WAIT", "hcom_allReduce", "hcom_send_1", False, 1, 3),
        ("EVENT_WAIT", None, "total", False, 1, 1),
    ]
)
@settings(max_examples=60, deadline=None)
def test_whatever_cores_and_names_totals_come_back(
    rows: list[tuple[str | None, str | None, str, bool, int, int]],
) -> None:
    names = ("provider", "op_type", "name", "is_communication", "dur_ns", "n")
    cells = (list(column) for column in zip(*rows, strict=True))
    trace = made(dict(zip(names, cells, strict=True)))

    def sums(one: Trace) -> list[tuple[int, int]]:
        is_communication = one.operators["is_communication"].to_numpy()[one.calls["operator"]]
        parts = (one.calls[is_communication], one.calls[~is_communication])
        return [(part["dur_ns"].sum(), part["n"].sum()) for part in parts]

    assert sums(back(trace)) == sums(trace)


def test_an_experiment_of_our_own_comes_back() -> None:
    experiment = read_path(ROOT / "sample_traces" / "mobilenetv2.zip")
    assert isinstance(experiment, Experiment)
    trace = experiment.traces["fused"]
    assert_returns(trace)
    lacking = {note.code: note.count for note in ascend_tables(trace).diagnostics}
    assert lacking["ascend_no_samples"] == len(trace.sampled_runs) > 0


# --- by hand --------------------------------------------------------------------------------


def two_streams() -> Trace:
    """One step of 100 µs; in µs: A 10-30, B 20-50 on another stream, all-reduce 45-70, receive
    80-85."""
    columns: dict[str, list[object]] = {
        "name": ["a", "b", "hcom_allReduce_1", "hcom_receive_1"],
        "op_type": ["A", "B", "hcom_allReduce", "hcom_receive"],
        "provider": ["AI_CORE", "AI_VECTOR_CORE", "HCCL", "HCCL"],
        "is_communication": [False, False, True, True],
        "stream": ["1", "2", None, None],
        "start_ns": [10_000, 20_000, 45_000, 80_000],
        "dur_ns": [20_000, 30_000, 25_000, 5_000],
        "run": [3, 3, 3, 3],
    }
    runs = runs_frame(run=[3], kind=["step"], start_ns=[4_000], dur_ns=[100_000], profiled=[True])
    return made(columns, runs)


def test_step_times_by_their_definitions() -> None:
    [row] = table(two_streams(), "step_trace_time.csv")
    assert row == {
        "Step": "3",
        "Computing": "40.000",  # 10 to 50, once
        "Communication(Not Overlapped)": "25.000",  # 50 to 70, 80 to 85
        "Overlapped": "5.000",  # 45 to 50
        "Communication": "30.000",
        "Free": "35.000",  # 100 - 40 - 25
        "Stage": "95.000",  # without the wait for the other rank
        "Bubble": "5.000",
        "Communication(Not Overlapped and Exclude Receive)": "20.000",
        "Preparing": "6.000",
    }


def test_the_real_step_time_is_what_we_compute(shared_traces: Path) -> None:
    folder = shared_traces / "third_party" / "ascend_torch_npu" / "2024-10-level1-rank0"
    trace = read_path(folder)
    assert isinstance(trace, Trace)
    [ours] = table(trace, "step_trace_time.csv")
    with (folder / "step_trace_time.csv").open(newline="", encoding="utf-8") as lines:
        [theirs] = csv.DictReader(lines)
    heads = set(theirs) - {"Step", "Preparing"}  # the host is not in kernel_details.csv
    assert len(heads) > 5
    for head in heads:
        assert float(ours[head]) == pytest.approx(float(theirs[head]), abs=0.25), head


def test_op_statistic_leaves_communication_out_and_sorts_by_time() -> None:
    found = table(two_streams(), "op_statistic.csv")
    assert [list(row.values()) for row in found] == [
        ["B", "AI_VECTOR_CORE", "1", "30.000", "30.000", "30.000", "30.000", "60.000"],
        ["A", "AI_CORE", "1", "20.000", "20.000", "20.000", "20.000", "40.000"],
    ]


def test_totals_of_several_calls_become_that_many_kernels() -> None:
    trace = made({"name": ["a", "b"], "op_type": ["A", "A"], "dur_ns": [10, 7], "n": [3, 1]})
    assert [row["Duration(us)"] for row in table(trace, "kernel_details.csv")] == [
        "0.004", "0.003", "0.003", "0.007",
    ]  # fmt: skip
    [row] = table(trace, "op_statistic.csv")
    assert (row["Count"], row["Total Time(us)"], row["Min Time(us)"]) == ("4", "0.017", "N/A")
    codes = [note.code for note in ascend_tables(trace).diagnostics]
    assert codes == ["ascend_means", "ascend_sums"]
    assert_returns(trace)
    endless = made({"name": ["a"], "op_type": ["A"], "dur_ns": [10], "n": [2**61]})
    with pytest.raises(FuseScopeError, match="more rows than the limit"):
        ascend_tables(endless)


def test_what_is_missing_is_na_and_never_0() -> None:
    trace = made({"name": ["a"], "op_type": [None], "dur_ns": [1_234_567], "mac_ratio": [None]})
    [row] = table(trace, "kernel_details.csv")
    assert row == {
        "Name": "a",
        "Type": "N/A",
        "Accelerator Core": "N/A",
        "Start Time(us)": "N/A\t",
        "Duration(us)": "1234.567",
        "Wait Time(us)": "N/A",
        "Block Dim": "N/A",
    }


def test_epoch_times_keep_their_ns() -> None:
    starts = [1_736_408_883_704_643_212, 1_736_408_883_704_801_156]
    trace = made({"name": ["a", "b"], "dur_ns": [1, 2], "start_ns": starts})
    assert table(trace, "kernel_details.csv")[0]["Start Time(us)"] == "1736408883704643.212\t"
    assert back(trace).calls["start_ns"].to_list() == starts


HOSTILE = [
    "=HYPERLINK(1)", "+1", "-1", "@x", "\uff1dx", " =x", "'=x", "''", "N/A", "null", "-", "a,b",
    'say "x"', '"quoted"', "a;b", "x\\x0ay", "é|ü", "'plain'",
]  # fmt: skip


def test_hostile_names_come_back_and_are_no_formulas() -> None:
    columns: dict[str, list[object]] = {
        "name": list(HOSTILE),
        "op_type": list(HOSTILE),
        "stream": list(HOSTILE),
        "dur_ns": [5] * len(HOSTILE),
    }
    trace = made(columns)
    assert_returns(trace)
    for file in FILES:
        for row in csv.reader(io.StringIO(ascend_tables(trace).files[file].decode())):
            assert not [cell for cell in row if cell.lstrip(" ")[:1] in ("=", "+", "@", "\uff1d")]


@given(
    names=st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4),
    ratio=st.floats(0, 1),
    start=st.integers(0, 2**61 - 10),
)
@settings(max_examples=25, deadline=None)
def test_any_name_ratio_and_time_come_back(names: list[str], ratio: float, start: int) -> None:
    names = [kept for name in names if (kept := name.rstrip())] or ["x"]
    columns: dict[str, list[object]] = {
        "name": list(names),
        "op_type": ["T"] * len(names),
        "start_ns": [start + place for place in range(len(names))],
        "dur_ns": [1] * len(names),
        "mac_ratio": [ratio] * len(names),
    }
    assert_returns(made(columns))


def test_percent_heads_come_back_exactly() -> None:
    shares = [number / 100_000 for number in range(0, 100_001, 97)]
    given_text = ["Name,Type,Accelerator Core,Duration(us),cube_utilization(%)"]
    given_text += [f"a,A,AI_CORE,1,{share * 100:.3f}" for share in shares]
    trace = read(Source("k.csv", "\n".join(given_text).encode()))
    assert isinstance(trace, Trace)
    assert_returns(trace)


@pytest.mark.parametrize(
    "inputs",
    [
        "?[3]; float32[]",
        "float32[2]; ?[]",
        "?[]",
        "string[batch,3]:nChw16c",
        "float32[1" + ",22" * 170 + "…",
    ],
)
def test_odd_tensors_come_back(inputs: str) -> None:
    assert_returns(made({"name": ["a"], "dur_ns": [1], "inputs": [inputs], "outputs": [None]}))


# --- the command line -----------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["fusescope", *map(str, arguments)])
    with pytest.raises(SystemExit) as error:
        main()
    return int(error.value.code or 0)


def test_inspect_writes_one_folder_or_one_a_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = ROOT / "sample_traces" / "formats" / "ascend_kernel_details"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("kept")
    (tmp_path / "out" / FILES[0]).write_text("old")
    assert run(monkeypatch, "inspect", sample, "--json", "--ascend", tmp_path / "out") == 0
    assert capsys.readouterr().out.startswith("{")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        (*FILES, "mine.txt")
    )
    again, first = read_path(tmp_path / "out"), read_path(sample)
    assert isinstance(again, Trace) and isinstance(first, Trace)
    assert rows(again) == rows(first)
    assert again.runs["dur_ns"].to_list() == first.runs["dur_ns"].to_list()

    assert (
        run(
            monkeypatch,
            "inspect",
            ROOT / "sample_traces" / "mobilenetv2.zip",
            "--ascend",
            tmp_path / "all",
        )
        == 0
    )
    assert {path.name for path in (tmp_path / "all" / "fused").iterdir()} == set(FILES)
    assert "fused: Ascend tables do not contain the times of" in capsys.readouterr().err


def test_compare_writes_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = ROOT / "sample_traces" / "mobilenetv2.zip"
    assert run(monkeypatch, "compare", sample, "--ascend", tmp_path / "a" / "b") == 0
    for side in ("baseline", "candidate"):
        assert {path.name for path in (tmp_path / "a" / "b" / side).iterdir()} == set(FILES)


@pytest.mark.parametrize("obstacle", ["file", "folder"])
def test_what_cannot_be_written_is_one_sentence(
    obstacle: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    if obstacle == "file":
        out.write_text("in the way")
    else:
        (out / FILES[2]).mkdir(parents=True)
    sample = ROOT / "sample_traces" / "formats" / "ascend_kernel_details"
    assert run(monkeypatch, "inspect", sample, "--ascend", out) == 2
    error = capsys.readouterr().err
    assert "cannot be written" in error and "--ascend" in error
    if obstacle == "folder":
        assert [path.name for path in out.iterdir()] == [FILES[2]]  # none of them, no leftovers


@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("there_before", [True, False])
def test_tables_are_all_written_or_none(
    failing: int,
    there_before: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A disk that fails at the last step of any of the three files."""
    top = tmp_path / "new"
    out = top / "out"
    before: dict[str, str] = {}
    if there_before:
        out.mkdir(parents=True)
        before = {name: f"old {name}" for name in (FILES[0], FILES[2], "mine.txt")}
        for name, text in before.items():
            (out / name).write_text(text)
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if target.name == FILES[failing] and self.name.endswith(".part"):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    sample = ROOT / "sample_traces" / "formats" / "ascend_kernel_details"
    assert run(monkeypatch, "inspect", sample, "--ascend", out) == 2
    error = capsys.readouterr().err
    assert "cannot be written: No space left on device" in error
    assert top.exists() == there_before
    if there_before:
        assert {path.name: path.read_text() for path in out.iterdir()} == before
    monkeypatch.setattr(Path, "replace", real)
    assert run(monkeypatch, "inspect", sample, "--ascend", out) == 0
    assert {path.name for path in out.iterdir()} == {*FILES, *before}
    assert "Duration(us)" in (out / FILES[0]).read_text()


def test_of_a_step_whose_kernels_are_not_known_only_the_time_is_told() -> None:
    columns: dict[str, list[object]] = {
        "name": ["a", "hcom_allReduce_1"],
        "op_type": ["A", "hcom_allReduce"],
        "provider": ["AI_CORE", "HCCL"],
        "is_communication": [False, True],
        "start_ns": [10_000, 145_000],
        "dur_ns": [20_000, 25_000],
        "run": [1, 2],
    }
    runs = runs_frame(
        run=[1, 2], kind=["step"] * 2, start_ns=[0, 100_000], dur_ns=[100_000, 90_000],
        profiled=[True] * 2,
    )  # fmt: skip
    trace = made(columns, runs)
    known, untold = table(trace, "step_trace_time.csv")
    assert (known["Computing"], known["Free"]) == ("20.000", "80.000")
    told = {head: cell for head, cell in untold.items() if cell != "N/A"}
    assert told == {"Step": "2", "Communication": "25.000", "Stage": "90.000", "Bubble": "0.000"}
    assert_returns(trace)
    assert back(trace).runs["dur_ns"].to_list() == [100_000, 90_000]


def test_how_tasks_are_split_comes_back() -> None:
    trace = made(
        {"name": ["a", "b"], "dur_ns": [1, 2], "block_dim": [20, None], "mix_block_dim": [40, 0]}
    )
    rows_ = table(trace, "kernel_details.csv")
    assert [(row["Block Dim"], row["Mix Block Dim"]) for row in rows_] == [
        ("20", "40"), ("N/A", "0"),
    ]  # fmt: skip
    assert_returns(trace)
