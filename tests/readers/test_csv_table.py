"""CSV tables: rows that were cut off or are short, and what spreadsheets make of them."""

from __future__ import annotations

import csv
import io

import pytest

from analysis.readers import read
from analysis.readers.csv_table import read_csv
from analysis.readers.source import Source
from analysis.trace import Trace

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


@pytest.mark.parametrize("cell", ["1,2", "12,34", "1,0034", ",5", "1,003,2"])
def test_what_is_no_thousand_is_no_number(cell: str) -> None:
    table = read_csv(Source("t.csv", f'Name,Duration(us)\na,"{cell}"\n'.encode()))
    column = table.find("Duration")
    assert column is not None and column.ns() == [None]
