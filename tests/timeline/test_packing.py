"""Columns of the timeline as base64 or bytes: exact, small, the same numbers in the browser."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.timeline.packing import Columns, container, whole_side
from fusescope.analysis.timeline.side import MAX_CHARS, fitting


def unpacked(column: dict[str, Any]) -> list[int]:
    """As unpackColumn in calls.js."""
    numbers = np.frombuffer(base64.b64decode(column["data"]), dtype=f"<{column['type']}")
    values = numbers.astype("float64")
    return [int(value) for value in (np.cumsum(values) if column["steps"] else values)]


def opened(data: bytes) -> tuple[dict[str, Any], bytes]:
    """As openContainer in unpack.js."""
    size = int.from_bytes(data[:4], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def unpacked_from(column: dict[str, Any], data: bytes) -> list[int]:
    """A column of the bytes behind the JSON."""
    raw = data[column["at"] :][: column["count"] * int(column["type"][1])]
    return unpacked({**column, "data": base64.b64encode(raw)})


def packed(numbers: list[int]) -> dict[str, Any]:
    return Columns(as_text=True).packed(numbers)


@given(st.lists(st.integers(-(2**40), 2**52), max_size=50))
def test_packed_numbers_are_exact(numbers: list[int]) -> None:
    assert unpacked(packed(numbers)) == numbers


@given(st.lists(st.lists(st.integers(-(2**40), 2**52), max_size=20), max_size=5))
def test_columns_behind_the_json_are_the_same_numbers(columns: list[list[int]]) -> None:
    packing = Columns(as_text=False)
    made = {"name": "\u00b5\u2026", "columns": [packing.packed(each) for each in columns]}
    whole, data = opened(container(made, packing))
    assert whole["name"] == "\u00b5\u2026"
    for column, numbers in zip(whole["columns"], columns, strict=True):
        assert column["at"] % 8 == 0, "typed arrays begin at a multiple of their size"
        assert unpacked_from(column, data) == numbers


@pytest.mark.parametrize(
    ("numbers", "kind", "steps"),
    [
        ([0, 255], "u1", False),
        ([0, 256], "u2", False),
        ([70_000, 70_000], "u4", False),
        ([60_000, 120_000, 180_000], "u2", True),  # starts of calls: the steps between are short
        ([5_000_000_000, 5_000_000_001], "f8", False),
        ([-1, 3], "f8", False),
    ],
)
def test_the_smallest_type_is_taken(numbers: list[int], kind: str, steps: bool) -> None:
    column = packed(numbers)
    assert (column["type"], column["steps"]) == (kind, steps)


def test_ids_and_shared_texts_keep_what_is_missing() -> None:
    ops = {
        "name": ["a", "b", None],
        "inputs": ["x", None, "x"],
        "row": [4, None, 0],
        "group": [None, 0, 7],
    }
    made = whole_side({"ops": ops, "calls": {}}, Columns(as_text=True))["ops"]
    assert made["name"] == ops["name"]
    assert made["inputs"]["texts"] == ["x"]
    assert unpacked(made["inputs"]["of"]) == [1, 0, 1]
    assert unpacked(made["row"]["ids"]) == [5, 0, 1]
    assert unpacked(made["group"]["ids"]) == [0, 1, 8]


def test_texts_beyond_their_room_are_cut_in_the_middle() -> None:
    long = "a" * 3000 + "z"
    texts = pd.Categorical([long, "in no row" * 500, None, "short"])
    rows = np.array([0, 2, 3])
    assert fitting(texts, rows, 4000) == [long, None, "short"]
    cut = fitting(texts, rows, 900)
    assert cut[1:] == [None, "short"]
    assert cut[0] is not None and len(cut[0]) == 300
    assert cut[0][0] == "a" and cut[0][-1] == "z"
    twice = fitting(texts, np.array([0, 0]), 5000)  # each row counts
    assert [len(text or "") for text in twice] == [2500, 2500]
    many = fitting(pd.Categorical(["x" * 500]), np.zeros(MAX_CHARS // 24, dtype="int64"), MAX_CHARS)
    assert {len(text or "") for text in many} == {24}
