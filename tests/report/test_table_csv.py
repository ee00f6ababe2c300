"""CSV that a spreadsheet may open."""

from __future__ import annotations

import csv
import io
import re
import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.report.exports.table_csv import table_csv


def cells(table: pd.DataFrame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table_csv(table).decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\tx", "\rx", "  =1", "＝1", "\u3000+1"])
def test_text_that_would_be_a_formula_is_quoted(text: str) -> None:
    assert cells(pd.DataFrame({text: [text]})) == [[f"'{text}"], [f"'{text}"]]


@pytest.mark.parametrize("text", ["Conv", "a=1", "1-2", "_", "'=1"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cells(pd.DataFrame({text: [text]})) == [[text], [text]]


def test_numbers_stay_numbers_and_missing_is_empty() -> None:
    table = pd.DataFrame({"a": [-1.5, None], "b": pd.array([-2, None], dtype="Int64")})
    assert cells(table)[1:] == [["-1.5", "-2"], ["", ""]]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_comes_back(text: str) -> None:
    [[_], *rest] = cells(pd.DataFrame({"head": [text]}))
    found = rest[0][0] if rest and rest[0] else ""
    shown = "".join(
        f"\\x{ord(c):02x}" if unicodedata.category(c) == "Cc" and c not in "\t\r\n" else c
        for c in text
    )
    assert found in (shown, f"'{shown}")


def test_a_terminal_finds_nothing_to_obey() -> None:
    table = pd.DataFrame({"a\x1b[2J": ["\x1b]0;x\x07", "\0", "\x9b31m", "\x7f", "two\nlines"]})
    text = table_csv(table).decode("utf-8-sig")
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)
    assert [row[0] for row in cells(table)] == [
        "a\\x1b[2J", "\\x1b]0;x\\x07", "\\x00", "\\x9b31m", "\\x7f", "two\nlines",
    ]  # fmt: skip
