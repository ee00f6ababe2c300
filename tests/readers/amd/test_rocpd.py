"""rocpd databases: their tables by suffix, in each version, and what belongs to a kernel."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.host_activity import KINDS
from fusescope.analysis.readers import read as read_any
from fusescope.analysis.readers.amd.rocpd import ROCPD
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.conftest import SHARED_TRACES

Table = tuple[str, str, Sequence[Sequence[Any]]]
MINIATURE = Path(__file__).parents[3] / "sample_traces/formats/rocpd/4711_results.db"
SYMBOLS: Table = (
    "rocpd_info_kernel_symbol",
    "id, display_name, kernel_name, extdata",
    [
        (1, "gemm(float*)", "_Z4gemmPf.kd", "{}"),
        (2, "mul", "mul.kd", json.dumps({"formatted_kernel_name": "mul(int) [clone .kd]"})),
        (3, None, "_Z3addv.kd", "no JSON"),
    ],
)
DISPATCH = 'id, pid, agent_id, queue_id, kernel_id, start, "end", event_id'


def source(tmp_path: Path, *tables: Table, suffix: str = "_1") -> Source:
    path = tmp_path / "1_results.db"
    with closing(sqlite3.connect(path)) as db:
        for name, columns, rows in tables:
            db.execute(f"CREATE TABLE `{name}{suffix}` ({columns})")
            places = ",".join("?" * (columns.count(",") + 1))
            db.executemany(f"INSERT INTO `{name}{suffix}` VALUES ({places})", rows)
        db.commit()
    return Source("1_results.db", path.read_bytes())


def read(tmp_path: Path, *tables: Table, suffix: str = "_1") -> Trace:
    trace = read_any(source(tmp_path, *tables, suffix=suffix))
    assert isinstance(trace, Trace) and trace.meta.format == "rocpd"
    return trace


def notes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def ran(trace: Trace) -> list[tuple[str, int]]:
    names = trace.operators["name"].to_numpy()[trace.calls["operator"].to_numpy()]
    return list(zip(names.tolist(), trace.calls["dur_ns"].tolist(), strict=True))


def test_the_miniature_says_what_its_views_say() -> None:
    trace = read_any(Source("4711_results.db", MINIATURE.read_bytes()))
    assert isinstance(trace, Trace)
    with closing(sqlite3.connect(f"file:{MINIATURE}?mode=ro", uri=True)) as db:
        told = db.execute(
            'SELECT S.display_name, K."end" - K.start FROM rocpd_kernel_dispatch K '
            "JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id ORDER BY K.start"
        ).fetchall()
    assert [one for one in ran(trace) if "COPY" not in one[0]] == told
    assert trace.meta.device == "AMD Instinct MI300X"
    assert dict(trace.meta.redactable) == {"host": "miniature-host"}
    assert trace.calls["device"].unique().tolist() == ["Agent 1"]
    # From the start of the copy to the end of the last kernel: 60 µs, then 80, 12 and 40 µs with
    # 1 µs between them; each kernel of the second run takes 1 ns more.
    assert trace.runs["dur_ns"].tolist() == [194_000, 194_003]
    assert trace.runs["launches"].tolist() == [3, 3]
    assert trace.runs["launch_ns"].tolist() == [9_000, 9_000]
    launchers = dict(zip(trace.operators["name"], trace.operators["launched_by"], strict=True))
    assert launchers["gemm(float*, float*, float*)"] == "hipLaunchKernel"
    assert launchers["MEMORY_COPY_HOST_TO_DEVICE"] == "hipMemcpyAsync"
    waits = trace.host_waits
    assert waits is not None and waits.names == ("hipStreamSynchronize",)
    host = trace.host
    assert host is not None and len(host.lane_names) == 1
    kinds = [KINDS[kind] for kind in host.kind_of]
    told = set(zip(kinds, (host.names[name] for name in host.name_of), strict=True))
    assert {("runtime", "hipLaunchKernel"), ("runtime", "hipStreamSynchronize")} <= told
    assert ("annotation", "iteration 1") in told
    lanes, times = host.launches_of(trace.calls["source_row"].to_numpy("int64"))
    assert (lanes == 0).all() and (times <= trace.calls["start_ns"].to_numpy("int64")).all()
    assert trace.calls["SQ_WAVES"].dropna().tolist() == [64.0] * 6  # of both units together
    assert trace.calls["bytes"].dropna().tolist() == [602_112.0] * 2


@pytest.mark.parametrize("suffix", ["_0a1b_2c", "", "_"])
def test_tables_are_found_by_whatever_suffix(tmp_path: Path, suffix: str) -> None:
    rows = [(1, 9, 4, 1, 1, 100, 150, None), (2, 9, 4, 1, 2, 200, 230, None),
            (3, 9, 4, 1, 3, 300, 310, None), (4, 9, 4, 1, 77, 400, None, 5)]  # fmt: skip
    trace = read(tmp_path, SYMBOLS, ("rocpd_kernel_dispatch", DISPATCH, rows), suffix=suffix)
    assert ran(trace) == [("gemm(float*)", 50), ("mul(int)", 30), ("_Z3addv", 10)]
    assert notes(trace) == {"bad_time": 1, "no_runs": 1}
    assert trace.calls["device"].tolist() == ["Agent 4"] * 3
    assert trace.calls["stream"].tolist() == ["1"] * 3


def test_times_and_places_behind_numbers(tmp_path: Path) -> None:
    """The version whose rows name two timestamps and a track."""
    trace = read(
        tmp_path,
        SYMBOLS,
        ("rocpd_timestamp", "id, value", [(1, 1000), (2, 1040), (3, 1100), (4, 1190)]),
        ("rocpd_track", "id, nid, pid, tid, agent_id, queue_id, stream_id",
         [(1, 1, 50, 7, 2, 5, 6)]),
        ("rocpd_info_agent", "id, type, absolute_index, product_name", [(2, "GPU", 8, "MI210")]),
        ("rocpd_kernel_dispatch", "id, track_id, kernel_id, start_id, end_id, event_id",
         [(1, 1, 1, 1, 2, 1), (2, 1, 2, 3, 4, 2), (3, 1, 2, 3, 99, 2)]),
    )  # fmt: skip
    assert ran(trace) == [("gemm(float*)", 40), ("mul(int)", 90)]
    assert trace.calls["start_ns"].tolist() == [1000, 1100]
    assert trace.calls["device"].tolist() == ["Agent 8"] * 2 and trace.meta.device == "MI210"
    assert trace.calls["stream"].tolist() == ["5"] * 2 and notes(trace)["bad_time"] == 1


def test_a_merged_database_has_a_trace_for_each_process(tmp_path: Path) -> None:
    def tables(pid: int, *lengths: int) -> list[Table]:
        rows = [(n, 1, 2, 1, 1, 100 * n, 100 * n + dur, n) for n, dur in enumerate(lengths, 1)]
        return [
            SYMBOLS,
            ("rocpd_info_process", "id, pid", [(1, pid)]),
            ("rocpd_kernel_dispatch", DISPATCH, rows),
        ]

    source(tmp_path, *tables(70, 10, 20), suffix="_a")
    trace = read(tmp_path, *tables(71, 30), suffix="_b")
    assert list(trace.units) == ["process:70", "process:71"]
    assert [one.calls["dur_ns"].tolist() for one in trace.units.values()] == [[10, 20], [30]]


def test_processes_of_one_number_on_two_machines_are_two(tmp_path: Path) -> None:
    for suffix in ("_a", "_b"):
        made = source(
            tmp_path,
            SYMBOLS,
            ("rocpd_info_process", "id, pid", [(1, 7)]),
            ("rocpd_kernel_dispatch", DISPATCH, [(1, 1, 2, 1, 1, 100, 150, 1)]),
            suffix=suffix,
        )
    trace = ROCPD.read(made)
    assert isinstance(trace, Trace) and list(trace.units) == ["process:7", "process:7#2"]


def test_markers_of_other_threads_and_without_a_text(tmp_path: Path) -> None:
    """Ranges that number nothing are what launched a kernel; one without a text is nothing."""
    event = "id, category_id, stack_id, correlation_id, extdata"
    trace = read(
        tmp_path,
        SYMBOLS,
        ("rocpd_string", "id, string", [(1, "MARKER_CORE_RANGE_API"), (2, "HIP_RUNTIME_API"),
                                        (3, "roctxThreadRangeA"), (4, "hipLaunchKernel")]),
        ("rocpd_event", event, [(1, 1, 90, 0, json.dumps({"message": "layer 1"})),
                                (2, 1, 91, 0, "["), (3, 2, 5, 0, "{}"), (4, 9, 0, 5, "{}"),
                                (5, None, None, None, None)]),
        ("rocpd_region", 'id, pid, tid, name_id, event_id, start, "end"',
         [(1, 1, 3, 3, 1, 10, 90), (2, 1, 3, 3, 2, 20, 80), (3, 1, 3, 4, 3, 30, 40),
          (4, 1, 3, 4, 5, 50, 60)]),
        ("rocpd_kernel_dispatch", DISPATCH,
         [(1, 1, 2, 1, 1, 100, 150, 4), (2, 1, 2, 1, 1, 200, 250, 5)]),
    )  # fmt: skip
    assert trace.operators["launched_by"].tolist()[0] == "layer 1"
    assert trace.operators["launched_by"].isna().tolist() == [False, True]
    assert trace.runs["launches"].tolist() == [1]


def test_counters_have_a_limit_and_no_names_of_columns(tmp_path: Path) -> None:
    info = [(n, f"C{n}", None) for n in range(1, 304)] + [(400, None, "S"), (401, "run", None)]
    values = [(1, number, 2.0) for number, _, _ in info] + [(9, 1, 5.0), (1, 400, 3), (1, 1, "x")]
    trace = read(
        tmp_path,
        SYMBOLS,
        ("rocpd_info_pmc", "id, name, symbol", info),
        ("rocpd_pmc_event", "event_id, pmc_id, value", values),
        ("rocpd_kernel_dispatch", DISPATCH, [(1, 1, 2, 1, 1, 100, 150, 1)]),
    )
    assert trace.calls["C1"].tolist() == [2.0] and trace.calls["C300"].tolist() == [2.0]
    assert "C301" not in trace.calls and notes(trace)["counters_beyond"] == 5
    assert trace.calls["run"].tolist() == [0]


def test_a_database_without_kernels_says_how_to_record_them(tmp_path: Path) -> None:
    empty = source(tmp_path, SYMBOLS, ("rocpd_kernel_dispatch", DISPATCH, []))
    with pytest.raises(FuseScopeError) as caught:
        read_any(empty)
    assert caught.value.code == "rocprof_empty" and "rocprofv3" in caught.value.hint


def test_the_case_of_a_user() -> None:
    path = SHARED_TRACES.parent / "cases" / "rocpd.db"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    trace = read_any(Source("rocpd.db", path.read_bytes()))
    assert isinstance(trace, Trace)
    assert (len(trace.calls), int(trace.calls["dur_ns"].sum())) == (2, 30_000)
