"""Tables that a spreadsheet may open, rows C1 to C3, and column heads that are any text."""

from __future__ import annotations

import csv
import io
import math
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.readers import find, read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.report.exports.ascend_tables import ascend_tables
from fusescope.analysis.report.exports.ledger_csv import ledger_csv
from fusescope.analysis.report.exports.table_csv import table_csv
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, Trace
from fusescope.app.parts import ascend, tables
from fusescope.app.sources.comparisons import Shown
from tests import miniatures
from tests.security import planted

ROOT = Path(__file__).resolve().parents[2]
FORMULA = "=HYPERLINK(0)|"
FORMATS = [reader for reader in miniatures.FORMATS if reader.name != "tensorrt_times"]  # no texts
# One file tells these neither members nor launchers, so nothing is grouped.
WITHOUT_GROUPS = {
    "msprof_task_time", "msprof_op", "ascend_op_statistic", "mindspore_cpu_timeline",
    "nsys_stats", "rocprof", "rocprof_stats", "rocpd", "pytorch_autograd",
}  # fmt: skip
each_kind = pytest.mark.parametrize("reader", planted.of_each_kind(FORMATS))


@cache
def shown(reader: Reader) -> Shown:
    """The sample with formulas in it against the sample as it is."""
    hostile = planted.only_trace(planted.prefixed(reader, FORMULA))
    return _shown(compare(*choose_sides(hostile, planted.only_trace(miniatures.files(reader)))))


def _shown(comparison: Comparison) -> Shown:
    return Shown(comparison, "k", Assumptions())


def cells(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def is_formula(cell: str) -> bool:
    """What a spreadsheet would compute; numbers may be negative."""
    start = unicodedata.normalize("NFKC", cell.strip())[:1]
    if start not in ("=", "+", "-", "@"):
        return False
    try:
        return not math.isfinite(float(cell))
    except ValueError:
        return cell.strip() != "-"


def all_tables(of: Shown) -> dict[str, bytes]:
    comparison = of.comparison
    rows = tables.operator_rows(of)
    return {
        "operators": tables.operator_table(rows).csv,
        "kernels": ascend.kernel_table(rows).csv,
        "types": tables.type_table(comparison).csv,
        "launchers": tables.launcher_table(comparison).csv,
        "classes": tables.class_table(comparison).csv,
        "ledger": ledger_csv(comparison),
        **ascend_tables(comparison.baseline.trace).files,
    }


@each_kind
def test_c1_no_cell_of_any_table_starts_a_formula(reader: Reader) -> None:
    for name, data in all_tables(shown(reader)).items():
        rows = cells(data)
        assert (len(rows) > 1) != (name == "ledger" and reader.name in WITHOUT_GROUPS), name
        found = [cell for row in rows for cell in row if is_formula(cell)]
        assert found == [], name


@pytest.mark.parametrize(
    "readers",
    [
        [reader for reader in FORMATS if reader.name in planted.OF_EACH_KIND],
        pytest.param(FORMATS, marks=pytest.mark.exhaustive),
    ],
    ids=["of each kind", "all"],
)
def test_c1_the_formulas_are_there(readers: list[Reader]) -> None:
    """In most formats a name can begin as a formula does; it comes out behind a mark."""
    marked = [
        reader.name
        for reader in readers
        if any(f"'{FORMULA}" in text.decode() for text in all_tables(shown(reader)).values())
    ]
    assert len(marked) > len(readers) / 2, marked


@pytest.mark.parametrize(
    "text", ["=1", "+1", "-1+2", "@SUM(1)", " =1", "\uff1d1", "\u3000@x", "\t=1"]
)
def test_c1_every_start_of_a_formula_in_every_place_of_an_ascend_table(text: str) -> None:
    head = (
        "Step Id,Device_id,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
        "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
    )
    row = [text] * 3 + [text] * 3 + ["1.5", "2"] + [text] * 6
    out = io.StringIO()
    csv.writer(out).writerows([[*head.split(","), f"{text} counter"], [*row, "3"]])
    trace = read(Source("kernel_details.csv", out.getvalue().encode()))
    assert isinstance(trace, Trace)
    for name, data in all_tables(_shown(compare(*choose_sides(trace, trace)))).items():
        assert [c for row in cells(data) for c in row if is_formula(c)] == [], name


def test_c1_numbers_stay_numbers_in_every_table() -> None:
    frame = pd.DataFrame({"text": ["-1"], "number": [-1.5], "whole": [-2]})
    assert cells(table_csv(frame))[1] == ["'-1", "-1.5", "-2"]


@each_kind
def test_c2_every_table_comes_back_as_it_was(reader: Reader) -> None:
    """Quotes, commas, separators and line ends in names move no cell into another column."""
    text = '",;\n\r\'"x'
    hostile = planted.only_trace(planted.suffixed(reader, text))
    of = _shown(compare(*choose_sides(hostile, planted.only_trace(miniatures.files(reader)))))
    for name, data in all_tables(of).items():
        rows = cells(data)
        assert {len(row) for row in rows} == {len(rows[0])}, name
    names = {row[0].removeprefix("'") for row in cells(tables.operator_table(
        tables.operator_rows(of)).csv)[1:]}  # fmt: skip
    assert names == set(of.comparison.operators["name"].astype(str).str.removeprefix("'"))


def test_c3_the_built_in_export_is_off() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["client"]["disableDataExport"] is True


# Heads: any text may head a column of counters.

# Those that profilers themselves use are read as what they say.
USUAL = {"name", "device", "stream", "op_type", "run"}
OWN_NAMES = [
    *(name for name in (*CALL_COLUMNS, *OPERATOR_COLUMNS) if name not in USUAL),
    "per_run_ns",
    "count_baseline",
    "side",
    "row",
    "delta_ns",
    "index",
]
COUNTED = [r for r in miniatures.FORMATS if r.name in
           ("ascend_kernel_details", "ascend_op_summary", "msprof_op", "rocprof", "nsys_stats",
            "mindspore_cpu")]  # fmt: skip


@pytest.mark.parametrize("reader", planted.of_each_kind(COUNTED))
def test_a_counter_named_as_a_column_of_ours_changes_none(reader: Reader) -> None:
    files = miniatures.files(reader)
    plain = planted.only_trace(files)
    heads = [name for name in plain.calls.columns if name not in CALL_COLUMNS]
    assert heads
    for name in (*OWN_NAMES, *(f"{own}\u200b" for own in ("dur_ns", "operator", "run"))):
        renamed = tuple(
            Source(file.name, _renamed(file.data, heads[-1], name), path=file.path)
            for file in files
        )
        found = planted.only_trace(renamed)
        for column in ("operator", "run", "start_ns", "dur_ns", "n"):
            pd.testing.assert_series_equal(found.calls[column], plain.calls[column])
        for column in ("name", "op_type", "is_communication"):
            assert list(found.operators[column].astype("object").fillna("")) == list(
                plain.operators[column].astype("object").fillna("")
            ), (column, name)


def _renamed(data: bytes, head: str, name: str) -> bytes:
    first, line, rest = data.partition(b"\n")
    heads = next(csv.reader([first.decode("utf-8-sig")]))
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([name if cell == head else cell for cell in heads])
    return out.getvalue().encode() + line + rest if head in heads else data


def tables_of(reader: Reader) -> list[Source]:
    return [f for f in miniatures.files(reader) if f.name.endswith((".csv", ".txt"))]


@pytest.mark.parametrize("reader", planted.of_each_kind(filter(tables_of, FORMATS)))
def test_a_head_that_is_another_is_a_trace_or_one_sentence(reader: Reader) -> None:
    files = miniatures.files(reader)
    for table in tables_of(reader):
        for head in next(csv.reader([table.data.decode().partition("\n")[0]])):
            changed = _renamed(table.data, head, f"{head}\x1b\u202e other")
            sources = tuple(
                Source(f.name, changed if f.path == table.path else f.data, path=f.path)
                for f in files
            )
            found = find(sources)
            assert found.recordings or found.failed or found.unknown


def test_two_counters_of_one_name_are_one_sentence_or_one_counter() -> None:
    head = "Name,Type,Accelerator Core,Start Time(us),Duration(us),x_ratio,x_ratio,x_ratio\u200b"
    trace = read(Source("kernel_details.csv", f"{head}\na,A,AI_CORE,1,2,0.1,0.2,0.3\n".encode()))
    assert isinstance(trace, Trace)
    assert len(set(trace.calls.columns)) == len(trace.calls.columns)
    all_tables(_shown(compare(*choose_sides(trace, trace))))
