"""op_statistic.csv alone: totals of op types, each standing for its calls."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests import miniatures


def trace_of(text: str) -> Trace:
    trace = read(Source("op_statistic.csv", text.encode()))
    assert isinstance(trace, Trace)
    return trace


def test_a_row_is_all_calls_of_its_type() -> None:
    trace = read_path(miniatures.FOLDER / "ascend_op_statistic")
    assert isinstance(trace, Trace)
    assert trace.calls["n"].to_list() == [12, 2, 24, 1, 3]
    assert trace.calls["dur_ns"].to_list() == [1_204_500, 400_000, 240_480, 50_000, 5_020]
    assert trace.calls["start_ns"].isna().all()
    assert trace.operators["provider"].to_list()[:3] == ["AI_CORE", "MIX_AIC", "AI_VECTOR_CORE"]
    assert trace.operators["op_type"].isna().to_list() == [False] * 4 + [True]
    assert trace.operators["name"][4] == "AI_VECTOR_CORE"  # of no type
    assert trace.runs["kind"].to_list() == ["file"]
    [found] = [note for note in trace.diagnostics if note.code == "contradiction"]
    assert (found.count, found.example) == (1, "Cast")  # 1 call of 50 us on average 55 us


def test_other_column_sets() -> None:
    trace = trace_of(
        "Model Name,Total Time(ms),Count,OP Type\nresnet,1.5,3,Conv2D\nresnet,N/A,1,Lost\n"
    )
    assert trace.calls["dur_ns"].to_list() == [1_500_000]
    assert trace.operators["provider"].isna().all()
    assert "bad_time" in {note.code for note in trace.diagnostics}


def test_a_head_alone_is_one_sentence() -> None:
    with pytest.raises(FuseScopeError, match="does not contain any operators"):
        trace_of("OP Type,Core Type,Count,Total Time(us)\n")


def test_the_real_file_to_the_ns(shared_traces: Path) -> None:
    folder = shared_traces / "third_party" / "ascend_torch_npu" / "2025-01-level1-rank0"
    path = folder / "op_statistic.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    trace = read_path(path)
    assert isinstance(trace, Trace) and trace.meta.format == "ascend_op_statistic"
    assert trace.calls["n"].to_list() == [int(row["Count"]) for row in rows]
    assert trace.calls["dur_ns"].to_list() == [
        int(Decimal(row["Total Time(us)"]) * 1000) for row in rows
    ]
    assert trace.operators["op_type"].to_list() == [row["OP Type"] for row in rows]
    assert "contradiction" not in {note.code for note in trace.diagnostics}
