"""CSV tables: rows that were cut off or are short, and what spreadsheets make of them."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.csv_table import CsvTable, read_csv
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence

WHOLE = b"Name,Type,Duration(us),Wait\na,x,1.5,2\nb,y,2.5,3\nc,z,123.4,5\n"


@pytest.mark.parametrize(("lost", "rows"), [(0, 3), (1, 3), (3, 2), (6, 2), (9, 2)])
def test_a_number_cut_in_the_middle_is_no_number(lost: int, rows: int) -> None:
    """Without its last cells the row may say 12 for 123.4."""
    table = read_csv(Source("t.csv", WHOLE[: len(WHOLE) - lost]))
    column = table.find("Duration")
    assert column is not None and column.ns() == [1500, 2500, 123_400][:rows]
    assert [note.code for note in table.notes] == ["cut_short"] * (3 - rows)


def test_rows_that_are_always_short_are_whole() -> None:
    table = read_csv(Source("t.csv", b"Name,Type,Duration(us),Wait\na,x,1.5\nb,y,2.5"))
    assert len(table) == 2
    assert [(note.code, note.count) for note in table.notes] == [("short_rows", 2)]


KERNELS = (
    "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Input Shapes\n"
    'mm,MatMul,AI_CORE,1736930000000000.125,1003.25,0.5,"2,3;3,4"\n'
    'add,Add,AI_VECTOR_CORE,1736930000001004.375,10.5,1,"2,4"\n'
)


def spreadsheet(separator: str, decimal: str) -> str:
    """The same table as a spreadsheet saves it, with other separators and decimal signs."""
    rows = list(csv.reader(io.StringIO(KERNELS)))
    for row in rows[1:]:
        row[3:6] = [cell.replace(".", decimal) for cell in row[3:6]]
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        KERNELS.encode(),
        spreadsheet(";", ",").encode("utf-8-sig"),
        spreadsheet(";", ".").encode(),
        b"sep=;\r\n" + spreadsheet(";", ",").encode(),
        spreadsheet("\t", ".").encode(),
        spreadsheet("\t", ".").encode("utf-16"),
        KERNELS.replace("1003.25", '"1,003.25"').encode(),
    ],
    ids=["as written", "; and ,", "; and .", "sep=", "tabs", "unicode text", "thousands"],
)
def test_what_a_spreadsheet_saved_reads_as_what_the_profiler_wrote(data: bytes) -> None:
    trace = read(Source("kernel_details.csv", data))
    assert isinstance(trace, Trace)
    assert list(trace.calls["dur_ns"]) == [1_003_250, 10_500]
    assert list(trace.calls["wait_ns"]) == [500, 1000]
    assert int(trace.calls["start_ns"].diff().iloc[1]) == 1_004_250
    assert set(trace.operators["inputs"]) == {"?[2,3]; ?[3,4]", "?[2,4]"}


def times(cells: list[str], separator: str = ",", head: str = "Duration(us)") -> CsvTable:
    """A table of names and times with these cells, all of them quoted."""
    lines = [f"Name{separator}{head}"]
    lines += [f'a{place}{separator}"{cell}"' for place, cell in enumerate(cells)]
    return read_csv(Source("t.csv", "\n".join(lines).encode()))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0,125", "12,345"], [125, 12_345]),  # a German spreadsheet: no group begins with 0
        (["12,345", "1,5"], [12_345, 1_500]),
        (["1.234,5", "12,345"], [1_234_500, 12_345]),
        (["1,234.5", "12,345"], [1_234_500, 12_345_000]),  # an American one
        (["1,234,567", "12,345"], [1_234_567_000, 12_345_000]),
        ([",5", "1,0034"], [500, 1_003]),
        (["1 234,5", "1\u202f234,5", "1'234.5"], [1_234_500] * 3),
        (["12.345", "0.125"], [12_345, 125]),
        (["1.234.567,8", "1.234"], [1_234_567_800, 1_234_000]),
        (["1,003,2"], [None]),
        (["1.234,5", "1,234.5", "12,345"], [1_234_500, 1_234_500, None]),  # of both
    ],
)
def test_a_column_tells_what_its_commas_are(cells: list[str], expected: list[int | None]) -> None:
    table = times(cells)
    assert table.times("Duration") == expected
    assert not table.notes


def test_a_comma_that_nobody_can_tell_is_counted() -> None:
    table = times(["12,345", "10,000"])
    assert table.times("Duration") == [12_345_000, 10_000_000]
    [note] = table.notes
    assert (note.code, note.severity, note.count) == ("ambiguous_commas", "warning", 2)
    assert "12,345" in str(note.example)
    assert "decimal sign" in diagnostic_sentence(note)
    other = times(["12,345"], ";")  # ';' is for decimal commas
    assert other.times("Duration") == [12_345]
    assert "times too small" in diagnostic_sentence(other.notes[0])
    for separator in ",;":
        whole = times(["12,345"], separator, head="Duration (ns)")
        assert whole.times("Duration") == [12_345] and not whole.notes


def test_columns_that_head_ns_in_their_name_tell_what_a_comma_is() -> None:
    rows = "Name;Calls;TotalDurationNs;AverageNs\na;1;48,744;48,744.000000\nb;2;9,265;4,632.5\n"
    table = read_csv(Source("t.csv", rows.encode()))
    assert table.times("TotalDurationNs", unit="ns") == [48_744, 9_265]
    alone = "Name;TotalDurationNs\na;48,744\n"
    table = read_csv(Source("t.csv", alone.encode()))
    assert table.times("TotalDurationNs", unit="ns") == [48_744]


def test_other_columns_tell_what_a_comma_is() -> None:
    rows = 'Name,Duration(us),Wait Time(us)\na,"12,345","0,5"\nb,"10,000","1,25"\n'
    table = read_csv(Source("t.csv", rows.encode()))
    assert table.times("Duration") == [12_345, 10_000]
    assert not table.notes


@pytest.mark.parametrize(
    ("unit", "ns"),
    [("nsec", 7), ("msec", 7_000_000), ("MSec", 7_000_000), ("seconds", 7 * 10**9), ("μs", 7_000)],
)
def test_units_in_other_spellings(unit: str, ns: int) -> None:
    assert times(["7"], head=f"Duration({unit})").times("Duration") == [ns]


KERNEL = "Name,Type,Accelerator Core,Duration{unit}\nk,MatMul,AI_CORE,7\n"


@pytest.mark.parametrize("unit", ["(cycles)", "(ticks)", "(min)", "(%)"])
def test_a_unit_that_nobody_knows_is_refused(unit: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        read(Source("kernel_details.csv", KERNEL.format(unit=unit).encode()))
    assert f"Duration{unit}" in caught.value.what
    assert caught.value.where == "kernel_details.csv" and "us" in caught.value.hint


def test_a_head_without_unit_is_read_as_the_format_writes_and_said() -> None:
    trace = read(Source("kernel_details.csv", KERNEL.format(unit="").encode()))
    assert isinstance(trace, Trace) and trace.calls["dur_ns"].tolist() == [7_000]
    [note] = [note for note in trace.diagnostics if note.code == "unit_assumed"]
    assert (note.example, note.values["unit"]) == ("Duration", "us")


def test_of_two_columns_of_a_name_the_one_in_time_counts() -> None:
    data = b"Name,Type,Accelerator Core,Duration(cycles),Duration(us)\nk,M,AI_CORE,9000,7\n"
    trace = read(Source("kernel_details.csv", data))
    assert isinstance(trace, Trace) and trace.calls["dur_ns"].tolist() == [7_000]


# --- rows that are none ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damaged", "cells", "left_out"),
    [('k,"M,AI_CORE,1', ["k", "M", "AI_CORE", "1"], 0), ('k,"M, x,AI_CORE,1', None, 1)],
)
def test_an_unclosed_quote_swallows_no_rows(
    damaged: str, cells: list[str] | None, left_out: int
) -> None:
    whole = ["n,M,AI_CORE,5"] * 2000
    for behind in ([], ['s,"1,3;3",AI_CORE,2']):
        rows = ["Name,Type,Accelerator Core,Duration(us)", "a,M,AI_CORE,5", damaged]
        table = read_csv(Source("t.csv", "\n".join([*rows, *whole, *behind, ""]).encode()))
        assert len(table) == 2001 + (cells is not None) + len(behind)
        if cells is not None:
            assert [column.cells[1] for column in table.columns] == cells
        [note] = table.notes
        assert (note.code, note.count, note.values["left_out"]) == ("unclosed_quotes", 1, left_out)
        assert str(note.example).startswith('k,"M')
        assert ("could not be read" in diagnostic_sentence(note)) == bool(left_out)


def test_line_ends_inside_a_cell_are_no_rows() -> None:
    stack = '"model.py(3): forward;\nlayer.py(7): call, with, commas;\nmain.py(1): main"'
    data = f"Name,Call Stack,Core,Duration(us)\na,{stack},x,5\nb,{stack},x,6\n"
    table = read_csv(Source("t.csv", data.encode()))
    assert table.times("Duration") == [5_000, 6_000]
    assert not table.notes


def test_tables_put_one_after_the_other_are_counted() -> None:
    table = read_csv(Source("t.csv", WHOLE + WHOLE))
    assert len(table) == 6
    [note] = table.notes
    assert (note.code, note.count, str(note.example)) == ("heads_again", 1, "row 4")


def test_a_second_table_with_other_columns_is_refused() -> None:
    other = b"Name,Duration(us),Type,Rank\na,1.5,x,0\n"
    with pytest.raises(FuseScopeError, match="two tables") as caught:
        read_csv(Source("t.csv", WHOLE + other))
    assert str(caught.value.where) == "t.csv, row 4"


def test_numbers_with_commas_that_are_not_quoted_are_refused() -> None:
    """Each '1,5' makes two cells, so every cell behind it stands under the head of another."""
    with pytest.raises(FuseScopeError, match="2 of 2 rows have more cells") as caught:
        read_csv(Source("t.csv", b"Name,Duration(us),Wait(us)\na,1,5,2\nb,3,5,2\n"))
    assert "quotes" in caught.value.hint


def test_columns_of_one_head_that_differ_are_counted() -> None:
    table = read_csv(Source("t.csv", b"Name,Duration(us),Duration(us)\na,1,2\nb,3,3\n"))
    assert table.times("Duration") == [1_000, 3_000]
    assert [(note.code, note.example) for note in table.notes] == [("twin_columns", "Duration(us)")]
    same = read_csv(Source("t.csv", b"Name,Duration(us),Duration(us)\na,1,1\n"))
    assert not same.notes


RANK = [
    ("1", "mm", "1736930000000000.125", "1003.25"),
    ("1", "add", "1736930000001004.375", "10.5"),
    ("2", "mm", "1736930000002000.125", "1003.25"),
    ("2", "add", "1736930000003004.375", "10.5"),
]


def kernels(rows: list[tuple[str, ...]], more: str = "") -> Trace:
    head = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
    lines = [f"{step},{name},T,AI_CORE,{start},{dur}\n" for step, name, start, dur in rows]
    trace = read(Source("kernel_details.csv", (head + "".join(lines) + more).encode()))
    assert isinstance(trace, Trace)
    return trace


@pytest.mark.parametrize(
    "row",
    [
        ",Total,,,,2027.5\n", "Total,,,,,2027.5\n", ",,,,,2027.5\n", ",合计:,,,,2027.50\n",
        ",Average,,,,506.875\n",
    ],
)  # fmt: skip
def test_a_last_row_of_sums_or_means_is_no_kernel_and_no_step(row: str) -> None:
    trace = kernels(RANK, row)
    assert (len(trace.calls), len(trace.runs)) == (4, 2)
    assert trace.calls["dur_ns"].sum() == 2_027_500
    [note] = [one for one in trace.diagnostics if one.code == "total_row"]
    assert str(note.example) == "row 5"


def test_a_last_row_that_is_no_sum_stays() -> None:
    assert len(kernels(RANK, "2,Sum,ReduceSum,AI_CORE,1736930000003020.0,10.5\n").calls) == 5
    assert len(kernels(RANK, ",Total,,,,77\n").calls) == 5


@pytest.mark.parametrize("shift", ["1736930000000000.125", "12000000000.5"])
def test_recordings_one_after_the_other_are_said(shift: str) -> None:
    """Of two ranks, or of two machines, whose clocks count from another moment."""
    first, least = Decimal(shift), Decimal(RANK[0][2])
    other = [
        (step, name, str(first + Decimal("3.5") + Decimal(start) - least), dur)
        for step, name, start, dur in RANK
    ]
    trace = kernels([*RANK, *other])
    [note] = [one for one in trace.diagnostics if one.code == "starts_go_back"]
    assert (note.severity, note.count, str(note.example)) == ("warning", 1, "row 5")
    assert "ranks" in diagnostic_sentence(note)
    later = [(s, n, str(Decimal(start) + 9000), d) for s, n, start, d in RANK]
    for quiet in ([*RANK, *later], [*RANK, *later][::-1]):
        assert not [n for n in kernels(quiet).diagnostics if n.code == "starts_go_back"]
