"""Nsight Systems reports: names, launches, NVTX ranges and runs, against plain SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.host_activity import KINDS
from fusescope.analysis.readers.ascend.database import ASCEND_DATABASE
from fusescope.analysis.readers.building.range_names import name_of_range
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.nvidia.nsys import NSYS
from fusescope.analysis.trace import Trace
from tests.conftest import SHARED_TRACES

REAL = SHARED_TRACES / "third_party/nsys/saxpy-mpi-cuda.sqlite"
needs_real = pytest.mark.usefixtures("shared_traces")

Table = tuple[str, Sequence[str], Sequence[Sequence[Any]]]
PID = 5 << 24
THREAD = PID | 17
NAMES: Table = (
    "StringIds",
    ("id", "value"),
    [(1, "void gemm<float>(int)"), (2, "gemm"), (3, "cudaLaunchKernel_v7000"), (4, "step 4")],
)
KERNEL = ("start", '"end"', "deviceId", "streamId", "correlationId", "globalPid", "demangledName")


def source(tmp_path: Path, *tables: Table) -> Source:
    path = tmp_path / "made.sqlite"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    for table, columns, rows in tables:
        db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})", rows)
    db.commit()
    db.close()
    return Source("made.sqlite", path.read_bytes())


def read(tmp_path: Path, *tables: Table) -> Trace:
    made = source(tmp_path, *tables)
    assert NSYS.sniff(made.head) and not ASCEND_DATABASE.sniff(made.head)
    return NSYS.read(made)


def kernels(*rows: tuple[int, int, int], pid: int = PID) -> Table:
    """Kernels from start, end and correlation."""
    return ("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL, [(a, b, 0, 7, c, pid, 1) for a, b, c in rows])


def runtime(*rows: tuple[int, int]) -> Table:
    """Calls of the host from start and correlation."""
    columns = ("start", "globalTid", "correlationId", "nameId")
    return ("CUPTI_ACTIVITY_KIND_RUNTIME", columns, [(a, THREAD, c, 3) for a, c in rows])


def ranges(*rows: tuple[int, int | None, str], thread: int = THREAD) -> Table:
    columns = ("start", '"end"', "eventType", "text", "globalTid")
    return ("NVTX_EVENTS", columns, [(a, b, 59, text, thread) for a, b, text in rows])


def notes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def test_graphs_recorded_as_a_whole_are_counted_and_told(tmp_path: Path) -> None:
    columns = ("start", '"end"', "deviceId", "streamId", "correlationId", "globalPid", "graphId")
    graphs = ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns,
              [(200, 900, 0, 7, 2, PID, 109), (1000, 1800, 0, 7, 3, PID, 109)])  # fmt: skip
    trace = read(
        tmp_path, NAMES, kernels((100, 150, 1)), graphs, runtime((90, 1), (190, 2), (990, 3))
    )
    assert trace.operators["name"].tolist() == ["void gemm<float>(int)", "[CUDA graph 109]"]
    assert trace.operators["op_type"].tolist() == ["gemm", "CUDA graph"]
    assert trace.calls["dur_ns"].tolist() == [50, 700, 800]
    assert notes(trace)["graphs_whole"] == 2
    alone = read(tmp_path, NAMES, graphs)
    assert len(alone.calls) == 2 and "no_kernels" not in notes(alone)


def test_launches_are_those_of_the_open_range(tmp_path: Path) -> None:
    names = list(NAMES[2])
    numbers = dict(zip(("cudaLaunchKernel_v7000", "cudaMemcpy_v3020"), (901, 902), strict=True))
    strings: Table = (NAMES[0], NAMES[1], [*names, *((n, text) for text, n in numbers.items())])
    columns = ("start", '"end"', "globalTid", "correlationId", "nameId")
    calls = [(90, 95, 901, 1), (96, 99, 902, 2), (210, 216, 901, 3), (220, 222, 901, 4)]
    api: Table = ("CUPTI_ACTIVITY_KIND_RUNTIME", columns,
                  [(a, b, THREAD, c, name) for a, b, name, c in calls])  # fmt: skip
    ran = kernels((100, 150, 1), (230, 240, 3), (240, 250, 4))
    marks = ranges((80, 200, "iteration 0"), (200, 300, "iteration 1"))
    runs = read(tmp_path, strings, ran, api, marks).runs
    assert runs["launches"].tolist() == [1, 2] and runs["launch_ns"].tolist() == [5, 8]
    whole = read(tmp_path, strings, ran, api).runs
    assert whole["launches"].tolist() == [3] and whole["launch_ns"].tolist() == [13]
    assert read(tmp_path, strings, ran).runs["launches"].isna().all()


def test_calls_that_wait_for_the_device(tmp_path: Path) -> None:
    """Of seven calls three wait; one of those has no end. A report without calls says nothing."""
    texts = ("cudaStreamSynchronize_v3020", "cudaMemcpyAsync_v3020", "cudaMemcpy_v3020")
    strings: Table = (NAMES[0], NAMES[1], [*NAMES[2], *enumerate(texts, start=900)])
    columns = ("start", '"end"', "globalTid", "correlationId", "nameId")
    calls = [
        (90, 95, 3, 1), (610, 700, 902, 5), (96, 99, 901, 2), (120, 170, 900, 3),
        (180, 185, 3, 4), (800, None, 900, 6), (900, 950, 77, 7),
    ]  # fmt: skip
    api: Table = ("CUPTI_ACTIVITY_KIND_RUNTIME", columns,
                  [(a, b, THREAD, c, name) for a, b, name, c in calls])  # fmt: skip
    ran = kernels((100, 160, 1), (190, 650, 4))
    waits = read(tmp_path, strings, ran, api).host_waits
    assert waits is not None
    assert [waits.names[at] for at in waits.name_of] == ["cudaStreamSynchronize", "cudaMemcpy"]
    assert (waits.starts_ns.tolist(), waits.ends_ns.tolist()) == ([120, 610], [170, 700])
    none = read(tmp_path, strings, ran, runtime((90, 1))).host_waits
    assert none is not None and len(none.starts_ns) == 0
    assert read(tmp_path, strings, ran).host_waits is None


def test_what_the_host_did_and_when_it_launched(tmp_path: Path) -> None:
    """A copy has another row than the kernel; a range between two threads is on none of them."""
    names: Table = (*NAMES[:2], [*NAMES[2], (5, "cudaMemcpyAsync_v3020")])
    columns = ("start", '"end"', "globalTid", "correlationId", "nameId")
    api: Table = ("CUPTI_ACTIVITY_KIND_RUNTIME", columns,
                  [(90, 95, THREAD, 1, 3), (96, 99, THREAD + 1, 2, 5)])  # fmt: skip
    copies: Table = ("CUPTI_ACTIVITY_KIND_MEMCPY", KERNEL[:6], [(160, 170, 0, 7, 2, PID)])
    rows = [
        (80, 100, 59, "aten::add, seq = 7, op_id = 12", THREAD),
        (10, 500, 60, "step 4", THREAD),
    ]
    marks: Table = ("NVTX_EVENTS", ("start", '"end"', "eventType", "text", "globalTid"), rows)
    host = read(tmp_path, names, kernels((100, 150, 1)), copies, api, marks).host
    assert host is not None and host.lane_names == ("thread 17", "thread 18", "process 5")
    told = zip(host.lanes, host.name_of, host.kind_of, host.starts_ns, host.ends_ns, strict=True)
    assert [(int(a), host.names[b], KINDS[c], int(d), int(e)) for a, b, c, d, e in told] == [
        (0, "aten::add", "annotation", 80, 100), (0, "cudaLaunchKernel", "runtime", 90, 95),
        (1, "cudaMemcpyAsync", "runtime", 96, 99), (2, "step 4", "annotation", 10, 500),
    ]  # fmt: skip
    assert (host.launch_rows.tolist(), host.launch_ns.tolist()) == ([1, 2], [90, 96])
    assert host.launch_lanes.tolist() == [0, 1]
    assert read(tmp_path, NAMES, kernels((100, 150, 1))).host is None


def test_kernels_copies_and_fills(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        NAMES,
        kernels((100, 150, 1)),
        ("CUPTI_ACTIVITY_KIND_MEMCPY", ("start", '"end"', "copyKind", "bytes"),
         [(10, 30, 1, 64), (160, 170, 8, 32), (180, 181, 99, 16)]),
        ("CUPTI_ACTIVITY_KIND_MEMSET", ("start", '"end"', "bytes"), [(40, 45, 8)]),
        ("TARGET_INFO_GPU", ("id", "name", "cuDevice"), [(3, "NVIDIA A10G", 0)]),
        ("EXPORT_META_DATA", ("name", "value"),
         [("EXPORT_PRODUCT_VERSION", "2024.1"), ("EXPORT_HOST", "h"), ("EXPORT_USER", "u")]),
    )  # fmt: skip
    order = trace.operators["op_type"].astype("object").to_numpy()[trace.calls["operator"]]
    assert order.tolist() == ["Memcpy HtoD", "Memset", "gemm", "Memcpy DtoD", "Memcpy"]
    assert trace.calls["dur_ns"].tolist() == [20, 5, 50, 10, 1]
    assert trace.calls["bytes"].tolist()[:2] == [64, 8]
    assert trace.calls["device"].tolist()[2] == "NVIDIA A10G (0)"
    assert (trace.meta.device, trace.meta.version) == ("NVIDIA A10G", "2024.1")
    assert dict(trace.meta.redactable) == {"host": "h", "user": "u"}
    assert notes(trace) == {"no_runs": 1}


@pytest.mark.parametrize(
    ("columns", "row", "expected"),
    [
        (("demangledName", "shortName"), (1, 2), "void gemm<float>(int)"),
        (("demangledName", "shortName"), (77, 2), "gemm"),
        (("shortName",), (2,), "gemm"),
        (("name TEXT",), ("plain_name",), "plain_name"),
        (("gridX",), (1,), "unnamed"),
    ],
)
def test_names_in_every_version(
    tmp_path: Path, columns: tuple[str, ...], row: tuple[Any, ...], expected: str
) -> None:
    table: Table = ("CUPTI_ACTIVITY_KIND_KERNEL", ("start", '"end"', *columns), [(1, 2, *row)])
    assert read(tmp_path, NAMES, table).operators["name"].tolist() == [expected]


def test_the_innermost_range_around_the_launch(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        NAMES,
        kernels((1000, 1010, 1), (1020, 1030, 2), (1040, 1050, 3), (1060, 1070, 4)),
        runtime((15, 1), (25, 2), (45, 3)),
        ranges((10, 40, "model"), (20, 30, "layer"), (12, None, "mark")),
    )
    launched = trace.operators["launched_by"].astype("object").to_numpy()[trace.calls["operator"]]
    assert launched.tolist()[:3] == ["model", "layer", "cudaLaunchKernel"]
    assert pd.isna(launched[3])


def test_ranges_that_have_ended_hold_no_launch_and_count_for_no_depth(tmp_path: Path) -> None:
    many = [(number, number + 1, f"range {number}") for number in range(10, 1_000)]
    trace = read(
        tmp_path, NAMES,
        kernels((5000, 5010, 1), (5020, 5030, 2), (5040, 5050, 3)),
        runtime((15, 1), (999, 2), (1_500, 3)),
        ranges((5, 2_000, "model"), *many),
    )  # fmt: skip
    launched = trace.operators["launched_by"].astype("object").to_numpy()[trace.calls["operator"]]
    assert launched.tolist() == ["range 15", "range 999", "model"]


def test_numbered_ranges_are_runs_of_what_they_launched(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        NAMES,
        kernels((500, 600, 1), (610, 640, 2), (900, 905, 3)),
        runtime((15, 1), (25, 2), (95, 3)),
        ranges((10, 20, "step 3"), (20, 30, "step 4"), (30, 40, "step 5"), (0, 90, "epoch")),
    )
    # Both steps' kernels ran long after the host had left the ranges; step 5 launched none.
    assert trace.runs[["start_ns", "dur_ns"]].to_numpy().tolist() == [
        [500, 100],
        [610, 30],
        [30, 10],
    ]
    assert trace.runs["kind"].tolist() == ["step"] * 3
    assert trace.calls["run"].tolist()[:2] == [0, 1]
    assert notes(trace) == {"outside_runs": 1}


def test_kernels_launched_before_the_report_are_of_no_run(tmp_path: Path) -> None:
    """The first one starts inside the first range, whose own kernel starts later."""
    trace = read(
        tmp_path,
        NAMES,
        kernels((14, 18, 9), (500, 600, 1), (610, 640, 2)),
        runtime((15, 1), (25, 2)),
        ranges((10, 20, "step 3"), (20, 30, "step 4")),
    )
    assert trace.calls.sort_values("start_ns")["run"].fillna(-1).tolist() == [-1, 0, 1]
    assert trace.runs["start_ns"].tolist() == [500, 610]
    assert notes(trace) == {"launched_before": 1}


def test_repeated_ranges_and_registered_texts_mark_runs_too(tmp_path: Path) -> None:
    table: Table = (
        "NVTX_EVENTS",
        ("start", '"end"', "eventType", "text", "textId", "globalTid"),
        [(0, 10, 59, None, 4, THREAD), (10, 20, 60, "step 5", None, THREAD)],
    )
    trace = read(tmp_path, NAMES, kernels((1, 2, 1), (12, 13, 2)), table)
    assert trace.calls["run"].tolist() == [0, 1]


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 10, "layer 1"), (10, 20, "layer 2")],  # numbers, but of layers
        [(0, 15, "step 1"), (10, 20, "step 2")],  # overlapping
        [(0, 10, "iteration 1")],  # a single one
    ],
)
def test_other_ranges_mark_no_runs(tmp_path: Path, rows: list[tuple[int, int, str]]) -> None:
    trace = read(tmp_path, NAMES, kernels((1, 2, 1)), ranges(*rows))
    assert trace.runs["kind"].tolist() == ["file"]


def test_ranges_of_another_process_mark_no_runs(tmp_path: Path) -> None:
    other = (9 << 24) | 1
    trace = read(
        tmp_path,
        NAMES,
        kernels((1, 2, 1)),
        ranges((0, 10, "iter 1"), (10, 20, "iter 2"), thread=other),
    )
    assert trace.runs["kind"].tolist() == ["file"] and "outside_runs" not in notes(trace)


def test_processes_of_one_report_have_runs_of_their_own(tmp_path: Path) -> None:
    """Two ranks: three iterations of the first, two of the second, which runs at the same time."""
    other = 9 << 24
    columns = ("start", "globalTid", "correlationId", "nameId")
    ran = [(100, 150, 1), (300, 370, 2), (500, 540, 3)]
    table: Table = (
        "CUPTI_ACTIVITY_KIND_KERNEL", KERNEL,
        [(a, b, 0, 7, c, PID, 1) for a, b, c in ran] + [(a, b, 1, 7, c, other, 1)
         for a, b, c in ((110, 170, 1), (310, 400, 2))],
    )  # fmt: skip
    calls: Table = (
        "CUPTI_ACTIVITY_KIND_RUNTIME", columns,
        [(at, THREAD, c, 3) for at, c in ((90, 1), (290, 2), (490, 3))]
        + [(at, other | 3, c, 3) for at, c in ((90, 1), (290, 2))],
    )  # fmt: skip
    marks: Table = (
        "NVTX_EVENTS", ("start", '"end"', "eventType", "text", "globalTid"),
        [(80 + 200 * n, 200 + 200 * n, 59, f"iteration {n}", THREAD) for n in range(3)]
        + [(80 + 200 * n, 200 + 200 * n, 59, f"iteration {n}", other | 3) for n in range(2)],
    )  # fmt: skip
    trace = read(tmp_path, NAMES, table, calls, marks)
    assert list(trace.units) == ["process:5", "process:9"]
    assert [len(one.runs) for one in trace.units.values()] == [3, 2]
    assert [one.runs["dur_ns"].tolist() for one in trace.units.values()] == [[50, 70, 40], [60, 90]]
    assert [one.runs["launches"].tolist() for one in trace.units.values()] == [[1, 1, 1], [1, 1]]
    assert all(set(notes(one)) == {"one_of_processes"} for one in trace.units.values())


def test_devices_of_one_process_have_figures_of_their_own(tmp_path: Path) -> None:
    rows = [(100, 150, 0, 7, 1, PID, 1), (100, 170, 1, 7, 2, PID, 1), (200, 210, 0, 7, 3, PID, 1)]
    trace = read(tmp_path, NAMES, ("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL, rows),
                 runtime((90, 1), (95, 2), (190, 3)))  # fmt: skip
    assert list(trace.units) == ["device:0", "device:1"]
    assert [one.calls["dur_ns"].sum() for one in trace.units.values()] == [60, 70]
    assert [one.runs["launches"].tolist() for one in trace.units.values()] == [[2], [1]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("aten::add, seq = 45354, op_id = 990416", "aten::add"),
        ("aten::mm, op_id = 7", "aten::mm"),
        ("aten::addmm, seq = 1, op_id = 2, sizes = [[64], [8, 3], [], []]", "aten::addmm"),
        ("layer 3", "layer 3"),
        ("iteration 12", "iteration"),
        ("ProfilerStep#12", "ProfilerStep"),
        ("f, seq = x", "f, seq = x"),
        (", seq = 3", ", seq = 3"),
    ],
)
def test_numbers_of_single_calls_are_not_part_of_a_name(text: str, name: str) -> None:
    assert name_of_range(text) == name


def test_calls_of_one_operator_have_one_launcher(tmp_path: Path) -> None:
    calls = range(1, 6)
    marks = ranges(*((100 * c - 20, 100 * c, f"aten::add, seq = {c}, op_id = {c}") for c in calls))
    ran = kernels(*((100 * c, 100 * c + 50, c) for c in calls))
    trace = read(tmp_path, NAMES, ran, runtime(*((100 * c - 10, c) for c in calls)), marks)
    assert trace.operators["launched_by"].tolist() == ["aten::add"] and len(trace.calls) == 5


def test_streams_of_several_processes_are_told_apart(tmp_path: Path) -> None:
    table: Table = ("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL,
                    [(1, 9, 0, 7, 1, PID, 1), (2, 8, 0, 7, 1, 9 << 24, 1)])  # fmt: skip
    trace = read(tmp_path, NAMES, table)
    assert len(trace.units) == 2 and "overlapping_calls" not in notes(trace)


def test_copies_alone_are_said_to_be_alone(tmp_path: Path) -> None:
    copies: Table = ("CUPTI_ACTIVITY_KIND_MEMCPY", ("start", '"end"', "copyKind"), [(1, 2, 1)])
    assert notes(read(tmp_path, NAMES, kernels(), copies))["no_kernels"] == 1


def test_an_empty_report_says_what_to_record(tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError, match="any GPU kernels") as raised:
        read(tmp_path, NAMES, kernels())
    assert "--trace=cuda" in str(raised.value.hint)


@needs_real
def test_the_real_report_against_plain_sql() -> None:
    db = sqlite3.connect(f"file:{REAL.resolve()}?mode=ro&immutable=1", uri=True)
    sums = {
        table: db.execute(
            f'SELECT count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_{table}'
        ).fetchone()
        for table in ("KERNEL", "MEMCPY")
    }
    (moved,) = db.execute("SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY").fetchone()
    made = Source(REAL.name, REAL.read_bytes())
    assert NSYS.sniff(made.head)
    trace = NSYS.read(made)
    types = trace.operators["op_type"].astype("object").to_numpy()[trace.calls["operator"]]
    saxpy = trace.calls[types == "saxpy"]
    copies = trace.calls[types != "saxpy"]
    assert (len(saxpy), saxpy["dur_ns"].sum()) == sums["KERNEL"]
    assert (len(copies), copies["dur_ns"].sum()) == sums["MEMCPY"]
    assert copies["bytes"].sum() == moved
    assert trace.operators["launched_by"].tolist()[0] == "saxpy"
    assert trace.meta.device == "NVIDIA A100-SXM4-40GB" and trace.meta.version == "2022.2.1.31"
    assert {"host", "user", "path"} <= set(trace.meta.redactable)


def test_kernels_whose_call_the_file_lacks_are_counted(tmp_path: Path) -> None:
    """Of three kernels one has its call."""
    ran = kernels((100, 150, 1), (160, 180, 2), (190, 200, 3))
    trace = read(tmp_path, NAMES, ran, runtime((90, 1)))
    assert notes(trace)["kernels_without_call"] == 2


def graph_calls(*rows: tuple[int, int]) -> Table:
    columns = ("start", "globalTid", "correlationId", "nameId")
    return ("CUPTI_ACTIVITY_KIND_RUNTIME", columns, [(a, THREAD, c, 5) for a, c in rows])


WITH_GRAPHS: Table = (NAMES[0], NAMES[1], [*NAMES[2], (5, "cudaGraphLaunch_v10000")])


def test_launches_of_graphs_without_kernels_are_said(tmp_path: Path) -> None:
    trace = read(
        tmp_path, WITH_GRAPHS, kernels((100, 150, 1), (160, 180, 1)),
        graph_calls((90, 1), (190, 2), (290, 3)),
    )  # fmt: skip
    assert notes(trace)["graphs_unrecorded"] == 2 and notes(trace)["graphs_launched"] == 2


def test_graphs_recorded_as_a_whole_are_not_missing(tmp_path: Path) -> None:
    columns = ("start", '"end"', "deviceId", "streamId", "correlationId", "globalPid", "graphId")
    graphs = ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns, [(200, 900, 0, 7, 2, PID, 109)])
    trace = read(tmp_path, WITH_GRAPHS, graphs, graph_calls((190, 2)))
    assert "graphs_unrecorded" not in notes(trace)


def test_a_clock_that_is_behind_is_moved(tmp_path: Path) -> None:
    trace = read(tmp_path, NAMES, kernels((40, 60, 1), (150, 170, 2)), runtime((90, 1), (190, 2)))
    assert notes(trace)["kernels_before_launch"] == 2
    assert trace.calls["start_ns"].tolist() == [90, 200]
    assert trace.calls["dur_ns"].tolist() == [20, 20]
