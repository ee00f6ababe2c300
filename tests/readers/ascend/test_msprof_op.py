"""msprof op: tables of blocks become one operator."""

from __future__ import annotations

import csv
from decimal import Decimal

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import find, read_path
from fusescope.analysis.readers.ascend.msprof_op import MSPROF_OP
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.conftest import SHARED_TRACES
from tests.neighbours import damaged_neighbours

REAL = SHARED_TRACES / "third_party" / "ascend_msprof_op"
needs_real = pytest.mark.usefixtures("shared_traces")

BASIC = (
    "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,"
    "Rated Freq,\nmy_op,vector,50.5,2,0,3,77,N/A,1800,\n"
)
PIPE = (
    "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,\n"
    "0,vector0,10,100,4,0.4,\n1,vector0,30,300,6,0.2,\n"
)
ARITHMETIC = (
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_fops,aiv_time(us),"
    "aiv_total_cycles,aiv_vec_fops,\n0,vector0,N/A,N/A,N/A,10,100,1000,\n"
    "1,vector0,NA,NA,NA,30,300,500,\n"
)
CACHE = (
    "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_write_cache_hit,"
    "aiv_write_cache_miss_allocate,aiv_r0_read_cache_hit,aiv_r0_read_cache_miss_allocate,"
    "aiv_r1_read_cache_hit,aiv_r1_read_cache_miss_allocate,aiv_write_hit_rate(%),"
    "aiv_read_hit_rate(%),aiv_total_hit_rate(%),\n"
    "0,vector0,10,100,10,0,0,10,10,10,100,33.3,50,\n"
    "1,vector0,30,300,0,0,100,0,100,0,NA,100,100,\n"
)
MEMORY = (
    "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_main_mem_read_bw(GB/s),"
    "read_main_memory_datas(KB),L1_to_GM_bw_usage_rate(%)(estimate),\n"
    "0,vector0,10,100,1.5,64,10,\n1,vector0,30,300,2.5,32,50,\n"
)


def folder(**tables: str) -> tuple[Source, ...]:
    return tuple(
        Source(f"{name}.csv", text.encode(), path=f"OPPROF_1/{name}.csv")
        for name, text in tables.items()
    )


def only(sources: tuple[Source, ...]) -> Trace:
    found = find(sources)
    assert len(found.recordings) == 1, found
    assert not found.failed and not found.unknown and not found.covered
    value = found.recordings[0].value
    assert isinstance(value, Trace)
    return value


def test_blocks_are_brought_together_by_what_they_measure() -> None:
    trace = only(
        folder(
            ArithmeticUtilization=ARITHMETIC, L2Cache=CACHE, Memory=MEMORY, OpBasicInfo=BASIC,
            PipeUtilization=PIPE,
        )
    )  # fmt: skip
    operator, call = trace.operators.iloc[0], trace.calls.iloc[0]
    assert (operator["name"], operator["provider"]) == ("my_op", "vector")
    assert (operator["flops"], operator["flops_source"]) == (1500, "counter")
    assert call["dur_ns"] == 50_500
    assert call["device"] == "3"
    assert call["aiv_time(us)"] == 30  # the longest block
    assert call["aiv_vec_time(us)"] == 6
    assert call["aiv_vec_ratio"] == pytest.approx((10 * 0.4 + 30 * 0.2) / 40)  # weighted by time
    assert call["read_main_memory_datas(KB)"] == 96  # the sum
    assert call["aiv_main_mem_read_bw(GB/s)"] == 4.0
    assert call["aiv_vec_fops"] == 1500
    assert call["aiv_write_hit_rate"] == 1.0  # 10 of 10, not the mean of 1 and nothing
    assert call["aiv_read_hit_rate"] == pytest.approx(210 / 230)
    assert call["l2_hit_rate"] == pytest.approx(220 / 240)
    assert call["L1_to_GM_bw_usage_rate(estimate)"] == pytest.approx((10 * 0.1 + 30 * 0.5) / 40)
    assert set(trace.meta.files) | {"OPPROF_1/ArithmeticUtilization.csv"} == {
        f"OPPROF_1/{name}.csv"
        for name in ("ArithmeticUtilization", "L2Cache", "Memory", "OpBasicInfo", "PipeUtilization")
    }


def test_of_two_tables_of_a_kind_the_one_of_the_same_measurement_counts() -> None:
    other = PIPE.replace("100,", "999,").replace("0.4", "0.9")
    files = (
        Source("a.csv", ARITHMETIC.encode(), path="a.csv"),
        Source("b.csv", other.encode(), path="b.csv"),
        Source("c.csv", PIPE.encode(), path="c.csv"),
        Source("d.csv", BASIC.encode(), path="d.csv"),
    )
    found = find(files)
    trace = found.recordings[0].value
    assert isinstance(trace, Trace)
    assert trace.meta.files == ("c.csv", "d.csv")
    assert trace.calls["aiv_vec_ratio"][0] == pytest.approx(0.25)
    # the stranger has no OpBasicInfo.csv of its own
    assert found.recordings[1].value.diagnostics[0].code == "longest_block"


def test_tables_of_other_blocks_are_left_out() -> None:
    wider = PIPE + "2,vector0,90,900,9,0.1,\n"
    trace = only_first(folder(OpBasicInfo=BASIC, PipeUtilization=wider))
    assert "aiv_vec_ratio" not in trace.calls
    assert "companion_unmatched" in [note.code for note in trace.diagnostics]


def test_a_damaged_table_is_named() -> None:
    damaged = b"block_id,sub_block_id,hit\n0,vector0,1,a,b\n1,vector0,1,a,b\n"
    beside = Source("L2Cache.csv", damaged, path="OPPROF_1/L2Cache.csv")
    main, *others = folder(OpBasicInfo=BASIC, PipeUtilization=PIPE)
    trace = MSPROF_OP.read(main.among((*others, beside)))
    [note] = [note for note in trace.diagnostics if note.code == "companion_unreadable"]
    assert note.example == "L2Cache.csv"


def only_first(sources: tuple[Source, ...]) -> Trace:
    value = find(sources).recordings[0].value
    assert isinstance(value, Trace)
    return value


def test_a_table_alone_takes_as_long_as_its_longest_block() -> None:
    trace = only(folder(PipeUtilization=PIPE))
    assert trace.calls["dur_ns"].tolist() == [30_000]
    assert trace.operators["name"].tolist() == ["OPPROF_1"]
    assert [note.code for note in trace.diagnostics] == ["longest_block", "no_runs"]


def test_several_operators_get_no_counters_of_blocks() -> None:
    twice = BASIC + "my_op,vector,49.5,2,0,3,77,N/A,1800,\n"
    trace = only(folder(OpBasicInfo=twice, PipeUtilization=PIPE))
    assert trace.calls["dur_ns"].tolist() == [50_500, 49_500]
    assert "aiv_vec_ratio" not in trace.calls
    assert "companion_unmatched" in [note.code for note in trace.diagnostics]


def test_blocks_without_times_are_an_error() -> None:
    source = Source("x.csv", b"block_id,sub_block_id,aiv_vec_ratio\n0,vector0,0.5\n")
    with pytest.raises(FuseScopeError, match="any times"):
        MSPROF_OP.read(source)


@needs_real
@pytest.mark.parametrize(("kind", "dur_ns"), [("cm", 494_240), ("rm", 269_180)])
def test_the_real_pair(kind: str, dur_ns: int) -> None:
    folder_path = REAL / f"fp32_{kind}_gemv"
    trace = read_path(folder_path)
    assert isinstance(trace, Trace)
    # 494.239990 and 269.179993 us in the files
    assert trace.calls["dur_ns"].tolist() == [dur_ns]
    assert len(trace.meta.files) == 7

    def rows(name: str) -> list[dict[str, str]]:
        with (folder_path / name).open(newline="") as file:
            return list(csv.DictReader(file))

    def known(name: str, head: str) -> list[Decimal]:
        return [Decimal(row[head]) for row in rows(name) if row[head] != "N/A"]

    assert trace.operators["flops"][0] == sum(known("ArithmeticUtilization.csv", "aiv_vec_fops"))
    call = trace.calls.iloc[0]
    assert call["aiv_vec_time(us)"] == pytest.approx(
        float(max(known("PipeUtilization.csv", "aiv_vec_time(us)")))
    )
    assert call["GM_to_UB_datas(KB)"] == pytest.approx(
        float(sum(known("Memory.csv", "GM_to_UB_datas(KB)")))
    )
    ratios, times = (
        known("PipeUtilization.csv", "aiv_mte2_ratio"),
        known("PipeUtilization.csv", "aiv_time(us)"),
    )
    weighted = sum(r * t for r, t in zip(ratios, times, strict=True)) / sum(times)
    assert call["aiv_mte2_ratio"] == pytest.approx(float(weighted))
    hits = misses = Decimal(0)
    for row in rows("L2Cache.csv"):
        for head, cell in row.items():
            if head and cell != "N/A" and head.endswith("_cache_hit"):
                hits += Decimal(cell)
            if head and cell != "N/A" and head.endswith("_miss_allocate"):
                misses += Decimal(cell)
    assert call["l2_hit_rate"] == pytest.approx(float(hits / (hits + misses)))


def test_files_of_other_tools_beside_bring_no_warning() -> None:
    beside = [
        Source(one.name, one.load, path=f"OPPROF_1/{one.name}") for one in damaged_neighbours()
    ]
    main, *others = folder(OpBasicInfo=BASIC, PipeUtilization=PIPE)
    trace = MSPROF_OP.read(main.among((*others, *beside)))
    assert "companion_unreadable" not in {note.code for note in trace.diagnostics}
