"""Large regular tables are read at once, to the same cells, numbers and times as row by row."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.readers.input import csv_columns, csv_regular, csv_table
from fusescope.analysis.readers.input.csv_table import CsvTable, read_csv
from fusescope.analysis.readers.input.folder import source_with_neighbours
from fusescope.analysis.readers.input.source import Source

_REGULAR = ["1", "2.5", "12.345\t", " 7", "N/A", "", '"x,y"', '"""8,1;7"""', "-3", "name_1", "1e5"]
_PLAIN = [cell for cell in _REGULAR if "," not in cell]
_ODD = [
    *_REGULAR, "1.234", "1.234.567", '"1,5"', '"a\nb"', 'a"b', '"q"z', '"', "total", "1_0", "nan",
    "1 234", "x\rz", "ü", "1e400", "5.", ".5", "٣", "1727650800000000.123\t",
]  # fmt: skip
_HEADS = ["name", "Time(us)", "share(%)", "Dur(ms)"]


def _read(data: bytes) -> CsvTable | str:
    try:
        return read_csv(Source("table.csv", data, DEFAULT_LIMITS), "name")
    except FuseScopeError as error:
        return error.code


def _said(table: CsvTable | str) -> object:
    if isinstance(table, str):
        return table
    columns = [
        (one.head, one.unit, one.cells, one.ns(), one.numbers(), one.integers(), one.holding("e"))
        for one in table.columns
    ]
    floats = [[None if math.isnan(x) else x for x in one.floats()] for one in table.columns]
    return columns, floats, list(table.rows), table.notes


def _both(data: bytes, block: int = 40) -> tuple[CsvTable | str, CsvTable | str]:
    """The table part by part, each of about `block` bytes, and row by row."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_regular, "_MIN_BYTES", 1)
        patch.setattr(csv_table, "BLOCK_BYTES", block)
        at_once = _read(data)
        patch.setattr(csv_table, "regular_columns", lambda *_: None)
        return at_once, _read(data)


def _table(cells: list[str], width: int, end: str) -> bytes:
    rows = [cells[at : at + width] for at in range(0, len(cells) - width + 1, width)]
    return (end.join(",".join(row) for row in (_HEADS[:width], *rows)) + end).encode()


@given(
    st.lists(st.sampled_from(_ODD), min_size=4, max_size=24),
    st.integers(2, 4),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([33, 40, 1000]),
)
def test_any_table_says_the_same_at_once_and_row_by_row(
    cells: list[str], width: int, end: str, block: int
) -> None:
    at_once, by_rows = _both(_table(cells, width, end), block)
    assert _said(at_once) == _said(by_rows)


@given(
    st.lists(st.sampled_from(_PLAIN), min_size=8, max_size=120),
    st.sampled_from([40, 120, 1000]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([2, 1000]),
)
def test_tables_as_profilers_write_them_are_read_at_once(
    cells: list[str], block: int, repeats: int, most: int
) -> None:
    whole = cells[: len(cells) // 4 * 4]  # the last row leaves no cell out
    with pytest.MonkeyPatch.context() as patch:  # texts kept as numbers, or not, or not any more
        patch.setattr(csv_columns, "_REPEATS", repeats)
        patch.setattr(csv_columns, "_MOST_DISTINCT", most)
        at_once, by_rows = _both(_table([*whole, "1", "2", "3", "4"], 4, "\n"), block)
    assert isinstance(at_once, CsvTable)
    assert _said(at_once) == _said(by_rows)
    assert not isinstance(at_once.columns[0].told, list)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("a,1\n\nb,2\n", "an empty row has a number, too"),
        ("a,1\nb\n", "a short row is counted"),
        ("a,1\nb,2,3\n", "a long row is counted"),
        ("a,1\nname,Time(us)\nb,2\n", "heads again are counted"),
        ("a,1\nb,2\nc,4\nd,5\ntotal,12\n", "a sum is left out"),
        ('a,1\n"b,2\nc,3\nd,4\n', "a quote that does not close"),
        ('a,"1,5"\nb,2\n', "a comma may be a decimal sign"),
        ("a,1\0\n", "no text"),
        ('a,1\nb,2\nc,"3\nd,"4\n', "a quote closes in another part"),
    ],
)
def test_what_is_odd_is_left_to_the_rows(rows: str, why: str) -> None:
    at_once, by_rows = _both(b"name,Time(us)\n" + rows.encode())
    assert isinstance(at_once, CsvTable), why
    assert isinstance(at_once.columns[0].told, list), why
    assert _said(at_once) == _said(by_rows)


def test_times_of_a_large_table_are_exact() -> None:
    rows = b"".join(b"op,%d.%03d\t\n" % (1727650800000000 + at, at % 1000) for at in range(70_000))
    table = _read(b"name,Start Time(us)\n" + rows)
    assert isinstance(table, CsvTable)
    assert not isinstance(table.columns[0].told, list)
    found = table.times("Start Time")
    assert found == [1727650800000000000 + at * 1000 + at % 1000 for at in range(70_000)]


def test_line_ends_between_parts_are_no_rows_and_empty_rows_are() -> None:
    rows = b"a,1\r\n" * 30
    for block in range(20, 60):
        at_once, by_rows = _both(b"name,Time(us)\r\n" + rows + b"\r\n\r\n", block)
        assert isinstance(at_once, CsvTable)
        assert not isinstance(at_once.columns[0].told, list), block
        assert _said(at_once) == _said(by_rows)
        at_once, by_rows = _both(b"name,Time(us)\r\n" + rows + b"\r\n" + rows, block)
        assert _said(at_once) == _said(by_rows)


def test_a_large_table_on_the_disk_is_hashed_while_it_is_read(tmp_path: Path) -> None:
    data = b"name,Time(us)\n" + b"op,1.5\n" * 200_000
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    source = source_with_neighbours(path, DEFAULT_LIMITS)
    table = read_csv(source, "name")
    assert not isinstance(table.columns[0].told, list)
    assert "data" not in vars(source)
    assert source.sha256 == hashlib.sha256(data).hexdigest()
