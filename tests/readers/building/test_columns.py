"""Columns of a trace while they are collected, and the span around a time."""

from __future__ import annotations

import pytest

from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.iterations import span_at
from fusescope.analysis.trace import Diagnostic, merged, noted


def test_what_only_some_rows_have_is_none_in_the_others() -> None:
    columns = Columns("name", "stream")
    columns.add(name="a", dur_ns=1)
    columns.add(name="b", bytes=8)
    columns.extend({"name": ["c", "d"], "dur_ns": [3, 4], "grid": [5, 6]})
    columns.add(name="e")
    assert columns.count == 5
    assert columns == {
        "name": ["a", "b", "c", "d", "e"],
        "stream": [None, None, None, None, None],
        "dur_ns": [1, None, 3, 4, None],
        "bytes": [None, 8, None, None, None],
        "grid": [None, None, 5, 6, None],
    }


@pytest.mark.parametrize(
    ("at", "place"), [(9, None), (10, 0), (19, 0), (20, None), (30, 1), (39, 1), (40, None)]
)
def test_a_span_holds_its_first_and_its_last_ns(at: int, place: int | None) -> None:
    assert span_at([10, 30], [19, 39], at) == place
    assert span_at([10, 30], [19, 39], None) is None


def test_a_note_has_the_number_of_findings_and_the_first_of_them() -> None:
    assert noted("info", "long_text", []) == noted("info", "long_text", 0) == []
    assert noted("info", "long_text", ["abcdef", "g"], chars=4) == [
        Diagnostic("info", "long_text", 2, "abc…")
    ]
    assert noted("warning", "bad_time", 3, "row 1") == [
        Diagnostic("warning", "bad_time", 3, "row 1")
    ]


def test_notes_of_one_code_are_one() -> None:
    notes = [
        Diagnostic("info", "a", 1),
        Diagnostic("info", "b", 2),
        Diagnostic("info", "a", 3, "x"),
    ]
    assert merged(notes) == [Diagnostic("info", "a", 4, "x"), Diagnostic("info", "b", 2)]
