"""Ascend databases: what each table says, in every variant of columns, against plain SQL."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.metrics.counters import hardware_counters
from fusescope.analysis.readers.ascend.database import ASCEND_DATABASE
from fusescope.analysis.readers.ascend.kernel_details import KERNEL_DETAILS
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.conftest import SHARED_TRACES

REAL = SHARED_TRACES / "third_party/ascend_db/ascend_pytorch_profiler_0.db"
CSV = SHARED_TRACES / "third_party/ascend_torch_npu/2025-01-level1-rank0/kernel_details.csv"
needs_real = pytest.mark.usefixtures("shared_traces")

Table = tuple[str, Sequence[str], Sequence[Sequence[Any]]]
STRINGS = ["Relu_1", "Relu", "AI_VECTOR_CORE", '"8,64"', "FLOAT16", "ND", "aiv_total_time",
           "aiv_vec_ratio", "KERNEL_AIVEC", "EVENT_WAIT", "hcom_allGather__1_0_1", "N/A",
           "aic_l2_read_bw", "cube_utilization(%)", "MatMul_2", "MatMulV3"]  # fmt: skip
IDS = {text: number for number, text in enumerate(STRINGS)}
TASK = ("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId")
INFO = ("name", "globalTaskId", "taskType", "opType", "inputFormats", "inputDataTypes",
        "inputShapes", "outputFormats", "outputDataTypes", "outputShapes")  # fmt: skip


def source(tmp_path: Path, *tables: Table, name: str = "msprof_1.db") -> Source:
    path = tmp_path / "made.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    strings: Table = ("STRING_IDS", ("id", "value"), list(enumerate(STRINGS)))
    for table, columns, rows in (strings, *tables):
        db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})", rows)
    db.commit()
    db.close()
    return Source(name, path.read_bytes())


def read(tmp_path: Path, *tables: Table, name: str = "msprof_1.db") -> Trace:
    made = source(tmp_path, *tables, name=name)
    assert ASCEND_DATABASE.sniff(made.head)
    return ASCEND_DATABASE.read(made)


def tasks(*rows: tuple[Any, Any, int, str]) -> Table:
    """TASK from start, end, globalTaskId and type."""
    return ("TASK", TASK, [(a, b, 0, n, n, IDS[kind], 3) for a, b, n, kind in rows])


def info(*numbers: int, table: str = "COMPUTE_TASK_INFO") -> Table:
    """A Relu for each globalTaskId."""
    cells = [IDS[text] for text in ("Relu_1", "AI_VECTOR_CORE", "Relu")]
    tensor = [IDS[text] for text in ("ND", "FLOAT16", '"8,64"')]
    return (table, INFO, [(cells[0], n, cells[1], cells[2], *tensor, *tensor) for n in numbers])


def notes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def test_devices_of_one_database_are_traces_of_their_own(tmp_path: Path) -> None:
    name, columns, rows = tasks((100, 200, 7, "KERNEL_AIVEC"), (900, 990, 8, "KERNEL_AIVEC"))
    apart = [(*row[:2], device, *row[3:]) for device, row in enumerate(rows)]
    trace = read(tmp_path, (name, columns, apart), info(7, 8))
    assert list(trace.units) == ["device:0", "device:1"]
    assert [one.calls["dur_ns"].tolist() for one in trace.units.values()] == [[100], [90]]
    assert notes(trace)["one_of_devices"] == 2
    assert read(tmp_path, (name, columns, rows), info(7, 8)).others == ()


def test_counters_beyond_what_is_kept_are_counted(tmp_path: Path) -> None:
    names = [f"made_{n}" for n in range(302)]
    rows = [(7, name, 1.0) for name in (*names, names[-1])]
    pmu: Table = ("TASK_PMU_INFO", ("globalTaskId", "name", "value"), rows)
    trace = read(tmp_path, tasks((100, 2100, 7, "KERNEL_AIVEC")), info(7), pmu)
    found = [note for note in trace.diagnostics if note.code == "counters_beyond"]
    assert [(note.count, note.example) for note in found] == [(3, "made_300")]


def test_one_operator_with_everything(tmp_path: Path) -> None:
    pmu: Table = (
        "TASK_PMU_INFO",
        ("globalTaskId", "name", "value"),
        [(7, IDS["aiv_total_time"], 1500.0), (7, IDS["aiv_vec_ratio"], 0.25),
         (7, IDS["aic_l2_read_bw"], 12.5), (7, IDS["cube_utilization(%)"], 40)],
    )  # fmt: skip
    trace = read(tmp_path, tasks((100, 2100, 7, "KERNEL_AIVEC")), info(7), pmu)
    operator = trace.operators.iloc[0]
    assert (operator["name"], operator["op_type"]) == ("Relu_1", "Relu")
    assert operator["provider"] == "AI_VECTOR_CORE"
    assert operator["inputs"] == operator["outputs"] == "float16[8,64]"
    assert operator["bytes_in"] == 8 * 64 * 2
    call = trace.calls.iloc[0]
    assert (call["start_ns"], call["dur_ns"], call["stream"], call["device"]) == (
        100,
        2000,
        "3",
        "0",
    )
    assert call["aiv_time(us)"] == 1.5
    assert call["aiv_vec_ratio"] == 0.25
    assert call["aic_l2_read_bw(GB/s)"] == 12.5
    assert call["cube_utilization"] == 0.4
    assert notes(trace) == {"no_runs": 1}
    assert trace.meta.tool == "msprof"


def test_steps_take_tasks_by_their_launch(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        tasks((1_050, 1_150, 1, "KERNEL_AIVEC"), (1_200, 1_300, 2, "KERNEL_AIVEC"),
              (5_000, 5_001, 3, "KERNEL_AIVEC")),
        info(1, 2, 3),
        ("STEP_TIME", ("id", "startNs", "endNs"), [(5, 0, 1000), (6, 1000, 2000), (7, 9, "x")]),
        ("CONNECTION_IDS", ("id", "connectionId"), [(70, 1)]),
        ("PYTORCH_API", ("startNs TEXT", "name", "connectionId", "type"),
         [("990", "aten::relu", 70, 50001), ("980", "Enqueue", 70, 50002)]),
    )  # fmt: skip
    # Task 1 was launched at 980, in step 5; task 2 says nothing of its launch; 3 is in no step.
    assert trace.calls["run"].tolist()[:2] == [0, 1] and trace.calls["run"].isna().tolist()[2]
    assert trace.runs[["start_ns", "dur_ns"]].to_numpy().tolist() == [[0, 1000], [1000, 1000]]
    assert trace.runs["kind"].tolist() == ["step", "step"]
    launched = trace.operators["launched_by"].tolist()
    assert launched[0] == "aten::relu" and launched[1] is not launched[0]
    assert notes(trace) == {"outside_runs": 1, "bad_time": 1}


def test_launches_of_the_runtime_come_before_those_of_the_framework(tmp_path: Path) -> None:
    steps = ("STEP_TIME", ("id", "startNs", "endNs"), [(5, 0, 1000), (6, 1000, 2000)])
    ran = tasks((1_050, 1_150, 1, "KERNEL_AIVEC"), (1_200, 1_300, 2, "KERNEL_AIVEC"))
    launched: Table = ("CANN_API", ("startNs", "connectionId"), [(980, 1), (None, 2), (1_900, 1)])
    trace = read(tmp_path, ran, info(1, 2), steps, launched)
    # Task 1 was launched in step 5 and ran in 6; of task 2 only its own start is known.
    assert trace.calls["run"].tolist() == [0, 1]
    assert read(tmp_path, ran, info(1, 2), steps).calls["run"].tolist() == [1, 1]


def test_tasks_launched_before_the_file_are_of_no_step(tmp_path: Path) -> None:
    """Task 1 starts in step 5, before all tasks of its stream whose launch is known."""
    steps = ("STEP_TIME", ("id", "startNs", "endNs"), [(5, 0, 1000), (6, 1000, 2000)])
    ran = tasks((50, 150, 1, "KERNEL_AIVEC"), (1_050, 1_150, 2, "KERNEL_AIVEC"))
    launched: Table = ("CANN_API", ("startNs", "connectionId"), [(980, 2)])
    trace = read(tmp_path, ran, info(1, 2), steps, launched)
    assert trace.calls["run"].fillna(-1).tolist() == [-1, 0]
    assert notes(trace) == {"launched_before": 1}


def test_collectives_are_apart_and_their_parts_left_out(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        tasks((0, 10, 1, "KERNEL_AIVEC"), (20, 30, 2, "KERNEL_AIVEC"), (5, 6, 3, "EVENT_WAIT")),
        info(1),
        ("COMMUNICATION_TASK_INFO", ("name", "globalTaskId"), [(0, 2)]),
        ("COMMUNICATION_OP", ("opName", "startNs", "endNs", "opType", "dataType", "count"),
         [(IDS["hcom_allGather__1_0_1"], 15, 45, None, 4, 100)]),
        ("ENUM_HCCL_DATA_TYPE", ("id", "name"), [(4, "FP32")]),
    )  # fmt: skip
    talk = trace.operators[trace.operators["is_communication"]].iloc[0]
    assert talk["name"] == "hcom_allGather__1_0_1" and talk["inputs"] == "float32[100]"
    assert trace.calls["dur_ns"].tolist() == [10, 30]
    assert notes(trace) == {"not_operators": 1, "communication_tasks": 1, "no_runs": 1}


def test_a_table_that_a_viewer_renamed(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        tasks((0, 10, 1, "KERNEL_AIVEC")),
        info(1, table="_COMPUTE_TASK_INFO_old_20251014"),
    )
    assert trace.operators["name"].tolist() == ["Relu_1"]


def test_tasks_that_nothing_describes_are_named_by_core(tmp_path: Path) -> None:
    trace = read(tmp_path, tasks((0, 10, 1, "KERNEL_AIVEC"), (10, 11, 2, "EVENT_WAIT")))
    assert trace.operators["name"].tolist() == ["KERNEL_AIVEC"]
    assert notes(trace) == {"not_operators": 1, "operators_unnamed": 1, "no_runs": 1}


def test_counters_of_tasks_that_share_a_number(tmp_path: Path) -> None:
    rows = tasks((0, 10, 1, "KERNEL_AIVEC"), (100, 130, 1, "KERNEL_AIVEC"))
    ratio = IDS["aiv_vec_ratio"]
    timed: Table = (
        "TASK_PMU_INFO",
        ("globalTaskId", "name", "value", "timestampNs"),
        [(1, ratio, 0.5, 130), (1, ratio, 0.25, 5), (1, ratio, 0.9, 50), (9, ratio, 0.1, 5)],
    )
    trace = read(tmp_path, rows, info(1), timed)
    assert trace.calls["aiv_vec_ratio"].tolist() == [0.25, 0.5]
    assert notes(trace)["companion_unmatched"] == 2
    untimed: Table = ("TASK_PMU_INFO", ("globalTaskId", "name", "value"), [(1, ratio, 0.5)])
    trace = read(tmp_path, rows, info(1), untimed)
    assert "aiv_vec_ratio" not in trace.calls
    assert notes(trace)["counters_ambiguous"] == 1


def test_cores_that_worked_longer_than_their_task(tmp_path: Path) -> None:
    pmu: Table = ("TASK_PMU_INFO", ("globalTaskId", "name", "value"),
                  [(1, IDS["aiv_total_time"], 2500.0)])  # fmt: skip
    trace = read(tmp_path, tasks((0, 2000, 1, "KERNEL_AIVEC")), info(1), pmu)
    assert notes(trace)["contradiction"] == 1


def test_times_as_text_and_times_that_are_none(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        tasks(("1736410576404465403", "1736410576404519164", 1, "KERNEL_AIVEC"),
              (5, None, 2, "KERNEL_AIVEC"), (9, 5, 3, "KERNEL_AIVEC")),
        info(1, 2, 3),
    )  # fmt: skip
    assert trace.calls["start_ns"].tolist() == [1736410576404465403]
    assert trace.calls["dur_ns"].tolist() == [53761]
    assert notes(trace)["bad_time"] == 2


def test_no_operators_is_one_sentence(tmp_path: Path) -> None:
    made = source(tmp_path, tasks((0, 10, 2, "EVENT_WAIT")))
    with pytest.raises(FuseScopeError, match="database does not contain any operators"):
        ASCEND_DATABASE.read(made)


def test_the_database_of_something_else(tmp_path: Path) -> None:
    other = source(tmp_path, ("SONGS", ("title",), [("x",)]))
    with pytest.raises(FuseScopeError, match="not from a profiler"):
        ASCEND_DATABASE.read(other)


@needs_real
def test_the_real_database_against_plain_sql() -> None:
    db = sqlite3.connect(f"file:{REAL.resolve()}?mode=ro&immutable=1", uri=True)
    (count, total), = db.execute(
        "SELECT count(*), sum(endNs - startNs) FROM TASK JOIN COMPUTE_TASK_INFO"
        " USING (globalTaskId)"
    )  # fmt: skip
    (is_communication, talked), = db.execute(
        "SELECT count(*), sum(endNs - startNs) FROM COMMUNICATION_OP"
    )  # fmt: skip
    others = db.execute(
        "SELECT count(*) FROM TASK WHERE globalTaskId NOT IN (SELECT globalTaskId FROM"
        " COMPUTE_TASK_INFO) AND globalTaskId NOT IN (SELECT globalTaskId FROM"
        " COMMUNICATION_TASK_INFO)"
    ).fetchone()[0]
    by_type = dict(
        db.execute(
            "SELECT s.value, sum(endNs - startNs) FROM TASK JOIN COMPUTE_TASK_INFO i USING"
            " (globalTaskId) JOIN STRING_IDS s ON s.id = i.opType GROUP BY 1"
        ).fetchall()
    )
    counters = dict(
        db.execute(
            "SELECT s.value, sum(p.value) FROM TASK_PMU_INFO p JOIN STRING_IDS s ON s.id = p.name"
            " GROUP BY 1"
        ).fetchall()
    )
    trace = ASCEND_DATABASE.read(Source(REAL.name, REAL.read_bytes()))
    is_talk = trace.operators["is_communication"].to_numpy()[trace.calls["operator"]]
    compute = trace.calls[~is_talk]
    assert (len(compute), compute["dur_ns"].sum()) == (count, total) == (187, 8903431)
    assert (is_talk.sum(), trace.calls[is_talk]["dur_ns"].sum()) == (is_communication, talked)
    types = trace.operators["op_type"].astype("object").to_numpy()[compute["operator"]]
    assert compute.groupby(types)["dur_ns"].sum().to_dict() == by_type
    assert notes(trace)["not_operators"] == others
    for counter, head in (("aic_total_time", "aicore_time(us)"), ("aiv_vec_time",) * 2):
        head = head if "(us)" in head else f"{head}(us)"
        assert trace.calls[head].sum() == pytest.approx(counters[counter] / 1000)
    assert trace.calls["aiv_vec_ratio"].sum() == pytest.approx(counters["aiv_vec_ratio"])
    assert trace.runs["dur_ns"].tolist() == [151888750]
    assert (trace.calls["run"] == 0).all()
    assert trace.meta.device == "Ascend910B"


@needs_real
@pytest.mark.usefixtures("shared_traces")
def test_database_and_table_of_one_model_speak_alike() -> None:
    """The same script was recorded twice, as a database and as text: what it ran agrees."""
    database = ASCEND_DATABASE.read(Source(REAL.name, REAL.read_bytes()))
    table = KERNEL_DETAILS.read(Source(CSV.name, CSV.read_bytes()))
    said = []
    for trace in (database, table):
        rows = trace.operators.loc[trace.calls["operator"]]
        rows = rows[~rows["is_communication"]]
        columns = [rows[name].astype(str) for name in ("name", "op_type", "provider", "inputs")]
        said.append(Counter(zip(*columns, strict=True)))
    assert said[0] == said[1] and said[0].total() == 187
    counters = [
        {name for name in trace.calls.columns if "aic" in name or "aiv" in name}
        for trace in (database, table)
    ]
    assert counters[0] == counters[1]


def test_the_profiler_is_told_by_what_only_it_writes(tmp_path: Path) -> None:
    ran = tasks((100, 200, 1, "AI_VECTOR_CORE"))
    api: Table = ("PYTORCH_API", ("startNs", "endNs", "name"), [])
    torch, mindspore = "ascend_pytorch_profiler_0.db", "ascend_mindspore_profiler_0.db"
    assert read(tmp_path, ran, info(1), api, name=mindspore).meta.tool == "Ascend PyTorch Profiler"
    for key, tool in (("torch_npu_version", "Ascend PyTorch Profiler"),
                      ("mindspore_version", "MindSpore Profiler")):  # fmt: skip
        facts: Table = ("META_DATA", ("name", "value"), [(key, "2.5.0")])
        meta = read(tmp_path, ran, info(1), facts, name="renamed").meta
        assert (meta.tool, meta.version) == (tool, "2.5.0")
    scoped: Table = ("COMPUTE_TASK_INFO", INFO, [("Default/net-Net/Relu-op3", 1, *[None] * 8)])
    assert read(tmp_path, ran, scoped, name=torch).meta.tool == "MindSpore Profiler"
    # Nothing tells: the name of the file does.
    for name, tool in ((torch, "Ascend PyTorch Profiler"), (mindspore, "MindSpore Profiler"),
                       ("renamed", "msprof")):  # fmt: skip
        assert read(tmp_path, ran, info(1), name=name).meta.tool == tool


def test_how_a_task_is_split_stands_beside_it(tmp_path: Path) -> None:
    for heads in (("blockDim", "mixBlockDim"), ("blockNum", "mixBlockNum")):
        split: Table = ("COMPUTE_TASK_INFO", (*INFO, *heads), [(*info(1)[2][0], 20, 40)])
        trace = read(tmp_path, tasks((100, 200, 1, "AI_VECTOR_CORE")), split)
        assert trace.calls[["block_dim", "mix_block_dim"]].values.tolist() == [[20, 40]]
        assert hardware_counters(trace) == ()


API = ("startNs", "endNs", "type", "globalTid", "name")
CALLS = ["aclrtMemcpyAsync", "aclrtSynchronizeStreamWithTimeout", "aclrtMemcpy", "aten::item",
         "Optimizer.step#SGD.step", "aclrtSynchronizeDevice"]  # fmt: skip


def with_calls(tmp_path: Path, *calls: tuple[Any, Any, int, str]) -> Trace:
    """A kernel, and calls of AscendCL: start, end, thread and name; inside an item() on thread 41,
    whose times are text, as the profiler writes them."""
    ids = {name: 100 + number for number, name in enumerate(CALLS)}
    strings: Table = (
        "STRING_IDS",
        ("id", "value"),
        [*enumerate(STRINGS), *map(reversed, ids.items())],
    )
    path = tmp_path / "calls.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    cann: Table = ("CANN_API", API, [(a, b, 20000, n, ids[name]) for a, b, n, name in calls])
    around: Table = ("PYTORCH_API", API, [
        ("90", "350", 50001, 41, ids["aten::item"]),
        ("80", "400", 50001, 41, ids["Optimizer.step#SGD.step"]),
    ])  # fmt: skip
    for table, columns, rows in (
        strings,
        tasks((0, 300, 1, "KERNEL_AIVEC")),
        info(1),
        cann,
        around,
    ):
        db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        db.executemany(
            f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})", list(map(tuple, rows))
        )
    db.commit()
    db.close()
    return ASCEND_DATABASE.read(Source("ascend_pytorch_profiler.db", path.read_bytes()))


def test_waits_of_the_host_are_named_by_the_operator_around_them(tmp_path: Path) -> None:
    trace = with_calls(
        tmp_path,
        (100, 320, 41, "aclrtSynchronizeStreamWithTimeout"),
        (96, 98, 41, "aclrtMemcpyAsync"),
        (322, 326, 41, "aclrtMemcpy"),
        (850, 910, 42, "aclrtSynchronizeDevice"),
        (700, 600, 41, "aclrtMemcpy"),
    )
    waits = trace.host_waits
    assert waits is not None
    names = [waits.names[place] for place in waits.name_of]
    assert names == ["aten::item", "aten::item", "aclrtSynchronizeDevice"]
    assert list(waits.starts_ns) == [100, 322, 850] and list(waits.ends_ns) == [320, 326, 910]
    none = with_calls(tmp_path, (96, 98, 41, "aclrtMemcpyAsync")).host_waits
    assert none is not None and not len(none.starts_ns), "none of its calls waits"
    assert with_calls(tmp_path).host_waits is None, "its calls were not recorded"


@needs_real
def test_the_waits_of_a_real_database() -> None:
    """Against plain SQL: 7 waits for a stream, 5 copies and one for the device; the longest wait
    is in item(), until the run is nearly over."""
    trace = ASCEND_DATABASE.read(Source(REAL.name, REAL.read_bytes()))
    waits = trace.host_waits
    assert waits is not None
    db = sqlite3.connect(f"file:{REAL}?mode=ro", uri=True)
    rows = db.execute(
        "SELECT startNs, endNs FROM CANN_API JOIN STRING_IDS ON name = id WHERE value LIKE "
        "'aclrtSync%' OR value = 'aclrtMemcpy' ORDER BY startNs"
    ).fetchall()
    db.close()
    assert len(rows) == 13
    assert list(zip(waits.starts_ns.tolist(), waits.ends_ns.tolist(), strict=True)) == rows
    longest = int((waits.ends_ns - waits.starts_ns).argmax())
    assert waits.names[waits.name_of[longest]] == "aten::_local_scalar_dense"
