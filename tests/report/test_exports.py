"""A comparison as Markdown, as CSV tables, and for Perfetto."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow.parquet as pq
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.comparison_csv import comparison_csv
from fusescope.analysis.report.exports.comparison_markdown import MAX_LINES, comparison_markdown
from fusescope.analysis.report.exports.comparison_parquet import comparison_parquet
from fusescope.analysis.report.exports.perfetto import perfetto_json
from fusescope.analysis.trace import Trace
from tests.factories import CONV, FUSED, GEMM, UNFUSED_OPERATORS, experiment_zip, profile_json

HOSTILE = "<img src=x> [a](http://127.0.0.1:9/x) `b` **c** | www.d.example\n# e/Conv"


@cache
def of_variants(named: str = "a/Conv", model: str = "tiny") -> Comparison:
    before = [(named if one is CONV else one[0], *one[1:]) for one in UNFUSED_OPERATORS]
    after = [(named, *FUSED[1:]), GEMM]
    data = experiment_zip(
        {"unfused": [10.0] * 8, "fused": [5.0] * 8},
        {"unfused": before, "fused": after},
        model_name=model,
    )
    value = read(Source("made.zip", data))
    assert isinstance(value, Experiment)
    return compare(*choose_sides(value))


@cache
def of_profiles() -> Comparison:
    sides = [
        read(Source(f"{name}.json", profile_json(operators, runs=3)))
        for name, operators in (("before", UNFUSED_OPERATORS), ("after", (FUSED, GEMM)))
    ]
    first, second = (side for side in sides if isinstance(side, Trace))
    return compare(*choose_sides(first, second))


@pytest.mark.parametrize("compared", [of_variants, of_profiles])
def test_a_comment_is_short_and_says_what_the_page_says(
    compared: Callable[[], Comparison],
) -> None:
    text = comparison_markdown(compared())
    lines = text.splitlines()
    assert len(lines) < MAX_LINES
    assert lines[0].startswith("### ")
    assert "**What limits " in text
    assert "**Where the time of a run goes**" in text
    tables = [line for line in lines if line.startswith("|")]
    widths = {line.count("|") for line in tables}
    # Five columns each; what changed from step to step has two.
    assert widths == ({3, 6} if compared().is_explained else {6})


def test_the_head_of_a_comment() -> None:
    text = comparison_markdown(of_variants())
    assert text.startswith("### fused is 2.00× faster than unfused\n")
    assert re.search(r"\| latency \| 10\.0+ ms \| 5\.00 ms \| −50\.0\s% \|", text)
    pattern = "| Conv + BatchNormalization + Relu → FusedConv | 1 |"
    assert f"{pattern} 150 | 110 | −40.0 |" in text and "| change, µs |" in text


def test_names_are_no_markup_in_a_comment() -> None:
    text = comparison_markdown(of_variants(HOSTILE, HOSTILE))
    bare = re.sub(r"\\\\.", "", text).replace("<sub>", "").replace("</sub>", "")
    for piece in ("<", "](", "`", "http://", "www.d"):
        assert piece not in bare, piece
    assert not any(line.startswith("# e") for line in text.splitlines())


def test_both_sides_are_processes_on_one_clock() -> None:
    """Operators of 100, 30, 20 and 50 µs, 2 µs apart, against 110 and 50."""
    found = json.loads(perfetto_json(of_profiles()))
    events = [event for event in found["traceEvents"] if event["ph"] == "X"]
    of: dict[int, list[Any]] = {pid: [e for e in events if e["pid"] == pid] for pid in (1, 2)}
    assert [(e["name"], e["ts"], e["dur"]) for e in of[1]] == [
        ("a/Conv", 2.0, 100.0), ("a/BatchNormalization", 104.0, 30.0), ("a/Relu", 136.0, 20.0),
        ("head/Gemm", 158.0, 50.0),
    ]  # fmt: skip
    assert [(e["name"], e["ts"], e["dur"]) for e in of[2]] == [
        ("a/Conv", 2.0, 110.0), ("head/Gemm", 114.0, 50.0)
    ]  # fmt: skip
    assert of[2][0]["cat"] == "convolution"
    assert of[2][0]["args"]["op_type"] == "FusedConv"
    names = [e["args"]["name"] for e in found["traceEvents"] if e["name"] == "process_name"]
    assert names == ["before.json", "after.json"]


def test_our_own_reader_reads_it() -> None:
    trace = read(Source("p.json", perfetto_json(of_profiles())))
    assert isinstance(trace, Trace)
    assert int(trace.calls["dur_ns"].sum()) == 1000 * (100 + 30 + 20 + 50 + 110 + 50)


def test_groups_are_named() -> None:
    found = json.loads(perfetto_json(of_variants()))
    fused = [e for e in found["traceEvents"] if e.get("args", {}).get("op_type") == "FusedConv"]
    assert fused[0]["args"]["fusion group"].endswith(": Conv + BatchNormalization + Relu")


def test_tables() -> None:
    made = comparison_csv(of_variants())
    assert set(made) == {
        "figures.csv", "operators.csv", "op_types.csv", "findings.csv", "fusion_ledger.csv"
    }  # fmt: skip
    tables = {
        name: list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
        for name, data in made.items()
    }
    [latency] = [row for row in tables["figures.csv"] if row["figure"] == "latency"]
    times = (float(latency["baseline"]), float(latency["candidate"]))
    assert times == pytest.approx((1e7, 5e6), rel=1e-6)
    assert float(latency["change"]) == pytest.approx(-0.5)
    operators = {row["name"]: row for row in tables["operators.csv"]}
    assert float(operators["a/Conv"]["per_run_ns_baseline"]) == 100_000
    assert float(operators["a/Conv"]["per_run_ns_candidate"]) == 110_000
    assert tables["fusion_ledger.csv"]


@pytest.mark.parametrize("compared", [of_variants, of_profiles])
def test_tables_with_types(compared: Callable[[], Comparison]) -> None:
    comparison = compared()
    made = {
        name.removesuffix(".parquet"): pq.read_table(io.BytesIO(data))
        for name, data in comparison_parquet(comparison).items()
    }
    assert set(made) == {
        "figures", "operators", "op_types", "findings", "fusion_ledger",
        "runs_baseline", "runs_candidate", "calls_baseline", "calls_candidate",
    }  # fmt: skip
    types = {name: {field.name: str(field.type) for field in t.schema} for name, t in made.items()}
    assert types["calls_baseline"]["dur_ns"] == types["calls_baseline"]["start_ns"] == "int64"
    assert types["calls_baseline"]["name"] == types["operators"]["name"] == "string"
    assert types["operators"]["per_run_ns_baseline"] == types["findings"]["gain_ns"] == "double"
    assert types["fusion_ledger"]["gain_ns"] == types["operators"]["flops_baseline"] == "int64"
    assert types["fusion_ledger"]["hurts"] == types["runs_baseline"]["profiled"] == "bool"
    untyped = {(t, c) for t, of in types.items() for c, kind in of.items() if kind == "null"}
    assert untyped == set()
    calls = made["calls_baseline"].to_pylist()
    assert len(calls) == len(comparison.baseline.trace.calls)
    assert [(c["name"], c["op_type"], c["dur_ns"], c["wait_ns"]) for c in calls[:2]] == [
        ("a/Conv", "Conv", 100_000, None),
        ("a/BatchNormalization", "BatchNormalization", 30_000, 2000),
    ]
    operators = {row["name"]: row for row in made["operators"].to_pylist()}
    assert operators["a/Relu"]["per_run_ns_baseline"] == 20_000
    assert operators["a/Relu"]["per_run_ns_candidate"] is None, "missing, not 0 and not NaN"
    latency = next(row for row in made["figures"].to_pylist() if row["figure"] == "latency")
    assert latency["change"] == pytest.approx(comparison.figure("latency").change)


def test_no_cell_starts_a_formula() -> None:
    made = comparison_csv(of_variants("=HYPERLINK(1)/Conv"))
    rows = csv.DictReader(io.StringIO(made["operators.csv"].decode("utf-8-sig")))
    assert "'=HYPERLINK(1)/Conv" in [row["name"] for row in rows]
