"""Rows with more cells than heads: parts of a name without quotes, or what nobody can place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.csv_surplus import joined_names
from fusescope.analysis.readers.input.csv_table import CsvTable, read_csv
from fusescope.analysis.readers.input.source import Source

HEAD = "Name,Calls,Total,Percentage"


def table(*rows: str, head: str = HEAD) -> CsvTable:
    return read_csv(Source("stats.csv", "\n".join([head, *rows, ""]).encode()))


def codes(read: CsvTable) -> dict[str, int]:
    return {note.code: note.count for note in read.notes}


def test_the_one_column_that_is_no_number_takes_what_is_too_much() -> None:
    read = table("void gemm<float, 4>(int, float*),3,600,60.0", "relu,4,400,40.0")
    assert read.texts("Name") == ["void gemm<float, 4>(int, float*)", "relu"]
    assert read.integers("Total") == [600, 400]
    assert codes(read) == {"names_with_commas": 1}


def test_also_where_no_row_is_whole() -> None:
    read = table("a<1, 2>,3,600,60.0", "b<int, x>,4,400,40.0,", "c<7,8,9>,1,1,0.1%")
    assert read.texts("Name") == ["a<1, 2>", "b<int, x>", "c<7,8,9>"]
    assert read.integers("Calls") == [3, 4, 1]


def test_of_several_texts_the_one_between_numbers_is_told_by_them() -> None:
    read = table("x,1,f<a, b>,5", "y,2,g,6", head="Kind,Id,Name,Total")
    assert read.texts("Name") == ["f<a, b>", "g"] and read.integers("Total") == [5, 6]


@pytest.mark.parametrize("rows", [
    ["a,b,c,1,2", "d,e,1,2"],  # two texts beside each other
    ["a,1,2,3,x", "b,1,2,3"],  # a text where a number belongs
    ["a,1,2,3,4", "b,1,2,3"],  # a number with a comma as its decimal sign
])  # fmt: skip
def test_what_is_not_sure_stays_left_out_and_counted(rows: list[str]) -> None:
    read = table(*rows, head="Kind,Name,Total,Percentage")
    assert codes(read)["long_rows"] == 1 and "names_with_commas" not in codes(read)


def test_a_table_that_is_mostly_such_rows_is_refused() -> None:
    with pytest.raises(FuseScopeError) as refused:
        table("a,b,c,1,2", "d,e,f,1,2", head="Kind,Name,Total,Percentage")
    assert refused.value.code == "long_rows"


@given(
    st.lists(
        st.tuples(
            st.text("ab<>( *,;", max_size=12).map("a{}b".format),
            st.integers(0, 10**9),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_name_comes_back(rows: list[tuple[str, int]]) -> None:
    cells = [f"{name},{count},{count}.5".split(",") for name, count in rows]
    surplus = {at: row for at, row in enumerate(cells) if len(row) > 3}
    columns = [[row[at] for row in cells] for at in range(3)]
    joined = joined_names(columns, surplus, ",")
    for at, row in joined.items():
        assert row == [rows[at][0], str(rows[at][1]), f"{rows[at][1]}.5"]
    assert joined.keys() == surplus.keys()
